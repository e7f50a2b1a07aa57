/**
 * Coordinated checkpointing at the Channel Memory: messages are relayed from memory, as a loss takes everybody back.
 * The channels are cut in waves, and the world sees nothing that could still be undone.
 */
import type { ProtocolName } from '@mayfly/wire';
import type { LogPolicy } from '../channel-memory/state.ts';
import { Gate } from './gate.ts';
import { replaysOf } from './position.ts';
import { goBack } from './rollback.ts';

const nothing = (): void => undefined;

export const logOf = (protocol: ProtocolName): LogPolicy => ({
  keeps: 'memory',
  keepsOutput: 'durable',
  waves: { gate: (tasks, home) => new Gate(tasks, home), goBack },
  visible: () => 'appended',
  outranks: (one, other) => one > other,
  refuses: () => undefined,
  attached: nothing,
  waitsForSync: (a) => !a.resume,
  answers: nothing,
  repeated: (channel, logged) => channel <= logged,
  carried: nothing,
  record: nothing as () => undefined,
  number: (d, _src, _offset, whole) => (whole ? d.index.count + 1 : 0),
  givenBack: nothing,
  reported: nothing,
  shows: (w, channel) => channel <= w.stable,
  replays: (position) => replaysOf(position, protocol),
  // What an image lacks is in the wave streams, and the wave counts only with them.
  stable: () => true,
  superfluous: () => ({ to: 0, keep: new Set() }),
  trimsBehind: (lsn) => lsn + 1,
});
