/**
 * Copies of bytes into and out of shared memory. Engines copy shared memory word by word, and byte by byte (seven times
 * as slow in V8) where the two places lie differently within a word. Then a detour through memory that is not shared,
 * where any copy is quick, is the shorter way.
 */

/** Shorter copies are not worth a detour. */
const LEAST = 1024;
/** Stays in the processor's nearest cache. */
const PIECE = 16 * 1024;
const WORD = 8;
const detour = new Uint8Array(PIECE + WORD);

const shared = (a: Uint8Array): boolean => a.buffer instanceof SharedArrayBuffer;

/** As `into.set(from, start)`. The two are not the same memory. */
export function copyBytes(into: Uint8Array, start: number, from: Uint8Array): void {
  if (from.length < LEAST) return into.set(from, start);
  const to = into.byteOffset + start;
  if (((to ^ from.byteOffset) & (WORD - 1)) === 0 || !(shared(from) || shared(into))) return into.set(from, start);
  // It lies within a word as the shared side does.
  const at = (shared(from) ? from.byteOffset : to) & (WORD - 1);
  for (let done = 0; done < from.length; done += PIECE) {
    const n = Math.min(PIECE, from.length - done);
    const piece = detour.subarray(at, at + n);
    piece.set(from.subarray(done, done + n));
    into.set(piece, start + done);
  }
}
