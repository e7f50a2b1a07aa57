/**
 * Coordinated checkpointing at the Channel Memory: messages are relayed from memory, as a loss takes everybody back.
 * The channels are cut in waves, and the world sees nothing that could still be undone.
 */
import type { ProtocolName } from '@mayfly/wire';
import type { LogPolicy } from '../channel-memory/state.ts';
import { relayLog } from '../contract/relay.ts';
import { Gate } from './gate.ts';
import { replaysOf } from './position.ts';
import { restoreGate } from './rollback.ts';
import { WaveStage, type WaveRules } from './wave-stage.ts';

export const waveRules: WaveRules = { gate: (tasks, home) => new Gate(tasks, home), restoreGate };

/** @param rules a planted bug is another row */
export const waveLog = (protocol: ProtocolName, rules: WaveRules = waveRules): LogPolicy => ({
  ...relayLog,
  keepsOutput: 'durable',
  goesBack: true,
  stages: { letters: ['v'], begin: (s) => [new WaveStage(s, rules)] },
  refuses: () => undefined,
  shows: (w, channel) => channel <= w.stable,
  replays: (position) => replaysOf(position, protocol),
  // What an image lacks is in the wave streams, and the wave counts only with them.
  stable: () => true,
});
