/**
 * The memories of the teams whose ranks run on a simulated node. Stands for packages/node/src/comm/teams.ts: a team has
 * one while a member is here, and a new life of the team a new one.
 */
import type { TaskId } from '@mayfly/wire';
import type { Held } from './held-rank.ts';
import { Random } from './random.ts';
import type { Simulation } from './simulation.ts';
import { TeamMemory } from './team-memory.ts';

interface Here {
  readonly memory: TeamMemory;
  readonly members: Set<Held>;
}

export class TeamsHere {
  private readonly all = new Map<string, Here>();
  private made = 0;

  constructor(
    private readonly world: Simulation,
    private readonly node: string,
    private readonly wakes: (task: TaskId) => void,
  ) {}

  /** The memory of its team; undefined: it has none. */
  join(h: Held): TeamMemory | undefined {
    const { team } = h;
    if (!team) return undefined;
    const key = team.join();
    let here = this.all.get(key);
    if (!here) {
      const { seed, setup, undone } = this.world;
      const counts = (what: string): void => this.world.count(what);
      const random = Random.named(seed, `rings ${this.node}/${this.made++}`);
      const memory = new TeamMemory(team, setup.ringBytes, undone, random, this.wakes, counts);
      this.all.set(key, (here = { memory, members: new Set() }));
    }
    here.members.add(h);
    return here.memory;
  }

  leave(h: Held): void {
    const key = h.team?.join() ?? '';
    const here = this.all.get(key);
    if (here?.members.delete(h) && here.members.size === 0) this.all.delete(key);
  }
}
