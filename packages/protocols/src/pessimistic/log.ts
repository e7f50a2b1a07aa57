/**
 * Pessimistic message logging at the Channel Memory: MPICH-V §3, with a log of determinants by source. With a frame of
 * a member of a team come the determinants and the evidence of its whole team (T5); each section is logged by its own
 * task, and records and pushed frames keep what is needed of all (channel-memory/sections.ts).
 *
 *  T14 "After a crash of the server the team counts as one." "A receiver that gives back more of *any* member of the
 *      sender's team than its incarnation was told is refused": F4 (unheard.ts) for each section.
 */
import { BLOCK_HEAD_BYTES } from '@mayfly/wire';
import type { LogPolicy } from '../channel-memory/state.ts';
import { logDeterminants, sendDeterminants, trimDeterminants } from './determinants.ts';
import { arrivalsOf } from './position.ts';
import { aloneOf } from './teams/position.ts';
import { isStable } from './stable.ts';
import { beginSession, checkLate, heard, tellAll } from './unheard.ts';

export const log: LogPolicy = {
  keeps: 'durable',
  keepsOutput: 'durable',
  visible: (durability) => (durability === 'strict' ? 'synced' : 'appended'),
  outranks: (one, other) => one > other,
  // Nothing is ever rolled back.
  refuses: ({ epoch }) => (epoch === 0 ? undefined : { code: 'BAD_FRAME', message: `rollback epoch ${epoch}` }),
  attached: beginSession,
  waitsForSync: (a) => !a.resume,
  answers(s, source, a) {
    if (a.resume) return;
    tellAll(source);
    sendDeterminants(s, source, a);
  },
  repeated: (channel, logged) => channel <= logged,
  carried: logDeterminants,
  teams: true,
  // It keeps the entries, so that a message never survives its determinants; what is pushed does not.
  record: (h, bytes, o, end) => (h.detBytes > BLOCK_HEAD_BYTES ? bytes.slice(o, end) : undefined),
  number: (d, _src, _offset, whole) => (whole ? d.index.count + 1 : 0),
  givenBack: checkLate,
  reported: heard,
  shows: () => true,
  replays: (position) => arrivalsOf(aloneOf(position)),
  stable: (s, task, position) => isStable(s, task, aloneOf(position).image),
  superfluous(source, position) {
    const { prologue, image } = aloneOf(position);
    return trimDeterminants(source, prologue.determinants, image.determinants);
  },
  baseWaits: (s) => s.sync !== undefined || s.dirtyStreams.length > 0,
  outlives: (source) => source.durableEvidence,
  trimsBehind: (lsn) => lsn + 1,
};
