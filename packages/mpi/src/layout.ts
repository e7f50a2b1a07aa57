/**
 * Layouts: how the bytes of a datatype lie in memory, as plain data. The copying between there and a contiguous
 * (packed) buffer: packing.ts.
 *
 * A layout is a list of segments in the order of the type map; a segment is `count` blocks of `bytes` bytes, `stride`
 * apart. A vector is thus one segment however long it is, and a contiguous type one block. Elements of a message follow
 * each other at the layout's extent.
 *
 * Invariants
 *  L1  The segments' bytes add up to `size`; of a narrow layout to half of it.
 *  L2  Segments keep the order of the type map, so that packing follows the standard (MPI 4.1 §5.1.11), overlap or not.
 */
export interface Layout {
  /** Words of 32 bits in memory, of 64 bits when packed (narrow.ts). One segment of one word. */
  readonly narrow?: Narrow;
  /** Bytes of data in one element. */
  readonly size: number;
  readonly lb: number;
  readonly extent: number;
  /** offset, bytes, count, stride of each segment, one behind the other. */
  readonly segments: readonly number[];
}

/**
 * How a word becomes 64 bits wide, and what is taken back: 'size', with zeros, and 'difference', by its sign, are those
 * of a `size_t`, which takes −2³¹ to 2³² − 1; 'signed' those of a `ptrdiff_t`, which takes −2³¹ to 2³¹ − 1.
 */
export type Narrow = 'size' | 'difference' | 'signed';

const WORDS = 4;

export const contiguousLayout = (bytes: number, extent = bytes): Layout => ({
  size: bytes,
  lb: 0,
  extent,
  segments: bytes > 0 ? [0, bytes, 1, 0] : [],
});

/** `count` elements are one block of size × count bytes, which begins {@link start} bytes behind the address. */
export function isContiguous(l: Layout, count: number): boolean {
  const s = l.segments;
  if (l.narrow !== undefined) return false;
  return s.length === 0 || (s.length === WORDS && s[2] === 1 && (count <= 1 || l.extent === l.size));
}
export const start = (l: Layout): number => l.segments[0] ?? 0;

/** Collects segments, joining what touches. */
export class LayoutBuilder {
  readonly segments: number[] = [];

  block(offset: number, bytes: number, count = 1, stride = 0): void {
    if (bytes === 0 || count === 0) return;
    if (count > 1 && stride === bytes) return this.block(offset, bytes * count);
    const s = this.segments;
    const at = s.length - WORDS;
    if (at >= 0) {
      const o = s[at]!;
      const b = s[at + 1]!;
      const n = s[at + 2]!;
      if (n === 1 && count === 1 && o + b === offset) {
        s[at + 1] = b + bytes;
        return;
      }
      if (b === bytes && n === 1 && count === 1) {
        s[at + 2] = 2;
        s[at + 3] = offset - o;
        return;
      }
      if (b === bytes && n > 1 && count === 1 && offset === o + n * s[at + 3]!) {
        s[at + 2] = n + 1;
        return;
      }
    }
    s.push(offset, bytes, count, count === 1 ? 0 : stride);
  }

  /** `count` elements of a layout, `stride` bytes from one to the next, the first at `offset`. */
  repeat(l: Layout, offset: number, count: number, stride: number): void {
    const s = l.segments;
    if (s.length === WORDS && s[2] === 1) return this.block(offset + s[0]!, s[1]!, count, stride);
    for (let i = 0; i < count; i++)
      for (let k = 0; k < s.length; k += WORDS)
        this.block(offset + i * stride + s[k]!, s[k + 1]!, s[k + 2]!, s[k + 3]!);
  }
}

const bounds = new WeakMap<Layout, { lb: number; ub: number }>();

/**
 * Lowest and highest byte (exclusive) of one element's data. Asked at every call that names a buffer: looked for once.
 */
export function trueBounds(l: Layout): { lb: number; ub: number } {
  let b = bounds.get(l);
  if (!b) bounds.set(l, (b = findBounds(l)));
  return b;
}
function findBounds(l: Layout): { lb: number; ub: number } {
  let lb = Infinity;
  let ub = -Infinity;
  const s = l.segments;
  for (let k = 0; k < s.length; k += WORDS) {
    const last = s[k]! + (s[k + 2]! - 1) * s[k + 3]!;
    lb = Math.min(lb, s[k]!, last);
    ub = Math.max(ub, s[k]! + s[k + 1]!, last + s[k + 1]!);
  }
  return s.length ? { lb, ub } : { lb: 0, ub: 0 };
}

/** Lowest and highest byte (exclusive), relative to the address, that `count` elements touch. */
export function span(l: Layout, count: number): { from: number; to: number } {
  if (count === 0 || l.segments.length === 0) return { from: 0, to: 0 };
  const { lb, ub } = trueBounds(l);
  const last = (count - 1) * l.extent;
  return { from: Math.min(lb, lb + last), to: Math.max(ub, ub + last) };
}
