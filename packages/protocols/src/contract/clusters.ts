/**
 * Clusters of tasks that checkpoint independently (`hc3i`): events and effects of the scheduler of a job's clusters,
 * what it makes durable, and what it and the logs tell each other. Each cluster has a Channel
 * Memory of its own, the home of its tasks, with the same number.
 *
 * A committed checkpoint of a cluster is a CLC. Its number is the cluster's SN; interval c of a cluster follows CLC c.
 */
import type { Cut, ErrorBody, JobId, TaskId } from '@mayfly/wire';
import type { Due, TaskAnswer, TaskOfWave, WaveRecord, WaveSettings } from './waves.ts';

/** Of a task: messages sent and received, by peer. */
export type Counts = Pick<Cut, 'sends' | 'receives'>;
export type Cuts = readonly (readonly [task: TaskId, counts: Counts])[];

/** What was done in these intervals of a cluster is undone: from `from` on, before `until`. */
export interface DeadIntervals {
  readonly cluster: number;
  readonly from: number;
  readonly until: number;
}

/** What a recovery line needs to know of a CLC. */
export interface Checkpoint {
  /** Sequence number; of its cluster, rising. */
  readonly sn: number;
  /** Direct dependencies vector: by cluster, the highest interval that interval `sn` depends on; 0: none. */
  readonly ddv: readonly number[];
}

/** A committed CLC. */
export interface ClcRecord extends Checkpoint {
  readonly cluster: number;
  /** The CLC whose images it has; of an alias, not its own number. */
  readonly images: number;
  readonly forced: boolean;
  /** ms since the epoch (of the clock): when it began. */
  readonly at: number;
  /** Of all tasks of the cluster. */
  readonly cuts: Cuts;
  /** What its tasks go back to, under the number `images`; absent: to the start of the program. */
  readonly wave?: WaveRecord;
}

export interface FederationRecord {
  /** Number of rollbacks. */
  readonly epoch: number;
  /** By cluster: no CLC has had this number yet, nor a higher one. */
  readonly next: readonly number[];
  readonly dead: readonly DeadIntervals[];
}

/** A cluster that goes back. */
export interface Rolled {
  readonly cluster: number;
  /** Number of the CLC that it goes back to. */
  readonly to: number;
  /** That CLC under its new number. */
  readonly alias: ClcRecord;
}

export type Changes = readonly (readonly [key: string, value: unknown])[];

export const clcKey = (job: JobId, cluster: number, sn: number): string =>
  `clc/${job}/${cluster}/${String(sn).padStart(10, '0')}`;
export const federationKey = (job: JobId): string => `federation/${job}`;

/** Where a task begins that goes back to this CLC. */
export const tasksOfClc = ({ cuts, wave }: ClcRecord): readonly TaskOfWave[] =>
  wave?.tasks ?? cuts.map(([task]) => ({ task, state: 'start' }));

/** The CLC of a cluster that is under way. */
export interface ClcUnderWay {
  readonly sn: number;
  /** They have ended: everything that they sent is here. */
  readonly ended: readonly TaskId[];
  /** They have not begun: their cut is their start. */
  readonly starting: readonly TaskId[];
}

/** What a Channel Memory has to know of all clusters when its core begins. */
export interface ClustersNow {
  /** By cluster: the CLCs that are kept, the oldest first. */
  readonly stored: readonly (readonly ClcRecord[])[];
  readonly underWay: readonly (ClcUnderWay | undefined)[];
  /** All dead intervals of the job. */
  readonly dead: readonly DeadIntervals[];
}

// ---- the scheduler ----

export type ClusterEvent = { readonly now: number } & (
  | { readonly type: 'tick' }
  /** A CLC of these clusters (absent: of all) is wanted now: by a person, a pause, output that waits. */
  | { readonly type: 'ask'; readonly clusters?: readonly number[] }
  /** G9: a message of interval `interval` of cluster `from` waits at `cluster`. */
  | { readonly type: 'force'; readonly cluster: number; readonly from: number; readonly interval: number }
  /** Its home accepts the task's incarnation, which has not sent or received anything yet. */
  | { readonly type: 'began'; readonly task: TaskId }
  | TaskAnswer
  /** S2: what the cluster had sent before its cut to tasks of `to` is durable there. */
  | { readonly type: 'sent'; readonly cluster: number; readonly wave: number; readonly to: number }
  | { readonly type: 'marked'; readonly cluster: number; readonly wave: number }
  /** Its EXIT has come, and everything before it. */
  | { readonly type: 'ended'; readonly task: TaskId }
  /** Outcome of a commit. */
  | { readonly type: 'committed'; readonly commit: number }
  | { readonly type: 'lost'; readonly clusters: readonly number[] }
  /** Answer to `check`: those of its CLCs whose images are damaged. */
  | { readonly type: 'checked'; readonly check: number; readonly damaged: readonly (readonly [number, number])[] }
  /** The Channel Memory of the cluster begins where the cluster goes back to. */
  | { readonly type: 'wentBack'; readonly cluster: number; readonly epoch: number }
);

export type ClusterEffect =
  /** To the Channel Memories and the Checkpoint Server; the ranks of the cluster are asked for their images. */
  | ({ readonly type: 'begin'; readonly cluster: number; readonly forced: boolean } & ClcUnderWay)
  /** All of its tasks have cut: the outside cuts. */
  | { readonly type: 'mark'; readonly cluster: number; readonly sn: number }
  /** One step for the registry. */
  | { readonly type: 'commit'; readonly commit: number; readonly changes: Changes }
  /** To the dispatcher, which commits it with a new incarnation of every task of these clusters. */
  | {
      readonly type: 'line';
      readonly commit: number;
      readonly epoch: number;
      readonly clusters: readonly number[];
      readonly changes: Changes;
    }
  /** The CLC under way is over. `record`: it counts, and what waits for it goes on. */
  | {
      readonly type: 'over';
      readonly cluster: number;
      readonly sn: number;
      readonly record?: ClcRecord;
      /** Why it was abandoned, in words. */
      readonly reason?: string;
    }
  /** Are the images of these CLCs sound? */
  | { readonly type: 'check'; readonly check: number; readonly clcs: readonly ClcRecord[] }
  /** The line is durable: these clusters, and no others, are fenced and go back. */
  | {
      readonly type: 'goBack';
      readonly epoch: number;
      readonly rolled: readonly Rolled[];
      /** By cluster: numbers of the waves whose images are kept. */
      readonly kept: readonly (readonly number[])[];
    }
  /** To the dispatcher. */
  | { readonly type: 'assign'; readonly cluster: number; readonly ended: readonly TaskId[] }
  /** The garbage line, by cluster: CLCs before it are gone, and what was written before it may be shown. */
  | { readonly type: 'stable'; readonly records: readonly ClcRecord[] }
  /** Every exit is final, and everything is shown. */
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly error: ErrorBody }
  | { readonly type: 'log'; readonly level: 'info' | 'warn' | 'error'; readonly message: string };

export interface ClusterOptions {
  readonly job: JobId;
  /** By cluster. */
  readonly tasks: readonly (readonly TaskId[])[];
  readonly settings: WaveSettings;
  /** By cluster, in place of `settings.periodMs`, ms; null: it has no timer. */
  readonly timers?: readonly (number | null)[] | undefined;
}

/** When clusters take CLCs, when these count, and what a loss goes back to. Declared for the service. */
export interface ClusterScheduler {
  /** Number of rollbacks. */
  readonly epoch: number;
  /** What Channel Memories have to know. */
  readonly clusters: ClustersNow;
  /** When a cluster takes its next CLC that no message forces, ms since the epoch (of the clock), and its period. */
  due(cluster: number): Due;
  /** A new job: what is to be durable before any task begins. */
  begin(now: number): Changes;
  /** After a restart of the server, as the registry has it. */
  recover(stored: readonly ClcRecord[], record: FederationRecord | undefined, now: number): ClusterEffect[];
  step(e: ClusterEvent): ClusterEffect[];
}

/** Of a scheduler to the logs of its job. */
export type ClusterLogEvent =
  /** The core has recovered: what it has to know of all clusters. */
  | { readonly type: 'clusters'; readonly now: ClustersNow }
  /** A CLC of a cluster begins; at its own Channel Memory `wave` says the rest. */
  | { readonly type: 'clcBegins'; readonly cluster: number; readonly clc: ClcUnderWay }
  /** …is over. `record`: it counts. */
  | { readonly type: 'clcOver'; readonly cluster: number; readonly sn: number; readonly record: ClcRecord | undefined }
  /** Other clusters went back; their tasks are fenced. */
  | { readonly type: 'sendersWentBack'; readonly rolled: readonly Rolled[] }
  /** No cluster goes back behind these CLCs. */
  | { readonly type: 'stableClcs'; readonly records: readonly ClcRecord[] };

/** Of a log to the scheduler of its job. */
export type ClusterLogEffect =
  /** G9: a message waits for a CLC of this cluster. */
  | { readonly type: 'force'; readonly from: number; readonly interval: number }
  /** S2: what the cluster has sent here before its cut is here, durably. */
  | { readonly type: 'sent'; readonly cluster: number; readonly wave: number };
