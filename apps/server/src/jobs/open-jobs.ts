/**
 * The jobs that are open: their hosts exist. The way in, the way out, and what is counted of a job meanwhile.
 *
 * Owns: what a job has only while it is open (its standard input, the watch for deadlocks, what was last known of its images). Does not own: the hosts,
 * which it makes and gives to their registers; what the cores decide.
 *
 *  R2  The logs of a job go only after its end is durable and its output is synced; what a crash leaves in between is finished at the
 *      next start.
 */
import { DeadlockWatch, capacityOf, type JobCounters, type JobSpec, type TaskCounters } from '@mayfly/protocols';
import type { MessageLog, Registry } from '@mayfly/storage/ports';
import { MayflyError, taskId, type Incarnation, type JobId, type TaskId } from '@mayfly/wire';
import type { ImageCosts } from '../checkpoint-advice.ts';
import type { Reading } from '../history/gauges.ts';
import type { History } from '../history/history.ts';
import type { ChannelMemories } from '../hosts/channel-memories.ts';
import { memoriesOf, type ChannelMemoryHost } from '../hosts/channel-memory-host.ts';
import type { CheckpointServerHost } from '../hosts/checkpoint-server-host.ts';
import type { CmListener, CmSettings } from '../hosts/cm-types.ts';
import type { DispatcherHost } from '../hosts/dispatcher-host.ts';
import type { WorldHost } from '../hosts/world-host.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { ServerLimits } from '../options.ts';
import type { Secrets } from '../secrets.ts';
import { noCounters, trafficOf, type FinalCounters } from './job-counters.ts';
import type { JobStore } from './job-store.ts';
import type { RunLog } from './run-log.ts';
import { StdinLog } from './stdin-log.ts';

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
  log: MessageLog;
  registry: Registry;
  secrets: Secrets;
  logger: Logger;
  metrics: Metrics;
  store: JobStore;
  finals: FinalCounters;
  history: History;
  runLog: RunLog;
  imageCosts: ImageCosts;
  memories: ChannelMemories;
  world: WorldHost;
  checkpoints: CheckpointServerHost;
  dispatcher: DispatcherHost;
  /** The logs of an ended job are gone. */
  closed: (job: JobId) => void;
}

export class OpenJobs {
  /** Jobs with ranks given out before this start of the server. */
  readonly ran = new Set<JobId>();
  readonly #parts: OpenJobsParts;
  readonly #open = new Map<JobId, OpenJob>();
  readonly #closing = new Map<JobId, Promise<void>>();

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
    const known = this.#open.get(job);
    if (known) return known.opened;
    const { limits, log, registry, secrets, logger, metrics, history, memories, world, checkpoints, store } = this.#parts;
    const open: OpenJob = { spec, stdin: this.stdinOf(job), deadlock: new DeadlockWatch(), images: new Map(), opened: Promise.resolve(), ready: false, recoveredFaults: 0 };
    this.#open.set(job, open);
    world.open(job, spec.outputLimitBytes ?? limits.outputBytes, {
      inputs: spec.files.map((f) => ({ path: f.path, bytes: f.bytes, file: store.inputFile(job, f.hash) })),
      tasks: spec.size,
      durable: spec.protocol !== 'none',
    });
    const size = world.tasks(job);
    history.open(job, size, this.ran.has(job));
    const acting: [TaskId, Incarnation][] = [];
    // The hosts are entered before anything is awaited: orders which follow find them (and wait for their recovery).
    const fences = registry.entries(`task/${job}/`).then((entries) => {
      for (const [key, value] of entries) acting.push([taskId(Number(key.split('/')[2])), (value as { incarnation: Incarnation }).incarnation]);
      return acting;
    });
    const hosts = memoriesOf(spec, size, {
      log,
      listener: this.#listener(job),
      secrets,
      settings: this.#parts.settings,
      metrics,
      logger,
      fences,
      stdin: open.stdin,
      fresh: !this.ran.has(job),
    });
    memories.add(job, hosts);
    open.opened = (async () => {
      await fences;
      await Promise.all(hosts.map((h) => h.ready));
      open.ready = true;
    })();
    open.opened.catch(noop);
    void fences.then((f) => {
      checkpoints.step({ type: 'openJob', job, size: capacityOf(spec), channelMemories: spec.channelMemories, program: spec.program.hash, acting: f });
    });
    return open.opened;
  }

  /** What the Channel Memories of a job tell the others. */
  #listener(job: JobId): CmListener {
    const { world, dispatcher, checkpoints, logger } = this.#parts;
    return {
      world: (s, task, channel, mode, body) => {
        try {
          world.deliver(s.job, task, channel, mode, body);
        } catch (error) {
          logger.error({ err: error, job, task }, 'output cannot be written');
          const code = (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'DISK_FULL' : error instanceof MayflyError ? error.code : 'INTERNAL';
          dispatcher.step({ type: 'jobFailed', job, error: { code, message: `The output of task ${task} cannot be written: ${(error as Error).message}` } });
        }
      },
      syncWorld: (s, task) => world.sync(s.job, task),
      fenced: (s, task, incarnation, progress) => dispatcher.step({ type: 'fencedCm', job, task, incarnation, cm: s.index, ...progress }),
      refused: (_s, task, incarnation, error) => dispatcher.step({ type: 'refused', job, task, incarnation, error }),
      covered: (s, _task, image, determinants) => checkpoints.step({ type: 'covered', image, cm: s.index, determinants }),
      failed: (_s, error) => dispatcher.step({ type: 'jobFailed', job, error }),
      answerable: (s, task) => world.answerable(s.job, task),
      answer: (s, task, r) => world.answer(s.job, task, r),
    };
  }

  /** R2. `tasks`: how many it has come to have. */
  close(job: JobId, tasks: number): Promise<void> {
    const under = this.#closing.get(job);
    if (under) return under;
    const { finals, history, runLog, memories, checkpoints, imageCosts, world, log, logger, closed } = this.#parts;
    const open = this.#open.get(job);
    // Views of the job are answered from this from now on.
    if (open) finals.write(job, tasks, this.counters(job));
    history.end(job);
    if (open) runLog.write(job);
    const work = (async () => {
      await open?.opened.catch(noop);
      const hosts = memories.take(job);
      await Promise.all(hosts.map((h) => h.close('the job has ended')));
      this.#open.delete(job);
      open?.stdin.close();
      checkpoints.step({ type: 'forgetJob', job });
      imageCosts.forget(job);
      await world.close(job);
      for (const name of await log.list(`${job}/`)) await log.remove(name);
      closed(job);
    })()
      .catch((error: unknown) => logger.error({ err: error, job }, 'the logs of an ended job could not be removed'))
      .finally(() => this.#closing.delete(job));
    this.#closing.set(job, work);
    return work;
  }

  /** Resolves when the logs of an ended job are gone. */
  async closed(job: JobId): Promise<void> {
    await this.#closing.get(job);
  }

  /** Resolves when nobody is on the way out. */
  async settled(): Promise<void> {
    await Promise.all(this.#closing.values());
  }

  /** The server stops: the hosts are closed by now. */
  releaseAll(): void {
    for (const o of this.#open.values()) o.stdin.close();
  }

  stdinOf(job: JobId): StdinLog {
    return new StdinLog(this.#parts.store.stdinPath(job));
  }

  // What is counted

  counters(job: JobId): JobCounters {
    const { memories, world } = this.#parts;
    const hosts = memories.of(job) ?? [];
    return { task: (task) => this.#taskCounters(job, task, hosts), outputs: world.files(job), outputBytes: world.total(job) };
  }

  #taskCounters(job: JobId, task: TaskId, hosts: readonly ChannelMemoryHost[]): TaskCounters {
    const uploading = this.#parts.checkpoints.core.comingOf(job, task);
    return { ...noCounters(), ...trafficOf(hosts, task), ...this.noteImages(job, task), ...(uploading === undefined ? {} : { uploading }) };
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
    const r: Reading = { messages: 0, bytes: 0, logBytes: 0, imageBytes: 0 };
    for (const h of hosts) r.logBytes += h.logBytes;
    for (let t = 0; t < tasks; t++) {
      const c = trafficOf(hosts, taskId(t));
      r.messages += c.messagesOut;
      r.bytes += c.bytesOut;
      r.imageBytes += this.noteImages(job, taskId(t))?.imageBytes ?? 0;
    }
    return r;
  }
}

const noop = (): void => undefined;
