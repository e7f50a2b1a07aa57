/**
 * The output of one job while it is open: local files, as the embedded adapter keeps them, and what of them the
 * database lacks.
 *
 *  L1  A sync resolves when all that was written before it is in the database.
 *  L2  Syncs of a job go one after another: no later one finds marks that an earlier one has yet to bring there.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { FileEffect, FileSnapshot, JobFile, Outcome } from '@mayfly/protocols';
import { SEGMENT_WORDS, type Segments, type TaskId } from '@mayfly/wire';
import type { FolderOutput } from '../../embedded/output/job-output.ts';
import type { FolderResultFiles } from '../../embedded/output/result-files.ts';
import { RECORD } from '../../embedded/output/task-output.ts';
import type { OpenOutput, OutputJournal, Place, ResultFiles, StreamName, TaskOutput } from '../../ports/index.ts';
import { Marks } from './marks.ts';
import type { Rows } from './rows.ts';

const FILES = 'files/';

/** Outlives an {@link OpenOutput}: what the database lacks is there when the job is opened again. */
export class Spool {
  readonly marks = new Marks();
  /** Of result files, by their names here: who made them. */
  readonly tasks = new Map<string, number>();
  /** Something may be written. */
  open = false;
  readonly job: string;
  readonly out: string;
  readonly #rows: Rows;
  #last: Promise<void> = Promise.resolve();

  /** @param folder of the job */
  constructor(job: string, folder: string, rows: Rows) {
    this.job = job;
    this.out = join(folder, 'out');
    this.#rows = rows;
  }

  /** L1, L2. */
  sync(wanted: (name: string) => boolean): Promise<void> {
    const run = this.#last.then(async () => {
      const taken = this.marks.take(wanted);
      if (taken.size === 0) return;
      try {
        await this.#rows.store(this.job, this.out, taken, this.tasks);
      } catch (error) {
        this.marks.putBack(taken);
        throw error;
      }
    });
    this.#last = run.catch(() => undefined);
    return run;
  }

  /** No sync is under way. */
  async settled(): Promise<void> {
    await this.#last;
  }
}

export class SpooledOutput implements OpenOutput {
  readonly files: ResultFiles;
  readonly journal: OutputJournal;
  readonly found: ReadonlyMap<string, JobFile>;
  readonly #base: FolderOutput;
  readonly #spool: Spool;
  readonly #closed: () => void;
  readonly #tasks = new Map<TaskId, TaskOutput>();

  constructor(base: FolderOutput, spool: Spool, closed: () => void) {
    this.#base = base;
    this.#spool = spool;
    this.#closed = closed;
    this.found = base.found;
    this.files = new SpooledFiles(base.files, spool);
    this.journal = new SpooledJournal(base.journal, spool);
  }

  tasks(): TaskId[] {
    return this.#base.tasks();
  }

  task(task: TaskId): TaskOutput {
    let t = this.#tasks.get(task);
    if (!t) this.#tasks.set(task, (t = new SpooledTask(this.#base.task(task), this.#spool, String(task))));
    return t;
  }

  close(): void {
    this.#base.close();
    this.#closed();
  }
}

class SpooledTask implements TaskOutput {
  readonly #base: TaskOutput;
  readonly #spool: Spool;
  readonly #name: string;

  constructor(base: TaskOutput, spool: Spool, name: string) {
    this.#base = base;
    this.#spool = spool;
    this.#name = name;
  }

  get next(): number {
    return this.#base.next;
  }

  end(stream: StreamName): number {
    return this.#base.end(stream);
  }

  place(n: number, mode: number, body: Uint8Array): Place | undefined {
    this.#spool.marks.written(`${this.#name}.index`, (n - 1) * RECORD, n * RECORD);
    return this.#base.place(n, mode, body);
  }

  takeBack(mode: number, place: Place): void {
    this.#base.takeBack(mode, place);
    const at = (this.#base.next - 1) * RECORD;
    this.#spool.marks.written(`${this.#name}.index`, at, at);
  }

  write(stream: StreamName, bytes: Uint8Array, at: number): void {
    this.#spool.marks.written(`${this.#name}.${stream}`, at, at + bytes.length);
    this.#base.write(stream, bytes, at);
  }

  sync(): Promise<void> {
    return this.#spool.sync((name) => name.startsWith(`${this.#name}.`));
  }
}

class SpooledFiles implements ResultFiles {
  readonly #base: FolderResultFiles;
  readonly #spool: Spool;

  constructor(base: FolderResultFiles, spool: Spool) {
    this.#base = base;
    this.#spool = spool;
  }

  perform(e: FileEffect, again?: boolean): void {
    const name = FILES + e.path;
    const { marks, tasks } = this.#spool;
    if (e.type === 'create') {
      marks.replaced(name);
      tasks.set(name, e.task);
    } else if (e.type === 'remove') marks.replaced(name);
    else if (e.type === 'resize') this.#written(name, e.size, e.size);
    else
      for (let s = 0; s < e.segments.length; s += SEGMENT_WORDS) {
        const [start, length, count, stride] = e.segments.slice(s, s + SEGMENT_WORDS) as [
          number,
          number,
          number,
          number,
        ];
        for (let k = 0; k < count; k++) this.#written(name, start + k * stride, start + k * stride + length);
      }
    this.#base.perform(e, again);
  }

  /** A file that grows has zeros between its end and what is written. */
  #written(name: string, from: number, to: number): void {
    const end = statSync(join(this.#spool.out, name), { throwIfNoEntry: false })?.size ?? 0;
    this.#spool.marks.written(name, Math.min(from, end), to);
  }

  read(path: string, input: boolean, segments: Segments, size: number): Uint8Array {
    return this.#base.read(path, input, segments, size);
  }

  async sync(): Promise<void> {
    // As long as files are here, the list of them is.
    this.#base.enter();
    await this.#spool.sync((name) => name.startsWith(FILES));
  }

  enterAll(files: ReadonlyMap<string, JobFile>): void {
    this.#base.enterAll(files);
    for (const [path, f] of files) this.#spool.tasks.set(FILES + path, f.task);
  }
}

class SpooledJournal implements OutputJournal {
  readonly #base: OutputJournal;
  readonly #spool: Spool;

  constructor(base: OutputJournal, spool: Spool) {
    this.#base = base;
    this.#spool = spool;
  }

  get bytes(): number {
    return this.#base.bytes;
  }

  replay(on: { snapshot(s: FileSnapshot): void; message(outcome: Outcome, body: Uint8Array): void }): void {
    this.#base.replay(on);
    // A torn tail was cut.
    this.#spool.marks.written('journal', this.bytes, this.bytes);
  }

  begin(snapshot: FileSnapshot): void {
    this.#marking(() => this.#base.begin(snapshot));
  }

  append(outcome: Outcome, body: Uint8Array): void {
    this.#marking(() => this.#base.append(outcome, body));
  }

  #marking(write: () => void): void {
    const from = this.bytes;
    try {
      write();
    } finally {
      this.#spool.marks.written('journal', from, this.bytes);
    }
  }

  sync(): Promise<void> {
    return this.#spool.sync((name) => name === 'journal');
  }

  async rewrite(snapshot: FileSnapshot, at: number): Promise<void> {
    this.#spool.marks.replaced('journal');
    await this.#base.rewrite(snapshot, at);
    await this.sync();
  }
}
