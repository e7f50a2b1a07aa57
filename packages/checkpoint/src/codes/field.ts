/**
 * GF(2⁸) with the polynomial x⁸ + x⁴ + x³ + x² + 1 (0x11D) and the generator 2 (Plank, A tutorial on Reed-Solomon
 * coding for fault-tolerance in RAID-like systems, 1997). An element is a byte; a sum is an exclusive or.
 */

export const POLYNOMIAL = 0x11d;

const EXP = new Uint8Array(510);
const LOG = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i++) {
  EXP[i] = EXP[i + 255] = x;
  LOG[x] = i;
  x <<= 1;
  if (x & 256) x ^= POLYNOMIAL;
}

export const multiply = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : EXP[LOG[a]! + LOG[b]!]!);

/** @throws RangeError for 0 */
export function inverse(a: number): number {
  if (a === 0) throw new RangeError('0 has no inverse');
  return EXP[255 - LOG[a]!]!;
}

/** Rows of elements. */
export type Matrix = readonly (readonly number[])[];

/** The inverse of a square matrix, by Gauss–Jordan elimination; undefined for a singular one. O(n³). */
export function invert(matrix: Matrix): Matrix | undefined {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let column = 0; column < n; column++) {
    const at = rows.findIndex((row, i) => i >= column && row[column] !== 0);
    if (at < 0) return undefined;
    [rows[column], rows[at]] = [rows[at]!, rows[column]!];
    const pivot = rows[column]!;
    const factor = inverse(pivot[column]!);
    for (let j = column; j < 2 * n; j++) pivot[j] = multiply(pivot[j]!, factor);
    for (const [i, row] of rows.entries()) {
      const f = row[column]!;
      if (i === column || f === 0) continue;
      for (let j = column; j < 2 * n; j++) row[j] = row[j]! ^ multiply(f, pivot[j]!);
    }
  }
  return rows.map((row) => row.slice(n));
}
