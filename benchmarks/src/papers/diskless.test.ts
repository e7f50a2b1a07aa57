/** A small share of `npm run papers -- diskless`: bits and residuals, and that the verdicts notice what is wrong. */
import { expect, test } from 'vitest';
import { experiment, lostOf, recover, type Result } from './diskless/experiment.ts';
import { Pcg, poisson } from './diskless/pcg.ts';
import { PAPER, verdicts } from './diskless/tables.ts';
import { line } from './shapes.ts';

const small = experiment(
  { name: 'small', unknowns: 900, processes: 15 },
  { iterations: 150, every: 20, lossAt: 100 },
  5,
  1,
  poisson(900, 9),
);
const failed = (results: readonly Result[]): string[] =>
  verdicts(results)
    .filter(([, v]) => !v.holds && v.beside === undefined)
    .map(([table, v]) => `${table}: ${v.shape}`);

test('PCG converges, on any number of processes', () => {
  for (const processes of [1, 7]) {
    const pcg = new Pcg(poisson(300, 5), processes);
    expect(pcg.residual()).toBeCloseTo(Math.sqrt(300), 10);
    pcg.until(250);
    expect(pcg.residual()).toBeLessThan(1e-9);
  }
});

test('GF(2⁸): with 1 … 5 of n + 5 lost, PCG has the bits of the run without losses', () => {
  const gf = small.recovered.filter((r) => r.code === 'gf');
  expect(gf.map((r) => [r.losses, r.identical])).toEqual([1, 2, 3, 4, 5].map((k) => [k, true]));
  expect(gf.every((r) => r.residual === small.residual)).toBe(true);
});

test('"the residuals with recovery do not have much difference from the residuals without recovery" (5.4)', () => {
  expect(failed([small])).toEqual([]);
});

test('verdicts notice a residual that is far off, and bits that differ', () => {
  const changed = (change: Partial<Result['recovered'][number]>, code: string): Result => ({
    ...small,
    recovered: small.recovered.map((r, i) => (r.code === code && i % 5 === 2 ? { ...r, ...change } : r)),
  });
  expect(failed([small, changed({ residual: 12 * small.residual }, 'real')])).toHaveLength(1);
  expect(failed([small, changed({ identical: false }, 'gf')])).toHaveLength(1);
});

test('a checkpoint of a lost process is not read', () => {
  const pcg = new Pcg(poisson(90, 3), 6);
  pcg.until(5);
  const checkpoints = pcg.checkpoint();
  for (const code of ['gf', 'real'] as const)
    for (let k = 1; k <= 4; k++) {
      const lost = lostOf(6, k, 3);
      expect(new Set(lost).size).toBe(k);
      const back = recover(code, checkpoints, lost, k, 1);
      for (const [s, numbers] of back.entries())
        for (const [i, x] of numbers.entries()) expect(x).toBeCloseTo(checkpoints[s]![i]!, 6);
    }
});

test('the paper’s own tables: checkpoints and recoveries grow linearly, and the first costs more than each further one', () => {
  for (const rows of [PAPER.checkpoint, PAPER.recovery])
    for (let problem = 0; problem < 4; problem++) {
      const column = rows.map((row) => row[problem]!);
      expect(line(column.map((y, i) => [i + 1, y])).r2).toBeGreaterThan(0.97);
      const steps = column.slice(1).map((y, i) => y - column[i]!);
      expect(column[0]!).toBeGreaterThan(Math.max(...steps));
    }
});
