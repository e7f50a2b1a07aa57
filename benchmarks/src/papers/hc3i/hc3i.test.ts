/** A share of the rows of hc3i: they hold with few seeds, and a wrong one is noticed. */
import { expect, test } from 'vitest';
import { agrees, inRange, reference, tolerance, type Row } from './rows.ts';
import { filesOf, runsOf, sample } from './setups.ts';
import { failures, tables } from './tables.ts';

const seeds = Array.from({ length: 6 }, (_, i) => i + 1);

test('Table 1, Figures 6 to 9 at 30 min and 103 messages, Tables 2 and 3: rows agree with the reference', () => {
  const all = [...tables({ seeds, costs: false }, (x) => x === 30 || x === 103)];
  expect(all.map((t) => t.name)).toEqual([
    'Table 1',
    'Figure 6',
    'Figure 7',
    'Figure 8',
    'Figure 9',
    'Table 2',
    'Table 3',
  ]);
  const wrong = all.flatMap((t) => t.rows.filter((r) => !agrees(r)).map((r) => `${t.name}, ${r.what}`));
  expect(wrong).toEqual([]);
  expect(all.flatMap((t) => t.rows).filter((r) => r.reference).length).toBeGreaterThan(15);
});

test('a mean that is too far from the reference, and a number of the paper that no seed has, do not hold', () => {
  const instant = sample([9, 10, 11, 10]);
  const row: Row = { what: '', instant, costly: undefined, reference: reference(10.2, 4), paperNumber: 11 };
  expect(tolerance(row)).toBeCloseTo(3 * Math.sqrt(2 / 3) * Math.sqrt(1 / 2) + 0.05);
  expect([agrees(row), inRange(row)]).toEqual([true, true]);
  expect(agrees({ ...row, reference: reference(12, 4) })).toBe(false);
  expect(inRange({ ...row, paperNumber: 12 })).toBe(false);
  expect(inRange({ ...row, paperNumber: 80, cannot: 'it is more than all messages' })).toBe(true);
});

test('Table 1 as files: "mean computation time" and "probabilities between nodes"', () => {
  const messages = [
    [0, 145],
    [11, 0],
  ];
  const { application } = filesOf({ messages, clcMinutes: [30, null] });
  expect(application.clusters.map((c) => Math.round(c.computationS))).toEqual([1175, 1435]);
  expect(application.clusters.map((c, i) => c.to[1 - i]!.toFixed(4))).toEqual(['0.0473', '0.0044']);
});

test('one failure undoes less work under hc3i than under vcl, and more than under message logging', () => {
  const [hc3i, , vcl, pessimistic] = failures(1, { seeds: seeds.slice(0, 4), costs: false });
  expect(hc3i!.lost).toBeLessThan(vcl!.lost);
  expect(pessimistic!.lost).toBeLessThan(hc3i!.lost / 10);
  expect(hc3i!.clusters).toBeGreaterThan(1);
  expect(hc3i!.clusters).toBeLessThan(2);
  expect(runsOf({ messages: [[0]], clcMinutes: [30] }, { seeds: [1], costs: false }).instant[0]!.forced).toEqual([0]);
});
