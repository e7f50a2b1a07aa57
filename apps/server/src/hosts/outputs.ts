/** Reads what jobs have written, open or not: streams and result files. */
import type { JobFile } from '@mayfly/protocols';
import type { JobOutput, Range, StreamName } from '@mayfly/storage/ports';
import { ResultPath, type JobId, type TaskId } from '@mayfly/wire';
import { Compile } from 'typebox/compile';

const resultPath = Compile(ResultPath);

/** What an open job has in memory. */
export interface OpenFiles {
  readonly files: ReadonlyMap<string, JobFile>;
  /** As long as both are the same, so are the files. */
  readonly changes: Readonly<{ names: number; lengths: number }>;
  /** Length of a stream; undefined: the task has written nothing since the job was opened. */
  end(task: TaskId, stream: StreamName): number | undefined;
}

export interface ResultFile {
  path: string;
  bytes: number;
  /** That made it. */
  task: TaskId;
}

const byPath = (a: ResultFile, b: ResultFile): number => (a.path < b.path ? -1 : 1);
const listed = (files: ReadonlyMap<string, JobFile>): ResultFile[] =>
  [...files].map(([path, f]) => ({ path, bytes: f.size, task: f.task })).sort(byPath);

interface Listed {
  names: number;
  lengths: number;
  list: ResultFile[];
}

export class Outputs {
  readonly #output: JobOutput;
  readonly #open: (job: JobId) => OpenFiles | undefined;
  /** The last list of each open job: views ask for it far more often than it changes. */
  readonly #listed = new WeakMap<object, Listed>();

  constructor(output: JobOutput, open: (job: JobId) => OpenFiles | undefined) {
    this.#output = output;
    this.#open = open;
  }

  /** Bytes of a stream so far. */
  async size(job: JobId, task: TaskId, stream: StreamName): Promise<number> {
    return this.#open(job)?.end(task, stream) ?? this.#output.streamBytes(job, task, stream);
  }

  /** At most `max` bytes of a stream from an offset. */
  async read(job: JobId, task: TaskId, stream: StreamName, from: number, max: number): Promise<Uint8Array> {
    const n = Math.max(0, Math.min(max, (await this.size(job, task, stream)) - from));
    return n === 0 ? new Uint8Array(0) : this.#output.readStream(job, task, stream, from, n);
  }

  stream(job: JobId, task: TaskId, stream: StreamName): Range {
    return this.#output.stream(job, task, stream);
  }

  /** Result files of a job. */
  async files(job: JobId): Promise<ResultFile[]> {
    return listed(await this.#filesOf(job));
  }

  /** Result files of a job that is open, else none. The list is changed by nobody. */
  filesNow(job: JobId): ResultFile[] {
    const open = this.#open(job);
    if (!open) return [];
    const { files } = open;
    const { names, lengths } = open.changes;
    const last = this.#listed.get(files);
    if (last?.names === names && last.lengths === lengths) return last.list;
    const list =
      last?.names === names
        ? last.list.map((f) => (files.get(f.path)!.size === f.bytes ? f : { ...f, bytes: files.get(f.path)!.size }))
        : listed(files);
    this.#listed.set(files, { names, lengths, list });
    return list;
  }

  /** A result file; undefined: the job has none of that name. */
  async file(job: JobId, path: string): Promise<Range | undefined> {
    return (await this.#has(job, path)) ? this.#output.file(job, path) : undefined;
  }

  /** Length of a result file as it is kept; undefined: the job has none of that name. */
  async fileBytes(job: JobId, path: string): Promise<number | undefined> {
    return (await this.#has(job, path)) ? this.#output.fileBytes(job, path) : undefined;
  }

  async #has(job: JobId, path: string): Promise<boolean> {
    return resultPath.Check(path) && (await this.#filesOf(job)).has(path);
  }

  async #filesOf(job: JobId): Promise<ReadonlyMap<string, JobFile>> {
    return this.#open(job)?.files ?? this.#output.files(job);
  }
}
