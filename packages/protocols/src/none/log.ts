/** No fault tolerance: the Channel Memory relays, and keeps in memory what its receiver has not consumed yet. */
import type { LogPolicy } from '../channel-memory/state.ts';
import { FROM_THE_START } from '../contract/position.ts';

const nothing = (): void => undefined;

export const log: LogPolicy = {
  keeps: 'memory',
  keepsOutput: 'memory',
  visible: () => 'appended',
  outranks: (one, other) => one > other,
  refuses: ({ incarnation, epoch, resume }, d) =>
    incarnation > 0 || epoch > 0 || (!resume && d !== undefined && d.trimmed > 0)
      ? { code: 'LOST_NODES', message: 'protocol "none" cannot run a task again' }
      : undefined,
  attached: nothing,
  waitsForSync: (a) => !a.resume,
  answers: nothing,
  repeated: (channel, logged) => channel <= logged,
  carried: nothing,
  record: nothing as () => undefined,
  number: (d, _src, _offset, whole) => (whole ? d.index.count + 1 : 0),
  givenBack: nothing,
  reported: nothing,
  shows: () => true,
  replays: () => FROM_THE_START,
  stable: () => false,
  superfluous: () => ({ to: 0, keep: new Set() }),
  trimsBehind: (lsn) => lsn + 1,
};
