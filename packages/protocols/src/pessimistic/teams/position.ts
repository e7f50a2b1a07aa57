/**
 * Positions of a member of a team: where a lone task's image lies (pessimistic/position.ts), and how many messages of
 * each sender were consumed, by whichever route. Counts of a channel go on when its route changes (T2, T9).
 */
import { CountSchema, TaskIdSchema, type Position } from '@mayfly/wire';
import { Type, type Static } from 'typebox';
import { Check } from 'typebox/value';
import { MalformedPosition, readPosition } from '../../contract/position.ts';
import { fromTheStart, positionOf, replayOf, type ReplayFrom } from '../position.ts';

/** Version of `pessimistic`'s positions that a member of a team has; a lone task's is 1. */
const VERSION = 2;

const Counts = Type.Array(Type.Tuple([TaskIdSchema, CountSchema]));
const AtInTeam = Type.Object({ alone: Type.Unknown(), received: Counts });
type Counts = Static<typeof Counts>;

export interface ReplayInTeam {
  readonly replay: ReplayFrom;
  /** Messages consumed of each sender at the image. */
  readonly received: Counts;
}

export const startInTeam = (): ReplayInTeam => ({ replay: fromTheStart(), received: [] });

export const positionInTeam = ({ replay, received }: ReplayInTeam): Position => ({
  protocol: 'pessimistic',
  version: VERSION,
  at: { alone: positionOf(replay), received },
});

/** @throws MalformedPosition */
export function replayInTeam(p: Position): ReplayInTeam {
  const at = readPosition(p, 'pessimistic', VERSION);
  if (!Check(AtInTeam, at)) throw new MalformedPosition('The position does not match its schema.');
  return { replay: replayOf(at.alone as Position), received: at.received };
}
