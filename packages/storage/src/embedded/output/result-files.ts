/**
 * Result files of one job on the disk: performs the effects of the file service (packages/protocols/src/files), and
 * reads.
 *
 *   <out>/files/<path>   the files
 *   <out>/files.index    one JSON line per result file: {path, task}; {path, task, gone: true} when it was removed. For
 *                        jobs that have ended; of one that runs the journal knows them, and the index is written again
 *                        from it at each start.
 *
 *  D1  Every effect may be performed again, with all that followed it (the journal's suffix is, after a crash): what
 *      then cannot be done, because a later effect has put a directory in the place of a file or the other way round,
 *      is undone by that later effect anyway.
 *  D2  Nothing is written outside `files/`: paths were checked against ResultPath, and no link is ever made there.
 */
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  fdatasync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readSegments, writeSegments, type FileEffect, type JobFile, type RangeIo } from '@mayfly/protocols';
import { ResultPath, taskId, type Segments } from '@mayfly/wire';
import type { ResultFiles } from '../../ports/index.ts';

const fdatasyncAsync = promisify(fdatasync);
/** The schema as the JSON that it is. */
const schema = ResultPath as unknown as { pattern: string; maxLength: number };
const RESULT_PATH = new RegExp(schema.pattern);
const MAX_OPEN_FILES = 64;
const MOOT = new Set(['EISDIR', 'ENOTDIR', 'ENOENT', 'EEXIST', 'ENOTEMPTY', 'ERR_FS_EISDIR']);

export class FolderResultFiles implements ResultFiles {
  readonly #dir: string;
  readonly #out: string;
  readonly #input: (path: string) => string | undefined;
  /** Open for reading and writing, most recently used last. */
  readonly #fds = new Map<string, number>();
  /** Written since the last {@link sync}. */
  #dirty = new Set<string>();

  /** @param input where an input file of the job lies */
  constructor(out: string, input: (path: string) => string | undefined) {
    this.#out = out;
    this.#dir = join(out, 'files');
    this.#input = input;
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
  }

  /** @param again after a crash (D1); {@link enterAll} follows */
  perform(e: FileEffect, again = false): void {
    if (!again) return this.#perform(e, false);
    try {
      if (e.type === 'write' || e.type === 'resize') closeSync(openSync(join(this.#dir, e.path), 'a', 0o600));
      this.#perform(e, true);
    } catch (error) {
      if (!MOOT.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }

  #perform(e: FileEffect, again: boolean): void {
    const path = join(this.#dir, e.path);
    switch (e.type) {
      case 'create': {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        const input = e.input ? this.#input(e.path) : undefined;
        this.#drop(e.path);
        if (input === undefined) closeSync(openSync(path, 'w', 0o600));
        else copyFileSync(input, path);
        this.#dirty.add(e.path);
        if (!again) this.#enter({ path: e.path, task: e.task });
        return;
      }
      case 'write':
        this.#dirty.add(e.path);
        return writeSegments(rangeOf(this.#fd(e.path)), e.segments, e.data);
      case 'resize':
        this.#dirty.add(e.path);
        return ftruncateSync(this.#fd(e.path), e.size);
      case 'remove':
        this.#drop(e.path);
        this.#dirty.delete(e.path);
        rmSync(path, { force: true });
        for (let d = dirname(e.path); d !== '.' && removedEmpty(join(this.#dir, d)); d = dirname(d));
        if (!again) this.#enter({ path: e.path, task: 0, gone: true });
        return;
    }
  }

  /** Up to `size`, the length of the file. */
  read(path: string, input: boolean, segments: Segments, size: number): Uint8Array {
    if (!input) return readSegments(rangeOf(this.#fd(path)), segments, size);
    const from = this.#input(path);
    if (from === undefined) return new Uint8Array(0);
    const fd = openSync(from, 'r');
    try {
      return readSegments(rangeOf(fd), segments, size);
    } finally {
      closeSync(fd);
    }
  }

  /** Makes durable what was written up to now. */
  async sync(): Promise<void> {
    const paths = this.#dirty;
    this.#dirty = new Set();
    try {
      for (const path of paths) {
        let fd: number;
        try {
          // An fd of its own: those of the cache may be closed meanwhile.
          fd = openSync(join(this.#dir, path), 'r+');
        } catch (e) {
          if ((e as NodeJS.ErrnoException).code === 'ENOENT') continue;
          throw e;
        }
        await fdatasyncAsync(fd).finally(() => closeSync(fd));
      }
    } catch (e) {
      for (const path of paths) this.#dirty.add(path);
      throw e;
    }
  }

  close(): void {
    for (const fd of this.#fds.values()) closeSync(fd);
    this.#fds.clear();
  }

  /** After a start: the journal's state, whatever became of the index. */
  enterAll(files: ReadonlyMap<string, JobFile>): void {
    const path = join(this.#out, 'files.index');
    const lines = [...files].map(([name, f]) => JSON.stringify({ path: name, task: f.task }) + '\n');
    writeFileSync(`${path}.new`, lines.join(''), { mode: 0o600 });
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) rmSync(path, { recursive: true });
    renameSync(`${path}.new`, path);
  }

  #enter(line: { path: string; task: number; gone?: boolean }): void {
    appendFileSync(join(this.#out, 'files.index'), JSON.stringify(line) + '\n', { mode: 0o600 });
  }

  #drop(path: string): void {
    const fd = this.#fds.get(path);
    if (fd === undefined) return;
    this.#fds.delete(path);
    closeSync(fd);
  }

  #fd(path: string): number {
    let fd = this.#fds.get(path);
    if (fd !== undefined) {
      this.#fds.delete(path);
      this.#fds.set(path, fd);
      return fd;
    }
    if (this.#fds.size >= MAX_OPEN_FILES) this.#drop(this.#fds.keys().next().value!);
    // 'r+' does not truncate and honours positions; 'a' would ignore them.
    fd = openSync(join(this.#dir, path), 'r+', 0o600);
    this.#fds.set(path, fd);
    return fd;
  }
}

const rangeOf = (fd: number): RangeIo => ({
  read(into, at) {
    let done = 0;
    while (done < into.length) {
      const n = readSync(fd, into, done, into.length - done, at + done);
      if (n === 0) break;
      done += n;
    }
    return done;
  },
  write(from, at) {
    for (let done = 0; done < from.length;) done += writeSync(fd, from, done, from.length - done, at + done);
  },
});

function removedEmpty(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch {
    return false;
  }
}

/** Result files as files.index lists them. */
export function readFileIndex(out: string): Map<string, JobFile> {
  const files = new Map<string, JobFile>();
  let text: string;
  try {
    text = readFileSync(join(out, 'files.index'), 'utf8');
  } catch {
    return files;
  }
  for (const line of text.split('\n')) {
    if (line === '') continue;
    try {
      const { path, task, gone } = JSON.parse(line) as { path: string; task: number; gone?: boolean };
      if (gone) files.delete(path);
      else if (typeof path === 'string' && path.length <= schema.maxLength && RESULT_PATH.test(path))
        files.set(path, { task: taskId(task), size: 0 });
    } catch {
      // A torn last line: its file is entered again by the repeated message.
    }
  }
  for (const [path, f] of files)
    try {
      f.size = statSync(join(out, 'files', path)).size;
    } catch {
      files.delete(path);
    }
  return files;
}
