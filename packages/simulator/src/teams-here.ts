/**
 * The memories, and the comm workers, of the teams whose ranks run on a simulated node. Stands for
 * packages/node/src/comm/teams.ts: a team has one while a member is here, and a new life of the team a new one.
 */
import type { TaskId } from '@mayfly/wire';
import type { Held } from './held-rank.ts';
import { Random } from './random.ts';
import { TeamComm, type TeamNode } from './team-comm.ts';
import { TeamMemory } from './team-memory.ts';

/** A member of a team is prepared within this time. */
const STARTS_MS = 60;

interface Here {
  readonly memory: TeamMemory;
  readonly members: Set<Held>;
  /** Absent: the team has no log. */
  readonly comm: TeamComm | undefined;
}

export class TeamsHere {
  private readonly all = new Map<string, Here>();
  private made = 0;
  private starts: Random | undefined;

  constructor(
    private readonly node: TeamNode & { readonly name: string },
    private readonly wakes: (task: TaskId) => void,
  ) {}

  /** Each member of a team is prepared by itself, so they come in any order. */
  prepare(h: Held, start: () => void): void {
    if (!h.team || !this.node.world.protocol.teams) return start();
    this.starts ??= Random.named(this.node.world.seed, `starts ${this.node.name}`);
    this.node.after(this.starts.between(0, STARTS_MS), () => this.node.held.get(h.task) === h && start());
  }

  /** Its teammates that do not begin with it. */
  endedOf(h: Held): readonly TaskId[] | undefined {
    const { held, world } = this.node;
    h.given = true;
    if (world.undone !== 'late-member-ended') return h.ended;
    return h.team?.filter((t) => t !== h.task && !held.get(t)?.given);
  }

  /** The memory of its team; undefined: it has none. */
  join(h: Held): Here | undefined {
    const { team } = h;
    if (!team) return undefined;
    const key = team.join();
    let here = this.all.get(key);
    if (!here) {
      const { world, name } = this.node;
      const { seed, setup, undone } = world;
      const counts = (what: string): void => world.count(what);
      const random = Random.named(seed, `rings ${name}/${this.made++}`);
      const memory = new TeamMemory(team, setup.ringBytes, undone, random, this.wakes, counts);
      const comm = world.protocol.teams ? new TeamComm(this.node, memory, random) : undefined;
      this.all.set(key, (here = { memory, members: new Set(), comm }));
      for (const task of h.ended ?? []) memory.ended.add(task); // T12
    }
    here.members.add(h);
    return here;
  }

  /** The comm worker of its team; undefined: it has no team, or one without a log. */
  commOf(h: Held | undefined): TeamComm | undefined {
    return h?.team && this.all.get(h.team.join())?.comm;
  }

  /** The node leaves. True: teams with a log are to take their last images. */
  lastImages(): boolean {
    return [...this.all.values()].map(({ comm }) => comm?.lastImages() ?? false).some(Boolean);
  }

  /** The rank, or its team, is to take a last image; a script at that call of checkpoint.here. */
  stops(h: Held, atCall: number | undefined): void {
    if (h.team) return void this.commOf(h)?.lastImages(atCall);
    h.last = true;
    h.lastCall = atCall;
  }

  /** …which is not wanted any more. */
  stays(h: Held): void {
    if (h.team) this.commOf(h)?.stays();
    else h.last = h.parked !== undefined;
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
