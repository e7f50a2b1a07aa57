/** The checkpoint scheduler of one job, as the service knows it: for all of its tasks, or for its clusters. */
import type { ImageId, TaskId, WavesView } from '@mayfly/wire';
import type { ClcRecord, ClustersNow, FederationRecord } from '../contract/clusters.ts';
import type { LineRecord, WaveRecord } from '../contract/waves.ts';
import type { ClusterAnswer, WaveAnswer } from './served-log.ts';

/** What the registry had when the process began. */
export interface LeftOfWaves {
  readonly waves: WaveRecord[];
  line: LineRecord | undefined;
  /** Keys of images of level 1 (Y4 of waves-of-job.ts). */
  readonly near: string[];
  readonly clcs: ClcRecord[];
  federation: FederationRecord | undefined;
}

export const nothingLeft = (): LeftOfWaves => ({
  waves: [],
  line: undefined,
  near: [],
  clcs: [],
  federation: undefined,
});

/** What is lost: a task, or what a Channel Memory held. */
export type Loss = { readonly task: TaskId } | { readonly cm: number };

/** `near`: of level 1. */
export interface StoredImage {
  readonly task: TaskId;
  readonly image: ImageId;
  readonly bytes: number;
  readonly sentBytes: number;
  readonly near?: boolean;
}

export interface SchedulerOfJob {
  /** A new job. */
  begin?(): void;
  /** After a restart of the server: what the registry has, and from when to when the job may have worked. */
  recover(left: LeftOfWaves, worked: { readonly since: number; readonly until: number }): void;
  /** The server was restarted, and all tasks have exited for good: what the logs have may be shown. */
  finish(): void;
  /** The job has ended, however it did: everything that has come may be shown. */
  end(): void;
  /** Its keys in the registry. */
  keys(): string[];
  /** For pages and reports. */
  view(): WavesView;
  /** Until when a task repeats work that a rollback has undone; undefined: it does not act. */
  repeatsUntil(task: TaskId): number | undefined;
  /** The program of a task runs since then. */
  ran(task: TaskId, since: number): void;
  /** A task has stood still for its newest image, so long (ms). */
  stalled(task: TaskId, ms: number): void;
  /** How long the task stood still for its newest image, ms. */
  stallOf(task: TaskId): number | undefined;
  /** Tasks go back; `ranks`: those that were lost. */
  lost(cause: string, ranks: readonly TaskId[], what: Loss): void;
  began(task: TaskId): void;
  stored(wave: number, i: StoredImage): void;
  answered(a: WaveAnswer): void;
  between?(cm: number, a: ClusterAnswer): void;
  /** A checkpoint is wanted now. */
  ask(): void;
  lineDurable(epoch: number): void;
  checked(wave: number, sound: boolean, reason?: string): void;
  wentBack(cm: number, epoch: number): void;
  grow(tasks: number): void;
  /** Now and then. */
  tick(): void;
  clusters?(): ClustersNow;
}
