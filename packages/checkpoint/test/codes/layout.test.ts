import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { subsets } from '../../src/acceptance/codes.ts';
import { layoutOf, sharedNodes, survival, survives, survivingSets, type Scheme } from '../../src/codes/index.ts';

const SMALL: readonly Scheme[] = [
  ...[1, 3, 6].map((members) => ({ name: 'mirror', members }) as const),
  ...[2, 3, 7, 12].map((members) => ({ name: 'ring', members }) as const),
  ...[2, 6, 12].map((members) => ({ name: 'pair', members }) as const),
  ...[1, 5].map((members) => ({ name: 'checksum', members }) as const),
  { name: 'checksum-1d', members: 3, groups: 3 },
  { name: 'checksum-1d', members: 1, groups: 6 },
  { name: 'weighted', members: 5, checksums: 3 },
  { name: 'weighted', members: 2, checksums: 5 },
  { name: 'weighted-1d', members: 3, groups: 2, checksums: 2 },
  { name: 'weighted-1d', members: 2, groups: 3, checksums: 2 },
  { name: 'weighted-1d', members: 2, groups: 2, checksums: 4 },
];

/** Written for each scheme from its text, without groups. */
function survivesByText(s: Scheme, lost: ReadonlySet<number>): boolean {
  const { members: n } = s;
  const within = (from: number, to: number): number => [...lost].filter((p) => p >= from && p < to).length;
  switch (s.name) {
    case 'mirror':
      return [...lost].every((p) => !lost.has(p + n));
    case 'ring':
      return [...lost].every((p) => !lost.has((p + 1) % n));
    case 'pair':
      return [...lost].every((p) => p % 2 === 1 || !lost.has(p + 1));
    case 'checksum':
      return lost.size <= 1;
    case 'weighted':
      return lost.size <= s.checksums;
    case 'checksum-1d':
    case 'weighted-1d': {
      const c = s.name === 'weighted-1d' ? s.checksums : 1;
      const computing = n * s.groups;
      for (let g = 0; g < s.groups; g++)
        if (within(g * n, (g + 1) * n) + within(computing + g * c, computing + (g + 1) * c) > c) return false;
      return true;
    }
  }
}

describe('survival by enumeration of all sets of losses', () => {
  it.each(SMALL)('$name of $members', (s) => {
    const layout = layoutOf(s);
    for (let k = 0; k <= layout.processes; k++) {
      const sets = subsets(layout.processes, k).map((lost) => new Set(lost));
      expect(sets.find((lost) => survives(layout, lost) !== survivesByText(s, lost))).toBeUndefined();
      const good = sets.filter((lost) => survives(layout, lost)).length;
      expect(survivingSets(s, k)).toBe(BigInt(good));
      expect(survival(s, k)).toBeCloseTo(good / sets.length, 12);
    }
  });
});

test('survival of larger ones by chance', () => {
  let state = 1;
  const below = (n: number): number => (state = (state * 48_271) % 2_147_483_647) % n;
  for (const [s, k] of [
    [{ name: 'mirror', members: 60 }, 6],
    [{ name: 'ring', members: 120 }, 6],
    [{ name: 'weighted-1d', members: 15, groups: 8, checksums: 2 }, 9],
  ] as const) {
    const layout = layoutOf(s);
    const runs = 4000;
    let good = 0;
    for (let i = 0; i < runs; i++) {
      const lost = new Set<number>();
      while (lost.size < k) lost.add(below(layout.processes));
      if (survives(layout, lost)) good++;
    }
    const p = survival(s, k);
    expect(Math.abs(good / runs - p)).toBeLessThan(5 * Math.sqrt((p * (1 - p)) / runs));
  }
});

test('the sentences of the paper', () => {
  // "The ring neighbor scheme is able to tolerate at least one and up to ⌊n/2⌋ processor failures" (3.1.2)
  for (const members of [7, 12]) {
    expect(survival({ name: 'ring', members }, 1)).toBe(1);
    expect(survival({ name: 'ring', members }, Math.floor(members / 2))).toBeGreaterThan(0);
    expect(survival({ name: 'ring', members }, Math.floor(members / 2) + 1)).toBe(0);
  }
  // "When k is much smaller than n, the probability to survive k failures can be very close to 1" (3.1.1)
  expect(survival({ name: 'mirror', members: 10_000 }, 5)).toBeGreaterThan(0.998);
  // "the degree of fault tolerance for the pair neighbor scheme are improved" (3.1.3)
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 60 }), fc.integer({ min: 2, max: 10 }), (half, k) => {
      const [pair, ring] = [
        survival({ name: 'pair', members: 2 * half }, k),
        survival({ name: 'ring', members: 2 * half }, k),
      ];
      if (k <= half) expect(pair).toBeGreaterThan(ring);
    }),
  );
});

test('groups on shared nodes are found, and sizes without a layout rejected', () => {
  const layout = layoutOf({ name: 'weighted-1d', members: 2, groups: 2, checksums: 1 });
  expect(layout).toEqual({
    processes: 6,
    groups: [
      { members: [0, 1], holders: [4] },
      { members: [2, 3], holders: [5] },
    ],
  });
  expect(sharedNodes(layout, (p) => p)).toEqual([]);
  expect(sharedNodes(layout, (p) => ['a', 'b', 'a', 'b', 'c', 'b'][p])).toEqual([layout.groups[1]]);
  for (const s of [
    { name: 'pair', members: 3 },
    { name: 'ring', members: 1 },
    { name: 'weighted', members: 2, checksums: 0 },
    { name: 'mirror', members: 1.5 },
  ] as const)
    expect(() => layoutOf(s)).toThrow(RangeError);
  expect(() => survivingSets({ name: 'mirror', members: 3 }, -1)).toThrow(RangeError);
  expect(survival({ name: 'checksum', members: 3 }, 5)).toBeNaN();
});
