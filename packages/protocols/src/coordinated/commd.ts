/**
 * Coordinated checkpointing in the comm worker: frames go as the rank wrote them. The cut of an image leaves for every
 * Channel Memory at the image's place among them.
 */
import type { ProtocolName } from '@mayfly/wire';
import type { CommdPolicy } from '../comm/policy.ts';
import { inWaveOf, positionOf, replaysOf } from './position.ts';

/** It has no state of its own: all tasks share one. */
export function commdOf(protocol: ProtocolName): CommdPolicy {
  const task: ReturnType<CommdPolicy> = {
    retainsArrivals: false,
    confirmsBodies: true,
    durable: true,
    cutOf: (position) => inWaveOf(position, protocol).cut,
    inWave: (position, wave) => positionOf(protocol, { ...inWaveOf(position, protocol), wave }),
    replays: (position) => replaysOf(position, protocol),
    answered: () => undefined,
    attached: () => undefined,
    start: (incarnation) => ({ incarnation, limits: [], prologue: [], determinants: [], openPolls: 0, consumed: 0 }),
    wrote: () => undefined,
    leaves: (frame) => frame,
    block: () => undefined,
    acknowledged: () => undefined,
    returned: () => undefined,
  };
  return () => task;
}
