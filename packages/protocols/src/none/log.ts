/** No fault tolerance: the Channel Memory relays, and keeps in memory what its receiver has not consumed yet. */
import type { LogPolicy } from '../channel-memory/state.ts';
import { FROM_THE_START } from '../contract/position.ts';
import { relayLog } from '../contract/relay.ts';

export const log: LogPolicy = {
  ...relayLog,
  keepsOutput: 'memory',
  refuses: ({ incarnation, epoch, resume }, d) =>
    incarnation > 0 || epoch > 0 || (!resume && d !== undefined && d.trimmed > 0)
      ? { code: 'LOST_NODES', message: 'protocol "none" cannot run a task again' }
      : undefined,
  shows: () => true,
  replays: () => FROM_THE_START,
  stable: () => false,
};
