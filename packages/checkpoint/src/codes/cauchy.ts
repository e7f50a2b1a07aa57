/**
 * The matrix of an erasure code: c checksums of n members, any c of the n + c may be lost.
 *
 * It is a Cauchy matrix, C[i][j] = 1 / (i ⊕ (c + j)), of which every minor is non-singular. Columns, then rows are
 * scaled so that the first row and the first column are ones, which keeps that property. So the first checksum is the
 * exclusive or of all members. A Vandermonde matrix, which Chen et al. 2005, section 3.3.1 names as well, does not have
 * the property in a finite field: with the rows x⁰, x¹, x³ the columns 1, 2, 3 are singular, since 1 ⊕ 2 ⊕ 3 = 0.
 */
import { inverse, multiply, type Matrix } from './field.ts';

/** Members and checksums together: the field has no more elements to tell them apart. */
export const MOST_SHARES = 256;

/**
 * c rows of n coefficients.
 * @throws RangeError unless n ≥ 1, c ≥ 0 and n + c ≤ 256
 */
export function cauchy(c: number, n: number): Matrix {
  if (!Number.isInteger(c) || !Number.isInteger(n) || n < 1 || c < 0 || n + c > MOST_SHARES)
    throw new RangeError(`a code of ${n} members and ${c} checksums: expected at least 1 member, 256 in all at most`);
  const raw = Array.from({ length: c }, (_, i) => Array.from({ length: n }, (__, j) => inverse(i ^ (c + j))));
  const first = raw[0] ?? [];
  const columns = raw.map((row) => row.map((x, j) => multiply(x, inverse(first[j]!))));
  return columns.map((row) => row.map((x) => multiply(x, inverse(row[0]!))));
}
