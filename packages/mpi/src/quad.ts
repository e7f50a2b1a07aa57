/**
 * long double of WebAssembly's C: IEEE binary128 in 16 bytes, little endian. Sum, product and comparison, exact and
 * rounded to nearest, ties to even, as compiler-rt computes them. Slow (big integers), and rarely needed.
 */
const BIAS = 16383;
const FRACTION = 112n;
const IMPLICIT = 1n << FRACTION;
const MOST = 0x7fff;

/** (−1)^negative · mantissa · 2^exponent; special values keep their own kind. */
interface Quad {
  kind: 'number' | 'infinite' | 'nan';
  negative: boolean;
  mantissa: bigint;
  exponent: number;
}
const NAN: Quad = { kind: 'nan', negative: false, mantissa: 0n, exponent: 0 };
const infinite = (negative: boolean): Quad => ({ kind: 'infinite', negative, mantissa: 0n, exponent: 0 });

export function readQuad(v: DataView, at: number): Quad {
  const high = v.getBigUint64(at + 8, true);
  const negative = high >> 63n === 1n;
  const biased = Number((high >> 48n) & 0x7fffn);
  const fraction = ((high & 0xffff_ffff_ffffn) << 64n) | v.getBigUint64(at, true);
  if (biased === MOST) return fraction === 0n ? infinite(negative) : NAN;
  return {
    kind: 'number',
    negative,
    mantissa: biased === 0 ? fraction : fraction | IMPLICIT,
    exponent: (biased === 0 ? 1 : biased) - BIAS - 112,
  };
}

export function writeQuad(v: DataView, at: number, q: Quad): void {
  let biased = MOST;
  let fraction = q.kind === 'nan' ? 1n << 111n : 0n;
  if (q.kind === 'number') [biased, fraction] = round(q.mantissa, q.exponent);
  v.setBigUint64(at, fraction & 0xffff_ffff_ffff_ffffn, true);
  v.setBigUint64(at + 8, (q.negative ? 1n << 63n : 0n) | (BigInt(biased) << 48n) | (fraction >> 64n), true);
}

/** Biased exponent and fraction of a value. */
function round(mantissa: bigint, exponent: number): [number, bigint] {
  if (mantissa === 0n) return [0, 0n];
  const length = mantissa.toString(2).length;
  // Shift to 113 bits, or to the exponent of the subnormal numbers.
  const shift = Math.max(length - 113, 1 - BIAS - 112 - exponent);
  let m = mantissa;
  if (shift > 0) {
    const s = BigInt(shift);
    const rest = m & ((1n << s) - 1n);
    const half = 1n << (s - 1n);
    m >>= s;
    if (rest > half || (rest === half && (m & 1n) === 1n)) m += 1n;
  } else m <<= BigInt(-shift);
  let e = exponent + shift;
  if (m >> 113n === 1n) {
    m >>= 1n;
    e += 1;
  }
  if (m < IMPLICIT) return [0, m];
  const biased = e + BIAS + 112;
  return biased >= MOST ? [MOST, 0n] : [biased, m - IMPLICIT];
}

export function addQuad(a: Quad, b: Quad): Quad {
  if (a.kind === 'nan' || b.kind === 'nan') return NAN;
  if (a.kind === 'infinite') return b.kind === 'infinite' && a.negative !== b.negative ? NAN : a;
  if (b.kind === 'infinite') return b;
  const exponent = Math.min(a.exponent, b.exponent);
  const signed = (q: Quad): bigint => (q.negative ? -1n : 1n) * (q.mantissa << BigInt(q.exponent - exponent));
  const sum = signed(a) + signed(b);
  // The sum of opposite zeros is +0.
  return {
    kind: 'number',
    negative: sum < 0n || (sum === 0n && a.negative && b.negative),
    mantissa: sum < 0n ? -sum : sum,
    exponent,
  };
}

export function multiplyQuad(a: Quad, b: Quad): Quad {
  if (a.kind === 'nan' || b.kind === 'nan') return NAN;
  const negative = a.negative !== b.negative;
  const zero = (q: Quad): boolean => q.kind === 'number' && q.mantissa === 0n;
  if (a.kind === 'infinite' || b.kind === 'infinite') return zero(a) || zero(b) ? NAN : infinite(negative);
  return { kind: 'number', negative, mantissa: a.mantissa * b.mantissa, exponent: a.exponent + b.exponent };
}

export const negateQuad = (q: Quad): Quad => ({ ...q, negative: !q.negative });

/** −1, 0, 1; NaN for a pair that has no order. */
export function compareQuad(a: Quad, b: Quad): number {
  if (a.kind === 'nan' || b.kind === 'nan') return NaN;
  const size = (q: Quad): number => (q.kind === 'infinite' ? (q.negative ? -1 : 1) : 0);
  if (a.kind === 'infinite' || b.kind === 'infinite') return Math.sign(size(a) - size(b));
  const exponent = Math.min(a.exponent, b.exponent);
  const signed = (q: Quad): bigint => (q.negative ? -1n : 1n) * (q.mantissa << BigInt(q.exponent - exponent));
  const d = signed(a) - signed(b);
  return d < 0n ? -1 : d > 0n ? 1 : 0;
}
