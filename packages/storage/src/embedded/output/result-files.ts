/**
 * Result files of one job on the disk: performs the effects of the file service (packages/protocols/src/files), and
 * reads.
 *
 *   <out>/files/<path>   the files
 *   <out>/files.index    one JSON line per result file: {path, task}. For jobs that have ended: it is written at a sync
 *                        and at each start. Of a job that runs the journal knows them.
 *
 *  D1  Every effect may be performed again, with all that followed it (the journal's suffix is, after a crash): what
 *      then cannot be done, because a later effect has put a directory in the place of a file or the other way round,
 *      is undone by that later effect anyway.
 *  D3  A file without bytes costs one open and one close: a rank can ask for tens of thousands at once.
 *  D4  A file is made of an input at most once in a job (the file service hides an input that was removed): all copies
 *      together are as long as the inputs, 48 MiB unless the server was told otherwise.
 *  D2  Nothing is written outside `files/`: paths were checked against ResultPath, and no link is ever made there.
 */
import {
  closeSync,
  copyFileSync,
  fdatasync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  rmdirSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
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
  /** Who made each file; whether files.index says so. */
  readonly #names: Map<string, number>;
  #entered = true;

  /** @param input where an input file of the job lies. @param found what files.index lists */
  constructor(
    out: string,
    input: (path: string) => string | undefined,
    found: ReadonlyMap<string, JobFile> = new Map<string, JobFile>(),
  ) {
    this.#out = out;
    this.#names = namesOf(found);
    this.#dir = join(out, 'files');
    this.#input = input;
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
  }

  /** @param again after a crash (D1); {@link enterAll} follows */
  perform(e: FileEffect, again = false): void {
    if (!again) return this.#perform(e);
    try {
      if (e.type === 'write' || e.type === 'resize') closeSync(openSync(join(this.#dir, e.path), 'a', 0o600));
      this.#perform(e);
    } catch (error) {
      if (!MOOT.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }

  #perform(e: FileEffect): void {
    const path = join(this.#dir, e.path);
    switch (e.type) {
      case 'create': {
        const input = e.input ? this.#input(e.path) : undefined;
        this.#drop(e.path);
        inFolder(path, () => {
          if (input === undefined) closeSync(openSync(path, 'w', 0o600));
          else copyFileSync(input, path);
        });
        this.#dirty.add(e.path);
        this.#names.set(e.path, e.task);
        this.#entered = false;
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
        this.#names.delete(e.path);
        this.#entered = false;
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
    this.enter();
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
    this.#names.clear();
    for (const [name, task] of namesOf(files)) this.#names.set(name, task);
    this.#entered = false;
    this.enter();
  }

  /** Brings files.index up to date. */
  enter(): void {
    if (this.#entered) return;
    const path = join(this.#out, 'files.index');
    const lines = [...this.#names].map(([name, task]) => JSON.stringify({ path: name, task }) + '\n');
    writeFileSync(`${path}.new`, lines.join(''), { mode: 0o600 });
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) rmSync(path, { recursive: true });
    renameSync(`${path}.new`, path);
    this.#entered = true;
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

const namesOf = (files: ReadonlyMap<string, JobFile>): Map<string, number> =>
  new Map([...files].map(([path, f]) => [path, f.task]));

/** The folder of a file is nearly always there (D3). */
function inFolder(path: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    make();
  }
}

function removedEmpty(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch {
    return false;
  }
}

/** So many at a time: there are few threads for the file system. */
const STATS = 64;

/** Result files as files.index lists them. */
export async function readFileIndex(out: string): Promise<Map<string, JobFile>> {
  const files = new Map<string, JobFile>();
  let text: string;
  try {
    text = await readFile(join(out, 'files.index'), 'utf8');
  } catch {
    return files;
  }
  for (const line of text.split('\n')) {
    if (line === '') continue;
    try {
      const { path, task } = JSON.parse(line) as { path: string; task: number };
      if (typeof path === 'string' && path.length <= schema.maxLength && RESULT_PATH.test(path))
        files.set(path, { task: taskId(task), size: 0 });
    } catch {
      // A torn last line: its file is entered again by the repeated message.
    }
  }
  const all = [...files];
  for (let at = 0; at < all.length; at += STATS)
    await Promise.all(
      all.slice(at, at + STATS).map(([path, f]) =>
        stat(join(out, 'files', path)).then(
          (s) => void (f.size = s.size),
          () => void files.delete(path),
        ),
      ),
    );
  return files;
}
