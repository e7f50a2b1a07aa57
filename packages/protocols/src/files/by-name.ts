/** Requests to the file service that are about a name and need no opening of it: READ, SIZE, MKDIR, RMDIR. No state. */
import { Check } from 'typebox/value';
import { FileOp, ResultPath, type FileRequest } from '@mayfly/wire';
import { FileError, type Session } from './effects.ts';

/** What a name is; a folder with something in it, or one that was made. */
export type Place = 'nothing' | 'file' | 'folder' | 'empty folder';

const BY_NAME: ReadonlySet<number> = new Set([FileOp.READ, FileOp.SIZE, FileOp.MKDIR, FileOp.RMDIR]);
export const named = (r: FileRequest): Session | undefined =>
  r.session === 0 && BY_NAME.has(r.op) ? { path: r.name, pointer: 0, deleteOnClose: false } : undefined;

export const parentOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf('/')));

/** Why not, or NONE. BAD_FILE: it is a directory (or, where it should be one, a file). @param room for one more */
export function nameRefused({ op, name }: FileRequest, is: Place, parent: Place, room: boolean): number {
  if (!Check(ResultPath, name)) return FileError.BAD_FILE;
  switch (op) {
    case FileOp.MKDIR:
      if (is !== 'nothing') return FileError.FILE_EXISTS;
      if (parent === 'nothing') return FileError.NO_SUCH_FILE;
      return parent === 'file' ? FileError.BAD_FILE : room ? FileError.NONE : FileError.NO_SPACE;
    case FileOp.RMDIR:
      if (is === 'folder') return FileError.FILE_IN_USE;
      return is === 'file' ? FileError.BAD_FILE : is === 'nothing' ? FileError.NO_SUCH_FILE : FileError.NONE;
    default:
      return is === 'file' ? FileError.NONE : is === 'nothing' ? FileError.NO_SUCH_FILE : FileError.BAD_FILE;
  }
}
