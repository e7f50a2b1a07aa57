/**
 * The running server behind its doors: wires dispatcher, Channel Memories, Checkpoint Server and world to each other.
 *
 * Owns: which jobs are open (their hosts exist). Does not own: sockets and HTTP (create-server.ts, rest/), what the cores decide.
 *
 *  R1  Before the server listens, every job that has not ended is open and its cores have recovered.
 *  R2  The logs of a job go only after its end is durable and its output is synced; what a crash leaves in between is finished at the
 *      next start.
 *  R3  Nothing here decides: an event of one core becomes an event of another, in the order in which it happened.
 */
import { DeadlockWatch, capacityOf, jobIds, jobView, nodeViews, slotsFor, type JobCounters, type JobSpec, type TaskCounters } from '@mayfly/protocols';
import type { MessageLog, Registry, ImageStore } from '@mayfly/storage/ports';
import {
  FILES,
  FIRST_TOKEN,
  MayflyError,
  SpawnRefusal,
  homeOf,
  jobId,
  spawnedTasks,
  taskId,
  type Assignment,
  type ImageId,
  type Incarnation,
  type JobId,
  type JobView,
  type Manifest,
  type NodeId,
  type NodeView,
  type SpawnGroup,
  type TaskId,
} from '@mayfly/wire';
import type { Board } from './board.ts';
import { ImageCosts } from './checkpoint-advice.ts';
import type { Reading } from './history/gauges.ts';
import { History } from './history/history.ts';
import { ChannelMemories } from './hosts/channel-memories.ts';
import { memoriesOf, type ChannelMemoryHost } from './hosts/channel-memory-host.ts';
import type { CmListener } from './hosts/cm-types.ts';
import { CheckpointServerHost } from './hosts/checkpoint-server-host.ts';
import { DispatcherHost } from './hosts/dispatcher-host.ts';
import { WorldHost, type StreamName } from './hosts/world-host.ts';
import { assignmentOf } from './jobs/assignment.ts';
import { FinalCounters, noCounters, trafficOf } from './jobs/job-counters.ts';
import { JobStore } from './jobs/job-store.ts';
import { mappedReport } from './jobs/mapped-report.ts';
import { observed } from './jobs/observation.ts';
import { RunLog } from './jobs/run-log.ts';
import { StdinLog } from './jobs/stdin-log.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import type { ResolvedOptions } from './options.ts';
import type { Rooms } from './rooms.ts';
import type { Secrets } from './secrets.ts';

/** What the dashboard wants to hear. */
export interface RuntimeObserver {
  jobChanged(job: JobId): void;
  nodesChanged(): void;
  output(job: JobId, task: TaskId, stream: StreamName, offset: number, bytes: Uint8Array): void;
  file(job: JobId, path: string, bytes: number): void;
  jobForgotten(job: JobId): void;
}

interface OpenJob {
  spec: JobSpec;
  stdin: StdinLog;
  deadlock: DeadlockWatch;
  /** What was last known of a task's images: they go when it is done, the numbers stay. */
  images: Map<TaskId, Pick<TaskCounters, 'images' | 'imageBytes' | 'lastImageAt'>>;
  opened: Promise<void>;
  /** Its logs are read: its counters count. */
  ready: boolean;
  recoveredFaults: number;
}

const DEADLOCK_MS = 1000;
/** A node that lives is back on a new socket by then. Where somebody has set the grace, that holds. */
const BRIEF_GRACE_MS = 400;
const CS_TICK_MS = 100;
const HISTORY_MS = 1000;

export class Runtime {
  readonly store: JobStore;
  readonly world: WorldHost;
  readonly memories: ChannelMemories;
  readonly checkpoints: CheckpointServerHost;
  readonly dispatcher: DispatcherHost;
  readonly imageCosts = new ImageCosts();
  /** What volunteers gave, by room and name. */
  readonly board: Board;
  readonly history: History;
  readonly runLog: RunLog;
  observer: RuntimeObserver = { jobChanged: noop, nodesChanged: noop, output: noop, file: noop, jobForgotten: noop };
  readonly #options: ResolvedOptions;
  readonly #log: MessageLog;
  readonly #registry: Registry;
  readonly #secrets: Secrets;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #finals: FinalCounters;
  readonly #open = new Map<JobId, OpenJob>();
  readonly #closing = new Map<JobId, Promise<void>>();
  readonly #specs = new Map<JobId, JobSpec>();
  /** Jobs with ranks given out before this start of the server. */
  readonly #ran = new Set<JobId>();
  #timers: NodeJS.Timeout[] = [];
  #stopping = false;

  constructor(deps: {
    options: ResolvedOptions;
    log: MessageLog;
    images: ImageStore;
    registry: Registry;
    secrets: Secrets;
    rooms: Rooms;
    board: Board;
    logger: Logger;
    metrics: Metrics;
  }) {
    const { options, registry, secrets, logger } = deps;
    this.#options = options;
    this.#log = deps.log;
    this.#registry = registry;
    this.#secrets = secrets;
    this.#logger = logger;
    this.#metrics = deps.metrics;
    this.board = deps.board;
    this.store = new JobStore(options.dataDir);
    this.#finals = new FinalCounters(this.store.root);
    this.history = new History({
      jobsRoot: this.store.root,
      dispatcher: () => this.dispatcher.core,
      traffic: (job) => (this.memories.of(job) ?? []).map((h) => h.traffic),
      reading: (job) => this.#reading(job),
      logger,
    });
    this.runLog = new RunLog(this.store.root);
    this.memories = new ChannelMemories(secrets, logger, options.limits.dataSockets);
    this.world = new WorldHost(options.dataDir, {
      output: (job, task, stream, offset, bytes) => this.observer.output(job, task, stream, offset, bytes),
      file: (job, path, bytes) => this.observer.file(job, path, bytes),
      exit: (job, task, report) => this.dispatcher.step({ type: 'exit', job, task, report: mappedReport(this.store, job, this.#specs.get(job)?.program.language ?? 'typescript', report) }),
      total: (job, bytes) => this.dispatcher.step({ type: 'output', job, bytes }),
      failed: (job, error) => this.dispatcher.step({ type: 'jobFailed', job, error }),
      answers: (job, task) => this.#home(job, task)?.feedAnswers(task),
      refusal: (job, count, tasks, underWay) => this.#refusal(job, count, tasks, underWay),
      spawned: (job, group) => this.#spawned(job, group),
      durableAnswers: (job, task) => this.#home(job, task)?.core?.durable(FILES, task) ?? 0,
    });
    this.checkpoints = new CheckpointServerHost({
      images: deps.images,
      registry,
      secrets,
      logger,
      imageBytes: options.limits.imageBytes,
      maxLinks: options.limits.dataSockets,
      listener: {
        begun: (job, task) => this.history.image(job, task, 'imageBegun'),
        cover: (job, task, image, cm, line) => this.#cm(job, cm)?.cover(task, image, line),
        uncover: (job, task, image, cm) => this.#cm(job, cm)?.uncover(task, image),
        trim: (job, task, cm, to) => this.#cm(job, cm)?.trim(task, to),
        complete: (job, task, image, serial) => {
          this.#taskCounters(job, [], task); // notes the image down
          this.history.image(job, task, 'image');
          this.dispatcher.step({ type: 'image', job, task, image, serial });
        },
        chosen: (job, task, incarnation, image) => this.dispatcher.step({ type: 'imageChosen', job, task, incarnation, ...(image === undefined ? {} : { image }) }),
        lost: (job, task, incarnation, error) => this.dispatcher.step({ type: 'imageLost', job, task, incarnation, error }),
      },
    });
    this.dispatcher = new DispatcherHost({
      registry,
      secrets,
      logger,
      settings: { ...(options.dispatcher?.graceMs === undefined ? { briefGraceMs: BRIEF_GRACE_MS } : {}), ...options.dispatcher },
      room: options.room,
      rooms: deps.rooms,
      maxNodes: options.limits.nodes,
      messagesPerMinute: options.limits.messagesPerMinute,
      listener: {
        openJob: (job) => this.#openJob(job),
        fenceCs: (job, task, incarnation) => this.checkpoints.step({ type: 'restart', job, task, incarnation }),
        fenceCm: (job, task, incarnation, cm) => this.#cm(job, cm)?.fence(task, incarnation),
        assignment: (job, task, incarnation, manifest) => this.#assignment(job, task, incarnation, manifest),
        manifest: (image) => this.checkpoints.manifest(image as ImageId),
        damaged: (job, task, image) => this.checkpoints.step({ type: 'damaged', job, task, image: image as ImageId }),
        taskDone: (job, task) => {
          this.history.done(job, task);
          this.checkpoints.step({ type: 'taskDone', job, task });
          for (const h of this.memories.of(job) ?? []) h.taskDone(task);
          this.board.done(job, task, Date.now());
        },
        jobEnded: (job) => {
          this.board.jobEnded(job);
          void this.#closeJob(job);
        },
        jobChanged: (job) => this.#jobChanged(job),
        nodesChanged: () => this.observer.nodesChanged(),
        heard: (m, from) => {
          this.imageCosts.heard(m, (job) => this.#specs.get(job)?.room);
          this.history.heard(m, from);
          this.runLog.heard(m, (job, task, incarnation) => {
            const node = this.#open.has(job) && !this.#closing.has(job) ? this.#nodeOf(job, task, incarnation) : undefined;
            return node === undefined ? undefined : this.dispatcher.core.core.nodes.get(node);
          });
          if (from !== undefined) this.board.heard(from, m.tasks, (job, task, incarnation) => this.#nodeOf(job, task, incarnation) === from, Date.now());
        },
        came: (node, room, who) => this.board.came(node, room, who),
        left: (node) => this.board.left(node),
        given: (node, job, task, incarnation) => this.board.given(node, job, task, incarnation, Date.now()),
      },
    });
  }

  // Life of the server

  /** R1. */
  async recover(): Promise<void> {
    const entries = await this.#registry.entries('');
    const ours = entries.filter(([k]) => /^(job|task|fault)\//.test(k));
    this.checkpoints.step({ type: 'recover', entries: entries.filter(([k]) => /^(image|trimmed)\//.test(k)) });
    const active = new Set<JobId>();
    const known = new Set<string>();
    for (const [key, value] of ours) {
      if (key.startsWith('task/')) this.#ran.add(jobId(key.split('/')[1]!));
      if (!key.startsWith('job/')) continue;
      const { spec, state } = value as { spec: JobSpec; state: string };
      this.#specs.set(spec.id, spec);
      known.add(spec.id);
      if (!isOver(state)) active.add(spec.id);
    }
    const swept = await this.store.sweep(known);
    if (swept.length > 0) this.#logger.info({ jobs: swept }, 'folders of jobs that were never accepted removed');
    this.dispatcher.step({ type: 'recover', entries: ours, images: this.checkpoints.core.newest() });
    for (const job of active) if (this.#ran.has(job)) await this.#openJob(job).catch((error: unknown) => this.#logger.error({ err: error, job }, 'job cannot be recovered'));
    await this.#finish(active);
    if (known.size > 0) this.#logger.info({ jobs: known.size, active: active.size }, 'recovered');
    this.dispatcher.start();
    this.#timers = [
      setInterval(() => this.memories.tick(Date.now()), this.#options.syncEveryMs),
      setInterval(() => this.checkpoints.step({ type: 'tick' }), CS_TICK_MS),
      setInterval(() => this.#watchDeadlocks(), DEADLOCK_MS),
      setInterval(() => this.history.tick(), HISTORY_MS),
    ];
  }

  /** R2: logs of jobs that have ended (their output once more, should a power loss have eaten it), or of unknown ones. */
  async #finish(active: ReadonlySet<JobId>): Promise<void> {
    const left = new Set((await this.#log.list('')).map((name) => jobId(name.split('/')[0]!)));
    for (const job of left) {
      if (active.has(job)) continue;
      this.#ran.add(job);
      if (this.#specs.has(job)) await this.#openJob(job).catch((error: unknown) => this.#logger.warn({ err: error, job }, 'logs of an ended job cannot be read'));
      await this.#closeJob(job);
    }
  }

  async close(): Promise<void> {
    this.#stopping = true;
    for (const t of this.#timers) clearInterval(t);
    await Promise.all(this.#closing.values());
    await this.history.close();
    await Promise.all(this.memories.all().map((h) => h.close('the server stops')));
    await this.checkpoints.close();
    await this.dispatcher.close();
    for (const o of this.#open.values()) o.stdin.close();
    await this.world.closeAll();
  }

  // Life of a job

  #openJob(job: JobId): Promise<void> {
    const known = this.#open.get(job);
    if (known) return known.opened;
    const spec = this.#specs.get(job);
    if (!spec) return Promise.reject(new MayflyError('NOT_FOUND', `no job ${job}`));
    const open: OpenJob = { spec, stdin: this.#stdinOf(job), deadlock: new DeadlockWatch(), images: new Map(), opened: Promise.resolve(), ready: false, recoveredFaults: 0 };
    this.#open.set(job, open);
    this.world.open(job, spec.outputLimitBytes ?? this.#options.limits.outputBytes, {
      inputs: spec.files.map((f) => ({ path: f.path, bytes: f.bytes, file: this.store.inputFile(job, f.hash) })),
      tasks: spec.size,
      durable: spec.protocol !== 'none',
    });
    const size = this.world.tasks(job);
    this.history.open(job, size, this.#ran.has(job));
    const acting: [TaskId, Incarnation][] = [];
    // The hosts are entered before anything is awaited: orders which follow this effect find them (and wait for their recovery).
    const fences = this.#registry.entries(`task/${job}/`).then((entries) => {
      for (const [key, value] of entries) acting.push([taskId(Number(key.split('/')[2])), (value as { incarnation: Incarnation }).incarnation]);
      return acting;
    });
    const hosts = memoriesOf(spec, size, {
      log: this.#log,
      listener: this.#listener(job),
      secrets: this.#secrets,
      settings: { backlogBytes: this.#options.limits.socketBacklogBytes, backlogMaxBytes: this.#options.limits.socketBacklogMaxBytes },
      metrics: this.#metrics,
      logger: this.#logger,
      fences,
      stdin: open.stdin,
      fresh: !this.#ran.has(job),
    });
    this.memories.add(job, hosts);
    open.opened = (async () => {
      await fences;
      await Promise.all(hosts.map((h) => h.ready));
      open.ready = true;
    })();
    open.opened.catch(noop);
    void fences.then((f) => {
      this.checkpoints.step({ type: 'openJob', job, size: capacityOf(spec), channelMemories: spec.channelMemories, program: spec.program.hash, acting: f });
    });
    return open.opened;
  }

  /** What the Channel Memories of a job tell the others. */
  #listener(job: JobId): CmListener {
    return {
      world: (s, task, channel, mode, body) => {
        try {
          this.world.deliver(s.job, task, channel, mode, body);
        } catch (error) {
          this.#logger.error({ err: error, job, task }, 'output cannot be written');
          const code = (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'DISK_FULL' : error instanceof MayflyError ? error.code : 'INTERNAL';
          this.dispatcher.step({ type: 'jobFailed', job, error: { code, message: `The output of task ${task} cannot be written: ${(error as Error).message}` } });
        }
      },
      syncWorld: (s, task) => this.world.sync(s.job, task),
      fenced: (s, task, incarnation, sends, consumed) => this.dispatcher.step({ type: 'fencedCm', job, task, incarnation, cm: s.index, sends, consumed }),
      covered: (s, _task, image, determinants) => this.checkpoints.step({ type: 'covered', image, cm: s.index, determinants }),
      failed: (_s, error) => this.dispatcher.step({ type: 'jobFailed', job, error }),
      answerable: (s, task) => this.world.answerable(s.job, task),
      answer: (s, task, r) => this.world.answer(s.job, task, r),
    };
  }

  /** MPI_Comm_spawn takes what is free now, or nothing. */
  #refusal(job: JobId, count: number, tasks: number, underWay: number): number {
    const spec = this.#specs.get(job);
    if (!spec || tasks + count > capacityOf(spec)) return SpawnRefusal.LIMIT;
    return count + underWay > slotsFor(this.dispatcher.core, job) ? SpawnRefusal.SLOTS : 0;
  }
  async #spawned(job: JobId, group: SpawnGroup): Promise<void> {
    const size = group.first + spawnedTasks(group.parts);
    this.history.grow(job, size);
    // One that cannot has ended the job.
    await Promise.all((this.memories.of(job) ?? []).map((h) => h.grow(size).catch(noop)));
    this.dispatcher.step({ type: 'spawn', job, group });
  }

  #stdinOf(job: JobId): StdinLog {
    return new StdinLog(this.store.stdinPath(job));
  }

  /** R2. */
  #closeJob(job: JobId): Promise<void> {
    const under = this.#closing.get(job);
    if (under) return under;
    const open = this.#open.get(job);
    // Views of the job are answered from this from now on.
    if (open) this.#finals.write(job, this.tasksOf(job), this.#countersOf(job));
    this.history.end(job);
    if (open) this.runLog.write(job);
    const work = (async () => {
      await open?.opened.catch(noop);
      const hosts = this.memories.take(job);
      await Promise.all(hosts.map((h) => h.close('the job has ended')));
      this.#open.delete(job);
      open?.stdin.close();
      this.checkpoints.step({ type: 'forgetJob', job });
      this.imageCosts.forget(job);
      await this.world.close(job);
      for (const name of await this.#log.list(`${job}/`)) await this.#log.remove(name);
      this.observer.jobChanged(job);
    })()
      .catch((error: unknown) => this.#logger.error({ err: error, job }, 'the logs of an ended job could not be removed'))
      .finally(() => this.#closing.delete(job));
    this.#closing.set(job, work);
    return work;
  }

  /** Resolves when the logs of an ended job are gone (tests, deletion). */
  async closed(job: JobId): Promise<void> {
    await this.#closing.get(job);
  }

  /** Everything of the job is on disk already ({@link JobStore.create}). */
  async submit(spec: JobSpec, stdin: Uint8Array): Promise<void> {
    const log = this.#stdinOf(spec.id);
    try {
      await log.append(stdin, !spec.interactive);
    } finally {
      log.close();
    }
    this.#specs.set(spec.id, spec);
    await this.dispatcher.submit(spec);
  }

  /** All that an ended job was given as standard input. */
  stdinOf(job: JobId): Uint8Array {
    const log = this.#stdinOf(job);
    try {
      return Buffer.concat(Array.from({ length: log.messages }, (_, n) => log.message(n + 1)));
    } finally {
      log.close();
    }
  }

  async appendStdin(job: JobId, bytes: Uint8Array, end: boolean, offset: number | undefined): Promise<number> {
    const open = this.#open.get(job);
    const log = open?.stdin ?? this.#stdinOf(job);
    try {
      await log.append(bytes, end, offset);
    } finally {
      if (!open) log.close();
    }
    for (const h of this.memories.of(job) ?? []) h.feedStdin();
    return log.bytes;
  }

  /** Forgets an ended job with all its files. @throws MayflyError NOT_FOUND, CONFLICT */
  async remove(job: JobId): Promise<void> {
    const view = this.view(job);
    if (!view) throw new MayflyError('NOT_FOUND', `There is no job ${job}.`);
    if (!isOver(view.state)) throw new MayflyError('CONFLICT', 'The job has not ended; cancel it first.');
    await this.#closing.get(job);
    this.dispatcher.step({ type: 'forget', job });
    await this.#registry.commit([[`shared/${job}`, undefined]]); // rest/reports.ts
    await this.dispatcher.settled();
    this.#specs.delete(job);
    this.#finals.forget(job);
    this.history.forget(job);
    await this.store.remove(job);
    this.observer.jobForgotten(job);
  }

  // Views

  spec(job: JobId): JobSpec | undefined {
    return this.#specs.get(job);
  }
  /** Ranks that it has by now. */
  tasksOf(job: JobId): number {
    return this.dispatcher.core.core.jobs.get(job)?.tasks.length ?? 0;
  }
  /** Name of the token that submitted it. */
  ownerOf(job: string): string | undefined {
    const spec = this.#specs.get(job as JobId);
    return spec && (spec.owner ?? FIRST_TOKEN);
  }
  view(job: JobId): JobView | undefined {
    const open = this.#open.get(job);
    return jobView(this.dispatcher.core, job, open && !this.#closing.has(job) ? this.#countersOf(job) : this.#finals.read(job));
  }
  jobs(): JobId[] {
    return jobIds(this.dispatcher.core);
  }
  nodes(): NodeView[] {
    return nodeViews(this.dispatcher.core);
  }
  activeJobs(): number {
    let n = 0;
    for (const j of this.dispatcher.core.core.jobs.values()) if (!isOver(j.record.state)) n++;
    return n;
  }
  logBytes(): number {
    return this.memories.all().reduce((n, h) => n + h.logBytes, 0);
  }

  #countersOf(job: JobId): JobCounters {
    const hosts = this.memories.of(job) ?? [];
    return {
      task: (task) => this.#taskCounters(job, hosts, task),
      outputs: this.world.files(job),
      outputBytes: this.world.total(job),
    };
  }

  #taskCounters(job: JobId, hosts: readonly ChannelMemoryHost[], task: TaskId): TaskCounters {
    const open = this.#open.get(job);
    const newest = this.checkpoints.core.imagesOf(job, task).at(-1);
    if (newest) open?.images.set(task, { images: newest.count, imageBytes: newest.bytes, lastImageAt: newest.at });
    const uploading = this.checkpoints.core.comingOf(job, task);
    return { ...noCounters(), ...trafficOf(hosts, task), ...open?.images.get(task), ...(uploading === undefined ? {} : { uploading }) };
  }

  /** For the charts. */
  #reading(job: JobId): Reading | undefined {
    const open = this.#open.get(job);
    if (!open?.ready || this.#closing.has(job)) return undefined;
    const hosts = this.memories.of(job) ?? [];
    const r: Reading = { messages: 0, bytes: 0, logBytes: 0, imageBytes: 0 };
    for (const h of hosts) r.logBytes += h.logBytes;
    for (let t = 0; t < this.tasksOf(job); t++) {
      const c = this.#taskCounters(job, hosts, taskId(t));
      r.messages += c.messagesOut;
      r.bytes += c.bytesOut;
      r.imageBytes += c.imageBytes;
    }
    return r;
  }

  #jobChanged(job: JobId): void {
    const open = this.#open.get(job);
    this.history.changed(job);
    if (open) {
      const faults = this.dispatcher.core.core.jobs.get(job)?.faults ?? [];
      for (; open.recoveredFaults < faults.length; open.recoveredFaults++) {
        const after = faults[open.recoveredFaults]!.recoveredAfterMs;
        if (after === undefined) break;
        this.#metrics.recoverySeconds.observe(after / 1000);
      }
    }
    this.observer.jobChanged(job);
  }

  /** Where the dispatcher gave this incarnation to; undefined: nowhere, or a newer one acts. */
  #nodeOf(job: JobId, task: TaskId, incarnation: Incarnation): NodeId | undefined {
    const t = this.dispatcher.core.core.find(job, task);
    return t?.incarnation === incarnation ? t.node : undefined;
  }

  // Between the cores

  #cm(job: JobId, index: number): ChannelMemoryHost | undefined {
    return this.memories.of(job)?.[index];
  }

  #home(job: JobId, task: TaskId): ChannelMemoryHost | undefined {
    const hosts = this.memories.of(job);
    return hosts?.[homeOf(task, hosts.length)];
  }

  #assignment(job: JobId, task: TaskId, incarnation: Incarnation, manifest: Manifest | undefined): Assignment {
    const { record } = this.dispatcher.core.core.jobs.get(job)!;
    const { spec } = record;
    this.#metrics.assigned(incarnation === 0 ? 'first' : 'restart');
    this.history.assigned(job, task);
    return assignmentOf(record, {
      task, incarnation, manifest,
      capability: this.#secrets.capability({ job, task, incarnation }),
      graceMs: spec.graceMs ?? this.dispatcher.core.core.settings.graceMs,
      now: Date.now(),
    });
  }

  #watchDeadlocks(): void {
    for (const [job, open] of this.#open) {
      if (this.#stopping || this.#closing.has(job)) continue;
      const view = jobView(this.dispatcher.core, job, { task: noCounters, outputs: [], outputBytes: 0 });
      if (view?.state !== 'running') continue;
      const tasks = observed(view, this.memories.of(job) ?? [], this.world);
      if (!tasks) return;
      const deadlock = open.deadlock.observe({ now: Date.now(), tasks, stdinOpen: !open.stdin.ended });
      if (deadlock) this.dispatcher.step({ type: 'deadlock', job, report: deadlock.report });
    }
  }
}

export const isOver = (state: string): boolean => state === 'done' || state === 'failed' || state === 'cancelled';
const noop = (): void => undefined;
