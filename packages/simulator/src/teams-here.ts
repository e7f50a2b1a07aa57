/**
 * The memories, and the comm workers, of the teams whose ranks run on a simulated node. Stands for
 * packages/node/src/comm/teams.ts: a team has one while a member is here, and a new life of the team a new one.
 */
import type { TaskId } from '@mayfly/wire';
import type { Held } from './held-rank.ts';
import { Random } from './random.ts';
import { TeamComm, type TeamNode } from './team-comm.ts';
import { TeamMemory } from './team-memory.ts';

interface Here {
  readonly memory: TeamMemory;
  readonly members: Set<Held>;
  /** Absent: the team has no log. */
  readonly comm: TeamComm | undefined;
}

export class TeamsHere {
  private readonly all = new Map<string, Here>();
  private made = 0;

  constructor(
    private readonly node: TeamNode & { readonly name: string },
    private readonly wakes: (task: TaskId) => void,
  ) {}

  /** The memory of its team; undefined: it has none. */
  join(h: Held): Here | undefined {
    const { team } = h;
    if (!team) return undefined;
    const key = team.join();
    let here = this.all.get(key);
    if (!here) {
      const { world, held, name } = this.node;
      const { seed, setup, undone } = world;
      const counts = (what: string): void => world.count(what);
      const random = Random.named(seed, `rings ${name}/${this.made++}`);
      const memory = new TeamMemory(team, setup.ringBytes, undone, random, this.wakes, counts);
      const comm = world.protocol.teams ? new TeamComm(this.node, memory, random) : undefined;
      this.all.set(key, (here = { memory, members: new Set(), comm }));
      // T12: who is not here when the team begins has ended
      for (const task of team) if (!held.has(task)) memory.ended.add(task);
    }
    here.members.add(h);
    return here;
  }

  /** The comm worker of its team; undefined: it has no team, or one without a log. */
  commOf(h: Held | undefined): TeamComm | undefined {
    return h?.team && this.all.get(h.team.join())?.comm;
  }

  leave(h: Held): void {
    const key = h.team?.join() ?? '';
    const here = this.all.get(key);
    if (!here?.members.delete(h)) return;
    // T1: the loss of one is the end of all
    if (here.comm) here.comm.over = true;
    if (here.comm || here.members.size === 0) this.all.delete(key);
  }
}
