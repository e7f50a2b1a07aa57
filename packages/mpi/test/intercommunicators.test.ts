/**
 * Intercommunicators of TypeScript programs (MPI 4.1 §7.6), and what becomes of a rank that is killed while they are
 * made and used.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { Fabric } from './fabric/index.ts';

const fabric = new Fabric();
afterAll(() => fabric.close());

describe.each([2, 3, 5])('on %i ranks', (size) => {
  const cut = Math.ceil(size / 3);
  const low = Array.from({ length: cut }, (_, i) => i);
  const high = Array.from({ length: size - cut }, (_, i) => cut + i);
  const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);

  test('what was said and what was gathered; a rank that begins again in the middle says and gathers the same', async () => {
    const run = await fabric.run(size, 'intercommunicators', undefined, {
      delay: 3000,
      seed: size,
      bodiless: 0.3,
      unexpectedBytes: 500,
      patience: 90_000,
    });
    expect(run.answers.map((a) => a.error?.stack ?? a.exit)).toEqual(run.answers.map(() => undefined));
    run.answers.forEach((a, rank) => {
      const isHigh = rank >= cut;
      const mine = isHigh ? high : low;
      const other = isHigh ? low : high;
      const local = mine.indexOf(rank);
      const parts = (list: readonly number[]): number[] => list.filter((_, i) => i % 2 === local % 2);
      const root = rank === 0;
      expect(a.value).toEqual({
        sizes: [true, false, mine.length, other.length],
        group: true,
        messages: sum(other),
        bcast: [0, 1, 2].map(() => (isHigh || root ? 7 : -1)),
        object: isHigh || root ? 1000 : 3,
        gather: root ? high.flatMap((r) => [r, -r]) : null,
        scatter: isHigh ? [rank, -rank] : [0, 0],
        objects: [
          root ? high.map((r) => 'r'.repeat(r)).join() : undefined,
          isHigh ? rank : undefined,
          other.join(),
          other.map((r) => `${r}>${rank}`).join(),
        ],
        numbers: [sum(other), root ? size - 1 : undefined],
        iallreduce: sum(other),
        // "the group that provided high = true": here the low one.
        merged: [isHigh ? rank - cut : high.length + rank, [...high, ...low].join()],
        split:
          parts(other).length === 0 ? null : [parts(mine).length, parts(other).length, parts(other).reverse().join()],
        compare: ['CONGRUENT', 'UNEQUAL', true],
        fromGroup: size,
        orphan: other.join(),
        createGroup: mine.length,
        met: other.join(),
      });
    });
    for (const rank of [0, cut]) {
      const again = await fabric.restart(run, rank, 'intercommunicators', undefined, undefined, {
        bodiless: 0.7,
        unexpectedBytes: 0,
        seed: 99,
        patience: 90_000,
      });
      expect(again.error?.stack).toBeUndefined();
      expect(again.value).toEqual(run.answers[rank]!.value);
      expect(again.log).toEqual(run.answers[rank]!.log);
    }
  });
});

// connect-timeout.ts: "In the case of a time out, MPI_COMM_CONNECT raises an error of class MPI_ERR_PORT" (§11.9.3).
test.each([2, 4])(
  'a connect that nobody accepts times out, at all of %i ranks; a replay decides the same',
  async (size) => {
    const run = await fabric.run(size, 'knocking', { first: 0.05 }, { delay: 3000, seed: size, bodiless: 0.5 });
    const others = Array.from({ length: size - 1 }, (_, i) => i + 1);
    const late = (s: string): unknown => [true, expect.stringContaining(`within ${s} s`) as string];
    const heard = [true, expect.stringContaining('ERR_PORT') as string];
    run.answers.forEach((a, rank) => {
      expect(a.error?.stack).toBeUndefined();
      const door = ['door'];
      expect(a.value).toEqual(
        rank === 0 ? [others] : rank === 1 ? [late('0.05'), late('0'), door] : [heard, heard, door],
      );
      expect(a.left).toMatchObject({ requests: 0, posted: 0, unexpected: 0, scratch: 0, unexpectedBytes: 0 });
    });
    for (const rank of [0, 1]) {
      // Whatever its clock says now: by the log it has waited long enough.
      const again = await fabric.restart(run, rank, 'knocking', { first: 0.05 }, undefined, { unexpectedBytes: 0 });
      expect(again.error?.stack).toBeUndefined();
      expect(again.value).toEqual(run.answers[rank]!.value);
      expect(again.log).toEqual(run.answers[rank]!.log);
    }
  },
);

test('T1: an accept and a withdrawal that cross agree on whether they have met', async () => {
  const values = await fabric.values<{ rounds: number }>(2, 'race', { rounds: 60 }, { delay: 2000, seed: 5 });
  expect(values.map((v) => v.rounds)).toEqual([60, 60]);
});

test('a time-out that is no number of seconds is an error at all ranks', async () => {
  const run = await fabric.run(2, 'knocking', { first: -1 });
  expect(run.answers[1]!.value).toMatchObject([[false, expect.stringContaining('the time-out is -1')], {}, {}]);
});
