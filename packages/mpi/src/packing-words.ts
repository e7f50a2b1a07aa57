/**
 * The fast way of packing: layouts whose every offset, length and stride is a multiple of four bytes are copied word by
 * word, with one pair of views for all of it. Plans are made once per layout. Words are 32-bit integers: a float view
 * may change the bits of a NaN.
 *
 * Cost: one load and one store per word, no call and no object per block. Long blocks go by `set`, which is memmove.
 */
import type { Layout } from './layout.ts';

/** In words; four numbers per segment, as in the layout. */
interface Plan {
  segments: Int32Array;
  size: number;
  extent: number;
}

const WORDS = 4;
/** Blocks from here on are worth a call of `set`. */
const LONG = 64;
/**
 * Up to so many segments, several elements are copied segment by segment: the inner loop then runs over the elements.
 */
const FEW = 16;

const plans = new WeakMap<Layout, Plan | 'bytes'>();

function plan(l: Layout): Plan | undefined {
  let p = plans.get(l);
  if (p === undefined) plans.set(l, (p = make(l)));
  return p === 'bytes' ? undefined : p;
}

function make(l: Layout): Plan | 'bytes' {
  const { segments: s } = l;
  let all = l.size | l.extent;
  for (let i = 0; i < s.length; i++) {
    // The third of four is a count.
    if (Math.abs(s[i]!) > 0x7fff_ffff) return 'bytes';
    if (i % WORDS !== 2) all |= s[i]!;
  }
  if ((all & 3) !== 0 || l.size > 0x7fff_ffff || Math.abs(l.extent) > 0x7fff_ffff) return 'bytes';
  return {
    segments: Int32Array.from(s, (x, i) => (i % WORDS === 2 ? x : x / 4)),
    size: l.size / 4,
    extent: l.extent / 4,
  };
}

/** `count` blocks of `n` words. */
function blocks(
  from: Int32Array,
  x: number,
  xs: number,
  to: Int32Array,
  y: number,
  ys: number,
  n: number,
  count: number,
): void {
  if (n === 1) for (let i = 0; i < count; i++, x += xs, y += ys) to[y] = from[x]!;
  else if (n === 2) {
    for (let i = 0; i < count; i++, x += xs, y += ys) {
      to[y] = from[x]!;
      to[y + 1] = from[x + 1]!;
    }
  } else if (n >= LONG) for (let i = 0; i < count; i++, x += xs, y += ys) to.set(from.subarray(x, x + n), y);
  else {
    const odd = n & 1;
    for (let i = 0; i < count; i++, x += xs, y += ys) {
      const end = x + n - odd;
      let t = y;
      let f = x;
      for (; f < end; f += 2, t += 2) {
        to[t] = from[f]!;
        to[t + 1] = from[f + 1]!;
      }
      if (odd) to[t] = from[f]!;
    }
  }
}

/** One element of many single blocks. */
function gather(s: Int32Array, from: Int32Array, x: number, to: Int32Array, y: number): void {
  for (let k = 0; k < s.length; k += WORDS) {
    const n = s[k + 1]!;
    const count = s[k + 2]!;
    let f = x + s[k]!;
    if (count === 1 && n < LONG) for (const end = f + n; f < end; f++) to[y++] = from[f]!;
    else {
      blocks(from, f, s[k + 3]!, to, y, n, n, count);
      y += n * count;
    }
  }
}
function scatter(s: Int32Array, from: Int32Array, x: number, to: Int32Array, y: number): void {
  for (let k = 0; k < s.length; k += WORDS) {
    const n = s[k + 1]!;
    const count = s[k + 2]!;
    let t = y + s[k]!;
    if (count === 1 && n < LONG) for (const end = t + n; t < end; t++) to[t] = from[x++]!;
    else {
      blocks(from, x, n, to, t, s[k + 3]!, n, count);
      x += n * count;
    }
  }
}

const words = (b: Uint8Array): Int32Array => new Int32Array(b.buffer, b.byteOffset, b.byteLength >> 2);

/**
 * Copies whole elements between memory and a packed buffer. False: this layout or these places are not of words, and
 * nothing was done.
 * @param toPacked packs; else unpacks
 */
export function copyWords(
  l: Layout,
  count: number,
  memory: Uint8Array,
  address: number,
  packed: Uint8Array,
  toPacked: boolean,
): boolean {
  if (((memory.byteOffset | address | packed.byteOffset) & 3) !== 0 || address < 0) return false;
  const p = plan(l);
  if (!p) return false;
  const m = words(memory);
  const b = words(packed);
  const base = address / 4;
  const { segments: s, size, extent } = p;
  if (s.length === WORDS && s[2] === 1) {
    if (toPacked) blocks(m, base + s[0]!, extent, b, 0, size, size, count);
    else blocks(b, 0, size, m, base + s[0]!, extent, size, count);
    return true;
  }
  // Unpacking over places that overlap is an error of the program, so the order is free; packing reads only.
  if (count > 1 && s.length <= FEW * WORDS) {
    let at = 0;
    for (let k = 0; k < s.length; k += WORDS) {
      const n = s[k + 1]!;
      for (let i = 0; i < s[k + 2]!; i++, at += n) {
        const place = base + s[k]! + i * s[k + 3]!;
        if (toPacked) blocks(m, place, extent, b, at, size, n, count);
        else blocks(b, at, size, m, place, extent, n, count);
      }
    }
    return true;
  }
  for (let i = 0; i < count; i++)
    if (toPacked) gather(s, m, base + i * extent, b, i * size);
    else scatter(s, b, i * size, m, base + i * extent);
  return true;
}
