/** What the dispatcher has its host do (duties of the host: events.ts). */
import type { ErrorBody, Hold, ImageId, Incarnation, JobId, NodeId, TaskId } from '@mayfly/wire';
import type { Dissolved } from '../contract/dissolved.ts';
import type { FaultCause } from './events.ts';

export type DispatcherEffect =
  /** Commit these changes atomically (undefined deletes). → answers `persisted`. */
  | { type: 'persist'; token: number; changes: (readonly [key: string, value: unknown])[] }
  /** Acknowledge Hello. `isNew`: the host makes a secret for `node` and stores its hash. */
  | { type: 'welcome'; connection: string; node: NodeId; isNew: boolean; drop: Hold[] }
  /** A newer socket of the same session counts, or its node is refused: close it. No `disconnected` needed. */
  | { type: 'close'; connection: string }
  /** Make ready the CMs' and the CS's part of this job (idempotent). Comes before any fence of it, and at recovery. */
  | { type: 'openJob'; job: JobId }
  /**
   * Durable: teams of the job, and those that were dissolved, all of them, every time. Comes behind `openJob` and
   * before any fence or assignment of a member; for the Channel Memories and the Checkpoint Server.
   */
  | {
      type: 'teams';
      job: JobId;
      teams: readonly (readonly TaskId[])[];
      /** Absent: none was. */
      dissolved?: readonly Dissolved[];
    }
  /** CS: refuse incarnations below, then choose the image. → answers `imageChosen` or `imageLost`. */
  | { type: 'fenceCs'; job: JobId; task: TaskId; incarnation: Incarnation }
  /** CM `cm`: refuse incarnations below `incarnation`, close their connections. → answers `fencedCm`. */
  | { type: 'fenceCm'; job: JobId; task: TaskId; incarnation: Incarnation; cm: number }
  /**
   * Step with a tick once so much time has passed: something is due between two ticks. Lost with the process; the ticks
   * find it, too.
   */
  | { type: 'wake'; afterMs: number }
  /** Send Assignment to the node, with a capability for this incarnation and the manifest of `image`. */
  | {
      type: 'assign';
      connection: string;
      node: NodeId;
      job: JobId;
      task: TaskId;
      incarnation: Incarnation;
      image?: ImageId;
      team?: readonly TaskId[];
      /** Of its team, those that have ended and are assigned to no node (D25); absent: none. */
      ended?: readonly TaskId[];
      /** Teams of all tasks that the job was started with; absent: there are none. */
      teams?: readonly (readonly TaskId[])[];
    }
  /** Send Revoke to the node. */
  | {
      type: 'revoke';
      connection: string;
      node: NodeId;
      job: JobId;
      task: TaskId;
      incarnation: Incarnation;
      error: ErrorBody;
    }
  /** Send CheckpointRequest to the node. */
  | {
      type: 'checkpoint';
      connection: string;
      node: NodeId;
      job: JobId;
      task: TaskId;
      /** True: the rank, or its team, does nothing more behind it. False: that is not wanted any more. */
      last?: boolean | undefined;
      /** Of a script, with `last`: the call of checkpoint.here at which it stops. Absent: the next. */
      atCall?: number | undefined;
    }
  // Coordinated checkpointing, to the checkpoint scheduler of the job.
  /** A rank is lost: all go back. */
  | { type: 'goesBack'; job: JobId; task: TaskId; cause: FaultCause | 'paused' }
  /** A wave is wanted now. `for`: tasks whose node may soon be lost; absent: all tasks wait for it. */
  | { type: 'wantsWave'; job: JobId; for?: readonly TaskId[] }
  /** The line is durable, and the incarnations that act from now on. */
  | { type: 'rolledBack'; job: JobId; epoch: number; acting: readonly (readonly [TaskId, Incarnation])[] }
  /** Durable: the job goes on without this task. Incarnations below `above` are to be refused (bury.ts). */
  | { type: 'taskDead'; job: JobId; task: TaskId; above: Incarnation }
  /** Durable: this task has ended. Its arrivals may go from its home CM and its images from the CS. */
  | { type: 'taskDone'; job: JobId; task: TaskId }
  /** Durable: the EXIT of this member of a team. It may restart with its team until `taskDone` (D25). */
  | { type: 'exitedInTeam'; job: JobId; task: TaskId }
  /** This member of a team has ended and is at no node: its home CM need not wait for its comm worker (D25). */
  | { type: 'unattended'; job: JobId; task: TaskId }
  /** Durable: this job has ended. CMs and CS may drop what is not output. */
  | { type: 'jobEnded'; job: JobId; state: 'done' | 'failed' | 'cancelled'; error?: ErrorBody }
  /** The view of this job has changed. At most once per step and job. */
  | { type: 'jobChanged'; job: JobId }
  /** The list of nodes has changed. At most once per step. */
  | { type: 'nodesChanged' }
  | {
      type: 'log';
      level: 'info' | 'warn';
      message: string;
      job?: JobId;
      task?: TaskId;
      incarnation?: Incarnation;
      node?: NodeId;
    };
