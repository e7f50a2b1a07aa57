/**
 * The world's end of a job: turns numbered messages task → WORLD into output, once each. The port JobOutput keeps it:
 * streams of each task, result files as the file service decides (packages/protocols/src/files), and the journal of
 * what it has decided.
 *
 *  O1  Delivering a message a second time changes nothing (W1–W3; S1 of the file service).
 *  O2  Nothing is written outside `out/` (D2 of the embedded adapter).
 *  O3  The sum of streams and file lengths never exceeds the job's limit; the message that would pass it ends the job,
 *      or is answered QUOTA.
 *  O4  The log of a task's messages to the world is trimmed only after `sync` of what they wrote: streams, and the
 *      journal of the files.
 *  O6  A write or a sync that finds storage stopped stops the output of the job: nothing of it is written or counts as
 *      durable until it is opened again, from its files and its journal, as after a start of the server. Messages
 *      meanwhile come again from the log (O1), or wait here where there is none.
 *  O5  The answer to a request goes out after its journal record is durable (J1), and kept until the task's log has it
 *      durably.
 */
import { FileService, type Fatal } from '@mayfly/protocols';
import type { JobOutput, OpenOutput, StreamName, TaskOutput } from '@mayfly/storage/ports';
import { MayflyError, WorldMode, spawnedTasks, type Incarnation, type JobId, type TaskId } from '@mayfly/wire';
import { SpawnPatience } from '../jobs/spawn-patience.ts';
import { readExit, totalOf, type JobWorld, type Message } from './job-world.ts';
import { Outputs } from './outputs.ts';
import type { WorldListener, WorldOptions } from './world-listener.ts';

const streamOf = (mode: number): StreamName | undefined =>
  mode === WorldMode.STDOUT ? 'stdout' : mode === WorldMode.STDERR ? 'stderr' : undefined;

const noop = (): void => undefined;

/** A journal of this length is replaced by a snapshot at the next sync. */
const JOURNAL_BYTES = 32 << 20;
/** The journal of a job that has ended is kept as it is up to this length. */
const CLOSED_JOURNAL_BYTES = 1 << 20;

export class WorldHost {
  readonly outputs: Outputs;
  readonly #output: JobOutput;
  readonly #listener: WorldListener;
  readonly #jobs = new Map<JobId, JobWorld>();

  constructor(output: JobOutput, listener: WorldListener) {
    this.#output = output;
    this.outputs = new Outputs(output, (job) => {
      const o = this.#jobs.get(job);
      return (
        o && {
          files: o.service.files,
          changes: o.service.changes,
          end: (task, stream) => o.tasks.get(task)?.end(stream),
        }
      );
    });
    this.#listener = listener;
  }

  /** Makes ready (again, after a restart) what a job writes. Idempotent. */
  async open(job: JobId, limit: number, options: WorldOptions = {}): Promise<void> {
    if (this.#jobs.has(job)) return;
    this.#begin(job, limit, options, await this.#openOutput(job, options));
  }

  #openOutput(job: JobId, { inputs = [] }: WorldOptions): Promise<OpenOutput> {
    return this.#output.open(job, new Map(inputs.map((f) => [f.path, f.hash])));
  }

  #begin(job: JobId, limit: number, options: WorldOptions, output: OpenOutput): JobWorld {
    const inputs = options.inputs ?? [];
    const o: JobWorld = {
      output,
      limit,
      options,
      stopped: false,
      released: false,
      unwritten: [],
      doubtful: false,
      streams: 0,
      failed: false,
      tasks: new Map(),
      service: new FileService(
        limit,
        new Map(inputs.map((f) => [f.path, f.bytes])),
        new Map(output.found),
        options.tasks,
        (count, task) => this.#refusal(job, task, count),
      ),
      durable: options.durable ?? true,
      told: 0,
      answerable: new Map(),
      patience: new SpawnPatience(() => this.#commit(job, o), options.leavingMs),
      syncs: new Set(),
      closing: false,
      committing: undefined,
      compacting: undefined,
    };
    this.#jobs.set(job, o);
    try {
      this.#restore(job, o);
    } catch (error) {
      // Half open is not open.
      this.#jobs.delete(job);
      this.#release(o);
      throw error;
    }
    return o;
  }

  #restore(job: JobId, o: JobWorld): void {
    for (const task of o.output.tasks()) {
      const t = this.#task(o, task);
      o.streams += t.end('stdout') + t.end('stderr');
    }
    o.output.journal.replay({
      snapshot: (s) => o.service.restore(s),
      message: (outcome, body) => o.service.apply(outcome, body).forEach((e) => o.output.files.perform(e, true)),
    });
    // What was read from the disk may be in its cache alone. A new journal begins with the files that a directory
    // without one has.
    if (o.output.journal.bytes > 0) {
      o.output.files.enterAll(o.service.files);
      this.#commit(job, o);
    } else o.output.journal.begin(o.service.snapshot());
  }

  /** Tasks of an open job, spawned ones included. */
  tasks(job: JobId): number {
    return this.#jobs.get(job)?.service.tasksOfJob ?? 0;
  }
  #refusal(job: JobId, task: TaskId, count: number): number {
    const o = this.#jobs.get(job)!;
    const underWay = o.service.spawned.slice(o.told).reduce((n, g) => n + spawnedTasks(g.parts), 0);
    return o.patience.decide(
      task,
      o.service.requests(task) + 1,
      this.#listener.refusal(job, task, count, o.service.tasksOfJob, underWay),
    );
  }

  /** A task of the job has ended: spawns that wait for slots may ask again. */
  slotFree(job: JobId): void {
    this.#jobs.get(job)?.patience.slotFree();
  }

  /** Bytes that the job has written, or 0 when it is not open. */
  total(job: JobId): number {
    const o = this.#jobs.get(job);
    return o ? totalOf(o) : 0;
  }

  /**
   * Message number `n` (from 1) of task → WORLD, whole. Messages of one task come in order; repetitions are welcome
   * (O1).
   * @throws MayflyError OUT_OF_SEQUENCE when one before it never came; the error of the file system, when storage is
   * stopped and the message will come again (O6)
   */
  deliver(job: JobId, task: TaskId, incarnation: Incarnation, n: number, mode: number, body: Uint8Array): void {
    const o = this.#jobs.get(job);
    if (!o || o.failed) return;
    try {
      if (o.stopped) throw new MayflyError('STORAGE_FAILED', 'the output of the job is stopped');
      this.#deliver(job, o, { task, incarnation, n, mode, body });
    } catch (error) {
      if (!o.stopped && !this.#stop(job, o, error)) throw error;
      if (o.durable) throw error;
      o.unwritten.push({ task, incarnation, n, mode, body: body.slice() });
    }
  }

  /** O6. */
  #stop(job: JobId, o: JobWorld, error: unknown): boolean {
    if (!this.#listener.stopped(error, job)) return false;
    o.stopped = true;
    return true;
  }

  /** O6: storage can be written again. What fails again stops again. */
  async resume(): Promise<void> {
    for (const [job, o] of [...this.#jobs]) {
      if (!o.stopped || o.closing) continue;
      // A descriptor is not closed under a sync.
      await Promise.allSettled(o.syncs);
      if (o.closing) continue;
      let again: JobWorld;
      try {
        this.#release(o);
        // Messages that come meanwhile find it stopped, and a close waits.
        const opening = this.#openOutput(job, o.options);
        const settled = opening.then(noop, noop);
        o.syncs.add(settled);
        const output = await opening.finally(() => o.syncs.delete(settled));
        if (o.closing) {
          output.close();
          continue;
        }
        again = this.#begin(job, o.limit, o.options, output);
      } catch (error) {
        this.#jobs.set(job, o);
        if (!this.#listener.stopped(error, job))
          this.#fail(job, o, {
            code: 'INTERNAL',
            message: `The output of the job cannot be opened again: ${(error as Error).message}`,
          });
        continue;
      }
      again.doubtful = true;
      for (const m of o.unwritten) this.deliver(job, m.task, m.incarnation, m.n, m.mode, m.body);
    }
  }

  #deliver(job: JobId, o: JobWorld, { task, incarnation, n, mode, body }: Message): void {
    const t = this.#task(o, task);
    const fresh = n >= t.next;
    const stream = streamOf(mode);
    if (stream !== undefined && fresh && totalOf(o) + body.length > o.limit) return this.#over(job, o, task);
    const place = t.place(n, mode, body);
    if (!place)
      throw new MayflyError('OUT_OF_SEQUENCE', `message ${n} of task ${task} arrived before message ${t.next}`);
    if (place.mode !== mode || place.length !== body.length)
      throw new MayflyError('DAMAGED_LOG', `message ${n} from task ${task} was redelivered with different content`);
    if (stream !== undefined) {
      try {
        t.write(stream, body, place.start);
      } catch (error) {
        if (fresh) t.takeBack(mode, place); // W4
        throw error;
      }
      if (fresh && body.length > 0) {
        o.streams += body.length;
        this.#listener.output(job, task, stream, place.start, body);
        this.#listener.total(job, totalOf(o));
      }
    } else if (mode === WorldMode.FILE || mode === WorldMode.CUT || mode === WorldMode.REQUEST)
      try {
        this.#file(job, o, task, n, mode, body, !fresh);
      } catch (error) {
        if (fresh) t.takeBack(mode, place); // W4
        throw error;
      }
    else if (mode === WorldMode.EXIT) {
      o.service.forget(task, Infinity);
      this.#listener.exit(job, task, incarnation, readExit(body));
    } else if (mode !== WorldMode.MEMBER || (fresh && !this.#listener.member(job, task, body)))
      this.#fail(job, o, {
        code: 'BAD_FRAME',
        message: `Task ${task} sent the world a message of unknown mode ${mode}.`,
      });
  }

  #file(job: JobId, o: JobWorld, task: TaskId, n: number, mode: number, body: Uint8Array, again: boolean): void {
    if (n <= o.service.applied(task)) return;
    const outcome = o.service.decide(task, n, mode, body, o.limit - totalOf(o), again);
    if ('fatal' in outcome) return this.#fatal(job, o, task, mode, outcome);
    o.output.journal.append(outcome, body);
    const changed = new Set<string>();
    for (const e of o.service.apply(outcome, body)) {
      o.output.files.perform(e);
      changed.add(e.path);
    }
    for (const path of changed) this.#listener.file(job, path, o.service.files.get(path)?.size ?? 0);
    if (changed.size > 0) this.#listener.total(job, totalOf(o));
    if (mode === WorldMode.REQUEST) this.#commit(job, o);
  }

  #fatal(job: JobId, o: JobWorld, task: TaskId, mode: number, f: Fatal): void {
    if (f.fatal === 'limit') return this.#over(job, o, task);
    if (f.fatal === 'files')
      return this.#fail(job, o, {
        code: 'OUTPUT_LIMIT',
        message: `The job has ${o.service.files.size} result files, and task ${task} wrote one more: write fewer, larger files.`,
      });
    if (f.fatal === 'requests')
      return this.#fail(job, o, {
        code: 'LOG_LIMIT',
        message:
          `The tasks of the job have too many requests to files for which they have not taken the answers. Task ` +
          `${task} sent one more: wait for reads and writes before you begin others.`,
      });
    const message =
      f.fatal === 'conflict'
        ? `Task ${task} wrote '${f.path}', but a part of that path is already a result file, or that path is ` +
          'already a folder.'
        : f.fatal === 'name'
          ? `Task ${task} wrote a result file whose name is not allowed: ${JSON.stringify(f.path)}.`
          : mode === WorldMode.CUT
            ? `Task ${task} truncated a result file without a name.`
            : `Task ${task} sent the file service an invalid request.`;
    this.#fail(job, o, { code: f.fatal === 'malformed' ? 'BAD_FRAME' : 'PROGRAM_ERROR', message });
  }

  /** O5. All requests that have come meanwhile share one sync. */
  #commit(job: JobId, o: JobWorld): void {
    o.committing ??= (async () => {
      for (;;) {
        // What comes in this turn of the loop goes along.
        await new Promise(setImmediate);
        const upTo = o.service
          .tasks()
          .map((task): [TaskId, number] => [task, o.patience.answering(task, o.service.requests(task))]);
        const groups = o.service.spawned.length;
        if (o.stopped) return void (o.committing = undefined);
        if (o.durable) await this.#syncJournal(job, o);
        for (; o.told < groups && this.#jobs.get(job) === o; o.told++)
          await this.#listener.spawned(job, o.service.spawned[o.told]!);
        if (this.#jobs.get(job) !== o) return;
        for (const [task, r] of upTo) {
          if ((o.answerable.get(task) ?? 0) >= r) continue;
          o.answerable.set(task, r);
          this.#listener.answers(job, task);
        }
        if (
          o.service
            .tasks()
            .some((task) => (o.answerable.get(task) ?? 0) < o.patience.answering(task, o.service.requests(task)))
        )
          continue;
        // Here and not when the promise settles: a request that comes in between would find nobody.
        o.committing = undefined;
        return;
      }
    })().catch((e: unknown) => {
      o.committing = undefined;
      if (!this.#stop(job, o, e))
        this.#fail(job, o, {
          code: 'INTERNAL',
          message: `The journal of the job's files cannot be written: ${(e as Error).message}`,
        });
    });
  }

  /** Requests of a task whose answers may go out. */
  answerable(job: JobId, task: TaskId): number {
    return this.#jobs.get(job)?.answerable.get(task) ?? 0;
  }

  /** Requests of a task that came here, answered or not. */
  requests(job: JobId, task: TaskId): number {
    return this.#jobs.get(job)?.service.requests(task) ?? 0;
  }

  /** Answer r of a task has bytes of a file. */
  reads(job: JobId, task: TaskId, r: number): boolean {
    return this.#jobs.get(job)?.service.answer(task, r)?.read !== undefined;
  }

  /** Answer r of a task; a read reads now (S5). Undefined: it is not kept any more, or the job is not open. */
  answer(job: JobId, task: TaskId, r: number): { error: number; body: Uint8Array } | undefined {
    const o = this.#jobs.get(job);
    const a = o?.service.answer(task, r);
    if (!o || !a || o.released) return undefined;
    return {
      error: a.error,
      body: a.read ? o.output.files.read(a.read.path, a.read.input, a.read.segments, a.read.size) : a.values,
    };
  }

  #over(job: JobId, o: JobWorld, task: TaskId): void {
    this.#fail(job, o, {
      code: 'OUTPUT_LIMIT',
      message:
        `The job has written ${totalOf(o)} bytes, and task ${task} wrote more than the limit of ${o.limit} ` +
        'bytes allows.',
    });
  }
  #fail(job: JobId, o: JobWorld, error: { code: string; message: string }): void {
    if (o.failed) return;
    o.failed = true;
    this.#listener.failed(job, error);
  }

  /** Makes everything durable that a task has written (O4). */
  async sync(job: JobId, task?: TaskId): Promise<void> {
    const o = this.#jobs.get(job);
    if (!o || o.closing) return;
    if (o.stopped) throw new MayflyError('STORAGE_FAILED', 'the output of the job is stopped');
    const run = this.#sync(job, o, task);
    o.syncs.add(run);
    try {
      await run;
    } catch (error) {
      this.#stop(job, o, error);
      throw error;
    } finally {
      o.syncs.delete(run);
    }
  }

  /** O6: a journal whose sync may have failed is a new file first. */
  async #syncJournal(job: JobId, o: JobWorld): Promise<void> {
    if (o.doubtful) await this.#compact(job, o);
    o.doubtful = false;
    await o.output.journal.sync();
  }

  async #sync(job: JobId, o: JobWorld, task: TaskId | undefined): Promise<void> {
    for (const [id, t] of o.tasks) {
      if (task !== undefined && id !== task) continue;
      await t.sync();
    }
    await this.#syncJournal(job, o);
    for (const t of o.service.tasks()) o.service.forget(t, this.#listener.durableAnswers(job, t));
    if (o.output.journal.bytes > JOURNAL_BYTES) await this.#compact(job, o);
  }

  /** J2. */
  #compact(job: JobId, o: JobWorld): Promise<void> {
    o.compacting ??= (async () => {
      const snapshot = o.service.snapshot();
      const at = o.output.journal.bytes;
      await o.output.files.sync();
      if (this.#jobs.get(job) === o) await o.output.journal.rewrite(snapshot, at);
    })().finally(() => (o.compacting = undefined));
    return o.compacting;
  }

  /**
   * The job has ended: nothing is written any more. @returns false: what it wrote may not be durable, so the log must
   * not go yet
   */
  async close(job: JobId): Promise<boolean> {
    const o = this.#jobs.get(job);
    return o ? (o.closed ??= this.#close(job, o)) : true;
  }

  async #close(job: JobId, o: JobWorld): Promise<boolean> {
    o.patience.close();
    let durable = await this.sync(job).then(
      () => true,
      () => false,
    );
    await o.committing;
    o.closing = true;
    await Promise.allSettled(o.syncs);
    if (durable)
      durable = await (
        o.output.journal.bytes > CLOSED_JOURNAL_BYTES ? this.#compact(job, o) : o.output.files.sync()
      ).then(
        () => true,
        (error: unknown) => {
          this.#listener.stopped(error, job);
          return false;
        },
      );
    this.#jobs.delete(job);
    this.#release(o);
    return durable;
  }

  #release(o: JobWorld): void {
    if (o.released) return;
    o.released = true;
    o.patience.close();
    o.output.close();
    o.tasks.clear();
  }

  async remove(job: JobId): Promise<void> {
    await this.close(job);
    await this.#output.remove(job);
  }

  async closeAll(): Promise<void> {
    for (const job of [...this.#jobs.keys()]) await this.close(job);
  }

  #task(o: JobWorld, task: TaskId): TaskOutput {
    let t = o.tasks.get(task);
    if (!t) o.tasks.set(task, (t = o.output.task(task)));
    return t;
  }
}
