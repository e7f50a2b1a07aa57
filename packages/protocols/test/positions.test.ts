/** Positions: a protocol reads its own and refuses all others. */
import { Kind, incarnation, taskId, type Position } from '@mayfly/wire';
import { describe, expect, it, test } from 'vitest';
import { MalformedPosition, positionOf, protocols, zeroLine } from '../src/index.ts';
import { codes, pair } from './data-path/bench.ts';

const line = (arrivals: number) => ({ ...zeroLine(), arrivals });
const at = (arrivals: number): Position => positionOf({ prologue: zeroLine(), image: line(arrivals), held: [] });
const { pessimistic, none } = protocols;

/** What no incarnation of message logging can begin from. */
const FOREIGN: [string, Position][] = [
  ['of another protocol', none.recovery.start],
  ['of a newer version', { ...at(0), version: 3 }],
  ['without a line', { ...at(0), at: { prologue: zeroLine() } }],
  ['with a number below 0', { ...at(0), at: { prologue: zeroLine(), image: line(-1), held: [] } }],
  ['with a prologue behind its image', { ...at(0), at: { prologue: line(2), image: line(1), held: [] } }],
];

describe.each(FOREIGN)('a position %s', (_, position) => {
  it('ends the connection of a node that claims it, and nothing else', () => {
    const b = pair();
    b.attach(7, 1, { position });
    const ended = b.effects.flatMap((e) => (e.type === 'close' ? [[e.conn, e.error.code]] : []));
    expect(ended).toEqual([[7, 'BAD_FRAME']]);
    expect(codes(b)).toEqual(['BAD_FRAME']);
    b.attach(8, 1);
    expect(codes(b)).toEqual(['SUPERSEDED']); // its first connection, by the third
    expect(b.take(Kind.ATTACHED)).toHaveLength(1);
  });

  it('is no place for an image, nor for a rank', () => {
    expect(pessimistic.images.refuses(position, { size: 2, kept: [], trimmed: false })).toMatch(/position|prologue/);
    const start = {
      incarnation: incarnation(0),
      limits: [],
      prologue: [],
      determinants: [],
      openPolls: 0,
      consumed: 0,
    };
    expect(() => pessimistic.rank(taskId(0), 2, position, start)).toThrow(MalformedPosition);
  });
});

test('without an image a task begins where its protocol says', () => {
  expect(pessimistic.log.replays(pessimistic.recovery.start)).toEqual({ prologue: 0, image: 0, held: [] });
  expect(none.log.replays(none.recovery.start)).toEqual({ prologue: 0, image: 0, held: [] });
  expect(pessimistic.log.replays(at(7))).toEqual({ prologue: 0, image: 7, held: [] });
});
