/** The membership service of a job whose program recovers itself (protocol `app`), as the service sees it. */
import type { ErrorBody, FtModes, Incarnation, MemberNotice, MemberRequest, TaskId } from '@mayfly/wire';

export type MembershipEvent =
  /** `replaces`: the lost task whose rank the new one takes. */
  | { readonly type: 'grow'; readonly tasks: number; readonly replaces?: TaskId }
  /** The dispatcher gives the task up, durably. `above`: incarnations below it are to be refused. */
  | { readonly type: 'dead'; readonly task: TaskId; readonly above: Incarnation }
  /** Channel Memory `cm` refuses what is below `incarnation`. May come again. */
  | { readonly type: 'fenced'; readonly task: TaskId; readonly incarnation: Incarnation; readonly cm: number }
  /** Its EXIT has come, and it is no failure. */
  | { readonly type: 'ended'; readonly task: TaskId }
  | { readonly type: 'request'; readonly task: TaskId; readonly request: MemberRequest }
  /** Every 250 ms or so. `idle`: tasks without a slot; none while the server gives out none. */
  | { readonly type: 'tick'; readonly now: number; readonly idle: readonly TaskId[] };

export type MembershipEffect =
  /** To every Channel Memory. Answered by `fenced`. */
  | { readonly type: 'fence'; readonly task: TaskId; readonly incarnation: Incarnation }
  /** Message `number` of the channel MEMBERS → task. */
  | { readonly type: 'tell'; readonly task: TaskId; readonly number: number; readonly notice: MemberNotice }
  /** The loss is told: what is sent to the task may be dropped. */
  | { readonly type: 'lost'; readonly task: TaskId }
  /** The task's rank is to have a new task. Answered by `grow`. */
  | { readonly type: 'replace'; readonly task: TaskId }
  /** N12: the job cannot go on. */
  | { readonly type: 'failed'; readonly error: ErrorBody };

export interface MembershipOptions {
  readonly tasks: number;
  readonly channelMemories: number;
  /** FT-MPI; absent: ULFM alone. */
  readonly ft?: FtModes | undefined;
  /** How long a replacement may be without a slot, ms; 0: for ever. */
  readonly slotMs: number;
}

export interface MembershipService {
  step(e: MembershipEvent): MembershipEffect[];
}
