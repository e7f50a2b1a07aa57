/**
 * The world's end of a job: turns numbered messages task → WORLD into files, once each.
 *
 *   <dataDir>/jobs/<job>/out/<task>.index    place of every message (world-index.ts)
 *   <dataDir>/jobs/<job>/out/<task>.stdout   bytes of standard output, by offset
 *   <dataDir>/jobs/<job>/out/<task>.stderr
 *   <dataDir>/jobs/<job>/out/files/…        result files (world-files.ts), changed as the file service decides
 *   (packages/protocols/src/files)
 *   <dataDir>/jobs/<job>/out/journal        what it has decided (world-journal.ts)
 *
 *  O1  Delivering a message a second time changes nothing (W1–W3; S1 of the file service).
 *  O2  Nothing is written outside `out/` (D2).
 *  O3  The sum of streams and file lengths never exceeds the job's limit; the message that would pass it ends the job,
 *      or is answered QUOTA.
 *  O4  The log of a task's messages to the world is trimmed only after `sync` of what they wrote: streams, and the
 *      journal of the files.
 *  O6  A write or a sync that finds storage stopped stops the output of the job: nothing of it is written or called
 *      durable until it is opened anew, from its files and its journal, as after a start of the server. Messages
 *      meanwhile come again from the log (O1), or wait here where there is none.
 *  O5  The answer to a request is given after its journal record is durable (J1), and kept until the task's log has it
 *      durably.
 */
import { closeSync, existsSync, fdatasync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FileService, type Fatal } from '@mayfly/protocols';
import { MayflyError, WorldMode, spawnedTasks, taskId, type JobId, type TaskId } from '@mayfly/wire';
import { SpawnPatience } from '../jobs/spawn-patience.ts';
import { readExit, totalOf, writeAll, type JobOutput, type TaskOutput } from './job-output.ts';
import { Outputs } from './outputs.ts';
import type { StreamName, WorldListener, WorldOptions } from './world-types.ts';
import { WorldFiles, readFileIndex } from './world-files.ts';
import { WorldIndex } from './world-index.ts';
import { WorldJournal } from './world-journal.ts';

const fdatasyncAsync = promisify(fdatasync);

const streamOf = (mode: number): StreamName | undefined =>
  mode === WorldMode.STDOUT ? 'stdout' : mode === WorldMode.STDERR ? 'stderr' : undefined;

/** A journal of this length is replaced by a snapshot at the next sync. */
const JOURNAL_BYTES = 32 << 20;
/** The journal of a job that has ended is kept as it is up to this length. */
const CLOSED_JOURNAL_BYTES = 1 << 20;

export class WorldHost {
  readonly outputs: Outputs;
  readonly #root: string;
  readonly #listener: WorldListener;
  readonly #jobs = new Map<JobId, JobOutput>();

  constructor(dataDir: string, listener: WorldListener) {
    this.#root = join(dataDir, 'jobs');
    this.outputs = new Outputs(this.#root, (job) => {
      const o = this.#jobs.get(job);
      if (!o) return undefined;
      const mode = { stdout: WorldMode.STDOUT, stderr: WorldMode.STDERR };
      return { files: o.service.files, end: (task, stream) => o.tasks.get(task)?.index.end(mode[stream]) };
    });
    this.#listener = listener;
  }

  /** Makes ready (again, after a restart) what a job writes. Idempotent. */
  open(job: JobId, limit: number, options: WorldOptions = {}): void {
    if (this.#jobs.has(job)) return;
    const dir = join(this.#root, job, 'out');
    mkdirSync(join(dir, 'files'), { recursive: true, mode: 0o700 });
    const inputs = new Map((options.inputs ?? []).map((f) => [f.path, f]));
    const o: JobOutput = {
      dir,
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
        new Map([...inputs.values()].map((f) => [f.path, f.bytes])),
        readFileIndex(dir),
        options.tasks,
        (count, task) => this.#refusal(job, task, count),
      ),
      storage: new WorldFiles(dir, (path) => {
        const hash = inputs.get(path)?.hash;
        return hash === undefined ? undefined : join(this.#root, job, 'in', hash);
      }),
      journal: new WorldJournal(join(dir, 'journal')),
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
  }

  #restore(job: JobId, o: JobOutput): void {
    for (const name of readdirSync(o.dir)) {
      const m = /^(\d+)\.index$/.exec(name);
      if (m) {
        const t = this.#task(o, taskId(Number(m[1])));
        o.streams += t.index.end(WorldMode.STDOUT) + t.index.end(WorldMode.STDERR);
      }
    }
    o.journal.replay({
      snapshot: (s) => o.service.restore(s),
      message: (outcome, body) => o.service.apply(outcome, body).forEach((e) => o.storage.perform(e, true)),
    });
    // What was read from the disk may be in its cache alone. A new journal begins with the files that a directory
    // without one has.
    if (o.journal.bytes > 0) {
      o.storage.enterAll(o.service.files);
      this.#commit(job, o);
    } else o.journal.begin(o.service.snapshot());
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
   * @throws MayflyError OUT_OF_SEQUENCE when one before it never came; what the file system said, when storage is
   * stopped and the message will come again (O6)
   */
  deliver(job: JobId, task: TaskId, n: number, mode: number, body: Uint8Array): void {
    const o = this.#jobs.get(job);
    if (!o || o.failed) return;
    try {
      if (o.stopped) throw new MayflyError('STORAGE_FAILED', 'the output of the job is stopped');
      this.#deliver(job, o, task, n, mode, body);
    } catch (error) {
      if (!o.stopped && !this.#stop(job, o, error)) throw error;
      if (o.durable) throw error;
      o.unwritten.push({ task, n, mode, body: body.slice() });
    }
  }

  /** O6. */
  #stop(job: JobId, o: JobOutput, error: unknown): boolean {
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
      try {
        this.#jobs.delete(job);
        this.#release(o);
        this.open(job, o.limit, o.options);
      } catch (error) {
        this.#jobs.set(job, o);
        if (!this.#listener.stopped(error, job))
          this.#fail(job, o, {
            code: 'INTERNAL',
            message: `The output of the job cannot be opened again: ${(error as Error).message}`,
          });
        continue;
      }
      const again = this.#jobs.get(job)!;
      again.doubtful = true;
      for (const m of o.unwritten) this.deliver(job, m.task, m.n, m.mode, m.body);
    }
  }

  #deliver(job: JobId, o: JobOutput, task: TaskId, n: number, mode: number, body: Uint8Array): void {
    const t = this.#task(o, task);
    const fresh = n >= t.index.next;
    const stream = streamOf(mode);
    if (stream !== undefined && fresh && totalOf(o) + body.length > o.limit) return this.#over(job, o, task);
    const place = t.index.place(n, mode, body);
    if (!place)
      throw new MayflyError('OUT_OF_SEQUENCE', `message ${n} of task ${task} arrived before message ${t.index.next}`);
    if (place.mode !== mode || place.length !== body.length)
      throw new MayflyError('LOST_LOG', `message ${n} from task ${task} was redelivered with different content`);
    if (stream !== undefined) {
      try {
        writeAll(this.#fd(o, t, `${task}.${stream}`), body, place.start);
      } catch (error) {
        if (fresh) t.index.takeBack(mode, place); // W4
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
        if (fresh) t.index.takeBack(mode, place); // W4
        throw error;
      }
    else if (mode === WorldMode.EXIT) {
      o.service.forget(task, Infinity);
      this.#listener.exit(job, task, readExit(body));
    } else
      this.#fail(job, o, {
        code: 'BAD_FRAME',
        message: `Task ${task} sent the world a message of unknown mode ${mode}.`,
      });
  }

  #file(job: JobId, o: JobOutput, task: TaskId, n: number, mode: number, body: Uint8Array, again: boolean): void {
    if (n <= o.service.applied(task)) return;
    const outcome = o.service.decide(task, n, mode, body, o.limit - totalOf(o), again);
    if ('fatal' in outcome) return this.#fatal(job, o, task, mode, outcome);
    o.journal.append(outcome, body);
    const changed = new Set<string>();
    for (const e of o.service.apply(outcome, body)) {
      o.storage.perform(e);
      changed.add(e.path);
    }
    for (const path of changed) this.#listener.file(job, path, o.service.files.get(path)?.size ?? 0);
    if (changed.size > 0) this.#listener.total(job, totalOf(o));
    if (mode === WorldMode.REQUEST) this.#commit(job, o);
  }

  #fatal(job: JobId, o: JobOutput, task: TaskId, mode: number, f: Fatal): void {
    if (f.fatal === 'limit') return this.#over(job, o, task);
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
  #commit(job: JobId, o: JobOutput): void {
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

  /** Requests of a task whose answers may be given. */
  answerable(job: JobId, task: TaskId): number {
    return this.#jobs.get(job)?.answerable.get(task) ?? 0;
  }

  /** Requests of a task that came here, answered or not. */
  requests(job: JobId, task: TaskId): number {
    return this.#jobs.get(job)?.service.requests(task) ?? 0;
  }

  /** Answer r of a task; a read reads now (S5). Undefined: it is not kept any more, or the job is not open. */
  answer(job: JobId, task: TaskId, r: number): { error: number; body: Uint8Array } | undefined {
    const o = this.#jobs.get(job);
    const a = o?.service.answer(task, r);
    if (!o || !a) return undefined;
    return {
      error: a.error,
      body: a.read ? o.storage.read(a.read.path, a.read.input, a.read.segments, a.read.size) : a.values,
    };
  }

  #over(job: JobId, o: JobOutput, task: TaskId): void {
    this.#fail(job, o, {
      code: 'OUTPUT_LIMIT',
      message:
        `The job has written ${totalOf(o)} bytes, and task ${task} wrote more than the limit of ${o.limit} ` +
        'bytes allows.',
    });
  }
  #fail(job: JobId, o: JobOutput, error: { code: string; message: string }): void {
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
  async #syncJournal(job: JobId, o: JobOutput): Promise<void> {
    if (o.doubtful) await this.#compact(job, o);
    o.doubtful = false;
    await o.journal.sync();
  }

  async #sync(job: JobId, o: JobOutput, task: TaskId | undefined): Promise<void> {
    for (const [id, t] of o.tasks) {
      if (task !== undefined && id !== task) continue;
      await Promise.all([...t.fds.values()].map((fd) => fdatasyncAsync(fd)));
      await t.index.sync();
    }
    await this.#syncJournal(job, o);
    for (const t of o.service.tasks()) o.service.forget(t, this.#listener.durableAnswers(job, t));
    if (o.journal.bytes > JOURNAL_BYTES) await this.#compact(job, o);
  }

  /** J2. */
  #compact(job: JobId, o: JobOutput): Promise<void> {
    o.compacting ??= (async () => {
      const snapshot = o.service.snapshot();
      const at = o.journal.bytes;
      await o.storage.sync();
      if (this.#jobs.get(job) === o) o.journal.rewrite(snapshot, at);
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

  async #close(job: JobId, o: JobOutput): Promise<boolean> {
    o.patience.close();
    let durable = await this.sync(job).then(
      () => true,
      () => false,
    );
    await o.committing;
    o.closing = true;
    await Promise.allSettled(o.syncs);
    if (durable)
      durable = await (o.journal.bytes > CLOSED_JOURNAL_BYTES ? this.#compact(job, o) : o.storage.sync()).then(
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

  #release(o: JobOutput): void {
    if (o.released) return;
    o.released = true;
    o.patience.close();
    o.journal.close();
    o.storage.close();
    for (const t of o.tasks.values()) {
      for (const fd of t.fds.values()) closeSync(fd);
      t.index.close();
    }
    o.tasks.clear();
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

  #fd(o: JobOutput, t: TaskOutput, name: string): number {
    let fd = t.fds.get(name);
    if (fd !== undefined) return fd;
    const path = join(o.dir, name);
    // 'r+' does not truncate and honours positions; 'a' would ignore them.
    fd = openSync(path, existsSync(path) ? 'r+' : 'w+', 0o600);
    t.fds.set(name, fd);
    return fd;
  }
}
