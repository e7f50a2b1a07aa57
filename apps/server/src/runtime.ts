/**
 * The running server behind its doors: wires dispatcher, Channel Memories, Checkpoint Server and world to each other.
 *
 * Owns: the specs of all jobs. Does not own: what a job has while it is open (jobs/open-jobs.ts, R2), sockets and HTTP
 * (create-server.ts, rest/), what the cores decide.
 *
 *  R1  Before the server listens, every job that has not ended is open and its cores have recovered.
 *  R3  Nothing here decides: an event of one core becomes an event of another, in the order in which it happened.
 */
import {
  ALIVE_KEY,
  capacityOf,
  jobIds,
  jobKey,
  jobView,
  nodeViews,
  slotsFor,
  spawnedSlots,
  type JobSpec,
} from '@mayfly/protocols';
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
  type ErrorBody,
  type Heartbeat,
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
import type { Disk } from './disk.ts';
import { ImageCosts } from './checkpoint-advice.ts';
import { History } from './history/history.ts';
import { ChannelMemories } from './hosts/channel-memories.ts';
import type { ChannelMemoryHost } from './hosts/channel-memory-host.ts';
import { CheckpointServerHost } from './hosts/checkpoint-server-host.ts';
import { DispatcherHost } from './hosts/dispatcher-host.ts';
import { WorldHost, type StreamName } from './hosts/world-host.ts';
import { assignmentOf } from './jobs/assignment.ts';
import { FinalCounters, noCounters } from './jobs/job-counters.ts';
import { JobMarks } from './jobs/job-marks.ts';
import { JobRecords } from './jobs/job-records.ts';
import { JobStore } from './jobs/job-store.ts';
import { LogQuota } from './jobs/log-quota.ts';
import { mappedReport } from './jobs/mapped-report.ts';
import { Places } from './jobs/places.ts';
import { loggedProgress, observed } from './jobs/observation.ts';
import { OpenJobs } from './jobs/open-jobs.ts';
import { RunLog } from './jobs/run-log.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { SlotUse } from './nodes/slot-use.ts';
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

/** Troubles of the file system that say nothing of the job's own files. */
const PASSING: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'EMFILE',
  'ENFILE',
  'ENOSPC',
  'EDQUOT',
  'ENOMEM',
  'DISK_FULL',
  'STORAGE_FAILED',
]);

const WATCH_MS = 1000;
/**
 * A node that lives is mostly back on a new socket by then (packages/node/src/daemon). Where somebody has set the
 * grace, that holds.
 */
const BRIEF_GRACE_MS = 100;
const CS_TICK_MS = 100;
/** What somebody waits for is synced within this time. */
const SYNC_TICK_MS = 25;
const HISTORY_MS = 1000;

export class Runtime {
  readonly store: JobStore;
  readonly marks: JobMarks;
  readonly #records: JobRecords;
  readonly world: WorldHost;
  readonly memories: ChannelMemories;
  readonly checkpoints: CheckpointServerHost;
  readonly dispatcher: DispatcherHost;
  readonly imageCosts = new ImageCosts();
  /** What volunteers gave, by room and name. */
  readonly board: Board;
  readonly history: History;
  readonly runLog: RunLog;
  readonly #places: Places;
  readonly slotUse: SlotUse;
  observer: RuntimeObserver = { jobChanged: noop, nodesChanged: noop, output: noop, file: noop, jobForgotten: noop };
  readonly #options: ResolvedOptions;
  readonly #disk: Disk;
  readonly #log: MessageLog;
  readonly #registry: Registry;
  readonly #secrets: Secrets;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #finals: FinalCounters;
  readonly #logQuota: LogQuota;
  readonly #jobs: OpenJobs;
  readonly #specs = new Map<JobId, JobSpec>();
  #timers: NodeJS.Timeout[] = [];
  #stopping = false;

  constructor(deps: {
    options: ResolvedOptions;
    disk: Disk;
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
    this.#disk = deps.disk;
    this.#log = deps.log;
    this.#registry = registry;
    this.#secrets = secrets;
    this.#logger = logger;
    this.#metrics = deps.metrics;
    this.board = deps.board;
    this.store = new JobStore(options.dataDir);
    this.marks = new JobMarks({ registry, log: deps.log, images: deps.images, store: this.store, logger });
    this.#records = new JobRecords(this.store.root, registry, logger);
    this.#finals = new FinalCounters(this.store.root);
    this.#logQuota = new LogQuota(options.limits.logBytes);
    this.history = new History({
      jobsRoot: this.store.root,
      dispatcher: () => this.dispatcher.core,
      traffic: (job) => (this.memories.of(job) ?? []).map((h) => h.traffic),
      reading: (job) => this.#jobs.reading(job, this.tasksOf(job)),
      logger,
    });
    this.runLog = new RunLog(this.store.root);
    this.#places = new Places((job) => {
      const language = this.#specs.get(job)?.program.language;
      return language && { path: this.store.programPath(job, language), language };
    });
    this.slotUse = new SlotUse(options.limits.nodes);
    this.memories = new ChannelMemories(secrets, logger, options.limits.dataSockets);
    this.world = new WorldHost(options.dataDir, {
      output: (job, task, stream, offset, bytes) => this.observer.output(job, task, stream, offset, bytes),
      file: (job, path, bytes) => this.observer.file(job, path, bytes),
      exit: (job, task, report) =>
        this.dispatcher.step({
          type: 'exit',
          job,
          task,
          report: mappedReport(this.store, job, this.#specs.get(job)?.program.language ?? 'typescript', report),
        }),
      total: (job, bytes) => this.dispatcher.step({ type: 'output', job, bytes }),
      failed: (job, error) => this.dispatcher.step({ type: 'jobFailed', job, error }),
      answers: (job, task) => this.#home(job, task)?.feedAnswers(task),
      refusal: (job, task, count, tasks, underWay) => this.#refusal(job, task, count, tasks, underWay),
      spawned: (job, group) => this.#spawned(job, group),
      stopped: (error) => deps.disk.failed(error, 'the output of a job') !== undefined,
      durableAnswers: (job, task) => this.#home(job, task)?.core?.durable(FILES, task) ?? 0,
    });
    this.checkpoints = new CheckpointServerHost({
      images: deps.images,
      disk: deps.disk,
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
          this.#jobs.noteImages(job, task);
          this.history.image(job, task, 'image');
          this.dispatcher.step({ type: 'image', job, task, image, serial });
        },
        chosen: (job, task, incarnation, image) =>
          this.dispatcher.step({ type: 'imageChosen', job, task, incarnation, ...image }),
        lost: (job, task, incarnation, error) =>
          this.dispatcher.step({ type: 'imageLost', job, task, incarnation, error }),
      },
    });
    this.dispatcher = new DispatcherHost({
      registry,
      disk: deps.disk,
      secrets,
      logger,
      settings: {
        ...(options.dispatcher?.graceMs === undefined ? { briefGraceMs: BRIEF_GRACE_MS } : {}),
        ...options.dispatcher,
      },
      room: options.room,
      rooms: deps.rooms,
      maxNodes: options.limits.nodes,
      messagesPerMinute: options.limits.messagesPerMinute,
      trustProxy: options.trustProxy,
      listener: {
        openJob: (job) => this.#openJob(job),
        fenceCs: (job, task, incarnation) =>
          this.#jobs.whenOpen(job, () => this.checkpoints.step({ type: 'restart', job, task, incarnation })),
        fenceCm: (job, task, incarnation, cm) =>
          this.#jobs.whenOpen(job, () => this.#cm(job, cm)?.fence(task, incarnation)),
        assignment: (job, task, incarnation, manifest) => this.#assignment(job, task, incarnation, manifest),
        manifest: (image) => this.checkpoints.manifest(image as ImageId),
        damaged: (job, task, image) => this.checkpoints.step({ type: 'damaged', job, task, image: image as ImageId }),
        taskDone: (job, task) => {
          this.world.slotFree(job);
          this.history.done(job, task);
          this.checkpoints.step({ type: 'taskDone', job, task });
          this.#jobs.whenOpen(job, () => {
            for (const h of this.memories.of(job) ?? []) h.taskDone(task);
          });
          this.board.done(job, task, Date.now());
        },
        jobEnded: (job) => {
          this.board.jobEnded(job);
          void this.#closeJob(job);
        },
        jobChanged: (job) => this.#jobChanged(job),
        nodesChanged: () => this.observer.nodesChanged(),
        inSources: (m, from) =>
          this.#places.inSources(m, (t) => from !== undefined && this.#isAt(from, t.job, t.task, t.incarnation)),
        heard: (m, from) => {
          this.imageCosts.heard(m, (job) => this.#specs.get(job)?.room);
          this.history.heard(m, from);
          this.runLog.heard(m, from, (job, task, incarnation) => {
            const node = this.#jobs.serving(job) ? this.#nodeOf(job, task, incarnation) : undefined;
            return node === undefined ? undefined : this.dispatcher.core.core.nodes.get(node);
          });
          if (from !== undefined) this.#slotsHeard(m, from);
          if (from !== undefined)
            this.board.heard(
              from,
              m.tasks,
              (job, task, incarnation) => this.#nodeOf(job, task, incarnation) === from,
              Date.now(),
            );
        },
        came: (node, room, who) => this.board.came(node, room, who),
        left: (node) => this.board.left(node),
        given: (node, job, task, incarnation) => this.board.given(node, job, task, incarnation, Date.now()),
      },
    });
    this.#jobs = new OpenJobs({
      limits: options.limits,
      settings: {
        backlogBytes: options.limits.socketBacklogBytes,
        backlogMaxBytes: options.limits.socketBacklogMaxBytes,
        lazyTicks: Math.ceil(options.syncEveryMs / SYNC_TICK_MS),
      },
      log: deps.log,
      disk: deps.disk,
      registry,
      secrets,
      logger,
      metrics: deps.metrics,
      store: this.store,
      finals: this.#finals,
      history: this.history,
      runLog: this.runLog,
      imageCosts: this.imageCosts,
      memories: this.memories,
      world: this.world,
      checkpoints: this.checkpoints,
      dispatcher: this.dispatcher,
      closed: (job) => this.observer.jobChanged(job),
    });
    deps.disk.before(() => this.world.resume());
    deps.disk.onChange((error) => this.#storage(error));
  }

  /**
   * Storage is stopped (`error`: why), or can be written again. Jobs stand still meanwhile: nothing is read from their
   * links, and nothing is begun.
   */
  #storage(error: ErrorBody | undefined): void {
    const stopped = error !== undefined;
    this.memories.hold(stopped);
    this.checkpoints.hold(stopped);
    this.dispatcher.step({ type: 'storage', ...(error ? { error } : {}) });
    if (!stopped) this.#jobs.finish();
  }

  // Life of the server

  /** R1. */
  async recover(): Promise<void> {
    const entries = await this.marks.finish(await this.#registry.entries(''));
    const ours = entries.filter(([k]) => k === ALIVE_KEY || /^(job|task|fault|reputation)\//.test(k));
    this.checkpoints.step({ type: 'recover', entries: entries.filter(([k]) => /^(image|trimmed)\//.test(k)) });
    const active = new Set<JobId>();
    const known = new Set<string>();
    for (const [key, value] of ours) {
      if (key.startsWith('task/')) this.#jobs.ran.add(jobId(key.split('/')[1]!));
      if (!key.startsWith('job/')) continue;
      const { spec, state } = value as { spec: JobSpec; state: string };
      this.#specs.set(spec.id, spec);
      known.add(spec.id);
      if (!isOver(state)) active.add(spec.id);
    }
    this.dispatcher.step({ type: 'recover', entries: ours, images: this.checkpoints.core.newest() });
    if (this.#disk.stopped) this.#storage(this.#disk.stopped);
    // R1, unless storage is stopped: then they recover when it can be written, and the server says so meanwhile.
    for (const job of active)
      if (this.#jobs.ran.has(job))
        await this.#disk.orStopped(this.#openJob(job).catch((error: unknown) => this.#unrecovered(job, error)));
    await this.#disk.orStopped(this.#finish(active));
    this.#records.fill([...this.#specs.values()].filter((spec) => !active.has(spec.id)));
    if (known.size > 0) this.#logger.info({ jobs: known.size, active: active.size }, 'recovered');
    this.dispatcher.start();
    this.#timers = [
      setInterval(() => this.memories.tick(Date.now()), SYNC_TICK_MS),
      setInterval(() => this.checkpoints.step({ type: 'tick' }), CS_TICK_MS),
      setInterval(() => this.#watchLogs(), WATCH_MS),
      setInterval(() => this.#watchRanks(), WATCH_MS),
      setInterval(() => this.history.tick(), HISTORY_MS),
      setInterval(() => this.slotUse.tick(this.nodes(), Date.now()), HISTORY_MS),
    ];
  }

  /**
   * Its files are damaged: it ends, and says which. @throws MayflyError for a trouble that may pass (no space, no
   * permission): then nothing starts, and nothing ends
   */
  #unrecovered(job: JobId, error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined && PASSING.has(code)) throw new Error(`cannot open job ${job}: ${message}`);
    this.#logger.error({ err: error, job }, 'job cannot be recovered');
    const known = error instanceof MayflyError && error.code !== 'INTERNAL';
    this.dispatcher.step({
      type: 'jobFailed',
      job,
      error: {
        code: known ? error.code : 'DAMAGED_DATA',
        message: `The job could not resume after the server restarted: ${message}`,
      },
    });
  }

  /**
   * R2 (jobs/open-jobs.ts): logs of jobs that have ended (their output once more, should a power loss have eaten it).
   * Those of unknown jobs stay.
   */
  async #finish(active: ReadonlySet<JobId>): Promise<void> {
    const left = new Set((await this.#log.list('')).map((name) => jobId(name.split('/')[0]!)));
    for (const job of left) {
      if (active.has(job) || !this.#specs.has(job)) continue;
      this.#jobs.ran.add(job);
      await this.#openJob(job).catch((error: unknown) =>
        this.#logger.warn({ err: error, job }, 'logs of an ended job cannot be read'),
      );
      await this.#closeJob(job);
    }
  }

  async close(): Promise<void> {
    this.#stopping = true;
    for (const t of this.#timers) clearInterval(t);
    await this.#jobs.settled();
    await this.#records.close();
    this.runLog.close();
    await this.history.close();
    await Promise.all(this.memories.all().map((h) => h.close('the server stops')));
    await this.checkpoints.close();
    await this.dispatcher.close();
    this.#jobs.releaseAll();
    await this.world.closeAll();
  }

  // Life of a job

  #openJob(job: JobId): Promise<void> {
    const spec = this.#specs.get(job);
    return spec ? this.#jobs.open(spec) : Promise.reject(new MayflyError('NOT_FOUND', `no job ${job}`));
  }

  async #closeJob(job: JobId): Promise<void> {
    this.#logQuota.forget(job);
    await this.#jobs.close(job, this.tasksOf(job));
    const spec = this.#specs.get(job);
    if (spec) await this.#records.ended(spec);
  }

  /** MPI_Comm_spawn takes what is free now, or what its job's earlier children are about to leave. */
  #refusal(job: JobId, task: TaskId, count: number, tasks: number, underWay: number): number {
    const spec = this.#specs.get(job);
    if (!spec || tasks + count > capacityOf(spec)) return SpawnRefusal.LIMIT;
    const missing = count + underWay - slotsFor(this.dispatcher.core, job);
    if (missing <= 0) return 0;
    return missing <= spawnedSlots(this.dispatcher.core, job, task) ? SpawnRefusal.LEAVING : SpawnRefusal.SLOTS;
  }
  async #spawned(job: JobId, group: SpawnGroup): Promise<void> {
    const size = group.first + spawnedTasks(group.parts);
    this.history.grow(job, size);
    // One that cannot has ended the job.
    await Promise.all((this.memories.of(job) ?? []).map((h) => h.grow(size).catch(noop)));
    this.dispatcher.step({ type: 'spawn', job, group });
  }

  /** Resolves when the logs of an ended job are gone (tests, deletion). */
  closed(job: JobId): Promise<void> {
    return this.#jobs.closed(job);
  }

  /** Everything of the job is on disk already ({@link JobStore.create}). */
  async submit(spec: JobSpec, stdin: Uint8Array): Promise<void> {
    try {
      const log = this.#jobs.stdinOf(spec.id);
      try {
        await log.append(stdin, !spec.interactive);
      } finally {
        log.close();
      }
      await this.#records.submitted(spec);
      this.#specs.set(spec.id, spec);
      await this.dispatcher.submit(spec);
    } catch (error) {
      this.#specs.delete(spec.id);
      throw error;
    }
  }

  /** All that an ended job was given as standard input. */
  stdinOf(job: JobId): Uint8Array {
    const log = this.#jobs.stdinOf(job);
    try {
      return Buffer.concat(Array.from({ length: log.messages }, (_, n) => log.message(n + 1)));
    } finally {
      log.close();
    }
  }

  async appendStdin(job: JobId, bytes: Uint8Array, end: boolean, offset: number | undefined): Promise<number> {
    const open = this.#jobs.find(job);
    const log = open?.stdin ?? this.#jobs.stdinOf(job);
    try {
      await log.append(bytes, end, offset);
    } finally {
      if (!open) log.close();
    }
    for (const h of this.memories.of(job) ?? []) h.feedStdin();
    return log.bytes;
  }

  /**
   * Forgets an ended job with all its files.
   * @throws MayflyError NOT_FOUND, CONFLICT; DISK_FULL, STORAGE_FAILED when that has to wait for storage
   */
  async remove(job: JobId): Promise<void> {
    if (!isOver(this.need(job).state)) throw new MayflyError('CONFLICT', 'The job has not ended; cancel it first.');
    await this.#jobs.closed(job);
    await this.#records.settled(job);
    await this.marks.removing(job, async () => {
      // Not through the core, whose commits may wait for storage: these make room, and nothing of an ended job is under
      // way there.
      const of = [
        ...(await this.#registry.entries(`task/${job}/`)),
        ...(await this.#registry.entries(`fault/${job}/`)),
      ];
      await this.#registry.commit([[jobKey(job), undefined], ...of.map(([key]) => [key, undefined] as const)]);
      this.dispatcher.step({ type: 'forget', job });
      this.#specs.delete(job);
      this.#finals.forget(job);
      this.runLog.forget(job);
      await this.history.forget(job);
    });
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
    return jobView(
      this.dispatcher.core,
      job,
      this.#jobs.serving(job) ? this.#jobs.counters(job) : this.#finals.read(job),
    );
  }
  /** @throws MayflyError NOT_FOUND */
  need(id: string): JobView {
    const view = this.view(jobId(id));
    if (!view) throw new MayflyError('NOT_FOUND', `There is no job ${id}.`);
    return view;
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

  #jobChanged(job: JobId): void {
    const open = this.#jobs.find(job);
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

  /** The incarnation acts at this node, or ended there: what a rank says last comes after its end, perhaps. */
  #isAt(node: NodeId, job: JobId, task: TaskId, incarnation: Incarnation): boolean {
    const t = this.dispatcher.core.core.find(job, task);
    return t?.incarnation === incarnation && (t.node === node || (t.phase === 'done' && t.lastNode === node));
  }

  #slotsHeard(m: Heartbeat, from: NodeId): void {
    const { core } = this.dispatcher.core;
    const node = core.nodes.get(from);
    if (!node) return;
    this.slotUse.heard(
      from,
      m.tasks,
      node.slots,
      node.tasks.size,
      (job, task, incarnation) => this.#isAt(from, job, task, incarnation),
      Date.now(),
    );
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
      task,
      incarnation,
      manifest,
      capability: this.#secrets.capability({ job, task, incarnation }),
      graceMs: spec.graceMs ?? this.dispatcher.core.core.settings.graceMs,
      now: Date.now(),
    });
  }

  #watchLogs(): void {
    if (this.#disk.stopped) return;
    for (const [job, bytes] of this.memories.logs()) {
      const what = this.#logQuota.observe(job, bytes);
      if (what === 'end')
        this.dispatcher.step({
          type: 'jobFailed',
          job,
          error: {
            code: 'LOG_LIMIT',
            message:
              `The logs of the job hold ${bytes} bytes of messages and file reads, more than the limit of ` +
              `${this.#logQuota.limit} bytes.`,
          },
        });
      else if (what === 'ask')
        for (let t = this.tasksOf(job) - 1; t >= 0; t--)
          this.dispatcher.step({ type: 'checkpoint', job, task: taskId(t) });
    }
  }

  #watchRanks(): void {
    if (this.#stopping || this.#disk.stopped) return;
    for (const [job, open] of this.#jobs) {
      this.dispatcher.step({
        type: 'progress',
        job,
        tasks: loggedProgress(this.tasksOf(job), this.memories.of(job) ?? []),
      });
      const view = jobView(this.dispatcher.core, job, { task: noCounters, outputs: [], outputBytes: 0 });
      if (view?.state !== 'running') continue;
      const tasks = observed(view, this.memories.of(job) ?? [], this.world);
      const deadlock = tasks && open.deadlock.observe({ now: Date.now(), tasks, stdinOpen: !open.stdin.ended });
      if (deadlock) this.dispatcher.step({ type: 'deadlock', job, report: deadlock.report });
    }
  }
}

export const isOver = (state: string): boolean => state === 'done' || state === 'failed' || state === 'cancelled';
const noop = (): void => undefined;
