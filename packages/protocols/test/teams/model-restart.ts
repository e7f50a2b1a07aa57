/**
 * The restart of a team in the model (comm/team.ts has the comm core's): every Channel Memory answers for every member,
 * and no member begins before all have answered.
 *
 * Owns: what the Channel Memories have answered. Does not own: connections, images.
 *
 *  T1  "The restart attaches as a team: each Channel Memory fences all members, and answers for all, in one step." A
 *      barrier does the same: first every Channel Memory fences every member, then each answers for each, in any order.
 *      No member begins, and no frame leaves on a connection that was resumed, before.
 *  T14 "A gap in any member's determinants or arrivals is LOST_LOG."
 */
import type { Attached, DeterminantBlock, Incarnation, TaskId } from '@mayfly/wire';
import type { EndpointStart } from '../../src/endpoint.ts';
import { Gather } from '../../src/pessimistic/gather.ts';
import { localsOf } from '../../src/pessimistic/teams/endpoint.ts';
import type { ReplayInTeam } from '../../src/pessimistic/teams/position.ts';

/** What one Channel Memory answers for one member. */
export interface MemberAnswer {
  readonly task: TaskId;
  readonly attached: Attached;
  readonly blocks: readonly DeterminantBlock[];
}

export class TeamRestart {
  readonly #gathers: ReadonlyMap<TaskId, Gather>;
  /** By Channel Memory: the members for whom it has not answered. */
  readonly #lacking: readonly Set<TaskId>[];

  constructor(
    readonly members: readonly TaskId[],
    channelMemories: number,
  ) {
    this.#gathers = new Map(members.map((task) => [task, new Gather()]));
    this.#lacking = Array.from({ length: channelMemories }, () => new Set(members));
  }

  /** A Channel Memory that has fenced all members answers for some of them. Repeated answers mean nothing. */
  answered(cm: number, answers: readonly MemberAnswer[]): void {
    for (const { task, attached, blocks } of answers) {
      if (this.#lacking[cm]?.delete(task) !== true) continue;
      const g = this.#gathers.get(task)!;
      for (const b of blocks) g.block(b);
      g.attached(attached);
    }
  }

  get complete(): boolean {
    return this.#lacking.every((tasks) => tasks.size === 0);
  }

  /** The starts of all members, or what the logs lack for one of them (T14). */
  starts(
    begins: ReadonlyMap<TaskId, { readonly incarnation: Incarnation; readonly at: ReplayInTeam }>,
  ): ReadonlyMap<TaskId, EndpointStart> | { readonly task: TaskId; readonly lost: string } {
    if (!this.complete) throw new Error('a team begins before every Channel Memory has answered for every member');
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
