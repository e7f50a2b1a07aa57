/**
 * A tree of files that notes what one call of a driver learnt from the tree below it, and what the call left there.
 *
 * Owns: the note of one call. Invariants:
 *   N1  what the call asked of the tree is an input, also the absence of a file; what it asked about a file that it had
 *       written itself is not;
 *   N2  a file that the call wrote and removed again is no output;
 *   N3  a call that does something else than read and write files (folders, removing what was there) has no note.
 */
import { createHash } from 'node:crypto';
import { FileError, type FileStat, type FileTree } from '../../files.ts';

/** What a path was when the call asked. */
export interface Input {
  readonly kind: FileStat['kind'] | 'absent';
  /** SHA-256 of the contents, or of the names in a folder; undefined when the call looked at the kind alone. */
  readonly hash?: string;
  /** Equal numbers: one file by several paths. clang includes such a file once. */
  readonly file?: number;
}

export interface Output {
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

export const hashOf = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
const hashOfNames = (names: readonly string[]): string => hashOf(JSON.stringify(names));

/** The one macro whose value is a file's time. */
const TIME_OF_FILE = Buffer.from('__TIMESTAMP__');

export class TracedFiles implements FileTree {
  readonly inputs = new Map<string, Input>();
  readonly outputs = new Map<string, Output>();
  /** N3; or a text asks for the time of a file. */
  unrepeatable = false;
  readonly #base: FileTree;
  readonly #files = new Map<string, number>();

  constructor(base: FileTree) {
    this.#base = base;
  }

  /** N1: an output replaces what was there, so whether a file was there is no input. */
  note(): ReadonlyMap<string, Input> {
    return new Map(
      [...this.inputs].filter(
        ([path, input]) => !(this.outputs.has(path) && input.hash === undefined && input.kind !== 'directory'),
      ),
    );
  }

  #learn(path: string, input: Input): void {
    this.inputs.set(path, { ...input, ...this.inputs.get(path) });
  }

  stat(path: string): FileStat | undefined {
    const stat = this.#base.stat(path);
    if (!this.outputs.has(path)) this.#learn(path, inputOf(stat, this.#files));
    return stat;
  }

  read(path: string): Uint8Array | undefined {
    const bytes = this.#base.read(path);
    if (this.outputs.has(path)) return bytes;
    if (bytes === undefined) this.#learn(path, inputOf(this.#base.stat(path), this.#files));
    else {
      this.#learn(path, { kind: 'file', hash: hashOf(bytes) });
      if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(TIME_OF_FILE))
        this.unrepeatable = true;
    }
    return bytes;
  }

  list(path: string): string[] | undefined {
    const names = this.#base.list(path);
    if (names !== undefined) this.#learn(path, { kind: 'directory', hash: hashOfNames(names) });
    else this.#learn(path, inputOf(this.#base.stat(path), this.#files));
    return names;
  }

  write(path: string, bytes: Uint8Array, executable = false): void {
    this.#base.write(path, bytes, executable);
    this.outputs.set(path, { bytes, executable });
  }

  makeDirectory(path: string): void {
    this.unrepeatable = true;
    this.#base.makeDirectory(path);
  }

  remove(path: string, kind: 'file' | 'directory'): void {
    this.#base.remove(path, kind);
    if (!this.outputs.delete(path)) this.unrepeatable = true;
  }

  rename(from: string, to: string): void {
    this.#base.rename(from, to);
    const output = this.outputs.get(from);
    if (output === undefined) this.unrepeatable = true;
    else {
      this.outputs.delete(from);
      this.outputs.set(to, output);
    }
  }
}

function inputOf(stat: FileStat | undefined, files: Map<string, number>): Input {
  if (stat === undefined) return { kind: 'absent' };
  if (stat.kind === 'directory') return { kind: 'directory' };
  const id = `${stat.device} ${stat.id}`;
  let file = files.get(id);
  if (file === undefined) files.set(id, (file = files.size));
  return { kind: 'file', file };
}

/** Whether the tree would answer a call as it did when the note was made. */
export function unchanged(tree: FileTree, inputs: readonly (readonly [string, Input])[]): boolean {
  /** Numbers of the note by files of today, and the reverse. */
  const numbers = new Map<string, number>();
  const files = new Map<number, string>();
  try {
    return inputs.every(([path, input]) => {
      const stat = tree.stat(path);
      if ((stat?.kind ?? 'absent') !== input.kind) return false;
      if (input.file !== undefined) {
        const id = `${stat!.device} ${stat!.id}`;
        if ((numbers.get(id) ?? input.file) !== input.file || (files.get(input.file) ?? id) !== id) return false;
        numbers.set(id, input.file);
        files.set(input.file, id);
      }
      if (input.hash === undefined) return true;
      if (input.kind === 'directory') {
        const names = tree.list(path);
        return names !== undefined && hashOfNames(names) === input.hash;
      }
      const bytes = tree.read(path);
      return bytes !== undefined && hashOf(bytes) === input.hash;
    });
  } catch (error) {
    if (error instanceof FileError) return false;
    throw error;
  }
}
