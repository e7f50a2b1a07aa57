/** Recovery line and garbage line against a dumb oracle: small federations, every failure. */
import { expect, test } from 'vitest';
import { garbageLine } from '../../src/hc3i/garbage.ts';
import { recoveryLine, type Line, type Stored } from '../../src/hc3i/recovery-line.ts';
import { failures, firstOnly, greatest, states, toTheLast, withoutCascade, type LineFunction } from './line-space.ts';

/**
 * All states of three clusters with up to two or three CLCs, and the deepest ones of those with four. HC3I_STATES=all
 * in the environment: all of those with four, 3,416,731, which takes half an hour or more.
 */
function* small(): Generator<Stored> {
  if (process.env['HC3I_STATES'] !== 'all') yield* states([3, 3, 2]);
  let left = process.env['HC3I_STATES'] === 'all' ? Infinity : 2000;
  for (const state of states([4, 4, 4])) {
    yield state;
    if (--left === 0) return;
  }
}
const indexes = (stored: Stored, line: Line): number[] => stored.map((own, i) => line.get(i) ?? own.length);

/** @returns what is wrong with the line of a failure */
function wrongLine(stored: Stored, start: Line, line: LineFunction): string | undefined {
  const got = indexes(stored, line(stored, start));
  if (`${got}` !== `${greatest(stored, start)}`) return 'Q15: it is not the greatest consistent choice';
  if (`${indexes(stored, line(stored, new Map([...start].reverse())))}` !== `${got}`) return 'it depends on the order';
  const alone = [...start].map((failed) => indexes(stored, line(stored, new Map([failed]))));
  if (`${stored.map((_, i) => Math.min(...alone.map((a) => a[i]!)))}` !== `${got}`) return 'it is not the minimum';
  if (start.size > 1) return undefined;
  const [[failed, index]] = [...start] as [[number, number]];
  return got[failed] === index ? undefined : 'Q13: domino';
}

function firstWrong(check: (stored: Stored, start: Line) => string | undefined): string | undefined {
  for (const stored of small())
    for (const start of failures(stored)) {
      const wrong = check(stored, start);
      if (wrong) return wrong;
    }
  return undefined;
}

test('the line is the greatest consistent one, whatever the order; several failures: the minimum; no domino', () => {
  expect(firstWrong((stored, start) => wrongLine(stored, start, recoveryLine))).toBeUndefined();
});

test.each([
  ['36 rollback-to-last', toTheLast],
  ['37 alerts-not-cascaded', withoutCascade],
  ['38 second-cluster-forgotten', firstOnly],
])('%s is found', (_, line) => {
  expect(firstWrong((stored, start) => wrongLine(stored, start, line))).toMatch(/^Q15/);
});

/** Q12: failures of any clusters, each with its newest CLC usable or not, find what they need. */
function wrongGarbage(depth?: number): string | undefined {
  for (const stored of small()) {
    const oldest = garbageLine(stored, depth);
    const kept = stored.map((own, i) => own.slice(oldest[i]));
    for (const start of failures(stored)) {
      const line = recoveryLine(stored, start);
      if ([...line].some(([i, index]) => index < oldest[i]!)) return 'Q12: a CLC that is needed is garbage';
      const shifted = recoveryLine(kept, new Map([...start].map(([i, index]) => [i, index - oldest[i]!])));
      if ([...line].some(([i, index]) => shifted.get(i) !== index - oldest[i]!) || shifted.size !== line.size)
        return 'the line changes when garbage is gone';
    }
  }
  return undefined;
}

test('garbage is what no failure needs, also if the newest CLC of each failed cluster is damaged', () => {
  expect(wrongGarbage()).toBeUndefined();
});

test('35 garbage-depth-one, the text of the paper, is found', () => {
  expect(wrongGarbage(1)).toMatch(/^Q12/);
});
