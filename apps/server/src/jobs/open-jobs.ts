/**
 * The jobs that are open: their hosts exist. The way in, the way out, and what is counted of a job meanwhile.
 *
 * Owns: what a job has only while it is open (its standard input, the watch for deadlocks, what was last known of its
 * images). Does not own: the hosts, which it makes and gives to their registers; what the cores decide.
 *
 *  R2  The logs of a job go only after its end is durable and its output is synced; what a crash leaves in between is
 *      finished at the next start, or when storage can be written again (disk.ts).
 *  R4  A job is open when its standard input has been read. One that cannot be opened while storage is stopped is
 *      opened when it can be written again; orders to it wait for that (V3 of JobService).
 *  R5  Standard input that comes while a job is being opened is in what it opens, or comes after: it is open once at a
 *      time.
 */
import {
  DeadlockWatch,
  protocols,
  type AnswerSource,
  type JobCounters,
  type JobService,
  type JobSpec,
  type TaskCounters,
} from '@mayfly/protocols';
import type { MessageLog, Registry, StdinLog } from '@mayfly/storage/ports';
import { MayflyError, WorldMode, taskId, type Incarnation, type JobId, type TaskId } from '@mayfly/wire';
import type { LogQuota } from './log-quota.ts';
import type { Chronicle } from '../chronicle.ts';
import type { Reading } from '../history/gauges.ts';
import { memoriesOf, type ChannelMemories } from '../hosts/channel-memories.ts';
import type { Traffic } from '../hosts/traffic.ts';
import { Allowance } from '../hosts/allowance.ts';
import type { CheckpointServerHost } from '../hosts/checkpoint-server-host.ts';
import type { CmDeps, CmSettings, CmWorld } from '../hosts/channel-memory-deps.ts';
import type { ParityHost } from '../hosts/parity-host.ts';
import type { WorldHost } from '../hosts/world-host.ts';
import type { Disk } from '../disk.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { ServerLimits } from '../options.ts';
import type { Secrets } from '../secrets.ts';
import { localOf, noCounters, trafficOf, type FinalCounters } from './job-counters.ts';
import type { JobStore } from './job-store.ts';

/** What a job with an allowance may send to the world. */
const OF_ALLOWED: ReadonlySet<number> = new Set([WorldMode.STDOUT, WorldMode.STDERR, WorldMode.EXIT]);

export interface OpenJob {
  readonly spec: JobSpec;
  readonly stdin: StdinLog;
  readonly deadlock: DeadlockWatch;
  /** What was last known of a task's images: they go when it is done, the numbers stay. */
  readonly images: Map<TaskId, Pick<TaskCounters, 'images' | 'imageBytes' | 'lastImageAt'>>;
  opened: Promise<void>;
  /** Its logs are read: its counters count. */
  ready: boolean;
  recoveredFaults: number;
}

export interface OpenJobsParts {
  limits: ServerLimits;
  settings: CmSettings;
  elsewhere: CmDeps['elsewhere'];
  /** A Channel Memory of the job works elsewhere now. */
  moved: (job: JobId, memory: number) => void;
  log: MessageLog;
  disk: Disk;
  registry: Registry;
  secrets: Secrets;
  logger: Logger;
  metrics: Metrics;
  store: JobStore;
  finals: FinalCounters;
  chronicle: Chronicle;
  memories: ChannelMemories;
  world: WorldHost;
  checkpoints: CheckpointServerHost;
  parity: Pick<ParityHost, 'view'>;
  service: JobService;
  quota: Pick<LogQuota, 'refusal'>;
  spec: (job: JobId) => JobSpec | undefined;
  /** The logs of an ended job are gone. */
  closed: (job: JobId) => void;
}

export class OpenJobs {
  /** Jobs with ranks assigned before this start of the server. */
  readonly ran = new Set<JobId>();
  readonly #parts: OpenJobsParts;
  readonly #open = new Map<JobId, OpenJob>();
  readonly #closing = new Map<JobId, Promise<void>>();
  /** Bytes of standard input that came while a job was there, as far as this server saw it. */
  readonly #typed = new Map<JobId, number>();
  /** R4: jobs that are not open yet. */
  readonly #late = new Map<JobId, Promise<void>>();
  /** R5: the last turn. */
  readonly #stdin = new Map<JobId, Promise<void>>();
  /** R2: ended, and what they wrote may not be durable. */
  readonly #unfinished = new Map<JobId, JobSpec>();

  constructor(parts: OpenJobsParts) {
    this.#parts = parts;
  }

  /** Open, perhaps on its way out. */
  find(job: JobId): OpenJob | undefined {
    return this.#open.get(job);
  }

  /** Open, and not on its way out. */
  serving(job: JobId): OpenJob | undefined {
    return this.#closing.has(job) ? undefined : this.#open.get(job);
  }

  /** All that are not on their way out. */
  *[Symbol.iterator](): Generator<[JobId, OpenJob]> {
    for (const entry of this.#open) if (!this.#closing.has(entry[0])) yield entry;
  }

  /** The same answer as long as it is open. Resolves when its cores have recovered. */
  open(spec: JobSpec): Promise<void> {
    const { id: job } = spec;
    const known = this.#open.get(job)?.opened ?? this.#late.get(job);
    if (known) return known;
    const { disk, store, chronicle } = this.#parts;
    const opened: Promise<void> = Promise.resolve().then(async () => {
      for (;;) {
        let ready: Promise<void>;
        try {
          const history = this.ran.has(job) ? await chronicle.history.recall(job) : undefined;
          const done = await this.#withStdin(job, async (): Promise<{ ready: Promise<void> } | undefined> => {
            const stdin = await store.stdin(job);
            // It has ended meanwhile, or the server stops.
            if (this.#late.get(job) !== opened) {
              stdin.close();
              return undefined;
            }
            try {
              needStdin(spec, stdin);
              await this.#openOutput(spec);
            } catch (error) {
              stdin.close();
              throw error;
            }
            if (this.#late.get(job) !== opened) {
              stdin.close();
              await this.#parts.world.close(job);
              return undefined;
            }
            // Not to be awaited here: who gives it standard input may.
            return { ready: this.#openNow(spec, stdin, history) };
          });
          if (!done) return;
          ({ ready } = done);
        } catch (error) {
          if (disk.failed(error, 'the files of a job')) {
            await disk.writable();
            if (disk.closed) return;
            continue;
          }
          this.#late.delete(job);
          throw error;
        }
        this.#late.delete(job);
        return ready;
      }
    });
    this.#late.set(job, opened);
    opened.catch(noop);
    return opened;
  }

  /**
   * R5.
   * @param admit called with the bytes that are new: throws when the owner may not have them, else returns what is to
   * be called when they are there or refused @returns bytes that it has now
   * @throws MayflyError TOO_LARGE; what `admit` throws
   */
  appendStdin(
    job: JobId,
    bytes: Uint8Array,
    end: boolean,
    offset: number | undefined,
    admit: (more: number) => () => void,
  ): Promise<number> {
    return this.#withStdin(job, async () => {
      const open = this.find(job);
      const log = open?.stdin ?? (await this.#parts.store.stdin(job));
      let admitted = noop;
      try {
        const more = Math.max(0, (offset ?? log.bytes) + bytes.length - log.bytes);
        if (more > 0) {
          this.#needRoom(job, log.bytes, more);
          admitted = admit(more);
        }
        await log.append(bytes, end, offset);
      } finally {
        admitted();
        if (!open) log.close();
      }
      this.#typed.set(job, log.bytes);
      return log.bytes;
    });
  }

  /** Input files and standard input have one limit, whether they come with the job or later. */
  #needRoom(job: JobId, has: number, more: number): void {
    const { inputBytes } = this.#parts.limits;
    const files = (this.#parts.spec(job)?.files ?? []).reduce((sum, f) => sum + f.bytes, 0);
    if (files + has + more > inputBytes)
      throw new MayflyError(
        'TOO_LARGE',
        `The job has ${files + has} bytes of input files and standard input, and ${more} more were sent; this server ` +
          `accepts ${inputBytes}.`,
      );
  }

  /** R5. */
  async #withStdin<T>(job: JobId, work: () => Promise<T>): Promise<T> {
    const turn = (this.#stdin.get(job) ?? Promise.resolve()).then(work);
    const over = turn.then(noop, noop).finally(() => {
      if (this.#stdin.get(job) === over) this.#stdin.delete(job);
    });
    this.#stdin.set(job, over);
    return turn;
  }

  #openNow(spec: JobSpec, stdin: StdinLog, history: Uint8Array | undefined): Promise<void> {
    const { id: job } = spec;
    const { log, disk, registry, secrets, logger, metrics, chronicle, memories, world, service } = this.#parts;
    const open: OpenJob = {
      spec,
      stdin,
      deadlock: new DeadlockWatch(),
      images: new Map(),
      opened: Promise.resolve(),
      ready: false,
      recoveredFaults: 0,
    };
    this.#open.set(job, open);
    const size = world.tasks(job);
    chronicle.history.open(job, size, this.ran.has(job), history);
    const actingKnown = registry.entries(`task/${job}/`).then((entries) => {
      const acting = entries.map(([key, value]): [TaskId, Incarnation] => [
        taskId(Number(key.split('/')[2])),
        (value as { incarnation: Incarnation }).incarnation,
      ]);
      service.acting(spec, acting);
    });
    const hosts = memoriesOf(spec, size, {
      log,
      disk,
      world: this.#worldOf(job),
      answers: service.answersOf(job),
      files: this.#answersOf(job),
      secrets,
      settings: this.#parts.settings,
      elsewhere: spec.allowance ? undefined : this.#parts.elsewhere,
      ...(spec.allowance && { allowance: new Allowance(spec.allowance, (error) => service.failed(job, error)) }),
      moved: (memory) => this.#parts.moved(job, memory),
      metrics,
      logger,
      actingKnown,
      stdin: open.stdin,
      fresh: !this.ran.has(job),
    });
    memories.add(job, size, hosts);
    // Before anything is awaited: orders that follow find them, and wait for their recovery.
    service.open(
      job,
      hosts.map((h) => h.served),
    );
    open.opened = (async () => {
      await actingKnown;
      await Promise.all(hosts.map((h) => h.ready));
      open.ready = true;
    })();
    open.opened.catch(noop);
    return open.opened;
  }

  /** @throws what storage says: then it is not open */
  #openOutput(spec: JobSpec): Promise<void> {
    const { limits, world } = this.#parts;
    const { id: job } = spec;
    return world.open(job, spec.outputLimitBytes ?? limits.outputBytes, {
      inputs: spec.files.map((f) => ({ path: f.path, bytes: f.bytes, hash: f.hash })),
      tasks: spec.size,
      durable: protocols[spec.protocol].log.keepsOutput === 'durable',
    });
  }

  /** Of the file service. What is read for an answer is within the quota of the job's logs. */
  #answersOf(job: JobId): AnswerSource {
    const { world, quota, memories } = this.#parts;
    return {
      answerable: (task) => world.answerable(job, task),
      answer: (task, r) => {
        const refusal = world.reads(job, task, r) ? quota.refusal(memories.logBytes(job)) : undefined;
        if (refusal) throw refusal;
        return world.answer(job, task, r);
      },
    };
  }

  /** Where the messages of its tasks to the world go. */
  #worldOf(job: JobId): CmWorld {
    const { world, service, disk, logger, spec } = this.#parts;
    return {
      deliver: (task, incarnation, channel, mode, body) => {
        if (spec(job)?.allowance && !OF_ALLOWED.has(mode))
          return service.failed(job, { code: 'BAD_FRAME', message: 'This job has no files and no further ranks.' });
        try {
          world.deliver(job, task, incarnation, channel, mode, body);
        } catch (error) {
          // It stays in the log, and the Channel Memory gives it again when it has recovered.
          if (disk.failed(error, 'the output of a job')) throw error;
          logger.error({ err: error, job, task }, 'output cannot be written');
          const code = error instanceof MayflyError ? error.code : 'INTERNAL';
          const message = `The output of task ${task} cannot be written: ${(error as Error).message}`;
          service.failed(job, { code, message });
        }
      },
      sync: (task) => world.sync(job, task),
    };
  }

  /** R2. `tasks`: how many it has come to have. */
  close(job: JobId, tasks: number): Promise<void> {
    const under = this.#closing.get(job);
    if (under) return under;
    const { disk, logger } = this.#parts;
    this.#late.delete(job);
    const open = this.#open.get(job);
    const work = (
      open ? this.#closeNow(job, tasks) : this.#reopen(job).then((logged) => this.#closeNow(job, tasks, logged))
    )
      .catch((error: unknown) => {
        const spec = this.#parts.spec(job);
        if (spec && disk.failed(error, 'the files of an ended job')) this.#unfinished.set(job, spec);
        logger.error({ err: error, job }, 'the logs of an ended job could not be removed; retrying');
      })
      .finally(() => this.#closing.delete(job));
    this.#closing.set(job, work);
    return work;
  }

  /**
   * R2: one that ended before this start, or in vain. What its logs hold is written once more. @returns whether it has
   * logs
   */
  async #reopen(job: JobId): Promise<boolean> {
    const { log, logger, memories, spec: specOf } = this.#parts;
    const spec = specOf(job);
    if ((await log.list(`${job}/`)).length === 0) return false;
    if (!spec) return true;
    this.ran.add(job);
    try {
      await this.open(spec);
      await Promise.all((memories.of(job) ?? []).map((host) => host.settled()));
    } catch (error) {
      logger.warn({ err: error, job }, 'logs of an ended job cannot be read');
    }
    return true;
  }

  async #closeNow(job: JobId, tasks: number, logged = true): Promise<void> {
    const { finals, chronicle, memories, service, world, log, closed } = this.#parts;
    const open = this.#open.get(job);
    // Views of the job are answered from this from now on.
    if (open) finals.write(job, tasks, this.counters(job));
    chronicle.history.end(job);
    if (open) chronicle.runLog.write(job);
    service.ending(job);
    await open?.opened.catch(noop);
    const hosts = memories.take(job);
    await Promise.all(hosts.map((h) => h.close('the job has ended')));
    this.#open.delete(job);
    open?.stdin.close();
    service.close(job);
    chronicle.imageCosts.forget(job);
    await finals.settled(job);
    if (!(await world.close(job))) throw new MayflyError('STORAGE_FAILED', 'what the job wrote may not be durable');
    if (logged) for (const name of await log.list(`${job}/`)) await log.remove(name);
    this.#unfinished.delete(job);
    closed(job);
  }

  /** R2: storage can be written again. What was synced in vain is written once more, from the logs. */
  finish(): void {
    for (const [job, spec] of [...this.#unfinished]) void this.close(job, spec.size);
  }

  /** Resolves when the logs of an ended job are gone. */
  async closed(job: JobId): Promise<void> {
    await this.#closing.get(job);
  }

  /** The server stops: nothing is opened any more. Resolves when no job is being closed. */
  async settled(): Promise<void> {
    this.#late.clear();
    await Promise.all(this.#closing.values());
  }

  /** The server stops: the hosts are closed by now. */
  releaseAll(): void {
    for (const o of this.#open.values()) o.stdin.close();
  }

  // What is counted

  counters(job: JobId): JobCounters {
    const { memories, world, chronicle } = this.#parts;
    const traffic = memories.traffic(job);
    return {
      waves: chronicle.history.waves(job),
      parity: this.#parts.parity.view(job),
      task: (task) => this.#taskCounters(job, task, traffic),
      outputs: world.outputs.filesNow(job),
      outputBytes: world.total(job),
      stdinBytes: this.typed(job),
    };
  }

  /** Bytes of the standard input of an interactive job, of which its submission knew nothing. */
  typed(job: JobId): number {
    const open = this.find(job);
    return open?.spec.interactive ? open.stdin.bytes : (this.#typed.get(job) ?? 0);
  }

  forget(job: JobId): void {
    this.#typed.delete(job);
  }

  #taskCounters(job: JobId, task: TaskId, traffic: readonly Traffic[]): TaskCounters {
    const uploading = this.#parts.checkpoints.core.comingOf(job, task);
    const stallMs = this.#parts.service.waves(job)?.stallOf(task);
    return {
      ...noCounters(),
      ...trafficOf(traffic, task),
      ...localOf(this.#parts.memories.local(job), task),
      ...this.noteImages(job, task),
      ...(uploading === undefined ? {} : { uploading }),
      ...(stallMs === undefined ? {} : { stallMs }),
    };
  }

  /** What is known of the images of a task, and is to be known when they have gone. */
  noteImages(job: JobId, task: TaskId): Pick<TaskCounters, 'images' | 'imageBytes' | 'lastImageAt'> | undefined {
    const known = this.#open.get(job)?.images;
    const newest = this.#parts.checkpoints.core.imagesOf(job, task).at(-1);
    if (newest) known?.set(task, { images: newest.count, imageBytes: newest.bytes, lastImageAt: newest.at });
    return known?.get(task);
  }

  /** For the charts; undefined while its logs are read, and when it has ended. */
  reading(job: JobId, tasks: number): Reading | undefined {
    if (!this.serving(job)?.ready) return undefined;
    const hosts = this.#parts.memories.of(job) ?? [];
    const traffic = this.#parts.memories.traffic(job);
    const r: Reading = { messages: 0, bytes: 0, logBytes: 0, imageBytes: 0 };
    for (const h of hosts) r.logBytes += h.logBytes;
    for (let t = 0; t < tasks; t++) {
      const c = trafficOf(traffic, taskId(t));
      r.messages += c.messagesOut;
      r.bytes += c.bytesOut;
      r.imageBytes += this.noteImages(job, taskId(t))?.imageBytes ?? 0;
    }
    return r;
  }
}

const noop = (): void => undefined;

/** All of it was durable before the dispatcher heard of the job. @throws MayflyError DAMAGED_DATA */
function needStdin({ id, interactive }: JobSpec, stdin: StdinLog): void {
  if (!interactive && !stdin.ended)
    throw new MayflyError('DAMAGED_DATA', `jobs/${id}/stdin is damaged: the end of standard input is missing`);
}
