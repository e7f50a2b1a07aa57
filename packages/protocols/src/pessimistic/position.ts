/** Positions of message logging: where a task is in every log. */
import { CountSchema, TaskIdSchema, type Position } from '@mayfly/wire';
import { Type, type Static } from 'typebox';
import { Check } from 'typebox/value';
import { MalformedPosition, readPosition, type Replays } from '../contract/position.ts';

const VERSION = 1;

/**
 * A line through one task's history: how far it is in every log. An image lies on a line; a restart begins on one.
 * `arrivals`: consumed. `determinants`: recorded. `sends`: messages sent on each channel.
 */
const Line = Type.Object({
  arrivals: CountSchema,
  determinants: CountSchema,
  /** Vain polls after the last determinant. */
  openPolls: CountSchema,
  sends: Type.Array(Type.Tuple([TaskIdSchema, CountSchema])),
});
export type Line = Static<typeof Line>;

/**
 * What an incarnation replays: the prologue (from the start of the program to where `checkpoint.open` returned; empty
 * for a transparent image), then everything behind the image. Without an image both lines are zero. `held`: consumed
 * arrivals whose bodies are still in the log. `place`: of a task whose team was dissolved, arrivals before what lay in
 * the channels of the image (T9).
 */
const ReplayFrom = Type.Object({
  prologue: Line,
  image: Line,
  held: Type.Array(CountSchema),
  place: Type.Optional(CountSchema),
});
export type ReplayFrom = Static<typeof ReplayFrom>;

export const zeroLine = (): Line => ({ arrivals: 0, determinants: 0, openPolls: 0, sends: [] });

export const isZero = (l: Line): boolean =>
  l.arrivals === 0 && l.determinants === 0 && l.openPolls === 0 && l.sends.length === 0;

/** From the start of the program. */
export const fromTheStart = (): ReplayFrom => ({ prologue: zeroLine(), image: zeroLine(), held: [] });

export const positionOf = (at: ReplayFrom): Position => ({ protocol: 'pessimistic', version: VERSION, at });

/** @throws MalformedPosition */
export function replayOf(p: Position): ReplayFrom {
  const at = readPosition(p, 'pessimistic', VERSION);
  if (!Check(ReplayFrom, at)) throw new MalformedPosition('The position does not match its schema.');
  if (at.prologue.arrivals > at.image.arrivals) throw new MalformedPosition('The prologue ends behind the image.');
  return at;
}

/** Which arrivals come again. */
export const arrivalsOf = ({ prologue, image, held }: ReplayFrom): Replays => ({
  prologue: prologue.arrivals,
  image: image.arrivals,
  held,
});

/** @throws MalformedPosition */
export const replays = (p: Position): Replays => arrivalsOf(replayOf(p));
