/**
 * Coordinated checkpointing in the comm worker: frames go as the rank wrote them. The cut of an image leaves for every
 * Channel Memory at the image's place among them. Under `pcl`, what the rank writes between its mark and its image
 * waits.
 */
import type { ProtocolName } from '@mayfly/wire';
import type { CommdPolicy } from '../comm/policy.ts';
import { relayTask } from '../contract/relay.ts';
import { Freeze } from './freeze.ts';
import { inWaveOf, positionOf, replaysOf } from './position.ts';

/** It has no state of its own: all tasks share one. */
export function commdOf(protocol: ProtocolName): CommdPolicy {
  const task: ReturnType<CommdPolicy> = {
    ...relayTask,
    cutOf: (position) => inWaveOf(position, protocol).cut,
    inWave: (position, wave) => positionOf(protocol, { ...inWaveOf(position, protocol), wave }),
    replays: (position) => replaysOf(position, protocol),
    ...(protocol === 'pcl' ? { freeze: () => new Freeze() } : {}),
  };
  return () => task;
}
