/** Guarantees M1–M3 of index.ts. */
import { describe, expect, it } from 'vitest';
import { digest } from './digest.ts';
import { createMath } from './index.ts';

const M = createMath(() => 0.25);

/** Distance in units in the last place. */
function ulps(a: number, b: number): number {
  if (Object.is(a, b)) return 0;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return Infinity;
  const v = new DataView(new ArrayBuffer(16));
  v.setFloat64(0, a);
  v.setFloat64(8, b);
  const order = (n: bigint): bigint => (n < 0n ? -(n & 0x7fff_ffff_ffff_ffffn) : n);
  const d = order(v.getBigInt64(0)) - order(v.getBigInt64(8));
  return Number(d < 0n ? -d : d);
}

describe('M1: the same bits everywhere', () => {
  it('matches the digests that every engine must give', () => {
    expect(digest(M)).toMatchInlineSnapshot(`
      {
        "acos": "ad6c2e52",
        "acosh": "f7ebf4de",
        "asin": "b5ee1504",
        "asinh": "234656ba",
        "atan": "837e3485",
        "atan2": "2ed5c303",
        "atanh": "5810d44b",
        "cbrt": "3ffe4c4c",
        "cos": "1793c578",
        "cosh": "58f2366e",
        "exp": "d8bb423f",
        "expm1": "a7a616bb",
        "fround": "a1904186",
        "hypot": "40da7c88",
        "log": "4d47a872",
        "log10": "ee4cd2b8",
        "log1p": "0a0cca42",
        "log2": "22baedf7",
        "pow": "75eb318f",
        "round": "4169b0e2",
        "sin": "a70af9f1",
        "sinh": "e6251d5c",
        "sqrt": "ec9bcc6c",
        "tan": "a35728d8",
        "tanh": "2ca31cd0",
      }
    `);
  });
  it('gives the same on a second instance', () => {
    expect(digest(createMath(), 2000)).toEqual(digest(M, 2000));
  });
});

describe('M2: the values that ECMAScript fixes', () => {
  const inf = Infinity;
  // [function, arguments, value]; sections of ECMA-262 §21.3.2
  const table: [keyof Math & string, number[], number][] = [
    ['pow', [1, inf], NaN],
    ['pow', [1, -inf], NaN],
    ['pow', [-1, inf], NaN],
    ['pow', [-1, -inf], NaN],
    ['pow', [1, NaN], NaN],
    ['pow', [NaN, 0], 1],
    ['pow', [NaN, -0], 1],
    ['pow', [0, 0], 1],
    ['pow', [inf, 0], 1],
    ['pow', [0, -3], inf],
    ['pow', [-0, -3], -inf],
    ['pow', [-0, 3], -0],
    ['pow', [-0, 2], 0],
    ['pow', [-inf, 3], -inf],
    ['pow', [-inf, 2], inf],
    ['pow', [-inf, -3], -0],
    ['pow', [-8, 1 / 3], NaN],
    ['pow', [2, 10], 1024],
    ['pow', [10, 308], 1e308],
    ['pow', [2, -1074], 5e-324],
    ['pow', [0.5, inf], 0],
    ['pow', [2, inf], inf],
    ['pow', [2, -inf], 0],
    ['sin', [-0], -0],
    ['sin', [inf], NaN],
    ['cos', [-inf], NaN],
    ['cos', [0], 1],
    ['tan', [-0], -0],
    ['tan', [inf], NaN],
    ['asin', [2], NaN],
    ['asin', [-0], -0],
    ['acos', [1], 0],
    ['acos', [-1.5], NaN],
    ['atan', [-0], -0],
    ['atan', [inf], 1.5707963267948966],
    ['atan2', [0, -0], 3.141592653589793],
    ['atan2', [-0, -0], -3.141592653589793],
    ['atan2', [-0, 0], -0],
    ['atan2', [0, 0], 0],
    ['atan2', [inf, inf], 0.7853981633974483],
    ['atan2', [-inf, -inf], -2.356194490192345],
    ['atan2', [1, -inf], 3.141592653589793],
    ['atan2', [NaN, 1], NaN],
    ['sinh', [-0], -0],
    ['sinh', [-inf], -inf],
    ['cosh', [-inf], inf],
    ['tanh', [-0], -0],
    ['tanh', [inf], 1],
    ['tanh', [-inf], -1],
    ['asinh', [-0], -0],
    ['asinh', [-inf], -inf],
    ['acosh', [1], 0],
    ['acosh', [0.99], NaN],
    ['acosh', [-1e6], NaN],
    ['acosh', [-1e300], NaN],
    ['acosh', [-inf], NaN],
    ['acosh', [inf], inf],
    ['atanh', [1], inf],
    ['atanh', [-1], -inf],
    ['atanh', [1.1], NaN],
    ['atanh', [-0], -0],
    ['exp', [-inf], 0],
    ['exp', [0], 1],
    ['exp', [710], inf],
    ['expm1', [-0], -0],
    ['expm1', [-inf], -1],
    ['exp', [1], 2.718281828459045],
    ['log', [-0], -inf],
    ['log', [-1], NaN],
    ['log', [1], 0],
    ['log1p', [-1], -inf],
    ['log1p', [-0], -0],
    ['log1p', [-2], NaN],
    ['log2', [0], -inf],
    ['log2', [8], 3],
    ['log2', [0.5], -1],
    ['log10', [1000], 3],
    ['log10', [-1], NaN],
    ['log10', [1e-5], -5],
    ['cbrt', [-0], -0],
    ['cbrt', [-27], -3],
    ['cbrt', [-inf], -inf],
    ['hypot', [], 0],
    ['hypot', [-0], 0],
    ['hypot', [-3], 3],
    ['hypot', [3, 4], 5],
    ['hypot', [NaN, inf], inf],
    ['hypot', [NaN, 1, -inf], inf],
    ['hypot', [NaN, 1, 2], NaN],
    ['hypot', [2, 3, 6], 7],
    ['hypot', [1e200, 1e200], 1.4142135623730951e200],
    ['hypot', [2e200, 3e200, 6e200], 7e200],
    ['hypot', [-0, -0, -0], 0],
    ['max', [], -inf],
    ['min', [], inf],
    ['max', [-0, 0], 0],
    ['min', [0, -0], -0],
    ['round', [-0.4], -0],
    ['round', [2.5], 3],
    ['sign', [-0], -0],
    ['trunc', [-0.9], -0],
    ['fround', [5.05], 5.050000190734863],
    ['clz32', [1], 31],
    ['imul', [0xffffffff, 5], -5],
    ['ceil', [-0.5], -0],
  ];
  it.each(table)('Math.%s(%j) is %d', (name, args, value) => {
    expect((M[name] as (...a: number[]) => number)(...args)).toBe(value);
  });

  it('converts its arguments as ECMAScript does', () => {
    const any = M as unknown as Record<string, (...a: unknown[]) => number>;
    expect(any['sin']!()).toBe(NaN);
    expect(any['exp']!('1')).toBe(2.718281828459045);
    expect(any['pow']!('2', { valueOf: () => 3 })).toBe(8);
    expect(any['hypot']!('3', '4', '12')).toBe(13);
    expect(() => any['sin']!(1n)).toThrow(TypeError);
    expect(() => any['pow']!(2n, 2n)).toThrow(TypeError);
  });
});

describe('M3: accuracy', () => {
  // Node's own functions are within an ulp or two of the truth, so the difference bounds both.
  const limits: [keyof Math & string, number, number, number][] = [
    ['sin', -1e5, 1e5, 2],
    ['cos', -1e5, 1e5, 2],
    ['tan', -1e3, 1e3, 3],
    ['asin', -1, 1, 2],
    ['acos', -1, 1, 2],
    ['atan', -100, 100, 2],
    ['sinh', -20, 20, 4],
    ['cosh', -20, 20, 3],
    ['tanh', -5, 5, 4],
    ['asinh', -100, 100, 4],
    ['acosh', 1, 100, 4],
    ['atanh', -0.999, 0.999, 4],
    ['exp', -700, 700, 2],
    ['expm1', -5, 5, 2],
    ['log', 0, 1e6, 2],
    ['log1p', -0.999, 100, 2],
    ['log2', 0.001, 1e6, 2],
    ['log10', 0.001, 1e6, 2],
    ['cbrt', -1e6, 1e6, 2],
  ];
  it.each(limits)('%s on [%d, %d] is within %d ulp of the native one', (name, low, high, limit) => {
    const ours = M[name] as (x: number) => number;
    const native = Math[name] as (x: number) => number;
    let worst = 0;
    for (let i = 0; i <= 5000; i++) {
      const x = low + (high - low) * ((i * 0.618033988749895) % 1);
      worst = Math.max(worst, ulps(ours(x), native(x)));
    }
    expect(worst).toBeLessThanOrEqual(limit);
  });
  it('pow(x, 2) is the product', () => {
    for (const x of [0, -0, 0.1, -3.7, 1e200, 5e-324, Infinity, -Infinity, NaN]) expect(M.pow(x, 2)).toBe(x * x);
  });
  it('pow is exact where the result is', () => {
    for (let e = -1022; e <= 1023; e++)
      expect(M.pow(2, e)).toBe(Number(e < 0 ? 1 / Number(2n ** BigInt(-e)) : 2n ** BigInt(e)));
    for (let b = 1; b < 200; b++) expect(M.pow(b, 6)).toBe(b * b * b * b * b * b);
  });
});

describe('the object', () => {
  it('has the shape of Math', () => {
    expect(Object.prototype.toString.call(M)).toBe('[object Math]');
    expect(Object.keys(M)).toEqual([]);
    expect(M.PI).toBe(Math.PI);
    for (const name of Object.getOwnPropertyNames(M)) {
      const f = M[name as keyof Math] as unknown;
      if (typeof f === 'function') expect(f.name).toBe(name);
    }
    // What ECMAScript 2023 has, all of it, and nothing that an engine may compute in its own way.
    const es2023 = Object.getOwnPropertyNames(Math).filter((n) => n !== 'f16round' && n !== 'sumPrecise');
    expect(Object.getOwnPropertyNames(M).sort()).toEqual(es2023.sort());
  });
  it('draws from the given generator only', () => {
    expect(M.random()).toBe(0.25);
    expect(() => createMath().random()).toThrow('seeded generator');
  });
});
