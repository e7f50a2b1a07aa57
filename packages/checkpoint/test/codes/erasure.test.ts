import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { CODE_LENGTHS, EXPECTED_CODES, exerciseCodes, subsets } from '../../src/acceptance/codes.ts';
import { noise } from '../../src/acceptance/local-images.ts';
import {
  ErasureCode,
  TooManyLost,
  cauchy,
  inverse,
  invert,
  multiply,
  portableKernel,
  simdKernel,
  type Kernel,
} from '../../src/codes/index.ts';
import { hashBytes } from '../../src/hash.ts';
import { cauchyByDefinition, determinant, product } from './oracle.ts';

const KERNELS: readonly Kernel[] = [simdKernel()!, portableKernel];
const sum = (rows: readonly (readonly number[])[], inputs: readonly Uint8Array[], bytes: number): Uint8Array[] => {
  const table = Array.from({ length: 256 }, (_, c) => Uint8Array.from({ length: 256 }, (__, x) => product(c, x)));
  return rows.map((row) =>
    Uint8Array.from({ length: bytes }, (_, k) => row.reduce((s, c, j) => s ^ table[c]![inputs[j]![k] ?? 0]!, 0)),
  );
};

test('the field: every product and every inverse', () => {
  for (let a = 0; a < 256; a++) for (let b = 0; b < 256; b++) if (multiply(a, b) !== product(a, b)) expect.fail();
  for (let a = 1; a < 256; a++) expect(product(a, inverse(a))).toBe(1);
  expect(() => inverse(0)).toThrow(RangeError);
});

describe('the matrix', () => {
  it('is Cauchy’s, with a first row and column of ones', () => {
    for (const [c, n] of [
      [1, 5],
      [3, 8],
      [5, 120],
      [4, 252],
    ] as const) {
      const matrix = cauchy(c, n);
      expect(matrix).toEqual(cauchyByDefinition(c, n));
      expect(new Set([...matrix[0]!, ...matrix.map((row) => row[0])])).toEqual(new Set([1]));
    }
  });

  it('"any square sub-matrix (including minor) of A is non-singular" (Chen et al., 3.3.1): every minor', () => {
    for (const [c, n] of [
      [2, 12],
      [3, 10],
      [4, 8],
    ] as const) {
      const matrix = cauchy(c, n);
      for (let k = 1; k <= c; k++)
        for (const rows of subsets(c, k))
          for (const columns of subsets(n, k)) {
            const minor = rows.map((i) => columns.map((j) => matrix[i]![j]!));
            expect(determinant(minor)).not.toBe(0);
            expect(invert(minor)).toBeDefined();
          }
    }
  });

  it('Vandermonde’s is not such a matrix in this field: rows x⁰, x¹, x³, columns 1, 2, 3', () => {
    const minor = [0, 1, 3].map((e) =>
      [1, 2, 3].map((x) => Array.from({ length: e }).reduce<number>((p) => product(p, x), 1)),
    );
    expect(determinant(minor)).toBe(0);
    expect(invert(minor)).toBeUndefined();
  });

  it('refuses sizes that the field has no elements for', () => {
    expect(cauchy(56, 200)).toHaveLength(56);
    for (const [c, n] of [
      [57, 200],
      [-1, 3],
      [2, 0],
      [1.5, 3],
    ] as const)
      expect(() => cauchy(c, n)).toThrow(RangeError);
  });
});

describe.each(KERNELS)('kernel $name', (by) => {
  it('forms any sums, whatever lengths and alignments', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ n: fc.nat(20_000), offset: fc.nat(7), seed: fc.nat() }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.record({ n: fc.nat(20_000), offset: fc.nat(7) }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 16, maxLength: 16 }),
        (ins, outs, c) => {
          const inputs = ins.map((s) => noise(s.n + s.offset, s.seed).subarray(s.offset));
          const outputs = outs.map((s) => new Uint8Array(s.n + s.offset).fill(9).subarray(s.offset));
          const rows = outs.map((_, i) => ins.map((__, j) => c[4 * i + j]!));
          by.combine(rows, inputs, outputs);
          for (const [i, out] of outputs.entries())
            expect(Buffer.compare(out, sum([rows[i]!], inputs, out.length)[0]!)).toBe(0);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('more sums than it holds at a time, and every coefficient', () => {
    const input = Uint8Array.from({ length: 256 }, (_, i) => i);
    const rows = Array.from({ length: 256 }, (_, c) => [c]);
    const outputs = rows.map(() => new Uint8Array(256));
    by.combine(rows, [input], outputs);
    for (const [c, out] of outputs.entries()) expect([...out]).toEqual([...input].map((x) => product(c, x)));
  });

  it('writes nothing beyond an output, and rejects what does not fit', () => {
    const whole = new Uint8Array(100).fill(7);
    by.combine([[3]], [new Uint8Array(200).fill(1)], [whole.subarray(10, 50)]);
    expect([...whole].map((b, i) => b === (i >= 10 && i < 50 ? 3 : 7)).every(Boolean)).toBe(true);
    expect(() => by.combine([[1, 2]], [whole], [new Uint8Array(9)])).toThrow(RangeError);
    expect(() => by.combine([[1]], [whole], [whole.subarray(90)])).toThrow('overlaps');
  });

  it('any c of n + c lost shares come back bit by bit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 6 }),
        fc.array(fc.nat(3000), { minLength: 30, maxLength: 30 }),
        fc.infiniteStream(fc.nat()),
        (n, c, lengths, chance) => {
          const next = (): number => chance.next().value as number;
          const code = new ErasureCode(n, c, by);
          const members = Array.from({ length: n }, (_, j) => noise(lengths[j]!, next()));
          const checksums = Array.from({ length: c }, () => new Uint8Array(Math.max(...members.map((m) => m.length))));
          code.encode(members, checksums);
          const all = [...members, ...checksums];
          const lost = new Set<number>();
          while (lost.size < c) lost.add(next() % (n + c));
          const shares = new Map([...all.entries()].filter(([s]) => !lost.has(s)));
          const out = [...lost].map((s) => new Uint8Array(all[s]!.length));
          code.decode(code.recovery([...shares.keys()], [...lost]), shares, out);
          for (const [i, s] of [...lost].entries()) expect(Buffer.compare(out[i]!, all[s]!)).toBe(0);
        },
      ),
      { numRuns: 25 },
    );
  });
});

test('a change of one member is a delta at each holder', () => {
  const code = new ErasureCode(5, 3);
  const members = Array.from({ length: 5 }, (_, i) => noise(5000, i + 1));
  const before = [0, 1, 2].map(() => new Uint8Array(5000));
  code.encode(members, before);
  const changed = members.with(2, noise(5000, 99));
  const after = before.map((b) => new Uint8Array(b.length));
  code.encode(changed, after);
  const difference = members[2]!.map((b, k) => b ^ changed[2]![k]!);
  for (const [i, b] of before.entries()) {
    const delta = new Uint8Array(5000);
    code.delta(i, 2, difference, delta);
    expect(
      Buffer.compare(
        b.map((x, k) => x ^ delta[k]!),
        after[i]!,
      ),
    ).toBe(0);
  }
});

test('one checksum is the exclusive or; too many losses and unknown shares are errors', () => {
  const code = new ErasureCode(3, 1);
  const out = new Uint8Array(2);
  code.encode([new Uint8Array([1, 2]), new Uint8Array([4]), new Uint8Array([16, 32])], [out]);
  expect([...out]).toEqual([21, 34]);
  expect(() => code.recovery([0, 1], [2])).toThrow(TooManyLost);
  expect(() => code.recovery([0, 1, 1, 1], [2])).toThrow(TooManyLost);
  expect(() => code.recovery([0, 1, 3], [4])).toThrow(RangeError);
  expect(() => code.decode(code.recovery([0, 1, 3], [2]), new Map([[0, out]]), [new Uint8Array(2)])).toThrow('share 1');
});

// The same in Chromium: packages/node/test/browser.test.ts.
test('acceptance: both kernels recover all 210 sets of four lost shares, and encode as the definition says', async () => {
  const members = CODE_LENGTHS.map((n, i) => noise(n, 77 + i));
  const checksums = sum(cauchyByDefinition(4, 6), members, Math.max(...CODE_LENGTHS));
  const seen = await exerciseCodes();
  expect(seen.checksums.simd).toEqual(await Promise.all(checksums.map(hashBytes)));
  expect(seen).toEqual(EXPECTED_CODES);
});
