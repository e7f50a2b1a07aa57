/**
 * Layouts: how the bytes of a datatype lie in memory, as plain data, and the copying between there and a contiguous
 * (packed) buffer.
 *
 * A layout is a list of segments in the order of the type map; a segment is `count` blocks of `bytes` bytes, `stride`
 * apart. A vector is thus one segment however long it is, and a contiguous type one block. Elements of a message follow
 * each other at the layout's extent.
 *
 * Invariants
 *  L1  The segments' bytes add up to `size`.
 *  L2  Segments keep the order of the type map, so that packing follows the standard (MPI 4.1 §5.1.11), overlap or not.
 */
import { copyWords } from './layout-words.ts';

export interface Layout {
  /** Bytes of data in one element. */
  readonly size: number;
  readonly lb: number;
  readonly extent: number;
  /** offset, bytes, count, stride of each segment, one behind the other. */
  readonly segments: readonly number[];
}

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

const LOOP = 32;

/**
 * Copies `count` blocks of `bytes` bytes: strides of both sides. Short blocks go word by word: a call of `set` costs as
 * much as 16 words.
 */
function copyBlocks(
  from: Uint8Array,
  f: number,
  fStride: number,
  to: Uint8Array,
  t: number,
  tStride: number,
  bytes: number,
  count: number,
): void {
  if (count <= 0) return;
  if (bytes > LOOP) {
    for (let i = 0; i < count; i++, f += fStride, t += tStride) to.set(from.subarray(f, f + bytes), t);
    return;
  }
  // Negative strides run before the first block: then byte by byte.
  if (
    fStride >= 0 &&
    tStride >= 0 &&
    (((from.byteOffset + f) | (to.byteOffset + t) | fStride | tStride | bytes) & 3) === 0
  ) {
    const a = new Int32Array(from.buffer, from.byteOffset + f, ((count - 1) * fStride + bytes) / 4);
    const b = new Int32Array(to.buffer, to.byteOffset + t, ((count - 1) * tStride + bytes) / 4);
    const words = bytes / 4;
    const fs = fStride / 4;
    const ts = tStride / 4;
    if (words === 1) for (let i = 0, x = 0, y = 0; i < count; i++, x += fs, y += ts) b[y] = a[x]!;
    else if (words === 2) {
      for (let i = 0, x = 0, y = 0; i < count; i++, x += fs, y += ts) {
        b[y] = a[x]!;
        b[y + 1] = a[x + 1]!;
      }
    } else
      for (let i = 0, x = 0, y = 0; i < count; i++, x += fs, y += ts)
        for (let w = 0; w < words; w++) b[y + w] = a[x + w]!;
    return;
  }
  for (let i = 0; i < count; i++, f += fStride, t += tStride) for (let w = 0; w < bytes; w++) to[t + w] = from[f + w]!;
}

/** Packs `count` elements that lie at `address` of `memory` to the beginning of `into`. */
export function pack(l: Layout, count: number, memory: Uint8Array, address: number, into: Uint8Array): void {
  if (copyWords(l, count, memory, address, into, true)) return;
  const s = l.segments;
  // Elements of one block each: the elements are the blocks.
  if (s.length === WORDS && s[2] === 1)
    return copyBlocks(memory, address + s[0]!, l.extent, into, 0, s[1]!, s[1]!, count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const base = address + i * l.extent;
    for (let k = 0; k < s.length; k += WORDS) {
      const bytes = s[k + 1]!;
      const n = s[k + 2]!;
      copyBlocks(memory, base + s[k]!, s[k + 3]!, into, at, bytes, bytes, n);
      at += bytes * n;
    }
  }
}

/**
 * The reverse of {@link pack}; `from` may be shorter than the elements need (a partly filled receive): the rest stays
 * as it is.
 */
export function unpack(l: Layout, count: number, from: Uint8Array, memory: Uint8Array, address: number): void {
  const s = l.segments;
  if (l.size === 0) return;
  const whole = Math.min(count, Math.floor(from.length / l.size));
  if (whole > 0 && copyWords(l, whole, memory, address, from, false)) {
    // Done.
  } else if (s.length === WORDS && s[2] === 1)
    copyBlocks(from, 0, s[1]!, memory, address + s[0]!, l.extent, s[1]!, whole);
  else {
    let at = 0;
    for (let i = 0; i < whole; i++) {
      const base = address + i * l.extent;
      for (let k = 0; k < s.length; k += WORDS) {
        const bytes = s[k + 1]!;
        const n = s[k + 2]!;
        copyBlocks(from, at, bytes, memory, base + s[k]!, s[k + 3]!, bytes, n);
        at += bytes * n;
      }
    }
  }
  if (whole >= count) return;
  // The cut element, block by block.
  let at = whole * l.size;
  const base = address + whole * l.extent;
  for (let k = 0; k < s.length; k += WORDS) {
    for (let n = 0; n < s[k + 2]!; n++) {
      const left = Math.min(s[k + 1]!, from.length - at);
      if (left <= 0) return;
      memory.set(from.subarray(at, at + left), base + s[k]! + n * s[k + 3]!);
      at += left;
    }
  }
}
