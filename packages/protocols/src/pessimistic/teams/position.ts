/**
 * Positions of a member of a team: where a lone task's image lies (pessimistic/position.ts) as far as the logs know of
 * it, the messages sent to teammates, and how many messages of each sender were consumed, by whichever route. Counts of
 * a channel go on when its route changes (T2, T9).
 */
import { CountSchema, TaskIdSchema, type Position, type TaskId } from '@mayfly/wire';
import { Type, type Static } from 'typebox';
import { Check } from 'typebox/value';
import { MalformedPosition, readPosition } from '../../contract/position.ts';
import { fromTheStart, isZero, positionOf, replayOf, type ReplayFrom } from '../position.ts';

/** Version of `pessimistic`'s positions that a member of a team has; a lone task's is 1. */
const VERSION = 2;

const Counts = Type.Array(Type.Tuple([TaskIdSchema, CountSchema]));
const AtInTeam = Type.Object({
  alone: Type.Unknown(),
  local: Counts,
  received: Counts,
  wave: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  done: Type.Optional(Type.Array(TaskIdSchema)),
  opened: Type.Optional(Counts),
  gate: Type.Optional(CountSchema),
  place: Type.Optional(CountSchema),
});
type Counts = Static<typeof Counts>;

export interface ReplayInTeam {
  /** Without messages to teammates: they are in no log. */
  readonly replay: ReplayFrom;
  /** Messages sent to each teammate before the image. */
  readonly local: Counts;
  /** Messages consumed of each sender at the image. */
  readonly received: Counts;
  /** The wave of the team for which the image was taken (T6), from 1. Absent: the start of the job. */
  readonly wave?: number | undefined;
  /** Members that had ended when the wave began, ascending; absent: none had (T12). */
  readonly done?: readonly TaskId[] | undefined;
  /** Messages sent to each teammate before the end of the prologue; absent: none. */
  readonly opened?: Counts | undefined;
  /** T9, of a team that a regrouping made: arrivals of the log then, which come before everything of teammates. */
  readonly gate?: number | undefined;
  /** T9: arrivals before what lay in the channels of this image, whose team was regrouped since. */
  readonly place?: number | undefined;
}

const isStart = ({ prologue, image }: ReplayFrom): boolean => isZero(prologue) && isZero(image);

export const startInTeam = (): ReplayInTeam => ({ replay: fromTheStart(), local: [], received: [] });

export const positionInTeam = ({
  replay,
  local,
  received,
  wave,
  done = [],
  opened = [],
  gate,
  place,
}: ReplayInTeam): Position => ({
  protocol: 'pessimistic',
  version: VERSION,
  at: {
    alone: positionOf(replay),
    local,
    received,
    ...(wave === undefined ? {} : { wave }),
    ...(done.length === 0 ? {} : { done }),
    ...(opened.length === 0 ? {} : { opened }),
    ...(gate === undefined ? {} : { gate }),
    ...(place === undefined ? {} : { place }),
  },
});

/** Every rank begins at the start of its program as a lone one does. @throws MalformedPosition */
export function replayInTeam(p: Position): ReplayInTeam {
  if (p.version !== VERSION && isStart(replayOf(p))) return startInTeam();
  const at = readPosition(p, 'pessimistic', VERSION);
  if (!Check(AtInTeam, at)) throw new MalformedPosition('The position does not match its schema.');
  const { alone, ...rest } = at;
  return { replay: replayOf(alone as Position), ...rest };
}

/** Of a member, or of a lone task. @throws MalformedPosition */
export const memberOrAlone = (p: Position): ReplayInTeam =>
  p.version === VERSION ? replayInTeam(p) : { replay: replayOf(p), local: [], received: [] };

/** What the logs know of a position, of a member or of a lone task. @throws MalformedPosition */
export const aloneOf = (p: Position): ReplayFrom => (p.version === VERSION ? replayInTeam(p).replay : replayOf(p));

/** Where an image belongs among those of its team; undefined: it is of a lone task. @throws MalformedPosition */
export function setOf(p: Position): { wave: number; done: readonly TaskId[] } | undefined {
  if (p.version !== VERSION) return undefined;
  const { wave, done = [] } = replayInTeam(p);
  if (wave === undefined) throw new MalformedPosition('An image of a member of a team names its wave.');
  return { wave, done };
}
