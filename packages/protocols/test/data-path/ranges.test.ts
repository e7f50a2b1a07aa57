/** Clever ranges against a dumb set. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addRange, coversDeterminants, missing } from '../../src/channel-memory/ranges.ts';

const range = fc.tuple(fc.nat(30), fc.nat(8)).map(([a, n]): [number, number] => [a, a + n]);

test('addRange, missing and coversDeterminants equal their definitions', () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 12 }), range, (added, [from, to]) => {
      const ranges: [number, number][] = [];
      const all = new Set<number>();
      for (const [a, b] of added) {
        addRange(ranges, a, b);
        for (let i = a; i < b; i++) all.add(i);
      }
      expect(ranges.flatMap(([a, b]) => Array.from({ length: b - a }, (_, i) => a + i))).toEqual(
        [...all].sort((x, y) => x - y),
      );
      for (let i = 1; i < ranges.length; i++) expect(ranges[i]![0]).toBeGreaterThan(ranges[i - 1]![1]);
      const gaps = missing(ranges, from, to).flatMap(([a, b]) => Array.from({ length: b - a }, (_, i) => a + i));
      const expected = Array.from({ length: to - from }, (_, i) => from + i).filter((i) => !all.has(i));
      expect(gaps).toEqual(expected);
      expect(
        coversDeterminants(
          added.map((r) => [r]),
          from,
          to,
        ),
      ).toBe(expected.length === 0);
    }),
    { numRuns: 2000 },
  );
});
