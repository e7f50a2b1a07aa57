/** Patterns of BT and CG against the benchmarks' definitions: what 4 ranks send in a step, counted by hand. */
import { expect, test } from 'vitest';
import { btNeighbours, btOperations, nasBt } from '../../src/virtual/nas-bt.ts';
import { cgGrid, nasCg } from '../../src/virtual/nas-cg.ts';
import type { Pattern, Send } from '../../src/virtual/pattern.ts';

const sends = (p: Pattern, rank: number): Send[] => p.step(rank).filter((a): a is Send => a.kind === 'send');
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

test.each([nasBt('S', 1), nasBt('A', 4), nasBt('B', 9), nasBt('B', 64), nasCg('S', 4), nasCg('A', 8), nasCg('C', 64)])(
  'what is sent in $name on $ranks ranks is what is received',
  (p) => {
    const balance = new Map<string, number>();
    const count = (from: number, to: number, n: number): void => {
      const key = `${from}>${to}`;
      balance.set(key, (balance.get(key) ?? 0) + n);
    };
    for (let r = 0; r < p.ranks; r++)
      for (const a of p.step(r))
        if (a.kind === 'send') count(r, a.to, 1);
        else if (a.kind === 'receive') count(a.from, r, -1);
    expect([...balance].filter(([, n]) => n !== 0)).toEqual([]);
  },
);

test('BT.A on 4 ranks: per step 6 borders and 6 messages of sweeps, for each rank', () => {
  const p = nasBt('A', 4);
  // 64³ points in 2³ cells of 32³; each rank has 2 cells. A border is two planes of 5 doubles of the one cell that has
  // a neighbour on that side: 2 · 32 · 32 · 5 · 8.
  const border = 81_920;
  // MAX_CELL_DIM = 64 / 2 + 1 = 33 in NPB; 33² lines of 5 · 5 + 5 doubles forth, of 5 doubles back.
  const [forth, back] = [33 * 33 * 30 * 8, 33 * 33 * 5 * 8];
  for (let r = 0; r < 4; r++) {
    const bytes = sends(p, r).map((s) => s.bytes);
    expect(bytes).toEqual([...Array<number>(6).fill(border), forth, back, forth, back, forth, back]);
  }
  expect(sum([0, 1, 2, 3].flatMap((r) => sends(p, r).map((s) => s.bytes)))).toBe(4 * (6 * border + 3 * (forth + back)));
  expect(p.steps).toBe(200);
});

test('BT: the third neighbour lies on the diagonal (make_set.f), and neighbours are mutual', () => {
  expect(btNeighbours(3, 4)).toEqual([
    { before: 3, after: 5 },
    { before: 1, after: 7 },
    { before: 2, after: 6 },
  ]);
  for (let r = 0; r < 16; r++)
    btNeighbours(4, r).forEach(({ after }, d) => expect(btNeighbours(4, after)[d]!.before).toBe(r));
});

test('BT: messages per step are 6q for q² ranks, and operations are those that the benchmark counts', () => {
  for (const q of [2, 4, 8, 20]) expect(sends(nasBt('B', q * q), 5 % (q * q))).toHaveLength(6 * q);
  // "BT Benchmark Completed": 168,300 Mop for class A, 702,200 for class B, in 200 steps.
  expect((200 * btOperations(64)) / 1e9).toBeCloseTo(168.3, 0);
  expect((200 * btOperations(102)) / 1e9).toBeCloseTo(702.2, 0);
  const operations = [0, 1, 2, 3].map((r) =>
    sum(
      nasBt('A', 4)
        .step(r)
        .map((a) => (a.kind === 'compute' ? a.operations : 0)),
    ),
  );
  expect(sum(operations) / btOperations(64)).toBeCloseTo(0.22 + 3 * 0.25 + 0.03, 9);
});

test('CG.S on 4 ranks: a grid of 2 × 2, sums in one stage, the transposed rank', () => {
  const p = nasCg('S', 4);
  // 26 products: a sum of 700 doubles with the other rank of the row; ranks 1 and 2 exchange 700 more. 1 + 2 · 25 + 1
  // sums of one double and one of two.
  const row = 5600;
  expect(cgGrid(4, 1)).toEqual({ rows: 2, columns: 2, along: [0], transposed: 2 });
  expect([0, 1, 2, 3].map((r) => cgGrid(4, r).transposed)).toEqual([0, 2, 1, 3]);
  const bytes = [0, 1].map((r) => sends(p, r).map((s) => s.bytes));
  expect(bytes.map((b) => b.length)).toEqual([26 + 52 + 1, 2 * 26 + 52 + 1]);
  expect(bytes.map(sum)).toEqual([26 * row + 52 * 8 + 16, 2 * 26 * row + 52 * 8 + 16]);
});

test('CG: a grid with twice as many columns as rows exchanges half segments (setup_submatrix_info)', () => {
  expect(cgGrid(8, 5)).toEqual({ rows: 2, columns: 4, along: [7, 4], transposed: 3 });
  const largest = Math.max(...sends(nasCg('S', 8), 5).map((s) => s.bytes));
  expect(largest).toBe((700 / 2) * 8);
});

test('BT and CG refuse numbers of ranks that they cannot run on', () => {
  expect(() => nasBt('B', 8)).toThrow('BT runs on a square number of ranks, not on 8');
  expect(() => nasCg('C', 12)).toThrow('CG runs on a power of two of ranks, not on 12');
});
