/**
 * Coordinated checkpointing at the Channel Memory: messages are relayed from memory, as a loss takes everybody back.
 * The channels are cut in waves, and the world sees nothing that could still be undone.
 */
import type { ProtocolName } from '@mayfly/wire';
import type { LogPolicy } from '../channel-memory/state.ts';
import { relayLog } from '../contract/relay.ts';
import { Gate } from './gate.ts';
import { replaysOf } from './position.ts';
import { goBack } from './rollback.ts';

export const logOf = (protocol: ProtocolName): LogPolicy => ({
  ...relayLog,
  keepsOutput: 'durable',
  waves: { gate: (tasks, home) => new Gate(tasks, home), goBack },
  refuses: () => undefined,
  shows: (w, channel) => channel <= w.stable,
  replays: (position) => replaysOf(position, protocol),
  // What an image lacks is in the wave streams, and the wave counts only with them.
  stable: () => true,
});
