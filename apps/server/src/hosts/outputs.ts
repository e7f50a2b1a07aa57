/** Reads what jobs have written, open or not: streams and result files, as world-host.ts lays them out. */
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobFile } from '@mayfly/protocols';
import { ResultPath, type JobId, type TaskId } from '@mayfly/wire';
import { Compile } from 'typebox/compile';
import { readFileIndex } from './world-files.ts';
import type { StreamName } from './world-types.ts';

const resultPath = Compile(ResultPath);

/** What an open job has in memory. */
export interface OpenOutput {
  readonly files: ReadonlyMap<string, JobFile>;
  /** Length of a stream; undefined: the task has written nothing since the job was opened. */
  end(task: TaskId, stream: StreamName): number | undefined;
}

/**
 * Bytes [from, to) of a stream or a file, in parts; opened when the first is asked for. One that is shorter by then
 * ends early.
 * @throws while it is read, what the file system says
 */
export type Range = (from: number, to: number) => AsyncIterable<Uint8Array>;

export class Outputs {
  readonly #root: string;
  readonly #open: (job: JobId) => OpenOutput | undefined;

  /** @param root folder of all jobs */
  constructor(root: string, open: (job: JobId) => OpenOutput | undefined) {
    this.#root = root;
    this.#open = open;
  }

  /** Bytes of a stream so far. */
  size(job: JobId, task: TaskId, stream: StreamName): number {
    const end = this.#open(job)?.end(task, stream);
    if (end !== undefined) return end;
    try {
      return statSync(this.#streamPath(job, task, stream)).size;
    } catch {
      return 0;
    }
  }

  /** At most `max` bytes of a stream from an offset. */
  read(job: JobId, task: TaskId, stream: StreamName, from: number, max: number): Uint8Array {
    const n = Math.max(0, Math.min(max, this.size(job, task, stream) - from));
    const out = new Uint8Array(n);
    if (n === 0) return out;
    const fd = openSync(this.#streamPath(job, task, stream), 'r');
    try {
      return out.subarray(0, readSync(fd, out, 0, n, from));
    } finally {
      closeSync(fd);
    }
  }

  stream(job: JobId, task: TaskId, stream: StreamName): Range {
    return rangeOf(this.#streamPath(job, task, stream));
  }

  #streamPath(job: JobId, task: TaskId, stream: StreamName): string {
    return join(this.#root, job, 'out', `${task}.${stream}`);
  }

  /** Result files of a job. */
  files(job: JobId): { path: string; bytes: number; task: TaskId }[] {
    return [...this.#filesOf(job)]
      .map(([path, f]) => ({ path, bytes: f.size, task: f.task }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Where a result file lies, or undefined when the job has none of that name. */
  filePath(job: JobId, path: string): string | undefined {
    if (!resultPath.Check(path) || !this.#filesOf(job).has(path)) return undefined;
    return join(this.#root, job, 'out', 'files', path);
  }

  /** A result file; undefined: the job has none of that name. */
  file(job: JobId, path: string): Range | undefined {
    const at = this.filePath(job, path);
    return at === undefined ? undefined : rangeOf(at);
  }

  /** Length of a result file as it lies there; undefined: the job has none of that name. */
  async fileBytes(job: JobId, path: string): Promise<number | undefined> {
    const at = this.filePath(job, path);
    if (at === undefined) return undefined;
    return stat(at).then(
      (s) => s.size,
      () => undefined,
    );
  }

  #filesOf(job: JobId): ReadonlyMap<string, JobFile> {
    return this.#open(job)?.files ?? readFileIndex(join(this.#root, job, 'out'));
  }
}

const rangeOf = (path: string): Range =>
  async function* (from, to) {
    if (to > from)
      yield* createReadStream(path, {
        start: from,
        ...(to < Infinity ? { end: to - 1 } : {}),
      }) as AsyncIterable<Uint8Array>;
  };
