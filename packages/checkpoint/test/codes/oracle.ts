/** GF(2⁸) by its definition, without tables: what the codes are compared with. */

/** The product of two polynomials over GF(2), reduced by x⁸ + x⁴ + x³ + x² + 1. */
export function product(a: number, b: number): number {
  let sum = 0;
  for (let bit = 0; bit < 8; bit++) if ((b >> bit) & 1) sum ^= a << bit;
  for (let bit = 14; bit >= 8; bit--) if ((sum >> bit) & 1) sum ^= 0b100011101 << (bit - 8);
  return sum;
}

export const quotient = (a: number, b: number): number => {
  for (let x = 0; x < 256; x++) if (product(x, b) === a) return x;
  throw new Error('division by 0');
};

/** By expansion along the first row (in characteristic 2 a determinant has no signs). */
export function determinant(m: readonly (readonly number[])[]): number {
  if (m.length === 0) return 1;
  return m[0]!.reduce((sum, x, j) => {
    const minor = m.slice(1).map((row) => row.filter((_, k) => k !== j));
    return sum ^ (x === 0 ? 0 : product(x, determinant(minor)));
  }, 0);
}

/** 1 / (i ⊕ (c + j)), columns then rows scaled to a first row and column of ones. */
export function cauchyByDefinition(c: number, n: number): number[][] {
  const raw = Array.from({ length: c }, (_, i) => Array.from({ length: n }, (__, j) => quotient(1, i ^ (c + j))));
  const scaled = raw.map((row) => row.map((x, j) => quotient(x, raw[0]![j]!)));
  return scaled.map((row) => row.map((x) => quotient(x, row[0]!)));
}
