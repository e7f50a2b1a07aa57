/**
 * How many ranks of a node form a team where the job does not say (docs/teams.md). A closed tab takes its ranks with
 * it, in a team or not. What a team adds is the rank that is lost alone, which takes its teammates with it, and a
 * restart that needs a node for all of them. So a team is as large as its node, unless the room loses ranks often.
 */
import { protocols, type FaultRecord, type JobRecord } from '@mayfly/protocols';
import { MAX_TEAM, type ProtocolName } from '@mayfly/wire';
import { lossesOf } from './checkpoint-advice.ts';

/** A team may be lost once in so many checkpoint intervals. */
const INTERVALS = 4;
/** With fewer losses nothing is known of the room. */
const ENOUGH = 3;

/** A team of n is lost n times as often as a rank. */
export function teamSize({ losses, rankMs, checkpointMs }: { losses: number; rankMs: number; checkpointMs: number }) {
  if (losses < ENOUGH) return MAX_TEAM;
  const apart = rankMs / losses;
  return Math.min(MAX_TEAM, Math.max(1, Math.floor(apart / (INTERVALS * Math.max(1, checkpointMs)))));
}

interface Asked {
  readonly protocol: ProtocolName;
  readonly room: string | undefined;
  readonly checkpointMs: number;
}

/** Undefined: the dispatcher has a default for this protocol, or its ranks form no teams. */
export function defaultTeam(
  { protocol, room, checkpointMs }: Asked,
  jobs: Iterable<{ record: JobRecord; faults: readonly FaultRecord[] }>,
  now: number,
): number | undefined {
  if (protocols[protocol].recovery.teams !== 'unit') return undefined;
  return teamSize({ ...lossesOf(jobs, room, now), checkpointMs });
}
