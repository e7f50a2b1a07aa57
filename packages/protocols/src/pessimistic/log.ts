/** Pessimistic message logging at the Channel Memory: MPICH-V §3, with a log of determinants by source. */
import { BLOCK_HEAD_BYTES } from '@mayfly/wire';
import type { LogPolicy } from '../channel-memory/state.ts';
import { logDeterminants, sendDeterminants, trimDeterminants } from './determinants.ts';
import { replayOf, replays } from './position.ts';
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
  // It keeps the entries, so that a message never survives its determinants; what is pushed does not.
  record: (h, bytes, o, end) => (h.detBytes > BLOCK_HEAD_BYTES ? bytes.slice(o, end) : undefined),
  number: (d, _src, _offset, whole) => (whole ? d.index.count + 1 : 0),
  givenBack: checkLate,
  reported: heard,
  shows: () => true,
  replays,
  stable: (s, task, position) => isStable(s, task, replayOf(position).image),
  superfluous(source, position) {
    const { prologue, image } = replayOf(position);
    return trimDeterminants(source, prologue.determinants, image.determinants);
  },
  trimsBehind: (lsn) => lsn + 1,
};
