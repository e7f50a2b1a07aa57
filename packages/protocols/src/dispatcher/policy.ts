/**
 * What a V-protocol decides when an incarnation, or the server's memory of a job, is lost; declared by the code that
 * asks.
 */
import type { ErrorBody, Position, ProtocolName, TaskId } from '@mayfly/wire';
import type { Holdings } from '../channel-memory/events.ts';
import type { Sends } from '../contract/dissolved.ts';
import type { FaultCause } from './events.ts';

export interface RecoveryPolicy {
  /**
   * A task can run again: so it may also be tried elsewhere when nothing comes of it or its word is doubted, and leave
   * its node for a pause.
   */
  readonly restarts: boolean;
  /** A loss takes all tasks of the job back together, to where its checkpoint scheduler says. */
  readonly together?: boolean;
  /** A loss is told to the tasks that are left, and the job goes on without the lost one (members.ts). */
  readonly tells?: boolean;
  /** The policy of jobs that ask to be ended by a loss (FT-MPI's mode ABORT). */
  readonly aborts?: RecoveryPolicy;
  /**
   * Ranks of one node exchange messages in its memory. `unit`: they are also lost, placed and restarted together, until
   * their team is dissolved (T1, T8, T9).
   */
  readonly teams?: 'transport' | 'unit';
  /** Where a task begins that has no image. */
  readonly start: Position;
  /**
   * T9: nothing that a task did behind this position is known anywhere, so its team may be dissolved there, or it may
   * become a member of one. What it had sent to teammates until then. Absent: teams stay as they are.
   */
  readonly endsAt?: (position: Position, logs: readonly Holdings[]) => Sends | undefined;
  /** The wave of an image's set; 0: it is of no team. */
  readonly waveAt?: (position: Position) => number;
  /** How a job ends that lost this task; undefined: the task is started again. */
  lost(task: TaskId, cause: FaultCause): ErrorBody | undefined;
  /** What the logs lack for an incarnation that begins there; undefined: nothing. */
  lacks(position: Position, logs: readonly Holdings[]): string | undefined;
  /** How a job ends that was running when the server died. Undefined: its logs are there, and it continues. */
  serverRestarted(): ErrorBody | undefined;
}

export type RecoveryTable = Readonly<Record<ProtocolName, { readonly recovery: RecoveryPolicy }>>;
