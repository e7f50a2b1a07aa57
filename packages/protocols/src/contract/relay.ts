/**
 * What protocols have in common that relay messages: the comm worker passes frames on as they are, and the Channel
 * Memory keeps in memory what its receiver has not consumed yet. Nothing is logged, and no task runs again alone.
 */
import type { LogPolicy } from '../channel-memory/state.ts';
import type { CommdTask } from '../comm/policy.ts';
import { FROM_THE_START } from './position.ts';

const nothing = (): undefined => undefined;

/** It has no state: all tasks share one. */
export const relayTask: CommdTask = {
  retainsArrivals: false,
  confirmsBodies: true,
  durable: true,
  replays: () => FROM_THE_START,
  answered: nothing,
  attached: nothing,
  start: (incarnation) => ({ incarnation, limits: [], prologue: [], determinants: [], openPolls: 0, consumed: 0 }),
  wrote: nothing,
  leaves: (frame) => frame,
  allLogged: true,
  acknowledged: nothing,
  returned: nothing,
};

export const relayLog: Omit<LogPolicy, 'keepsOutput' | 'refuses' | 'shows' | 'replays' | 'stable'> = {
  keeps: 'memory',
  visible: () => 'appended',
  outranks: (one, other) => one > other,
  attached: nothing,
  waitsForSync: (a) => !a.resume,
  answers: nothing,
  repeated: (channel, logged) => channel <= logged,
  carried: nothing,
  record: nothing,
  number: (d, _src, _offset, whole) => (whole ? d.index.count + 1 : 0),
  givenBack: nothing,
  reported: nothing,
  superfluous: () => ({ to: 0, keep: new Set() }),
  baseWaits: (s) => s.sync !== undefined || s.dirtyStreams.length > 0,
  outlives: (source) => source.durableEvidence,
  trimsBehind: (lsn) => lsn + 1,
};
