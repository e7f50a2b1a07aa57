/**
 * JobOutput in the folders of the jobs.
 *
 *   jobs/<job>/out/<task>.index, <task>.stdout, <task>.stderr   task-output.ts
 *   jobs/<job>/out/files/…, files.index                         result-files.ts
 *   jobs/<job>/out/journal                                      journal.ts
 *
 * Input files of the job are read, and copied, from `jobs/<job>/in` (../job-files.ts).
 */
import { createReadStream, readdirSync } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobFile } from '@mayfly/protocols';
import { checkedLength, taskId, type TaskId } from '@mayfly/wire';
import type { JobOutput, OpenOutput, Range, StreamName } from '../../ports/index.ts';
import { jobFolder } from '../job-files.ts';
import { FileJournal } from './journal.ts';
import { FolderResultFiles, readFileIndex } from './result-files.ts';
import { FileTaskOutput } from './task-output.ts';

/** Whoever reads more reads it in parts. */
const MOST_READ = 16 << 20;

export class FolderJobOutput implements JobOutput {
  readonly #root: string;

  /** @param root folder of all jobs */
  constructor(root: string) {
    this.#root = root;
  }

  async open(job: string, inputs: ReadonlyMap<string, string>): Promise<FolderOutput> {
    const folder = jobFolder(this.#root, job);
    const out = join(folder, 'out');
    return new FolderOutput(out, await readFileIndex(out), (path) => {
      const hash = inputs.get(path);
      return hash === undefined ? undefined : join(folder, 'in', hash);
    });
  }

  async streamBytes(job: string, task: TaskId, stream: StreamName): Promise<number> {
    return (await bytesOf(this.#streamPath(job, task, stream))) ?? 0;
  }

  async readStream(job: string, task: TaskId, stream: StreamName, from: number, max: number): Promise<Uint8Array> {
    const out = new Uint8Array(checkedLength(max, MOST_READ));
    const file = await open(this.#streamPath(job, task, stream), 'r');
    try {
      return out.subarray(0, (await file.read(out, 0, max, from)).bytesRead);
    } finally {
      await file.close();
    }
  }

  stream(job: string, task: TaskId, stream: StreamName): Range {
    return rangeOf(this.#streamPath(job, task, stream));
  }

  async files(job: string): Promise<Map<string, JobFile>> {
    return readFileIndex(this.#out(job));
  }

  file(job: string, path: string): Range {
    return rangeOf(join(this.#out(job), 'files', path));
  }

  async fileBytes(job: string, path: string): Promise<number | undefined> {
    return bytesOf(join(this.#out(job), 'files', path));
  }

  async remove(job: string): Promise<void> {
    await rm(this.#out(job), { recursive: true, force: true });
  }

  #out(job: string): string {
    return join(jobFolder(this.#root, job), 'out');
  }

  #streamPath(job: string, task: TaskId, stream: StreamName): string {
    return join(this.#out(job), `${task}.${stream}`);
  }
}

const bytesOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    (s) => s.size,
    () => undefined,
  );

const rangeOf = (path: string): Range =>
  async function* (from, to) {
    if (to > from)
      yield* createReadStream(path, {
        start: from,
        ...(to < Infinity ? { end: to - 1 } : {}),
      }) as AsyncIterable<Uint8Array>;
  };

export class FolderOutput implements OpenOutput {
  readonly files: FolderResultFiles;
  readonly found: ReadonlyMap<string, JobFile>;
  readonly journal: FileJournal;
  readonly #out: string;
  readonly #tasks = new Map<TaskId, FileTaskOutput>();

  constructor(out: string, found: ReadonlyMap<string, JobFile>, input: (path: string) => string | undefined) {
    this.#out = out;
    this.files = new FolderResultFiles(out, input, found);
    this.found = found;
    this.journal = new FileJournal(join(out, 'journal'));
  }

  tasks(): TaskId[] {
    return readdirSync(this.#out).flatMap((name) => {
      const m = /^(\d+)\.index$/.exec(name);
      return m ? [taskId(Number(m[1]))] : [];
    });
  }

  task(task: TaskId): FileTaskOutput {
    let t = this.#tasks.get(task);
    if (!t) this.#tasks.set(task, (t = new FileTaskOutput(join(this.#out, String(task)))));
    return t;
  }

  close(): void {
    this.journal.close();
    this.files.close();
    for (const t of this.#tasks.values()) t.close();
    this.#tasks.clear();
  }
}
