/**
 * Weighted checksums of floating-point numbers (Chen et al. 2005, sections 3.2 and 3.3): sums of members with Gaussian
 * weights; lost members come back by least squares (Householder QR).
 *
 * For programs that recover themselves and for comparison: **recovered numbers differ in the last digits**. With as
 * many losses as checksums, two or three digits go (the median condition number of a 5 × 5 Gaussian matrix is 14, one
 * in a thousand exceeds 10⁴); each surplus checksum improves that much. The relative error of a lost number is about
 * ε · κ · Σ|P| / |P_lost|: beside 10²⁰ a lost 1 comes back as 0. ErasureCode gives exact bytes.
 */
import { createMath } from '@mayfly/libm';
import { TooManyLost } from './erasure.ts';

/** Rows of weights. */
export type Weights = readonly (readonly number[])[];

let libm: Math | undefined;

/** Uniform in (0, 1], from a 32-bit state (mulberry32, two draws for 53 bits). */
function uniform(seed: number): () => number {
  let state = seed | 0;
  const word = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  return () => 1 - ((word() >>> 5) * 67_108_864 + (word() >>> 6)) / 9_007_199_254_740_992;
}

/** c × n independent standard normal numbers (Box–Muller), the same bits on every engine. */
export function gaussian(c: number, n: number, seed: number): Weights {
  const m = (libm ??= createMath());
  const next = uniform(seed);
  const one = (): number => Math.sqrt(-2 * m.log(next())) * m.cos(2 * Math.PI * next());
  return Array.from({ length: c }, () => Array.from({ length: n }, one));
}

/** A Householder reflection I − beta · v · vᵀ. */
interface Reflection {
  readonly v: readonly number[];
  readonly beta: number;
}

/** QR of an h × k matrix, h ≥ k: the reflections, and the upper triangle. */
function factor(matrix: Weights): { reflections: Reflection[]; r: number[][] } {
  const r = matrix.map((row) => [...row]);
  const [h, k] = [r.length, r[0]?.length ?? 0];
  const reflections: Reflection[] = [];
  for (let p = 0; p < k; p++) {
    const v = r.map((row, i) => (i < p ? 0 : row[p]!));
    const norm = Math.sqrt(v.reduce((s, x) => s + x * x, 0));
    v[p]! += v[p]! < 0 ? -norm : norm;
    const square = v.reduce((s, x) => s + x * x, 0);
    const beta = square === 0 ? 0 : 2 / square;
    for (let j = p; j < k; j++) {
      let w = 0;
      for (let i = p; i < h; i++) w += v[i]! * r[i]![j]!;
      for (let i = p; i < h; i++) r[i]![j]! -= beta * v[i]! * w;
    }
    reflections.push({ v, beta });
  }
  return { reflections, r: r.slice(0, k) };
}

/** The 2-norm condition number of an h × k matrix, h ≥ k, by one-sided Jacobi rotations. */
export function conditionNumber(matrix: Weights): number {
  const [h, k] = [matrix.length, matrix[0]!.length];
  const columns = Array.from({ length: k }, (_, j) => matrix.map((row) => row[j]!));
  const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((s, x, i) => s + x * b[i]!, 0);
  for (let sweep = 0, turned = true; turned && sweep < 60; sweep++) {
    turned = false;
    for (let a = 0; a < k; a++)
      for (let b = a + 1; b < k; b++) {
        const [x, y] = [columns[a]!, columns[b]!];
        const [xx, yy, xy] = [dot(x, x), dot(y, y), dot(x, y)];
        if (Math.abs(xy) <= 1e-15 * Math.sqrt(xx * yy)) continue;
        turned = true;
        const z = (yy - xx) / (2 * xy);
        const t = (z < 0 ? -1 : 1) / (Math.abs(z) + Math.sqrt(1 + z * z));
        const c = 1 / Math.sqrt(1 + t * t);
        for (let i = 0; i < h; i++) [x[i], y[i]] = [c * (x[i]! - t * y[i]!), c * (y[i]! + t * x[i]!)];
      }
  }
  const lengths = columns.map((x) => Math.sqrt(dot(x, x)));
  return Math.max(...lengths) / Math.min(...lengths);
}

export class RealCode {
  readonly members: number;

  /** @param weights c × n; a row of ones is the paper's basic checksum */
  constructor(readonly weights: Weights) {
    this.members = weights[0]?.length ?? 0;
  }

  /**
   * checksums[i] = Σ_j weights[i][j] · members[j], in the order of the members, so that two runs agree in every bit.
   * @throws RangeError if a member has NaN or an infinity, or a sum overflows; or if lengths differ
   */
  encode(members: readonly Float64Array[], checksums: readonly Float64Array[]): void {
    for (const [i, out] of checksums.entries()) {
      out.fill(0);
      for (const [j, member] of members.entries()) addTo(out, member, this.weights[i]![j]!);
      if (!out.every((x) => Number.isFinite(x)))
        throw new RangeError('a checksum of floating-point numbers is not finite: a member has NaN or an infinity');
    }
  }

  /**
   * Makes lost members from all checksums that are left (equation 3 of the paper).
   * @param members by number; those that are absent are lost @param checksums by number, those that are left
   * @returns the lost members, by number
   * @throws TooManyLost if more members are lost than checksums are left
   */
  decode(
    members: ReadonlyMap<number, Float64Array>,
    checksums: ReadonlyMap<number, Float64Array>,
  ): Map<number, Float64Array> {
    const all = Array.from({ length: this.members }, (_, j) => j);
    const lost = all.filter((j) => !members.has(j));
    const left = [...checksums.keys()].sort((a, b) => a - b);
    if (lost.length > left.length)
      throw new TooManyLost(`${lost.length} members are lost, and ${left.length} checksums are left`);
    const { reflections, r } = factor(left.map((i) => lost.map((j) => this.weights[i]![j]!)));
    const right = left.map((i) => {
      const rest = Float64Array.from(checksums.get(i)!);
      for (const j of all) if (members.has(j)) addTo(rest, members.get(j)!, -this.weights[i]![j]!);
      return rest;
    });
    const length = right[0]?.length ?? 0;
    const sum = new Float64Array(length);
    for (const { v, beta } of reflections) {
      sum.fill(0);
      for (const [i, row] of right.entries()) addTo(sum, row, v[i]!);
      for (const [i, row] of right.entries()) addTo(row, sum, -beta * v[i]!);
    }
    for (let p = lost.length - 1; p >= 0; p--) {
      const row = right[p]!;
      for (let q = p + 1; q < lost.length; q++) addTo(row, right[q]!, -r[p]![q]!);
      const pivot = r[p]![p]!;
      for (let k = 0; k < length; k++) row[k]! /= pivot;
    }
    return new Map(lost.map((j, p) => [j, right[p]!]));
  }
}

/** to += weight · from */
function addTo(to: Float64Array, from: Float64Array, weight: number): void {
  if (from.length !== to.length) throw new RangeError(`${from.length} numbers beside ${to.length}`);
  if (weight === 0) return;
  for (let k = 0; k < to.length; k++) to[k]! += weight * from[k]!;
}
