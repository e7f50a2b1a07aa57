/**
 * Every collective against the dumb oracle of programs/oracle.ts, at several sizes, over real threads with shuffled
 * timing.
 */
import { taskId } from '@mayfly/wire';
import { afterAll, describe, expect, test } from 'vitest';
import { Fabric } from './fabric/index.ts';

const fabric = new Fabric();
afterAll(() => fabric.close());

const SIZES = [1, 2, 3, 4, 5, 8, 9];

describe('collectives give what a plain loop gives', () => {
  test.each(SIZES)('short vectors on %i ranks', async (size) => {
    for (const seed of [1, 2])
      expect(
        (
          await fabric.values<string[]>(
            size,
            'collectives',
            { seed: seed * 100 + size, cases: 100, long: false },
            { seed, delay: 3000 },
          )
        ).flat(),
      ).toEqual([]);
  });
  test.each(SIZES)('long vectors on %i ranks', async (size) => {
    expect(
      (
        await fabric.values<string[]>(
          size,
          'collectives',
          { seed: 900 + size, cases: 16, long: true },
          { inboxBytes: 1 << 27 },
        )
      ).flat(),
    ).toEqual([]);
  });
  test.each([2, 5, 8])('on communicators of a split, %i ranks', async (size) => {
    expect(
      (await fabric.values<string[]>(size, 'split collectives', { seed: size, cases: 60 }, { delay: 1000 })).flat(),
    ).toEqual([]);
  });
  test('where ranks exchange messages in memory', async () => {
    const teams = [
      [0, 1, 2, 3],
      [4, 7],
      [5, 6],
    ].map((team) => team.map((task) => taskId(task)));
    for (const long of [false, true])
      expect(
        (await fabric.values<string[]>(9, 'collectives', { seed: 31, cases: long ? 16 : 100, long }, { teams })).flat(),
      ).toEqual([]);
    expect(
      (await fabric.values<string[]>(9, 'split collectives', { seed: 32, cases: 60 }, { delay: 1000, teams })).flat(),
    ).toEqual([]);
  });
  test('with bodies left in the log', async () => {
    for (const unexpectedBytes of [0, 500]) {
      const { answers } = await fabric.run(
        5,
        'collectives',
        { seed: 77, cases: 80, long: false },
        { bodiless: 0.5, unexpectedBytes, seed: 3 },
      );
      expect(answers.map((a) => a.error?.stack)).toEqual([undefined, undefined, undefined, undefined, undefined]);
      expect(answers.flatMap((a) => a.value)).toEqual([]);
      for (const a of answers) expect(a.mostUnexpected).toBeLessThanOrEqual(unexpectedBytes);
    }
  });
});

test('nothing is left behind: requests, posted receives, messages, scratch buffers', async () => {
  const { answers } = await fabric.run(7, 'collectives', { seed: 5, cases: 100, long: false });
  for (const a of answers)
    expect(a.left).toEqual({ requests: 0, posted: 0, unexpected: 0, scratch: 0, unexpectedBytes: 0 });
});

test('collectives of structured values', async () => {
  for (const size of [1, 3, 4]) {
    const all = await fabric.values<unknown[]>(size, 'object collectives');
    const root = size - 1;
    const ranks = Array.from({ length: size }, (_, i) => i);
    all.forEach((v, rank) => {
      const at = <T>(x: T): T | undefined => (rank === root ? x : undefined);
      expect(v).toEqual([
        { long: 'x'.repeat(3000), m: new Map([[1, new Float64Array(2)]]) },
        [1, null, undefined, -0, 1n],
        at(ranks.map((r) => 'r'.repeat(r))),
        { i: rank },
        ranks.map((r) => (r % 2 ? r : [r])),
        ranks.map((r) => `${r}>${rank}`),
        at(ranks.join('')),
        ranks,
        size - 1,
        at((size * (size - 1)) / 2),
        rank + 1,
        rank === 0 ? undefined : rank,
      ]);
    });
  }
});

test('several non-blocking collectives at once do not mix', async () => {
  // MPI 4.1 §6.12: "multiple nonblocking collective operations can be outstanding on a single communicator"
  const size = 5;
  const all = await fabric.values<[number[], boolean]>(size, 'overlapping', undefined, { delay: 5000 });
  for (const [sums] of all) expect(sums).toEqual(Array.from({ length: 6 }, (_, i) => 10 + i * size));
});

describe('results do not depend on timing', () => {
  // MPI 4.1 §6.9.1, advice to implementors: "the same result be obtained whenever the function is applied on the same
  // arguments"
  test.each([
    [5, 33],
    [7, 20000],
    [8, 20000],
  ])('float sums on %i ranks, %i elements, bit for bit', async (size, n) => {
    const runs: string[][][] = [];
    for (const seed of [1, 2, 3])
      runs.push(
        await fabric.values<string[]>(
          size,
          'float sums',
          { n },
          { seed, delay: 20000, bodiless: seed === 2 ? 0.5 : 0 },
        ),
      );
    for (const run of runs) {
      expect(run).toEqual(runs[0]);
      // All ranks get the same bits of an allreduce.
      for (const rank of run) expect(rank[0]).toEqual(run[0]![0]);
    }
  });
});

test('ranks that disagree on a count get an error that says so', async () => {
  const [, other] = await fabric.values<string>(2, 'mismatch');
  expect(other).toContain('MPI_Bcast: rank 0 takes part with 32 bytes where 40 are expected here');
});

// "A high-quality implementation will, to the greatest possible extent, circumscribe the impact of an error, so that
// normal processing can continue" (MPI 4.1 §9.3)
test.each([2, 3, 6])(
  'counts that do not fit at one of %i ranks are an error where they are waited for, and the next ' +
    'collectives are in step',
  async (size) => {
    const all = await fabric.values<[string[], number]>(size, 'counts that do not fit at one process', undefined, {
      delay: 5000,
    });
    for (const [rank, [texts, sum]] of all.entries()) {
      for (const text of texts)
        expect(text).toMatch(rank === size - 1 ? /bytes/ : /left the collective: the call failed there/);
      expect(sum).toBe((size * (size - 1)) / 2);
    }
  },
);

test('an operation may not communicate', async () => {
  const all = await fabric.values<string>(2, 'op that communicates');
  for (const said of all) expect(said).toContain('inside the function of a reduction operation');
});
