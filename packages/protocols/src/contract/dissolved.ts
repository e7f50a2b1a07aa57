/** What is durable of a team that was dissolved (T9), as everybody hears of it who serves its job. */
import type { ImageId, TaskId } from '@mayfly/wire';

export type Sends = readonly (readonly [dst: TaskId, count: number])[];

export interface Dissolved {
  /** Ascending. */
  readonly team: readonly TaskId[];
  /** The smaller teams that its members form from then on; all others are alone. Absent: all are. */
  readonly groups?: readonly (readonly TaskId[])[];
  /** Where each member began. */
  readonly from: readonly {
    readonly task: TaskId;
    /** Absent: the start of its program. */
    readonly image?: ImageId;
    /**
     * Messages that it had sent to each member that is not its teammate any more, itself included if it is alone: no
     * log has them, and channels go on behind them.
     */
    readonly sends: Sends;
  }[];
}

/** The teammates of a member from then on; undefined: it is alone. */
export const groupIn = ({ groups = [] }: Dissolved, task: TaskId): readonly TaskId[] | undefined =>
  groups.find((g) => g.includes(task));
