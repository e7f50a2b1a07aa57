/** What is durable of a team that was dissolved (T9), as everybody hears of it who serves its job. */
import type { ImageId, TaskId } from '@mayfly/wire';

export type Sends = readonly (readonly [dst: TaskId, count: number])[];

export interface Dissolved {
  /** Ascending. */
  readonly team: readonly TaskId[];
  /** Where each member began alone. */
  readonly from: readonly {
    readonly task: TaskId;
    /** Absent: the start of its program. */
    readonly image?: ImageId;
    /** Messages that it had sent to each member, itself included: no log has them, and channels go on behind them. */
    readonly sends: Sends;
  }[];
}
