/** The memories of the teams of a job's ranks here (docs/teams.md): a rank gets that of its team when it begins. */
import { kindOf, type Assignment, type LocalChannel, type RankActivity, type TaskId } from '@mayfly/wire';
import type { TeamOf } from '../rank/teammates.ts';
import { createTeamMemory, TeamMemory } from '../ring/team-memory.ts';
import { LoggedTeam } from './logged-team.ts';

/**
 * Looks of a rank before it sleeps, a fifth of a millisecond: about twice what it costs to sleep and to be woken. Its
 * teammate answers through the MPI layer, which takes some microseconds.
 */
const SPIN = 10_000;

export interface LocalTraffic {
  readonly local: NonNullable<RankActivity['local']>;
  readonly channels: LocalChannel[];
}

interface Team extends TeamOf {
  readonly view: TeamMemory;
  /** Absent: its protocol logs nothing. */
  readonly log: LoggedTeam | undefined;
  /** Members that are here. */
  readonly here: Set<TaskId>;
}

export class Teams {
  private readonly all = new Map<string, Team>();

  /** Processor cores of this machine. Members that outnumber them do not look before they sleep. */
  constructor(private readonly cores: number) {}

  /** `logged`: its protocol has a log of what its members do. */
  join({ team, task, program }: Assignment, logged: boolean): Team | undefined {
    if (!team) return undefined;
    const key = team.join();
    let found = this.all.get(key);
    if (!found) {
      const memory = createTeamMemory(team.length, team.length <= this.cores ? SPIN : 0, logged);
      const view = new TeamMemory(memory);
      const log = logged ? new LoggedTeam(team, view, kindOf(program.language) === 'typescript') : undefined;
      this.all.set(key, (found = { members: team, memory, view, log, here: new Set() }));
    }
    found.here.add(task);
    return found;
  }

  leave({ team, task }: Assignment): void {
    const key = team?.join() ?? '';
    const found = this.all.get(key);
    if (found?.here.delete(task) && found.here.size === 0) this.all.delete(key);
  }

  /** Messages between a rank and its team: how many, and what it has sent to whom. */
  traffic({ team, task }: Assignment): LocalTraffic | undefined {
    const found = team && this.all.get(team.join());
    if (!found) return undefined;
    const me = team.indexOf(task);
    const skipped = found.log?.skipped ?? 0;
    const local = { arrivals: 0, sends: 0, waiting: 0, ...(skipped > 0 && { skipped }) };
    const channels: LocalChannel[] = [];
    for (let i = 0; i < team.length; i++) {
      const { sent, consumed } = found.view.channel(i, me);
      local.arrivals += consumed;
      local.waiting += Math.max(0, sent - consumed);
      const mine = found.view.channel(me, i);
      local.sends += mine.sent;
      if (mine.sent > 0) channels.push([team[i]!, mine.sent, mine.bytes]);
    }
    return { local, channels };
  }
}
