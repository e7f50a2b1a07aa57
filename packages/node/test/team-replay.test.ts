/** The end of a replay in a team: it may be a message of a teammate, behind which the rank only waits. */
import { startInTeam, TeamEndpoint } from '@mayfly/protocols';
import { taskId, type Determinant } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { RankDevice } from '../src/rank/host-device.ts';
import { Teammates } from '../src/rank/teammates.ts';
import { createRankMemory, RankSide } from '../src/ring/index.ts';
import { createTeamMemory } from '../src/ring/team-memory.ts';
import { readStatus, StatusWriter } from '../src/status.ts';

const members = [0, 1].map(taskId);

function deviceOf(me: number, memory: SharedArrayBuffer, determinants: readonly Determinant[] = []) {
  const team = new Teammates({ members, memory }, members[me]!);
  const side = new RankSide(createRankMemory(), undefined, team.bell);
  const status = new StatusWriter(side.words, () => undefined, Date.now);
  const start = { incarnation: 1, limits: [], prologue: [], determinants, openPolls: 0, consumed: 0 };
  const endpoint = new TeamEndpoint(members[me]!, 2, startInTeam(), start as never, { members });
  const device = new RankDevice(side, endpoint, status, { size: 2 } as never, Date.now, Date.now, team);
  return { device, recovered: () => readStatus(side.words).recovered };
}

it('a rank has recovered when it takes the last message of a teammate that its log has', () => {
  const memory = createTeamMemory(members.length, 0, true);
  const sender = deviceOf(0, memory);
  expect(sender.recovered()).toBe(true);
  const { device, recovered } = deviceOf(1, memory, [{ type: 'local', src: members[0]!, count: 2, after: 0 }]);
  for (const _ of [1, 2]) {
    expect(recovered()).toBe(false);
    sender.device.send(members[1]!, 1, 7, 0, 0, new Uint8Array(8));
    expect(device.wait({ call: 'MPI_Recv' })?.src).toBe(0);
  }
  expect(recovered()).toBe(true);
});
