/**
 * The Channel Memory's part of teams, over that of lone tasks: with a frame come the determinants and the evidence of
 * the sender's whole team (T5). Each section is logged by its own task; records and pushed frames keep what is needed
 * of all (channel-memory/sections.ts).
 *
 *  T14 "After a crash of the server the team counts as one." "A receiver that gives back more of *any* member of the
 *      sender's team than its incarnation was told is refused": F4 for each section.
 */
import type { TaskId } from '@mayfly/wire';
import type { LogPolicy } from '../../channel-memory/state.ts';
import { log } from '../log.ts';

/** @param teams of the job, as the dispatcher has formed them */
export function teamLog(teams: readonly (readonly TaskId[])[]): LogPolicy {
  const teamOf = new Map(teams.flatMap((team) => team.map((task) => [task, team] as const)));
  return { ...log, together: (one, other) => teamOf.get(one)?.includes(other) ?? false };
}
