/**
 * The cores of one server process, composed: the dispatcher and the Checkpoint Server of all jobs, and the Channel
 * Memories of every open job. An effect of one core that concerns another becomes an event of that one here, and
 * nowhere else: the order of recovery, fencing, trimming and ending is this file.
 *
 * Owns: which jobs are open and their Channel Memories, orders to jobs that are being opened. Does not own: what the
 * cores decide; sockets, disks and clocks, which are the host's. The file service is the host's as well, because what
 * it decides is written to files while it decides; it reports here ({@link JobService.exited}, {@link
 * JobService.spawned}).
 *
 *  V1 Events of a core are dealt with in the order in which they came, each with all its effects before the next.
 *  V2 Effects leave one by one, not as a list: after one that fails, what followed from the same step must not happen
 *     (served-log.ts, L3).
 *  V3 Orders to a job that is being opened wait until its Channel Memories exist; orders to a job that is not open are
 *     void.
 *  V4 New tasks of a job are known to all its Channel Memories before the dispatcher hears of them.
 */
import {
  SpawnRefusal,
  spawnedTasks,
  taskId,
  wholeEveryOf,
  type ErrorBody,
  type ExitReport,
  type Incarnation,
  type JobId,
  type ProtocolName,
  type SpawnGroup,
  type TaskId,
} from '@mayfly/wire';
import type { CheckpointServer } from '../images/checkpoint-server.ts';
import type { CheckpointServerEffect, CheckpointServerEvent } from '../images/events.ts';
import type { Dispatcher } from '../dispatcher/dispatcher.ts';
import type { DispatcherEffect } from '../dispatcher/effects.ts';
import type { DispatcherEvent, JobSpec, LoggedProgress } from '../dispatcher/events.ts';
import { capacityOf } from '../dispatcher/events.ts';
import { ALIVE_KEY } from '../dispatcher/keys.ts';
import { partsOf } from '../dispatcher/parts.ts';
import { hasExited, idleTasks, slotsFor, spawnedSlots } from '../dispatcher/views.ts';
import type { VProtocol } from '../contract/index.ts';
import type { ServiceHost } from './service-host.ts';
import { protocols } from '../table.ts';
import { CoreInbox } from './inbox.ts';
import type { LogAnswers, LogOrder, ServedLog } from './served-log.ts';
import type { CheckpointFigures, Entry, PartHost, ServicePart } from './part.ts';
import type { Timeless } from './timeless.ts';

/** Events of the cores; the service adds the time. */
export type DispatcherInput = Timeless<DispatcherEvent>;
export type ImagesInput = Timeless<CheckpointServerEvent>;

export class JobService {
  readonly dispatcher: Dispatcher;
  readonly images: CheckpointServer;
  readonly #host: ServiceHost;
  readonly #jobs = new Map<JobId, readonly ServedLog[]>();
  /** V3. */
  readonly #opening = new Map<JobId, (() => void)[]>();
  /** Of open jobs whose protocol brings one. */
  readonly #parts = new Map<JobId, ServicePart>();
  /** Kinds of records in the registry that are parts'. */
  readonly #kinds: ReadonlySet<string>;
  /** What the registry had of parts when the process began, until their jobs are open. */
  readonly #left = new Map<JobId, Entry[]>();
  /** When the server before this one was last there, as far as is known. */
  #aliveAt = 0;
  readonly #toDispatcher: CoreInbox<DispatcherInput, DispatcherEffect>;
  readonly #toImages: CoreInbox<ImagesInput, CheckpointServerEffect>;
  readonly #ended = new Set<'dispatcher' | 'images'>();

  /** `table`: what each V-protocol brings; another one only in tests. */
  constructor(
    cores: { dispatcher: Dispatcher; images: CheckpointServer },
    host: ServiceHost,
    private readonly table: Readonly<Record<ProtocolName, Pick<VProtocol, 'service'>>> = protocols,
  ) {
    this.dispatcher = cores.dispatcher;
    this.images = cores.images;
    this.#host = host;
    this.#kinds = new Set(Object.values(this.table).flatMap(({ service }) => service?.kinds ?? []));
    const { dispatcher, images } = cores;
    this.#toDispatcher = new CoreInbox(
      (e) => dispatcher.step({ ...e, now: host.now() } as DispatcherEvent),
      (e) => this.#ofDispatcher(e),
      (event, error) => host.defect('dispatcher', event, error),
    );
    this.#toImages = new CoreInbox(
      (e) => images.step({ ...e, now: host.now() } as CheckpointServerEvent),
      (e) => this.#ofImages(e),
      (event, error) => host.defect('images', event, error),
    );
  }

  // Events

  /** An event for the dispatcher. */
  dispatch(event: DispatcherInput): void {
    if (!this.#ended.has('dispatcher')) this.#toDispatcher.put(event);
  }

  /** An event for the Checkpoint Server. */
  image(event: ImagesInput): void {
    if (!this.#ended.has('images')) this.#toImages.put(event);
  }

  /** The host stops: this core hears nothing any more. */
  end(core: 'dispatcher' | 'images'): void {
    this.#ended.add(core);
  }

  /**
   * First event after a start of the process: everything that the registry has. Images come first, because the
   * dispatcher hears which of them are complete.
   */
  recover(entries: readonly Entry[]): void {
    this.image({ type: 'recover', entries: entries.filter(([key]) => /^(image|trimmed|near)\//.test(key)) });
    for (const entry of entries) {
      const [key, value] = entry;
      if (key === ALIVE_KEY) this.#aliveAt = (value as { at: number }).at;
      const [kind, job] = key.split('/') as [string, JobId];
      if (!this.#kinds.has(kind)) continue;
      const left = this.#left.get(job);
      if (left) left.push(entry);
      else this.#left.set(job, [entry]);
    }
    const ours = entries.filter(([key]) => key === ALIVE_KEY || /^(job|task|fault|reputation)\//.test(key));
    this.dispatch({ type: 'recover', entries: ours, images: this.images.newest() });
  }

  // Effects of one core that concern another

  #ofDispatcher(e: DispatcherEffect): void {
    switch (e.type) {
      case 'openJob':
        if (!this.#jobs.has(e.job) && !this.#opening.has(e.job)) this.#opening.set(e.job, []);
        return this.#host.dispatcher(e);
      case 'goesBack':
        return this.#whenOpen(e.job, () =>
          this.#parts.get(e.job)?.lost?.(e.cause, e.cause === 'paused' ? [] : [e.task], { task: e.task }),
        );
      case 'wantsWave':
        return this.#parts.get(e.job)?.ask?.(e.for);
      case 'rolledBack':
        for (const log of this.logs(e.job)) for (const [task, incarnation] of e.acting) log.acting(task, incarnation);
        return this.#parts.get(e.job)?.lineDurable?.(e.epoch);
      case 'fenceCs':
        return this.#whenOpen(e.job, () => this.fenceImages(e.job, e.task, e.incarnation));
      case 'fenceCm':
        return this.#whenOpen(e.job, () => this.fenceLog(e.job, e.cm, e.task, e.incarnation));
      case 'taskDead':
        return this.#whenOpen(e.job, () => this.#parts.get(e.job)?.dead?.(e.task, e.above));
      case 'teams':
        return this.#whenOpen(e.job, () => {
          for (const log of this.logs(e.job)) log.teams(e.teams, e.dissolved);
          this.image(e);
        });
      case 'exitedInTeam':
        return this.image({ type: 'exitedInTeam', job: e.job, task: e.task });
      case 'unattended':
        return this.#whenOpen(e.job, () => {
          for (const log of this.logs(e.job)) log.unattended(e.task);
        });
      case 'taskDone':
        this.#host.dispatcher(e);
        this.image({ type: 'taskDone', job: e.job, task: e.task });
        this.#whenOpen(e.job, () => {
          for (const log of this.logs(e.job)) log.done(e.task);
          this.#parts.get(e.job)?.done?.(e.task);
        });
        return;
      default:
        return this.#host.dispatcher(e);
    }
  }

  /** Answered by `imageChosen` or `imageLost`. */
  protected fenceImages(job: JobId, task: TaskId, incarnation: Incarnation): void {
    this.image({ type: 'restart', job, task, incarnation });
  }

  /** Answered by `fencedCm`. */
  protected fenceLog(job: JobId, cm: number, task: TaskId, incarnation: Incarnation): void {
    this.logs(job)[cm]?.fence(task, incarnation);
  }

  #ofImages(e: CheckpointServerEffect): void {
    switch (e.type) {
      case 'cover':
        return this.order(e.job, e.cm, { type: 'cover', task: e.task, image: e.image, position: e.position });
      case 'uncover':
        return this.order(e.job, e.cm, { type: 'uncover', task: e.task, image: e.image });
      case 'trim':
        return this.order(e.job, e.cm, { type: 'trim', task: e.task, position: e.to });
      case 'waveChecked':
        return this.#parts.get(e.job)?.checked?.(e.wave, e.sound, e.reason);
      case 'waveDamaged':
        return this.#parts.get(e.job)?.lost?.('image', [], { task: e.task });
      case 'nearStored':
        return this.#parts.get(e.job)?.stored?.(e.wave, { ...e, sentBytes: 0, near: true });
      case 'complete':
        this.#host.images(e);
        if (e.wave !== undefined) this.#parts.get(e.job)?.stored?.(e.wave, e);
        return this.dispatch({ type: 'image', job: e.job, task: e.task, image: e.image, serial: e.serial });
      case 'chosen': {
        const { job, task, incarnation, image, position, ended } = e;
        const chosen = image === undefined ? {} : { image, position: position! };
        return this.dispatch({
          type: 'imageChosen',
          job,
          task,
          incarnation,
          ...chosen,
          ...(ended && { ended }),
        });
      }
      case 'lost':
        return this.dispatch({
          type: 'imageLost',
          job: e.job,
          task: e.task,
          incarnation: e.incarnation,
          error: e.error,
        });
      default:
        return this.#host.images(e);
    }
  }

  /** To a Channel Memory. */
  protected order(job: JobId, cm: number, order: LogOrder): void {
    this.logs(job)[cm]?.order(order);
  }

  /** What the Channel Memories of a job have for the other cores. */
  answersOf(job: JobId): LogAnswers {
    return {
      fenced: (cm, task, incarnation, progress) => {
        this.#parts.get(job)?.fenced?.(task, incarnation, cm);
        this.dispatch({ type: 'fencedCm', job, task, incarnation, cm, ...progress });
      },
      covered: (cm, image, determinants) => this.image({ type: 'covered', image, cm, determinants }),
      refused: (_cm, task, incarnation, error) => this.dispatch({ type: 'refused', job, task, incarnation, error }),
      failed: (_cm, error) => this.failed(job, error),
      began: (task) => this.#parts.get(job)?.began?.(task),
      stage: (cm, answer) => this.#parts.get(job)?.answered?.(cm, answer),
      coreLost: (cm) => this.#parts.get(job)?.lost?.('channels', [], { cm }),
      wentBack: (cm, epoch) => this.#parts.get(job)?.wentBack?.(cm, epoch),
      recovered: () => this.#parts.get(job)?.recovered?.(),
    };
  }

  // Life of a job

  /** Channel Memories of an open job; none for another. */
  logs(job: JobId): readonly ServedLog[] {
    return this.#jobs.get(job) ?? [];
  }

  /** Its Channel Memories exist, and recover: orders find them from now on. */
  open(job: JobId, logs: readonly ServedLog[]): void {
    this.#jobs.set(job, logs);
    for (const log of logs) log.beside(logs.filter((other) => other !== log));
    const waiting = this.#opening.get(job) ?? [];
    this.#opening.delete(job);
    for (const order of waiting) order();
  }

  /** The registry has been read: which incarnation of each task acts. */
  acting(spec: JobSpec, acting: readonly (readonly [TaskId, Incarnation])[]): void {
    for (const log of this.logs(spec.id)) for (const [task, incarnation] of acting) log.acting(task, incarnation);
    const { id: job, protocol, channelMemories } = spec;
    const size = capacityOf(spec);
    const programs = partsOf(spec).map(({ count, program }) => ({ count, hash: program.hash }));
    const wholeEvery = spec.parity && wholeEveryOf(spec.parity);
    this.image({ type: 'openJob', job, protocol, size, channelMemories, programs, wholeEvery, acting });
    this.#openPart(spec);
  }

  /** After a restart of the server the logs of a job that goes back wait for a line (L4 of served-log.ts). */
  #openPart(spec: JobSpec): void {
    const { id: job } = spec;
    const policy = this.table[spec.protocol].service;
    if (!policy || this.#parts.has(job)) return;
    const part = policy.begin(spec, this.#hostOf(job));
    this.#parts.set(job, part);
    const left = this.#left.get(job) ?? [];
    this.#left.delete(job);
    if (!this.logs(job).some((log) => log.waitsForLine)) return part.begin?.();
    // Nobody goes back any more: what the logs have is final, and goes out.
    if (hasExited(this.dispatcher, job)) return part.finish?.();
    const since = this.dispatcher.core.jobs.get(job)?.record.startedAt ?? spec.submittedAt;
    part.recover?.(left, { since, until: this.#aliveAt });
  }

  #hostOf(job: JobId): PartHost {
    const host = this.#host;
    return {
      now: () => host.now(),
      logs: () => this.logs(job),
      dispatch: (event) => this.dispatch(event),
      image: (event) => this.image(event),
      near: (wave) => this.images.nearIn(job, wave),
      commit: (changes, then) => {
        const part = this.#parts.get(job);
        host.commit(changes, () => this.#parts.get(job) === part && then());
      },
      idle: () => idleTasks(this.dispatcher, job),
      record: () => this.dispatcher.core.jobs.get(job)?.record,
      gone: (task) => host.dispatcher({ type: 'taskDone', job, task }),
      add: (group) => host.replace?.(job, group),
      failed: (error) => this.failed(job, error),
      log: (level, message) => host.log(level, job, message),
      changed: (news) => host.waves?.(job, news),
      defect: (event, error) => host.defect('part', event, error),
    };
  }

  /** A task asks the membership service (WorldMode.MEMBER). @returns whether its job has one */
  askMembers(job: JobId, task: TaskId, body: Uint8Array): boolean {
    const part = this.#parts.get(job);
    if (!part?.asked) return false;
    part.asked(task, body);
    return true;
  }

  /** Every 250 ms or so: what only time brings. */
  tick(): void {
    this.dispatch({ type: 'tick' });
    for (const part of this.#parts.values()) part.tick();
  }

  /** The job has ended: its logs give what they have to the world before they are closed. */
  ending(job: JobId): void {
    this.#parts.get(job)?.end?.();
  }

  /** The job has ended, and its Channel Memories are closed: its images may go. */
  close(job: JobId): void {
    this.#jobs.delete(job);
    this.#opening.delete(job);
    const gone = this.#parts.get(job)?.keys?.();
    this.#parts.delete(job);
    if (gone && gone.length > 0)
      this.#host.commit(
        gone.map((key) => [key, undefined] as const),
        noop,
      );
    this.image({ type: 'forgetJob', job });
  }

  #whenOpen(job: JobId, order: () => void): void {
    const waiting = this.#opening.get(job);
    if (waiting) waiting.push(order);
    else order();
  }

  // Reports of the file service

  /** The EXIT of a task is out, and durable; this incarnation sent it. May come again. */
  exited(job: JobId, task: TaskId, incarnation: Incarnation, report: ExitReport): void {
    this.dispatch({ type: 'exit', job, task, incarnation, report });
  }

  failed(job: JobId, error: ErrorBody): void {
    this.dispatch({ type: 'jobFailed', job, error });
  }

  /**
   * MPI_Comm_spawn takes the slots that are free now, or that earlier children of its job are about to leave. `tasks`:
   * of the job so far; `underWay`: granted, and not reported by {@link spawned}.
   * @returns SpawnRefusal, or 0: the spawn is granted
   */
  spawnRefusal(spec: JobSpec, asking: TaskId, count: number, tasks: number, underWay: number): number {
    // Under REBUILD replacements of lost tasks take the numbers.
    if (tasks + count > capacityOf(spec) || spec.ft?.communicators === 'rebuild') return SpawnRefusal.LIMIT;
    const missing = count + underWay - slotsFor(this.dispatcher, spec.id);
    if (missing <= 0) return 0;
    return missing <= spawnedSlots(this.dispatcher, spec.id, asking) ? SpawnRefusal.LEAVING : SpawnRefusal.SLOTS;
  }

  /** V4. A spawn is granted, durably. May come again. @param openStreams opens what the log needs, then calls `done` */
  spawned(
    job: JobId,
    group: SpawnGroup,
    openStreams: (log: ServedLog, size: number, done: (opened: boolean) => void) => void,
    then: () => void = noop,
  ): void {
    const size = group.first + spawnedTasks(group.parts);
    const logs = this.logs(job);
    let left = logs.length;
    const grown = (): void => {
      if (--left > 0) return;
      this.#parts.get(job)?.grow?.(size, group);
      this.dispatch({ type: 'spawn', job, group });
      then();
    };
    for (const log of logs) {
      log.resize(size);
      openStreams(log, size, (opened) => {
        // A host that cannot open them reports that and gets no core.
        if (opened) log.grown(size);
        grown();
      });
    }
    if (logs.length === 0) grown();
  }

  // What is known of the ranks

  /** Where tasks go back together: the checkpoints since this start of the server, and what they cost. */
  waves(job: JobId): CheckpointFigures | undefined {
    return this.#parts.get(job)?.figures;
  }

  /** What the Channel Memories have of each task; nothing while one of them recovers. */
  logged(job: JobId, tasks: number): LoggedProgress[] {
    const logs = this.logs(job);
    const cores = logs.flatMap((l) => l.core ?? []);
    if (cores.length < logs.length || cores.length === 0 || cores.some((c) => c.tasks < tasks)) return [];
    return Array.from({ length: tasks }, (_, n) => {
      const task = taskId(n);
      const home = logs.find((l) => l.isHome(task))!.core!;
      const { arrivalsLogged, bodiesUnderWay } = home.observe(task);
      let sends = 0;
      for (const c of cores) sends += c.progress(task).sends;
      const { consumed } = home.progress(task);
      return { task, sends, arrivals: arrivalsLogged, consumed, underWay: bodiesUnderWay > 0 };
    });
  }
}

const noop = (): void => undefined;
