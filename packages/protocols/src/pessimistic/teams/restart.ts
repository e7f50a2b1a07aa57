/**
 * The restart of a team: every Channel Memory answers for all members, and none begins before all have answered.
 *
 * Owns: what the Channel Memories have answered. Does not own: connections, images.
 *
 *  T1  "The restart attaches as a team: each Channel Memory fences all members, and answers for all, in one step." No
 *      member begins, and no frame leaves on a connection that was resumed, before.
 *  T14 "A gap in any member's determinants or arrivals is LOST_LOG."
 */
import type { Attached, DeterminantBlock, Incarnation, TaskId } from '@mayfly/wire';
import type { EndpointStart } from '../../endpoint.ts';
import { Gather } from '../gather.ts';
import { localsOf } from './endpoint.ts';
import type { ReplayInTeam } from './position.ts';

/** What one Channel Memory answers for one member. */
export interface MemberAnswer {
  readonly task: TaskId;
  readonly attached: Attached;
  readonly blocks: readonly DeterminantBlock[];
}

export class TeamRestart {
  readonly #gathers: ReadonlyMap<TaskId, Gather>;
  readonly #lacking: Set<number>;

  constructor(
    readonly members: readonly TaskId[],
    channelMemories: number,
  ) {
    this.#gathers = new Map(members.map((task) => [task, new Gather()]));
    this.#lacking = new Set(Array.from({ length: channelMemories }, (_, cm) => cm));
  }

  /** A Channel Memory has fenced all members, and answers for them. @throws RangeError when it leaves one out */
  answered(cm: number, answers: readonly MemberAnswer[]): void {
    const missing = this.members.find((task) => !answers.some((a) => a.task === task));
    if (missing !== undefined) throw new RangeError(`Channel Memory ${cm} did not answer for task ${missing}`);
    if (!this.#lacking.delete(cm)) return;
    for (const { task, attached, blocks } of answers) {
      const g = this.#gathers.get(task);
      for (const b of blocks) g?.block(b);
      g?.attached(attached);
    }
  }

  get complete(): boolean {
    return this.#lacking.size === 0;
  }

  /** The starts of all members, or what the logs lack for one of them (T14). */
  starts(
    begins: ReadonlyMap<TaskId, { readonly incarnation: Incarnation; readonly at: ReplayInTeam }>,
  ): ReadonlyMap<TaskId, EndpointStart> | { readonly task: TaskId; readonly lost: string } {
    const starts = new Map<TaskId, EndpointStart>();
    for (const [task, { incarnation, at }] of begins) {
      const { image } = at.replay;
      // Messages to teammates before the image are no arrivals of any log.
      const remote = image.sends.filter(([dst]) => !localsOf(this.members).includes(dst));
      const start = this.#gathers.get(task)!.start(incarnation, { ...at.replay, image: { ...image, sends: remote } });
      if ('lost' in start) return { task, lost: start.lost };
      starts.set(task, start);
    }
    return starts;
  }
}
