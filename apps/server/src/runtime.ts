/**
 * The running server behind its doors: wires dispatcher, Channel Memories, Checkpoint Server and world to each other.
 *
 * Owns: the specs of all jobs. Does not own: what a job has while it is open (jobs/open-jobs.ts, R2), sockets and HTTP
 * (create-server.ts, rest/), what the cores decide.
 *
 *  R1  Before the server listens, every job that has not ended is open and its cores have recovered (but R6).
 *  R3  Nothing here decides: an event of one core becomes an event of another, in the order in which it happened.
 *  R6  A job that may go on from images which only nodes have is still being opened when they can come.
 *  R5  A server that stops records no loss: it ends the connections of nodes itself, and they come to the next one.
 */
import { isOver, jobIds, jobView, nodeViews, type JobService, type JobSpec, type ServedLog } from '@mayfly/protocols';
import type { MessageLog, Registry } from '@mayfly/storage/ports';
import {
  FILES,
  FIRST_TOKEN,
  MayflyError,
  SpawnRefusal,
  jobId,
  spawnedTasks,
  type Assignment,
  type ErrorBody,
  type ImageId,
  type JobId,
  type JobView,
  type NodeView,
  type SpawnGroup,
  type TaskId,
} from '@mayfly/wire';
import { clock } from './clock.ts';
import { Chronicle } from './chronicle.ts';
import { compose } from './compose.ts';
import type { Disk } from './disk.ts';
import { ChannelMemories } from './hosts/channel-memories.ts';
import { cmSettings } from './hosts/channel-memory-deps.ts';
import { CheckpointServerHost } from './hosts/checkpoint-server-host.ts';
import { DispatcherHost } from './hosts/dispatcher-host.ts';
import { NodeSockets } from './hosts/node-sockets.ts';
import { ParityHost } from './hosts/parity-host.ts';
import { WorldHost } from './hosts/world-host.ts';
import { assignmentOf, programOf, type Assigned } from './jobs/assignment.ts';
import { FinalCounters } from './jobs/job-counters.ts';
import { JobMarks } from './jobs/job-marks.ts';
import { JobRecords } from './jobs/job-records.ts';
import { JobStore, type ProgramAt } from './jobs/job-store.ts';
import { imageNews } from './jobs/image-news.ts';
import { Intake } from './jobs/intake.ts';
import { recoverJobs } from './jobs/recover-jobs.ts';
import { LogQuota } from './jobs/log-quota.ts';
import { mappedReport } from './jobs/mapped-report.ts';
import { Places } from './jobs/places.ts';
import { OpenJobs } from './jobs/open-jobs.ts';
import { watchLogs, watchRanks, type WatchParts } from './jobs/watch.ts';
import type { Logger } from './logger.ts';
import { Seats } from './memories/seats.ts';
import type { Metrics } from './metrics.ts';
import { noObserver, type RuntimeObserver } from './observer.ts';
import type { ResolvedOptions } from './options.ts';
import type { RuntimeDeps } from './runtime-deps.ts';
import type { Secrets } from './secrets.ts';
import type { Webhooks } from './webhooks.ts';

const WATCH_MS = 1000;
const CS_TICK_MS = 100;
/** Messages that something waits for are synced within this time. */
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
  readonly parity: ParityHost;
  /** Of a storage that several servers share. */
  readonly seats: Seats | undefined;
  readonly nodeSockets: NodeSockets;
  readonly #service: JobService;
  readonly chronicle: Chronicle;
  readonly webhooks: Webhooks;
  readonly #places: Places;
  observer: RuntimeObserver = noObserver;
  readonly #options: ResolvedOptions;
  readonly #disk: Disk;
  readonly #log: MessageLog;
  readonly #registry: Registry;
  readonly #secrets: Secrets;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #finals: FinalCounters;
  readonly #jobs: OpenJobs;
  readonly #watch: WatchParts;
  readonly intake: Intake;
  readonly #specs = new Map<JobId, JobSpec>();
  #timers: NodeJS.Timeout[] = [];
  #stopping = false;

  constructor(deps: RuntimeDeps) {
    const { options, registry, secrets, logger } = deps;
    this.#options = options;
    this.#disk = deps.disk;
    this.#log = deps.log;
    this.#registry = registry;
    this.#secrets = secrets;
    this.#logger = logger;
    this.#metrics = deps.metrics;
    this.store = new JobStore(deps.files);
    this.marks = new JobMarks({ registry, log: deps.log, images: deps.images, store: this.store, logger });
    this.#records = new JobRecords(deps.files, registry, logger);
    this.#finals = new FinalCounters(deps.archive);
    const quota = new LogQuota(options.limits.logBytes);
    this.chronicle = new Chronicle({
      archive: deps.archive,
      nodes: options.limits.nodes,
      board: deps.board,
      logger,
      dispatcher: () => this.#service.dispatcher,
      serving: (job) => this.#jobs.serving(job) !== undefined,
      spec: (job) => this.#specs.get(job),
      isLesson: (room) => deps.rooms.isLent(room),
      traffic: (job) => this.memories.traffic(job),
      local: (job) => this.memories.local(job),
      reading: (job) => this.#jobs.reading(job, this.tasksOf(job)),
      waves: (job) => this.#service.waves(job),
    });
    this.chronicle.history.onComputed = (job) => this.observer.jobChanged(job);
    this.webhooks = deps.webhooks;
    this.webhooks.onChange = (job) => this.observer.jobChanged(job);
    this.#places = new Places(this.store, (job, task) => this.programOf(job, task));
    this.memories = new ChannelMemories(secrets, logger, options.limits);
    const service = (this.#service = compose(options, logger, {
      dispatcher: (effect) => this.dispatcher.perform(effect),
      images: (effect) => this.checkpoints.perform(effect),
      commit: (changes, then) => this.dispatcher.commit(changes, then),
      waves: (job, news) => {
        this.chronicle.wave(job, news);
        this.observer.jobChanged(job);
      },
      replace: (job, group) => void this.#spawned(job, group),
    }));
    this.world = new WorldHost(deps.output, {
      output: (job, task, stream, offset, bytes) => this.observer.output(job, task, stream, offset, bytes),
      file: (job, path, bytes) => this.observer.file(job, path, bytes),
      exit: (job, task, incarnation, report) => {
        service.exited(job, task, incarnation, mappedReport(this.store, job, this.programOf(job, task), report));
      },
      total: (job, bytes) => service.dispatch({ type: 'output', job, bytes }),
      failed: (job, error) => service.failed(job, error),
      member: (job, task, body) => service.askMembers(job, task, body),
      answers: (job, task) => this.#home(job, task)?.feedAnswers(task),
      refusal: (job, task, count, tasks, underWay) => {
        const spec = this.#specs.get(job);
        return spec ? service.spawnRefusal(spec, task, count, tasks, underWay) : SpawnRefusal.LIMIT;
      },
      spawned: (job, group) => this.#spawned(job, group),
      stopped: (error) => deps.disk.failed(error, 'the output of a job') !== undefined,
      durableAnswers: (job, task) => this.#home(job, task)?.core?.durable(FILES, task) ?? 0,
    });
    this.checkpoints = new CheckpointServerHost({
      service,
      images: deps.images,
      disk: deps.disk,
      registry,
      secrets,
      logger,
      limits: options.limits,
      takesImages: (job) => this.#specs.get(job)?.allowance === undefined,
      listener: imageNews({ chronicle: this.chronicle, parity: () => this.parity, jobs: () => this.#jobs }),
    });
    this.nodeSockets = new NodeSockets({
      service,
      secrets,
      logger,
      room: options.room,
      rooms: deps.rooms,
      maxNodes: options.limits.nodes,
      messagesPerMinute: options.limits.messagesPerMinute,
      trustProxy: options.trustProxy,
      listener: {
        inSources: (m, from) =>
          this.#places.inSources(
            m,
            (t) => from !== undefined && this.chronicle.isAt(from, t.job, t.task, t.incarnation),
          ),
        heard: (m, from) => this.chronicle.heard(m, from),
        parity: (connection, part, pages) => this.parity.part(connection, part, pages),
        came: (node, room, who) => this.chronicle.came(node, room, who),
        left: (node) => this.chronicle.left(node),
      },
    });
    this.parity = new ParityHost({ service, sockets: this.nodeSockets, images: deps.images, logger });
    this.parity.onChange = (job) => this.observer.jobChanged(job);
    this.dispatcher = new DispatcherHost({
      service,
      sockets: this.nodeSockets,
      registry,
      disk: deps.disk,
      logger,
      listener: {
        openJob: (job) => this.#openJob(job),
        assignment: (job, assigned) => this.#assignment(job, assigned),
        manifest: (image) => this.checkpoints.manifest(image as ImageId),
        damaged: (job, task, image) => service.image({ type: 'damaged', job, task, image: image as ImageId }),
        taskDone: (job, task) => {
          this.world.slotFree(job);
          this.chronicle.taskDone(job, task);
        },
        jobEnded: (job) => {
          this.chronicle.jobEnded(job);
          this.webhooks.ended(job);
          void this.#closeJob(job);
        },
        jobChanged: (job) => this.#jobChanged(job),
        nodesChanged: () => this.observer.nodesChanged(),
        given: (node, job, task, incarnation) => this.chronicle.given(node, job, task, incarnation),
      },
    });
    this.seats =
      deps.sharing &&
      new Seats({
        sharing: deps.sharing,
        version: options.version,
        key: secrets.key,
        settings: cmSettings(options, SYNC_TICK_MS),
        metrics: deps.metrics,
        logger,
        own: () => this.memories.all().flatMap((h) => (h.server === undefined ? [h.spec.job] : [])),
      });
    this.#jobs = new OpenJobs({
      limits: options.limits,
      settings: cmSettings(options, SYNC_TICK_MS),
      elsewhere: (spec, traffic, sitting) =>
        this.seats?.place(spec, deps.rooms.serverOf(this.#specs.get(spec.job)?.room), traffic, sitting),
      moved: (job, memory) => this.dispatcher.memoryMoved(job, memory),
      log: deps.log,
      disk: deps.disk,
      registry,
      secrets,
      logger,
      metrics: deps.metrics,
      store: this.store,
      finals: this.#finals,
      chronicle: this.chronicle,
      memories: this.memories,
      world: this.world,
      checkpoints: this.checkpoints,
      parity: this.parity,
      service,
      quota,
      spec: (job) => this.#specs.get(job),
      closed: (job) => this.observer.jobChanged(job),
    });
    this.intake = new Intake({
      service,
      dispatcher: this.dispatcher,
      registry,
      records: this.#records,
      marks: this.marks,
      finals: this.#finals,
      jobs: this.#jobs,
      store: this.store,
      chronicle: this.chronicle,
      specs: this.#specs,
      logBytes: (job) => this.memories.logBytes(job),
      stateOf: (job) => this.need(job).state,
      forgotten: async (job) => {
        await this.webhooks.forget(job);
        this.observer.jobForgotten(job);
      },
    });
    this.#watch = {
      service,
      memories: this.memories,
      world: this.world,
      jobs: this.#jobs,
      quota,
      tasksOf: (job) => this.tasksOf(job),
    };
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
    await recoverJobs({
      service: this.#service,
      disk: this.#disk,
      log: this.#log,
      logger: this.#logger,
      store: this.store,
      jobs: this.#jobs,
      records: this.#records,
      specs: this.#specs,
      entries: await this.marks.finish(await this.#registry.entries('')),
      storage: (error) => this.#storage(error),
      close: (job) => this.#closeJob(job),
    });
    this.dispatcher.start();
    await this.webhooks.begin((job) => this.view(job));
    this.#timers = [
      setInterval(() => this.memories.tick(clock()), SYNC_TICK_MS),
      setInterval(() => this.checkpoints.step({ type: 'tick' }), CS_TICK_MS),
      setInterval(() => {
        if (this.#stopping || this.#disk.stopped) return;
        watchLogs(this.#watch);
        watchRanks(this.#watch);
      }, WATCH_MS),
      setInterval(() => this.chronicle.tick(this.nodes()), HISTORY_MS),
      this.parity.start(),
    ];
  }

  /** R5: the dispatcher hears nothing any more, not of connections that this server closes either. */
  stop(): void {
    this.#stopping = true;
    this.dispatcher.stop();
  }

  async close(): Promise<void> {
    this.stop();
    for (const t of this.#timers) clearInterval(t);
    await this.webhooks.close();
    await this.#jobs.settled();
    await this.#records.close();
    await this.chronicle.close();
    await Promise.all(this.memories.all().map((h) => h.close('the server stops')));
    this.seats?.close();
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
    this.#watch.quota.forget(job);
    await this.#jobs.close(job, this.tasksOf(job));
    const spec = this.#specs.get(job);
    if (spec) await this.#records.ended(spec);
  }

  #spawned(job: JobId, group: SpawnGroup): Promise<void> {
    this.chronicle.history.grow(job, group.first + spawnedTasks(group.parts));
    const hosts = this.memories.of(job) ?? [];
    this.memories.local(job)?.grow(group.first + spawnedTasks(group.parts));
    return new Promise((resolve) => {
      // A Channel Memory that cannot open them has ended the job.
      this.#service.spawned(
        job,
        group,
        (log, size, done) =>
          void hosts[log.index]!.openStreams(size).then(
            () => done(true),
            () => done(false),
          ),
        resolve,
      );
    });
  }

  /** Resolves when the logs of an ended job are gone (tests, deletion). */
  closed(job: JobId): Promise<void> {
    return this.#jobs.closed(job);
  }

  // Views

  spec(job: JobId): JobSpec | undefined {
    return this.#specs.get(job);
  }
  /** The program that a task runs; undefined: there is no such job. */
  programOf(job: JobId, task: TaskId): ProgramAt | undefined {
    const record = this.dispatcher.core.core.jobs.get(job)?.record;
    return record && programOf(record, task);
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
    const view = jobView(
      this.dispatcher.core,
      job,
      this.#jobs.serving(job) ? this.#jobs.counters(job) : this.#finals.read(job),
    );
    const computed = view && !isOver(view.state) ? this.chronicle.history.computed(job) : undefined;
    const webhook = this.webhooks.viewOf(job);
    return view && { ...view, ...(computed === undefined ? {} : { computed }), ...(webhook && { webhook }) };
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
    const records = [...this.dispatcher.core.core.jobs.values()].map((j) => j.record);
    return records.filter(({ state, spec }) => !isOver(state) && !spec.allowance).length;
  }
  logBytes(): number {
    return this.memories.all().reduce((n, h) => n + h.logBytes, 0);
  }

  #jobChanged(job: JobId): void {
    const open = this.#jobs.find(job);
    this.chronicle.jobChanged(job);
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

  #home(job: JobId, task: TaskId): ServedLog | undefined {
    return this.#service.logs(job).find((log) => log.isHome(task));
  }

  #assignment(job: JobId, assigned: Assigned): Assignment {
    const { record } = this.dispatcher.core.core.jobs.get(job)!;
    const { task, incarnation } = assigned;
    this.#metrics.assigned(incarnation === 0 ? 'first' : 'restart');
    return assignmentOf(record, {
      ...assigned,
      at: (this.memories.of(job) ?? []).map((host) => host.server ?? this.seats?.address),
      capability: this.#secrets.capability({ job, task, incarnation }),
      graceMs: record.spec.graceMs ?? this.dispatcher.core.core.settings.graceMs,
      now: clock(),
    });
  }
}
