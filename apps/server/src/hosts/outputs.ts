/** Reads what jobs have written, open or not: streams and result files. */
import type { JobFile } from '@mayfly/protocols';
import type { JobOutput, Range, StreamName } from '@mayfly/storage/ports';
import { ResultPath, type JobId, type TaskId } from '@mayfly/wire';
import { Compile } from 'typebox/compile';

const resultPath = Compile(ResultPath);

/** What an open job has in memory. */
export interface OpenFiles {
  readonly files: ReadonlyMap<string, JobFile>;
  /** Length of a stream; undefined: the task has written nothing since the job was opened. */
  end(task: TaskId, stream: StreamName): number | undefined;
}

export class Outputs {
  readonly #output: JobOutput;
  readonly #open: (job: JobId) => OpenFiles | undefined;

  constructor(output: JobOutput, open: (job: JobId) => OpenFiles | undefined) {
    this.#output = output;
    this.#open = open;
  }

  /** Bytes of a stream so far. */
  size(job: JobId, task: TaskId, stream: StreamName): number {
    return this.#open(job)?.end(task, stream) ?? this.#output.streamBytes(job, task, stream);
  }

  /** At most `max` bytes of a stream from an offset. */
  read(job: JobId, task: TaskId, stream: StreamName, from: number, max: number): Uint8Array {
    const n = Math.max(0, Math.min(max, this.size(job, task, stream) - from));
    return n === 0 ? new Uint8Array(0) : this.#output.readStream(job, task, stream, from, n);
  }

  stream(job: JobId, task: TaskId, stream: StreamName): Range {
    return this.#output.stream(job, task, stream);
  }

  /** Result files of a job. */
  files(job: JobId): { path: string; bytes: number; task: TaskId }[] {
    return [...this.#filesOf(job)]
      .map(([path, f]) => ({ path, bytes: f.size, task: f.task }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** A result file; undefined: the job has none of that name. */
  file(job: JobId, path: string): Range | undefined {
    return this.#has(job, path) ? this.#output.file(job, path) : undefined;
  }

  /** Length of a result file as it is kept; undefined: the job has none of that name. */
  async fileBytes(job: JobId, path: string): Promise<number | undefined> {
    return this.#has(job, path) ? this.#output.fileBytes(job, path) : undefined;
  }

  #has(job: JobId, path: string): boolean {
    return resultPath.Check(path) && this.#filesOf(job).has(path);
  }

  #filesOf(job: JobId): ReadonlyMap<string, JobFile> {
    return this.#open(job)?.files ?? this.#output.files(job);
  }
}
