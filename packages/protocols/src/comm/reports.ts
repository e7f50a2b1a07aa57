/** What the members of a team have reported, as the host of a comm core reads it. */
import type { TaskId } from '@mayfly/wire';
import type { Report } from '../endpoint.ts';

/** T5: what the members of a team have written before what leaves now. */
export interface Reports {
  /** The team's counter, read after the frames were taken. */
  readonly upTo: number;
  /** Not read before, in their order, by member. */
  readonly of: readonly (readonly [task: TaskId, reports: readonly Report[]])[];
}
