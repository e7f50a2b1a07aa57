/** The membership service of a job whose program recovers itself (protocol `app`), as the service sees it. */
import type { FtModes, Incarnation, MemberNotice, MemberRequest, TaskId } from '@mayfly/wire';

export type MembershipEvent =
  /** `replaces`: the lost task whose rank the new one takes. */
  | { readonly type: 'grow'; readonly tasks: number; readonly replaces?: TaskId }
  /** The dispatcher gives the task up, durably. `above`: incarnations below it are to be refused. */
  | { readonly type: 'dead'; readonly task: TaskId; readonly above: Incarnation }
  /** Channel Memory `cm` refuses what is below `incarnation`. May come again. */
  | { readonly type: 'fenced'; readonly task: TaskId; readonly incarnation: Incarnation; readonly cm: number }
  /** Its EXIT has come, and it is no failure. */
  | { readonly type: 'ended'; readonly task: TaskId }
  | { readonly type: 'request'; readonly task: TaskId; readonly request: MemberRequest };

export type MembershipEffect =
  /** To every Channel Memory. Answered by `fenced`. */
  | { readonly type: 'fence'; readonly task: TaskId; readonly incarnation: Incarnation }
  /** Message `number` of the channel MEMBERS → task. */
  | { readonly type: 'tell'; readonly task: TaskId; readonly number: number; readonly notice: MemberNotice }
  /** The loss is told: what is sent to the task may be dropped. */
  | { readonly type: 'lost'; readonly task: TaskId }
  /** The task's rank is to have a new task. Answered by `grow`. */
  | { readonly type: 'replace'; readonly task: TaskId };

export interface MembershipOptions {
  readonly tasks: number;
  readonly channelMemories: number;
  /** FT-MPI; absent: ULFM alone. */
  readonly ft?: FtModes | undefined;
}

export interface MembershipService {
  step(e: MembershipEvent): MembershipEffect[];
}
