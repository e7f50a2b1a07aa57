/**
 * Rules undone in whole jobs of the real comm core and the real Channel Memory. Those that random jobs hardly ever need
 * have scenarios (comm.test.ts, log.test.ts).
 */
import { Flag, encodeFrame, encodeTeamBlock, readFrame, teamHeads, decodeTeamBlock } from '@mayfly/wire';
import type { CommdTask, CommdTeam, TeamPolicy } from '../../src/index.ts';
import { viewOf } from '../../src/channel-memory/records.ts';
import { teams, teamsWith } from '../../src/pessimistic/teams/commd.ts';
import { TeamEndpoint } from '../../src/pessimistic/teams/endpoint.ts';
import { TeamLeaves, type Member } from '../../src/pessimistic/teams/leaves.ts';
import { PrologueCopies } from '../../src/pessimistic/teams/prologue.ts';
import type { Planted } from './planted.ts';

export interface JobPlanted {
  readonly teams?: TeamPolicy;
  /** A set is complete without the members that have no image in it. */
  readonly setsOfSome?: true;
  /** Rules of a rank. */
  readonly rank?: Planted;
}

class NoCopies<M> extends PrologueCopies<M> {
  override consumed(): void {
    // Its teammates will send it again, it hopes.
  }
}
class LoudPrologue extends TeamEndpoint {
  protected override isSilent(): boolean {
    return false;
  }
}

class OneLeftOut extends TeamLeaves {
  protected override block(m: Member, own: boolean): Uint8Array {
    const [, second] = [...this.members.keys()];
    return own || m.task !== second ? super.block(m, own) : new Uint8Array(24);
  }
}

/** The policy of a team whose members are changed. */
const withMembers =
  (change: (t: CommdTask) => CommdTask): TeamPolicy =>
  (members, channelMemories): CommdTeam => {
    const team = teams(members, channelMemories);
    const member = team.member.bind(team);
    team.member = (task) => change(member(task));
    return team;
  };

/** What a frame carries is left out when it leaves for the second time. */
function once(t: CommdTask): CommdTask {
  const left = new WeakSet<Uint8Array>();
  const leaves = t.leaves.bind(t);
  t.leaves = (frame) => {
    const whole = leaves(frame);
    if (!left.has(frame)) {
      left.add(frame);
      return whole;
    }
    const { header, body, determinants } = readFrame(whole, viewOf(whole), 0);
    header.flags |= Flag.TEAM;
    const heads = decodeTeamBlock(teamHeads(decodeTeamBlock(determinants)));
    return encodeFrame(header, body, encodeTeamBlock(heads));
  };
  return t;
}

export const JOB_PLANTED: Record<string, JobPlanted> = {
  'T5: the section of one member is left out': { teams: teamsWith(OneLeftOut) },
  'T5: a team block is lost when a frame leaves again': { teams: withMembers(once) },
  'T6: a set without the image of a member that goes on': { setsOfSome: true },
  'T6: a set of scripts whatever their counts': {
    teams: teamsWith(TeamLeaves, () => true),
    rank: { passesMarkers: true },
  },
  'T6: a prologue without the messages of teammates': { rank: { copies: NoCopies } },
  'T6: a prologue sends to teammates again': { rank: { endpoint: LoudPrologue } },
};
