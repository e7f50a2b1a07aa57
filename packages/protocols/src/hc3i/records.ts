/** What the scheduler of a federation hears, answers, and makes durable. */
import type { ErrorBody, JobId, TaskId } from '@mayfly/wire';
import type { Changes, ClcRecord, Cuts, DeadIntervals, Rolled } from '../contract/clusters.ts';
import type { WaveRecord } from '../contract/waves.ts';

export {
  clcKey,
  federationKey,
  type Changes,
  type ClcRecord,
  type Cuts,
  type FederationRecord,
  type Rolled,
} from '../contract/clusters.ts';

export interface FederationOptions {
  readonly job: JobId;
  /** By cluster. */
  readonly tasks: readonly (readonly TaskId[])[];
  /** By cluster: from one CLC to the next one that no message forces, ms; Infinity: there are none. */
  readonly periodMs: readonly number[];
  /** From a CLC that was abandoned to the next attempt, ms. */
  readonly retryMs: number;
}

export type FederationEvent = { readonly now: number } & (
  | { readonly type: 'tick' }
  /** A CLC is wanted now: by a person, or because output waits. */
  | { readonly type: 'ask'; readonly cluster: number }
  /** G9: a message of interval `interval` of cluster `from` waits at `cluster`. */
  | { readonly type: 'force'; readonly cluster: number; readonly from: number; readonly interval: number }
  /** Everything that the CLC needs is durable. */
  | {
      readonly type: 'complete';
      readonly cluster: number;
      readonly sn: number;
      readonly cuts: Cuts;
      readonly wave?: WaveRecord;
    }
  | { readonly type: 'abandoned'; readonly cluster: number; readonly sn: number }
  /** Outcome of a commit. */
  | { readonly type: 'committed'; readonly commit: number }
  | { readonly type: 'commitFailed'; readonly commit: number }
  /** Nodes of these clusters are lost. */
  | { readonly type: 'lost'; readonly clusters: readonly number[] }
  /** Answer to `check`: those of its CLCs whose images are damaged. */
  | { readonly type: 'checked'; readonly check: number; readonly damaged: readonly (readonly [number, number])[] }
  | { readonly type: 'wentBack'; readonly cluster: number; readonly epoch: number }
  | { readonly type: 'collect' }
);

export type FederationEffect =
  /** The cluster takes a CLC: a wave of its own. */
  | { readonly type: 'begin'; readonly cluster: number; readonly sn: number; readonly forced: boolean }
  /** One step for the registry. */
  | {
      readonly type: 'commit';
      readonly commit: number;
      readonly changes: Changes;
      /** It is a line: the clusters that go back. */
      readonly line?: { readonly epoch: number; readonly rolled: readonly Rolled[] };
    }
  /** The CLC counts: what waits for it goes on. */
  | { readonly type: 'open'; readonly record: ClcRecord }
  /** The CLC under way ends without a commit. */
  | { readonly type: 'over'; readonly cluster: number; readonly sn: number }
  /** Are the images of these CLCs sound? */
  | {
      readonly type: 'check';
      readonly check: number;
      readonly clcs: readonly (readonly [cluster: number, sn: number])[];
    }
  /** The line is durable: these clusters, and no others, are fenced and go back. */
  | {
      readonly type: 'goBack';
      readonly epoch: number;
      readonly rolled: readonly Rolled[];
      /** All dead intervals of the job. */
      readonly dead: readonly DeadIntervals[];
    }
  /** All gates and services have gone back: the tasks of this cluster may be assigned. */
  | { readonly type: 'assign'; readonly cluster: number; readonly epoch: number }
  /**
   * The garbage line, by cluster: CLCs before it are gone, so logs may be trimmed to it. No failure goes back behind
   * it, so output before it may be shown.
   */
  | { readonly type: 'stable'; readonly records: readonly ClcRecord[] }
  | { readonly type: 'failed'; readonly error: ErrorBody };
