/**
 * Packing: copies elements between their places in memory (a layout) and a contiguous buffer. Aligned layouts go word
 * by word (packing-words.ts), the others block by block.
 */
import { copyWords } from './packing-words.ts';
import { packNarrow, unpackNarrow } from './narrow.ts';
import type { Layout } from './layout.ts';

/** Numbers of a segment in a layout. */
const WORDS = 4;
/** Bytes of a block up to which a loop is faster than a call. */
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
  if (l.narrow !== undefined) return packNarrow(l, count, memory, address, into);
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
  if (l.narrow !== undefined) return unpackNarrow(l, count, from, memory, address);
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
