/** Positions of coordinated checkpointing: the wave of an image, and the cut of its task. */
import { Cut, CountSchema, type Position, type ProtocolName } from '@mayfly/wire';
import { Type, type Static } from 'typebox';
import { Check } from 'typebox/value';
import { MalformedPosition, readPosition, type Replays } from '../contract/position.ts';
import { START_OF_TASK } from '../contract/waves.ts';

const VERSION = 1;

/** 0: the start of the program, or an image whose wave its comm worker has not named yet. */
const InWave = Type.Object({ wave: CountSchema, cut: Cut });
export type InWave = Static<typeof InWave>;

export const positionOf = (protocol: ProtocolName, at: InWave): Position => ({ protocol, version: VERSION, at });

export const startOf = (protocol: ProtocolName): Position => positionOf(protocol, { wave: 0, cut: START_OF_TASK });

/** @throws MalformedPosition */
export function inWaveOf(p: Position, protocol: ProtocolName): InWave {
  const at = readPosition(p, protocol, VERSION);
  if (!Check(InWave, at)) throw new MalformedPosition('The position does not match its schema.');
  return at;
}

/** @throws MalformedPosition */
export function replaysOf(p: Position, protocol: ProtocolName): Replays {
  const { cut } = inWaveOf(p, protocol);
  return { prologue: 0, image: cut.arrivals, held: cut.held };
}
