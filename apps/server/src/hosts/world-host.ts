/**
 * The world's end of a job: turns numbered messages task → WORLD into files, once each.
 *
 *   <dataDir>/jobs/<job>/out/<task>.index    place of every message (world-index.ts)
 *   <dataDir>/jobs/<job>/out/<task>.stdout   bytes of standard output, by offset
 *   <dataDir>/jobs/<job>/out/<task>.stderr
 *   <dataDir>/jobs/<job>/out/files/<path>    result files, written with the tasks' own offsets
 *   <dataDir>/jobs/<job>/out/files.index     one JSON line per result file: {path, task}; {path, task, gone: true} when it was removed
 *
 *  O1  Delivering a message a second time changes nothing (W1–W3).
 *  O2  Nothing is written outside `out/`: a path is checked against FilePath, and no link is ever made there.
 *  O3  The sum of streams and file lengths never exceeds the job's limit; the message that would pass it ends the job.
 *  O4  The log of a task's messages to the world is trimmed only after `sync` of what they wrote.
 */
import { closeSync, existsSync, fdatasync, mkdirSync, openSync, ftruncateSync, readFileSync, readSync, readdirSync, statSync, writeSync, appendFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Compile } from 'typebox/compile';
import { ExitReport, FilePath, MayflyError, WorldMode, taskId, type JobId, type TaskId } from '@mayfly/wire';
import { WorldIndex } from './world-index.ts';

const fdatasyncAsync = promisify(fdatasync);
const filePath = Compile(FilePath);
const exitReport = Compile(ExitReport);
const utf8 = new TextDecoder('utf-8', { fatal: true });

export type StreamName = 'stdout' | 'stderr';
const streamOf = (mode: number): StreamName | undefined => (mode === WorldMode.STDOUT ? 'stdout' : mode === WorldMode.STDERR ? 'stderr' : undefined);

export interface WorldListener {
  /** Fresh bytes of a stream (not on a repeated delivery). `bytes` may be reused after the call. */
  output(job: JobId, task: TaskId, stream: StreamName, offset: number, bytes: Uint8Array): void;
  file(job: JobId, path: string, bytes: number): void;
  /** The EXIT message: the last one of a task. May come again. */
  exit(job: JobId, task: TaskId, report: ExitReport): void;
  /** Sum of all output of the job has changed. */
  total(job: JobId, bytes: number): void;
  /** The job cannot go on because of what it wrote. */
  failed(job: JobId, error: { code: string; message: string }): void;
}

interface TaskOutput {
  index: WorldIndex;
  fds: Map<string, number>;
}

interface JobOutput {
  dir: string;
  limit: number;
  total: number;
  failed: boolean;
  tasks: Map<TaskId, TaskOutput>;
  files: Map<string, { task: TaskId; bytes: number }>;
}

const MAX_OPEN_FILES = 32;

export class WorldHost {
  readonly #root: string;
  readonly #listener: WorldListener;
  readonly #jobs = new Map<JobId, JobOutput>();

  constructor(dataDir: string, listener: WorldListener) {
    this.#root = join(dataDir, 'jobs');
    this.#listener = listener;
  }

  /** Makes ready (again, after a restart) what a job writes. Idempotent. */
  open(job: JobId, limit: number): void {
    if (this.#jobs.has(job)) return;
    const dir = join(this.#root, job, 'out');
    mkdirSync(join(dir, 'files'), { recursive: true, mode: 0o700 });
    const o: JobOutput = { dir, limit, total: 0, failed: false, tasks: new Map(), files: readFileIndex(dir) };
    this.#jobs.set(job, o);
    for (const name of readdirSync(dir)) {
      const m = /^(\d+)\.index$/.exec(name);
      if (m) {
        const t = this.#task(o, taskId(Number(m[1])));
        o.total += t.index.end(WorldMode.STDOUT) + t.index.end(WorldMode.STDERR);
      }
    }
    for (const f of o.files.values()) o.total += f.bytes;
  }

  /** Bytes that the job has written, or 0 when it is not open. */
  total(job: JobId): number {
    return this.#jobs.get(job)?.total ?? 0;
  }

  /**
   * Message number `n` (from 1) of task → WORLD, whole. Messages of one task come in order; repetitions are welcome (O1).
   * @throws MayflyError OUT_OF_SEQUENCE when one before it never came.
   */
  deliver(job: JobId, task: TaskId, n: number, mode: number, body: Uint8Array): void {
    const o = this.#jobs.get(job);
    if (!o) return;
    const t = this.#task(o, task);
    if (o.failed) return;
    const fresh = n >= t.index.next;
    const stream = streamOf(mode);
    if (stream !== undefined && fresh && o.total + body.length > o.limit) return this.#over(job, o, task);
    const place = t.index.place(n, mode, body.length);
    if (!place) throw new MayflyError('OUT_OF_SEQUENCE', `message ${n} of task ${task} to the world came before message ${t.index.next}`);
    if (place.mode !== mode || place.length !== body.length) throw new MayflyError('LOST_LOG', `message ${n} of task ${task} to the world came again as another one`);
    if (stream !== undefined) {
      writeAll(this.#fd(o, t, `${task}.${stream}`), body, place.start);
      if (fresh && body.length > 0) {
        o.total += body.length;
        this.#listener.output(job, task, stream, place.start, body);
        this.#listener.total(job, o.total);
      }
    } else if (mode === WorldMode.FILE) this.#file(job, o, t, task, body, fresh);
    else if (mode === WorldMode.CUT) this.#cut(job, o, t, task, body, fresh);
    else if (mode === WorldMode.EXIT) this.#listener.exit(job, task, readExit(body));
    else this.#fail(job, o, { code: 'BAD_FRAME', message: `Task ${task} sent the world a message of unknown mode ${mode}.` });
  }

  #file(job: JobId, o: JobOutput, t: TaskOutput, task: TaskId, body: Uint8Array, fresh: boolean): void {
    const parsed = readFileMessage(body);
    if (!parsed || !filePath.Check(parsed.path))
      return this.#fail(job, o, { code: 'PROGRAM_ERROR', message: `Task ${task} wrote a result file whose name is not allowed: ${JSON.stringify(parsed?.path ?? '')}.` });
    const { path, offset, bytes } = parsed;
    const known = o.files.get(path);
    const size = Math.max(known?.bytes ?? 0, offset + bytes.length);
    // What comes again passed once; on the way through the past a file may be there that was removed later.
    if (fresh && o.total + size - (known?.bytes ?? 0) > o.limit) return this.#over(job, o, task);
    if (!known && !this.#enter(job, o, t, task, path)) return;
    writeAll(this.#fd(o, t, `files/${path}`), bytes, offset);
    o.total += size - (known?.bytes ?? 0);
    o.files.set(path, { task: known?.task ?? task, bytes: size });
    this.#listener.file(job, path, size);
    this.#listener.total(job, o.total);
  }

  /** A new result file. @returns false when it cannot be: the job has failed then */
  #enter(job: JobId, o: JobOutput, t: TaskOutput, task: TaskId, path: string): boolean {
    try {
      mkdirSync(dirname(join(o.dir, 'files', path)), { recursive: true, mode: 0o700 });
      // Opened before it is entered: 'a' and 'a/b' cannot both be files.
      this.#fd(o, t, `files/${path}`);
    } catch (e) {
      const code = (e as NodeJS.ErrnoException).code;
      if (code !== 'ENOTDIR' && code !== 'EISDIR' && code !== 'EEXIST') throw e;
      this.#fail(job, o, { code: 'PROGRAM_ERROR', message: `Task ${task} wrote '${path}', but a part of that path is another result file, or the other way round.` });
      return false;
    }
    appendFileSync(join(o.dir, 'files.index'), JSON.stringify({ path, task }) + '\n', { mode: 0o600 });
    return true;
  }

  /**
   * A result file gets another length, or is no result any more. What is to have a length comes into being, so that the message means the same when it comes
   * again; what is removed and not there (the removal comes again) stays away.
   */
  #cut(job: JobId, o: JobOutput, t: TaskOutput, task: TaskId, body: Uint8Array, fresh: boolean): void {
    const parsed = readFileMessage(body);
    if (!parsed || !filePath.Check(parsed.path)) return this.#fail(job, o, { code: 'BAD_FRAME', message: `Task ${task} cut a result file without a name.` });
    const { path, offset: length } = parsed;
    const known = o.files.get(path);
    const before = known?.bytes ?? 0;
    const gone = length === Number.MAX_SAFE_INTEGER;
    if (gone && !known) return;
    const size = gone ? 0 : length;
    if (fresh && o.total + size - before > o.limit) return this.#over(job, o, task);
    if (!known && !this.#enter(job, o, t, task, path)) return;
    ftruncateSync(this.#fd(o, t, `files/${path}`), size);
    if (gone) {
      o.files.delete(path);
      appendFileSync(join(o.dir, 'files.index'), JSON.stringify({ path, task, gone }) + '\n', { mode: 0o600 });
    } else o.files.set(path, { task: known?.task ?? task, bytes: size });
    o.total += size - before;
    this.#listener.file(job, path, size);
    this.#listener.total(job, o.total);
  }

  #over(job: JobId, o: JobOutput, task: TaskId): void {
    this.#fail(job, o, { code: 'OUTPUT_LIMIT', message: `The job has written ${o.total} bytes, and task ${task} wrote more than the limit of ${o.limit} bytes allows.` });
  }
  #fail(job: JobId, o: JobOutput, error: { code: string; message: string }): void {
    if (o.failed) return;
    o.failed = true;
    this.#listener.failed(job, error);
  }

  /** Bytes of a stream so far. */
  size(job: JobId, task: TaskId, stream: StreamName): number {
    const t = this.#jobs.get(job)?.tasks.get(task);
    if (t) return t.index.end(stream === 'stdout' ? WorldMode.STDOUT : WorldMode.STDERR);
    try {
      return statSync(this.streamPath(job, task, stream)).size;
    } catch {
      return 0;
    }
  }

  /** At most `max` bytes of a stream from an offset. */
  read(job: JobId, task: TaskId, stream: StreamName, from: number, max: number): Uint8Array {
    const n = Math.max(0, Math.min(max, this.size(job, task, stream) - from));
    const out = new Uint8Array(n);
    if (n === 0) return out;
    const fd = openSync(this.streamPath(job, task, stream), 'r');
    try {
      return out.subarray(0, readSync(fd, out, 0, n, from));
    } finally {
      closeSync(fd);
    }
  }

  streamPath(job: JobId, task: TaskId, stream: StreamName): string {
    return join(this.#root, job, 'out', `${task}.${stream}`);
  }

  /** Result files of a job, open or not. */
  files(job: JobId): { path: string; bytes: number; task: TaskId }[] {
    const map = this.#jobs.get(job)?.files ?? readFileIndex(join(this.#root, job, 'out'));
    return [...map].map(([path, f]) => ({ path, bytes: f.bytes, task: f.task })).sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Where a result file lies, or undefined when the job has none of that name. */
  filePath(job: JobId, path: string): string | undefined {
    if (!filePath.Check(path)) return undefined;
    const map = this.#jobs.get(job)?.files ?? readFileIndex(join(this.#root, job, 'out'));
    return map.has(path) ? join(this.#root, job, 'out', 'files', path) : undefined;
  }

  /** Makes everything durable that a task has written (O4). */
  async sync(job: JobId, task?: TaskId): Promise<void> {
    const o = this.#jobs.get(job);
    if (!o) return;
    for (const [id, t] of o.tasks) {
      if (task !== undefined && id !== task) continue;
      await Promise.all([...t.fds.values()].map((fd) => fdatasyncAsync(fd)));
      await t.index.sync();
    }
  }

  /** The job has ended: nothing is written any more. */
  async close(job: JobId): Promise<void> {
    const o = this.#jobs.get(job);
    if (!o) return;
    await this.sync(job).catch(() => undefined);
    this.#jobs.delete(job);
    for (const t of o.tasks.values()) {
      for (const fd of t.fds.values()) closeSync(fd);
      t.index.close();
    }
  }

  async remove(job: JobId): Promise<void> {
    await this.close(job);
    await rm(join(this.#root, job, 'out'), { recursive: true, force: true });
  }

  async closeAll(): Promise<void> {
    for (const job of [...this.#jobs.keys()]) await this.close(job);
  }

  #task(o: JobOutput, task: TaskId): TaskOutput {
    let t = o.tasks.get(task);
    if (!t) {
      t = { index: new WorldIndex(join(o.dir, `${task}.index`)), fds: new Map() };
      o.tasks.set(task, t);
    }
    return t;
  }

  /** Open for writing, most recently used last; the oldest are synced by closing later than O4 needs, so they are synced here. */
  #fd(o: JobOutput, t: TaskOutput, name: string): number {
    let fd = t.fds.get(name);
    if (fd !== undefined) {
      t.fds.delete(name);
      t.fds.set(name, fd);
      return fd;
    }
    if (t.fds.size >= MAX_OPEN_FILES) {
      const [old, oldFd] = t.fds.entries().next().value!;
      t.fds.delete(old);
      void fdatasyncAsync(oldFd).finally(() => closeSync(oldFd));
    }
    const path = join(o.dir, name);
    // 'r+' does not truncate and honours positions; 'a' would ignore them.
    fd = openSync(path, existsSync(path) ? 'r+' : 'w+', 0o600);
    t.fds.set(name, fd);
    return fd;
  }
}

function writeAll(fd: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, at + done);
}

/** Body of a FILE message: u16 name length, name, u64 offset, bytes. */
function readFileMessage(body: Uint8Array): { path: string; offset: number; bytes: Uint8Array } | undefined {
  if (body.length < 10) return undefined;
  const v = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const n = v.getUint16(0, true);
  if (body.length < 10 + n) return undefined;
  const offset = v.getUint32(2 + n, true) + v.getUint32(6 + n, true) * 4294967296;
  if (!Number.isSafeInteger(offset)) return undefined;
  try {
    return { path: utf8.decode(body.subarray(2, 2 + n)), offset, bytes: body.subarray(10 + n) };
  } catch {
    return undefined;
  }
}

function readExit(body: Uint8Array): ExitReport {
  try {
    const report: unknown = JSON.parse(utf8.decode(body));
    if (exitReport.Check(report)) return report;
  } catch {
    // Falls through: the node sent nonsense.
  }
  return { code: 255, abort: { code: 'PROGRAM_ERROR', message: 'The task ended with a report that cannot be read.' } };
}

function readFileIndex(dir: string): Map<string, { task: TaskId; bytes: number }> {
  const out = new Map<string, { task: TaskId; bytes: number }>();
  let text: string;
  try {
    text = readFileSync(join(dir, 'files.index'), 'utf8');
  } catch {
    return out;
  }
  for (const line of text.split('\n')) {
    if (line === '') continue;
    try {
      const { path, task, gone } = JSON.parse(line) as { path: string; task: number; gone?: boolean };
      if (gone) out.delete(path);
      else if (filePath.Check(path)) out.set(path, { task: taskId(task), bytes: statSync(join(dir, 'files', path)).size });
    } catch {
      // A torn last line: its file is entered again by the repeated message.
    }
  }
  return out;
}
