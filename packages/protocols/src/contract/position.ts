/**
 * Positions, as far as anybody but their protocol may know them: which arrivals an incarnation that begins there gets
 * again.
 */
import type { Position, ProtocolName } from '@mayfly/wire';

/**
 * Numbers of arrivals. An incarnation gets 1 … `prologue` again (from the start of the program to where
 * `checkpoint.open` returned; 0 for a transparent image), then those behind `image`. Without an image both are 0.
 */
export interface Replays {
  readonly prologue: number;
  readonly image: number;
  /** Arrivals up to `image` whose bodies may still be asked for. */
  readonly held: readonly number[];
}

/** A program begins. */
export const FROM_THE_START: Replays = { prologue: 0, image: 0, held: [] };

/** Another protocol's position, another version's, or a damaged one. */
export class MalformedPosition extends Error {
  override readonly name = 'MalformedPosition';
}

/** `at` of a position of this protocol and version. @throws MalformedPosition */
export function readPosition(p: Position, protocol: ProtocolName, version: number): unknown {
  if (p.protocol !== protocol || p.version !== version)
    throw new MalformedPosition(
      `The position is one of "${p.protocol}", version ${p.version}; "${protocol}", version ${version}, is needed.`,
    );
  return p.at;
}
