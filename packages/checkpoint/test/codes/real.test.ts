import { describe, expect, it, test } from 'vitest';
import { subsets } from '../../src/acceptance/codes.ts';
import { RealCode, TooManyLost, conditionNumber, gaussian } from '../../src/codes/index.ts';

const LENGTH = 50;
const members = gaussian(6, LENGTH, 7).map((row) => Float64Array.from(row));
const encoded = (code: RealCode, of = members): Float64Array[] => {
  const out = code.weights.map(() => new Float64Array(of[0]!.length));
  code.encode(of, out);
  return out;
};
const without = <T>(all: readonly T[], lost: readonly number[], from = 0): Map<number, T> =>
  new Map([...all.entries()].filter(([i]) => !lost.includes(from + i)));
const median = (a: number[]): number => a.sort((x, y) => x - y)[a.length >> 1]!;

describe('weighted checksums', () => {
  const code = new RealCode(gaussian(4, 6, 1));
  const checksums = encoded(code);
  it('recover all sets of up to four lost of ten, but for rounding: ε · κ · Σ|a·P|', () => {
    for (let k = 0; k <= 4; k++)
      for (const lost of subsets(10, k)) {
        const back = code.decode(without(members, lost), without(checksums, lost, 6));
        const columns = lost.filter((s) => s < 6);
        expect([...back.keys()]).toEqual(columns);
        if (columns.length === 0) continue;
        const rows = [0, 1, 2, 3].filter((i) => !lost.includes(6 + i));
        const kappa = conditionNumber(rows.map((i) => columns.map((j) => code.weights[i]![j]!)));
        for (const [j, numbers] of back)
          expect(Math.max(...numbers.map((x, i) => Math.abs(x - members[j]![i]!)))).toBeLessThan(1e-13 * kappa);
      }
  });

  it('a lost number beside much larger ones is not what it was', () => {
    const sums = new RealCode([[1, 1]]);
    const [large, small] = [Float64Array.of(1e20), Float64Array.of(1)];
    const [c] = encoded(sums, [large, small]);
    expect(sums.decode(new Map([[0, large]]), new Map([[0, c!]])).get(1)![0]).toBeCloseTo(0);
  });

  it('rejects NaN, infinities, other lengths, and too many losses', () => {
    for (const bad of [Number.NaN, Infinity])
      expect(() => encoded(code, members.with(2, new Float64Array(LENGTH).fill(bad, 9, 10)))).toThrow(RangeError);
    expect(() => encoded(code, members.with(2, new Float64Array(LENGTH - 1)))).toThrow(RangeError);
    expect(() => code.decode(without(members, [0, 1]), without(checksums, [0, 1, 2]))).toThrow(TooManyLost);
  });
});

test('a seed has one matrix, to the bit, and weights are standard normal', () => {
  const all = gaussian(100, 200, 3).flat();
  expect(gaussian(100, 200, 3).flat()).toEqual(all);
  expect(gaussian(1, 1, 4)[0]![0]).not.toBe(all[0]);
  const mean = all.reduce((s, x) => s + x, 0) / all.length;
  expect(Math.abs(mean)).toBeLessThan(0.03);
  expect(all.reduce((s, x) => s + (x - mean) ** 2, 0) / all.length).toBeCloseTo(1, 1);
  // Wasm's libm, so any engine has these bits.
  expect(gaussian(1, 3, 1)).toEqual([[-1.3837118918353166, -1.9949126277850566, -1.0120236948216383]]);
});

describe('conditioning', () => {
  const kappas = (h: number, k: number, n: number): number[] =>
    Array.from({ length: n }, (_, seed) => conditionNumber(gaussian(h, k, 1000 + seed)));
  it('of a matrix that is known', () => {
    expect(
      conditionNumber([
        [3, 0],
        [0, 0.5],
        [0, 0],
      ]),
    ).toBeCloseTo(6, 12);
    expect(
      conditionNumber([
        [1, 1],
        [1, 1 + 1e-6],
      ]),
    ).toBeCloseTo(4e6, -2);
  });
  it('as many losses as checksums: the median is about 14 for 5 × 5', () => {
    const m = median(kappas(5, 5, 600));
    expect(m).toBeGreaterThan(11);
    expect(m).toBeLessThan(17);
  });
  it('"E(log10 κ) < 1.25" for 20 by 10 (3.3.1)', () => {
    const all = kappas(20, 10, 40);
    expect(all.reduce((s, x) => s + Math.log10(x), 0) / all.length).toBeLessThan(1.25);
    expect(Math.max(...all)).toBeLessThan(100);
  });
  it('a real Vandermonde matrix with nodes 1 … 15 is useless', () => {
    expect(conditionNumber([0, 1, 2, 3, 4].map((e) => [11, 12, 13, 14, 15].map((x) => x ** e)))).toBeGreaterThan(1e8);
  });
});
