/**
 * Directories that all ranks of the job share, those that results may lie in, and files to which several append. The
 * rank's files (files.ts) have what this rank has seen and written; the job's file service knows all directories,
 * decides who makes one, and knows where files end.
 *
 * Owns: when to ask. Does not own: the rank's files, the questions (asking.ts).
 *
 * Invariants
 *  N1 A directory that a rank has made is there for every rank that looks for it after a message of the maker, and at
 *     most one rank is told that it has made it.
 *  N2 What this rank has seen is not asked for again: it stays, for this rank, until this rank removes it.
 *  N3 Where a rank cannot ask (way() of asking.ts), its own names are all there is, and others hear what it does.
 *  N4 A rank that goes on with its own copy of a file to which others have appended says so.
 */
import { ERR } from '@mayfly/mpi';
import type { Asking } from './asking.ts';
import { E, FdFlag, OFlag } from './errno.ts';
import { Errno, isResult, parentOf, type Files, type Inode, type OpenFile } from './files.ts';

const ERRNO: Partial<Record<number, number>> = {
  [ERR.FILE_EXISTS]: E.EXIST,
  [ERR.NO_SUCH_FILE]: E.NOENT,
  [ERR.BAD_FILE]: E.NOTDIR,
  [ERR.FILE_IN_USE]: E.NOTEMPTY,
  [ERR.NO_SPACE]: E.NOSPC,
};
const check = (error: number): void => {
  if (error !== ERR.SUCCESS) throw new Errno(ERRNO[error] ?? E.IO);
};
const nameOf = (path: string): string => path.slice(1);

export class SharedNames {
  constructor(
    private readonly files: Files,
    private readonly asking: Asking,
    private readonly complain: (what: string) => void,
  ) {}

  /** @throws Errno NOENT */
  find(path: string): Inode {
    this.look(path);
    const node = this.files.lookup(path);
    if (!node) throw new Errno(E.NOENT);
    return node;
  }

  open(path: string, oflags: number, flags: number, reads: boolean): number {
    if ((reads || !(flags & FdFlag.APPEND)) && !(oflags & OFlag.TRUNC)) this.isWhole(path);
    if (oflags & OFlag.DIRECTORY) this.look(path);
    else if (oflags & OFlag.CREAT && !this.files.lookup(path)) this.look(parentOf(path));
    return this.files.open(path, oflags, flags);
  }

  /** What goes to the end of this file goes where it ends for all ranks. */
  appends(f: OpenFile): boolean {
    return (f.flags & FdFlag.APPEND) !== 0 && this.isShared(f.path) && this.files.inodeNumber(f.path) === f.inode;
  }

  /** The server has what this rank has written when it returns. */
  sync(f: OpenFile): void {
    this.files.flushOne(f.path, f.inode);
    if (this.isShared(f.path)) this.asking.lastly('size', nameOf(f.path));
  }

  mkdir(path: string): void {
    if (!this.isShared(path)) return this.files.mkdir(path);
    if (this.files.lookup(path)) throw new Errno(E.EXIST);
    if ((this.files.lookup(parentOf(path))?.kind ?? 'directory') !== 'directory') throw new Errno(E.NOTDIR);
    const answer = this.asking.about('mkdir', nameOf(path));
    if (!answer) {
      this.files.mkdir(path);
      return this.asking.tell('mkdir', nameOf(path));
    }
    check(answer[0]);
    this.files.addDirectory(path);
  }

  rmdir(path: string): void {
    this.look(path);
    if (!this.isShared(path) || this.files.lookup(path)?.kind !== 'directory')
      return this.files.remove(path, 'directory');
    if (this.files.list(path).length > 0) throw new Errno(E.NOTEMPTY);
    const answer = this.asking.about('rmdir', nameOf(path));
    // A directory that was there for its files alone went with the last of them.
    if (answer && answer[0] !== ERR.NO_SUCH_FILE) check(answer[0]);
    this.files.remove(path, 'directory');
    if (!answer) this.asking.tell('rmdir', nameOf(path));
  }

  unlink(path: string): void {
    this.look(path);
    this.files.remove(path, 'file');
    this.hasLeft(path);
  }

  rename(from: string, to: string): void {
    const { files } = this;
    this.look(from);
    this.isWhole(from);
    const node = files.lookup(from);
    if (node && from !== to) {
      this.look(parentOf(to));
      if (node.kind === 'directory') return this.renameDirectory(from, to);
    }
    files.rename(from, to);
    if (parentOf(from) !== parentOf(to)) this.hasLeft(from);
  }

  private renameDirectory(from: string, to: string): void {
    const { files, asking } = this;
    if (to.startsWith(`${from}/`)) throw new Errno(E.INVAL);
    if (this.isShared(to) && !files.lookup(to)) {
      const answer = asking.about('mkdir', nameOf(to));
      if (answer) check(answer[0]);
      else asking.tell('mkdir', nameOf(to));
    }
    const inside = files.directoriesBelow(from);
    files.rename(from, to);
    for (const path of inside) if (this.isShared(to + path)) asking.tell('mkdir', nameOf(to + path));
    for (const path of inside.reverse()) if (this.isShared(from + path)) asking.tell('rmdir', nameOf(from + path));
    if (this.isShared(from))
      asking.lastly(
        'rmdir',
        nameOf(from),
        `rename: the directory ${from} has files of other ranks. They stay there: a rank renames its own`,
      );
  }

  private isShared(path: string): boolean {
    return this.asking.way() !== 'no' && isResult(path);
  }

  /** Is a name that this rank does not know a directory of the job? */
  private look(path: string): void {
    if (!this.isShared(path) || this.files.lookup(path)) return;
    // It is, and no file.
    if (this.asking.about('size', nameOf(path))?.[0] === ERR.BAD_FILE) this.files.addDirectory(path);
  }

  /** N4. */
  private isWhole(path: string): void {
    const node = this.files.lookup(path);
    if (!node?.appended || !this.isShared(path)) return;
    this.files.flushOne(path, this.files.inodeNumber(path));
    const answer = this.asking.about('size', nameOf(path));
    if (answer?.[0] === ERR.SUCCESS && answer[1] !== node.size)
      this.complain(
        `${path}: other ranks have written to this file too. This rank has only what it has written itself`,
      );
  }

  /** Others may remove the directory as soon as they hear from this rank: what it held must be gone by then. */
  private hasLeft(path: string): void {
    if (parentOf(path) !== '' && this.isShared(path)) this.asking.lastly('size', nameOf(path));
  }
}
