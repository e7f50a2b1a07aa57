/**
 * State of the dispatcher core, and the context in which its parts work on it.
 *
 * Durable (in the registry, see events.ts): job, task and fault records. Everything else is losable: nodes come back
 * with Hello, and what they hold is checked against the records.
 */
import {
  kindOf,
  spawnedTasks,
  type ErrorBody,
  type ImageId,
  type Incarnation,
  type JobId,
  type NodeId,
  type ProgramKind,
  type RankActivity,
  type Position,
  type SpawnGroup,
  type TaskId,
} from '@mayfly/wire';
import type { Holdings } from '../channel-memory/events.ts';
import { ObserverClock, type Presence, type Verdict } from '../failure-detector.ts';
import type { CallsSeen } from './common-call.ts';
import type { DispatcherEffect } from './effects.ts';
import type { RecoveryPolicy, RecoveryTable } from './policy.ts';
import { Shares } from './recent-use.ts';
import type { AddressReputation, Comparison, Failure, Reputation } from './suspicions.ts';
import {
  type DispatcherSettings,
  type FaultRecord,
  type JobRecord,
  type SlotQuotas,
  type TaskRecord,
} from './events.ts';
import { taskKey } from './keys.ts';

/**
 * idle → raising → choosing → fencing → assigned → running → exiting → done; any of the middle ones → idle when the
 * incarnation is lost. `away`: the server restarted and the node that held the task is not back yet. `ended`: its EXIT
 * is durable, and may still be undone (together.ts).
 */
export type Phase =
  'idle' | 'raising' | 'choosing' | 'fencing' | 'assigned' | 'running' | 'away' | 'ended' | 'exiting' | 'done';

export interface Task {
  readonly job: Job;
  readonly task: TaskId;
  phase: Phase;
  /** Highest incarnation assigned, durable or being made so; undefined before the first. Only rises (D2). */
  incarnation: Incarnation | undefined;
  /** The node whose slot it has: in every phase but idle and done. */
  node: NodeId | undefined;
  /** The tasks with which it exchanges messages in its node's memory, itself included (teams.ts). */
  team?: readonly TaskId[] | undefined;
  exit?: ExitRecord;
  /** It has failed, and the others are told (bury.ts). */
  lost?: true;
  /** D25: it had ended where its team goes back to, and is fenced only. */
  stays?: boolean | undefined;
  /** D23: its node has fewer slots than its team has members. */
  oversubscribed?: boolean | undefined;
  /** D29, of a team's first member: when it may be asked for images, and until when they are waited for. */
  moves?: { readonly from: number; readonly by?: number } | undefined;
  /** D30: since when it does nothing more, as its node says. */
  parkedAt?: number | undefined;
  /** …and its last image is complete. */
  parked?: boolean | undefined;
  /** The node that its highest incarnation was assigned to. */
  lastNode?: NodeId;
  /**
   * Idle: its last incarnation may still live on this node, and may go on should the node come back before another is
   * raised.
   */
  resumable?: NodeId | undefined;
  /** Not this node again, if there is another: the task just died there. */
  avoid?: NodeId | undefined;
  image?: ImageId | undefined;
  /** While fencing: CMs that have not answered, and the answers of the others. */
  fence?: { waiting: Set<number>; sends: number; consumed: number; position: Position; logs: Holdings[] };
  /** Messages of the task that were logged before this incarnation: one more is a new step. */
  fencedSends: number;
  strikes: number;
  /**
   * Failures since it last got any further; and the one that ended the last incarnation, judged once it is known how
   * far that one came (failures.ts).
   */
  failures: Failure[];
  pending?: Failure | undefined;
  /** Failures in earlier places. */
  readonly past: Failure[];
  reach: TaskRecord['reach'];
  /** What a node, or a Channel Memory, last reported as the reason of a loss. */
  lastError?: string;
  /** This incarnation has done what none before did. */
  worked: boolean;
  /** Its last known progress in the Channel Memories; `taken`: arrivals consumed, as far as its node is trusted. */
  logged?: { sends: number; arrivals: number; consumed: number; taken: number };
  /**
   * Observer's time: when it began, was last seen to do something, and was last seen so without its node's word
   * (stragglers.ts).
   */
  beganAt: number;
  callAt: number;
  seenAt: number;
  /** How long its earlier incarnations ran. */
  ranMs: number;
  /** Factor of its job's patience with it. */
  patience: number;
  /** Nodes of which nothing came, since it was last seen to do something. */
  comparisons: readonly Comparison[];
  /** How often it was started elsewhere because its node reported that it waits. */
  doubted: number;
  /** Nodes without a record on which nothing came of it, one after the other. */
  strangers: number;
  /** Nodes that it was taken from since it was last seen to do something. */
  readonly comparedAt: Set<NodeId>;
  /** Newest complete image. */
  newest?: { image: ImageId; serial: number };
  /**
   * An image newer than this serial is wanted. Its node is asked whenever the rank starts or continues, until the image
   * exists.
   */
  wanted?: number | undefined;
  activity?: RankActivity;
  /** Wall clock of the first heartbeat that reported this wait and this progress; neither has changed since. */
  activitySince?: number;
  /** Its calls of checkpoint.here (common-call.ts). */
  callsSeen?: CallsSeen | undefined;
  /** What its program states, and what it had reached (job-progress.ts); `reached` is at least `fraction`. */
  stated?: { readonly incarnation: Incarnation; readonly fraction: number; readonly reached: number };
  /** Messages of its team that it has sent and consumed, as its node says (stragglers.ts). */
  localSeen?: number;
  /** Highest number of arrivals that any incarnation consumed, as heartbeats say. */
  arrivalsSeen: number;
  /** Observer's time of the assignment, of the end of waiting while away. */
  since: number;
  /** Heartbeats of its node in a row that did not name it. */
  missed: number;
  /** Its faults (places in Job.faults) that it has not recovered from. */
  openFaults: number[];
}
type ExitRecord = NonNullable<TaskRecord['exit']>;

/** D30: ranks that run and are to be regrouped (last-images.ts). */
export interface Regrouping {
  /** One team, or several of a team that is dissolved. */
  readonly into: 'one' | 'several';
  readonly tasks: readonly Task[];
  /** From when on they are asked for last images, and until when these are waited for. */
  readonly from: number;
  readonly by?: number;
  /** They are one unit. */
  readonly fencing?: true;
}

export interface Job {
  record: JobRecord;
  tasks: Task[];
  /** A team was dissolved, and nobody has heard of it yet (D28). */
  dissolving?: boolean;
  faults: FaultRecord[];
  /** Places in `faults` that are not in the registry as they are now. */
  dirtyFaults: Set<number>;
  /** The registry has not seen `record.moreFaults` as it is. */
  moreFaultsDirty: boolean;
  /** Its end is being made durable: nothing new is begun. */
  ending?: { state: 'done' | 'failed' | 'cancelled'; error?: ErrorBody; exitCode?: number };
  /** The task whose result or loss ended the job. */
  culprit?: TaskId;
  outputBytes: number;
  /** Wall clock: since when it waits for slots, and not for its owner's quota (fair-share.ts). */
  waitsSince: number;
  /** Where all ranks waited when the job was first taken for deadlocked (doubted-deadlock.ts). */
  doubted?: string;
  /**
   * Wall clock of the last time that a rank got further than all of its earlier incarnations; 0: none has since the
   * server began.
   */
  movedAt: number;
  /** Longest time between two things that a rank was seen to do, and until one began; ms (stragglers.ts). */
  longestPause: number;
  longestStart?: number;
  /**
   * Since which running time, ms, and from where the rate of its progress is measured (job-progress.ts). `waited`: of
   * that, ranks waited for slots, and since when one does; `moved`: the measured time at which a rank last got further,
   * `longest`: the longest time until one did; `shown`: the estimate that people see.
   */
  pace?: {
    readonly at: number;
    readonly from: number;
    waited: number;
    waitsSince?: number | undefined;
    moved: number;
    longest: number;
    shown?: number | undefined;
  };
  regrouping?: Regrouping | undefined;
  /** None begins before. */
  regroupsFrom?: number | undefined;
  /** In vain, how often in a row. */
  regroupsFailed?: number;
  /** Since when storage is stopped while it runs (storage-outage.ts). */
  stoppedAt?: number;
  /** Paused, durably: observer's time at which ranks that have no new image yet leave without one (pause.ts). */
  leaveBy?: number;
  /** D15 (together.ts): no rank of it gets a slot, or none of these clusters. */
  rolling?: 'all' | ReadonlySet<number> | undefined;
}

export interface Node {
  readonly id: NodeId;
  name: string;
  engine: string;
  slots: number;
  cores?: number | undefined;
  /** Kinds of programs that it runs (D20). */
  runs: readonly ProgramKind[];
  /** Its ranks are of jobs of this room only. */
  room?: string | undefined;
  rttMs?: number | undefined;
  /** As the node measured it. */
  speed?: number | undefined;
  /** How long its earlier visits took, ms. */
  earlierMs: number;
  /** Incarnations lost here. */
  faults: number;
  connection: string | undefined;
  session: string | undefined;
  presence: Presence;
  /** Tasks that have a slot here. */
  tasks: Set<Task>;
  /** Images on its own disk: the newest two of each task (D31). */
  images: WeakMap<Task, ImageId[]>;
  /** Wall clock, for people. */
  since: number;
  lastSeen: number;
  /** As last shown. */
  verdict: Verdict;
}

export type Pending =
  | { kind: 'submit'; job: JobId }
  | { kind: 'raise'; tasks: { task: Task; incarnation: Incarnation }[]; starts: Job[]; formed: readonly Job[] }
  | { kind: 'dissolve'; job: Job }
  | { kind: 'exit'; task: Task }
  | { kind: 'end'; job: Job }
  | { kind: 'pause'; job: Job; since: number; waitMs: number }
  | { kind: 'rollBack'; job: Job; epoch: number }
  | { kind: 'nothing' };

/** What waits for slots (views.ts). */
export interface Queue {
  readonly line: { job: Job; takes: boolean }[];
  /** Slots in use, by owner. */
  readonly used: ReadonlyMap<string, number>;
}

export class Core {
  readonly settings: DispatcherSettings;
  readonly clock: ObserverClock;
  /** By order. */
  readonly jobs = new Map<JobId, Job>();
  readonly nodes = new Map<NodeId, Node>();
  readonly connections = new Map<string, Node>();
  readonly pending = new Map<number, Pending>();
  /** By node, also of nodes that are gone; and by address (reputation.ts). */
  readonly reputations = new Map<NodeId, Reputation>();
  readonly addresses = new Map<string, AddressReputation>();
  /** When the next quarantine ends, wall clock. */
  nextRelease = Infinity;
  nextToken = 1;
  nextOrder = 1;
  /** When {@link ALIVE_KEY} was last written. */
  aliveAt = 0;
  /** Why storage cannot be written (storage-outage.ts). Losable: the host reports it again. */
  stopped: ErrorBody | undefined;
  /** Until the next step. */
  queue: Queue | undefined;
  shares: Shares;
  /** Losable: the host says them again. */
  quotas: SlotQuotas = { of: new Map() };
  /** Wall clock of the event, ms. */
  now = 0;
  /** Slots or ranks may have become free: the queue is looked at, at the end of the step. */
  reschedule = false;
  /** When it was last ({@link Core.time}). */
  scheduledAt = -Infinity;
  effects: DispatcherEffect[] = [];
  readonly changedJobs = new Set<JobId>();
  nodesChanged = false;

  constructor(
    settings: DispatcherSettings,
    readonly protocols: RecoveryTable,
  ) {
    this.settings = settings;
    this.clock = new ObserverClock(settings.tickMs);
    this.shares = new Shares(settings.halfLifeMs, this.clock.time);
  }

  get time(): number {
    return this.clock.time;
  }

  emit(effect: DispatcherEffect): void {
    this.effects.push(effect);
  }

  persist(pending: Pending, changes: (readonly [key: string, value: unknown])[]): void {
    const token = this.nextToken++;
    this.pending.set(token, pending);
    this.emit({ type: 'persist', token, changes });
  }

  changed(job: Job): void {
    this.changedJobs.add(job.record.spec.id);
  }

  find(job: JobId, task: TaskId): Task | undefined {
    return this.jobs.get(job)?.tasks[task];
  }
}

/** Of a job with clusters. */
export const clusterOf = (t: Task): number | undefined => t.job.record.spec.clusters?.[t.task];

/** D15 (together.ts). */
export function goesBackNow({ job, task }: Task): boolean {
  const { rolling, record } = job;
  return rolling === 'all' || (rolling?.has(record.spec.clusters?.[task] ?? -1) ?? false);
}

/** Nothing of this job is assigned, restarted or counted any more. */
export const over = (job: Job): boolean => job.ending !== undefined || ended(job.record);

export const ended = (record: JobRecord): boolean =>
  record.state === 'done' || record.state === 'failed' || record.state === 'cancelled';

/** What a node has to run for a rank of this job. */
export const kindOfJob = (job: Job): ProgramKind => kindOf(job.record.spec.program.language);

export const paused = (job: Job): boolean => job.record.state === 'paused';

/** D10 (pause.ts). A paused job runs again, or has ended. */
export function timeGoesOn(core: Core, job: Job): void {
  const { record } = job;
  if (record.pausedAt === undefined) return;
  const ms = Math.max(0, core.now - record.pausedAt);
  delete record.pausedAt;
  if (record.startedAt === undefined) return; // it had not begun
  record.pausedMs = (record.pausedMs ?? 0) + ms;
  for (const t of job.tasks)
    for (const n of t.openFaults) {
      const f = job.faults[n]!;
      f.pausedMs = (f.pausedMs ?? 0) + ms;
      job.dirtyFaults.add(n);
    }
}

export const newTask = (job: Job, task: TaskId): Task => ({
  job,
  task,
  phase: 'idle',
  incarnation: undefined,
  node: undefined,
  fencedSends: 0,
  strikes: 0,
  failures: [],
  past: [],
  worked: false,
  beganAt: 0,
  callAt: 0,
  seenAt: 0,
  ranMs: 0,
  patience: 1,
  doubted: 0,
  strangers: 0,
  comparisons: [],
  comparedAt: new Set(),
  reach: { sends: 0, arrivals: 0, image: 0 },
  arrivalsSeen: 0,
  since: 0,
  missed: 0,
  openFaults: [],
});

/** What the job's V-protocol decides. */
export function recoveryOf(core: Core, { record: { spec } }: Job): RecoveryPolicy {
  const { recovery } = core.protocols[spec.protocol];
  return (spec.ft?.communicators === 'abort' && recovery.aborts) || recovery;
}

export const newJob = (record: JobRecord): Job => {
  const job: Job = {
    record,
    tasks: [],
    faults: [],
    dirtyFaults: new Set(),
    moreFaultsDirty: false,
    outputBytes: 0,
    waitsSince: 0,
    movedAt: 0,
    longestPause: 0,
  };
  for (let t = 0; t < record.spec.size; t++) job.tasks.push(newTask(job, t as TaskId));
  for (const g of record.spawned ?? []) addTasks(job, g);
  for (const team of record.teams ?? []) for (const m of team) if (job.tasks[m]) job.tasks[m].team = team;
  return job;
};

export function addTasks(job: Job, group: SpawnGroup): void {
  for (let n = spawnedTasks(group.parts); n > 0; n--) job.tasks.push(newTask(job, job.tasks.length as TaskId));
}

/** The spawn that a task came of; undefined: the job was started with it. */
export const groupOf = (record: Pick<JobRecord, 'spec' | 'spawned'>, task: TaskId): SpawnGroup | undefined =>
  task < record.spec.size
    ? undefined
    : record.spawned?.find((g) => task >= g.first && task < g.first + spawnedTasks(g.parts));

/** The change that makes a task's record what it is in memory. Only for tasks that have an incarnation. */
export function taskChange(t: Task): readonly [string, TaskRecord] {
  const record: TaskRecord = {
    incarnation: t.incarnation!,
    node: t.lastNode!,
    strikes: t.strikes,
    reach: { ...t.reach },
  };
  if (t.exit) record.exit = t.exit;
  return [taskKey(t.job.record.spec.id, t.task), record];
}
