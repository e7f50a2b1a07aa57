/**
 * Pessimistic message logging (MPICH-V, SC 2002): "a stable repository" logs every message before it reaches its
 * receiver, and every event that a task's later behaviour depends on. A lost task alone runs again, from its newest
 * image, and repeats what is logged.
 */
import type { TaskId } from '@mayfly/wire';
import type { VProtocol } from '../contract/index.ts';
import type { EndpointStart } from '../endpoint.ts';
import { commd } from './commd.ts';
import { LoggedEndpoint } from './endpoint.ts';
import { images } from './images.ts';
import { log } from './log.ts';
import { manifest } from './manifest.ts';
import { TeamEndpoint } from './teams/endpoint.ts';
import { lostFrom } from './lost-log.ts';
import { fromTheStart, isZero, positionOf, replayOf, type ReplayFrom } from './position.ts';
import { LoneScriptEndpoint } from './teams/alone.ts';
import { teams } from './teams/commd.ts';
import { aloneOf, replayInTeam } from './teams/position.ts';
import { endsAt, waveAt } from './teams/regroup.ts';

/** Of a script that had teammates once, the prologue may have messages of them. */
const alone = (task: TaskId, size: number, replay: ReplayFrom, start: EndpointStart): LoggedEndpoint =>
  new (isZero(replay.prologue) ? LoggedEndpoint : LoneScriptEndpoint)(task, size, replay, start);

export const pessimistic: VProtocol = {
  manifest,
  rank: (task, size, position, start, team) =>
    team && team.length > 1
      ? new TeamEndpoint(task, size, replayInTeam(position), start, { members: team })
      : alone(task, size, replayOf(position), start),
  commd,
  teams,
  log,
  images,
  recovery: {
    restarts: true,
    teams: 'unit',
    start: positionOf(fromTheStart()),
    lost: () => undefined,
    endsAt,
    waveAt,
    lacks: (position, logs) => lostFrom(aloneOf(position), logs),
    serverRestarted: () => undefined,
  },
};
