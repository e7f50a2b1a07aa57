/** Codes over shares that come one by one (src/codes/shares.ts): any c of the shares may be lost, in any order. */
import { describe, expect, it } from 'vitest';
import { sharedCodes } from '../../src/codes/index.ts';

const codes = sharedCodes();
const of = { members: 4, checksums: 3 };
const data = [5, 900, 0, 31].map((n, j) => Uint8Array.from({ length: n }, (_, i) => (i * 7 + j * 13) & 255));
const numbers = [3, 2, 3, 1].map((n, j) => Float64Array.from({ length: n }, (_, i) => (i + 1.5) * (j - 1.25)));
const bytesOf = (x: Float64Array): Uint8Array => new Uint8Array(x.buffer);

function checksums(code: 'exact' | 'real', members: readonly Uint8Array[], order = [0, 1, 2, 3]): Uint8Array[] {
  return [0, 1, 2].map((index) => {
    const sum = codes.checksum(code, of, index);
    for (const j of order) sum.add(j, members[j]!);
    return sum.result()!;
  });
}
/** The lost member, from what is needed of what is left. */
function again(
  code: 'exact' | 'real',
  shares: readonly Uint8Array[],
  gone: readonly number[],
  lost: number,
): Uint8Array {
  const left = shares.map((_, s) => s).filter((s) => !gone.includes(s));
  const from = codes.needed(code, of, left)!;
  const sum = codes.recovered(code, of, from, lost);
  for (const s of [...from].reverse()) sum.add(s, shares[s]!);
  return sum.result()!;
}

describe('GF(2⁸)', () => {
  const shares = [...data, ...checksums('exact', data, [2, 0, 3, 1])];
  it.each([[[0]], [[1, 6]], [[0, 1, 3]], [[1, 4, 5]]])('makes every member of %j again, bit by bit', (gone) => {
    for (const lost of gone.filter((s) => s < 4)) {
      const made = again('exact', shares, gone, lost);
      expect(made.subarray(0, data[lost]!.length)).toEqual(data[lost]);
      expect(made.subarray(data[lost]!.length).every((x) => x === 0)).toBe(true);
    }
  });
  it('needs as many shares as there are members', () => {
    expect(codes.needed('exact', of, [0, 4, 6])).toBeUndefined();
    expect(codes.needed('exact', of, [6, 4, 0, 1, 5])).toEqual([0, 1, 4, 5]);
  });
});

describe('numbers', () => {
  const members = numbers.map(bytesOf);
  it('are added in the order of the members, whatever comes first: the same bits', () => {
    expect(checksums('real', members, [3, 1, 2, 0])).toEqual(checksums('real', members));
  });
  it('come back but for their last digits', () => {
    const shares = [...members, ...checksums('real', members)];
    for (const lost of [0, 3]) {
      const made = new Float64Array(again('real', shares, [0, 3, 5], lost).slice().buffer);
      for (const [i, x] of numbers[lost]!.entries()) expect(made[i]).toBeCloseTo(x, 10);
    }
  });
  it('that are not finite make no checksum', () => {
    const sum = codes.checksum('real', { members: 1, checksums: 1 }, 0);
    sum.add(0, bytesOf(Float64Array.of(1, Number.NaN)));
    expect(sum.result()).toBeUndefined();
  });
});
