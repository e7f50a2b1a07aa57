/** What a signature counts: the basic elements in so many bytes, the bytes of so many elements. */
import type { Signature } from './datatype-record.ts';

/**
 * Basic elements in the first `bytes` bytes of a message of this type (a byte too many counts for nothing). Exact for
 * what a program may put into a status.
 */
export function elementsIn(s: Signature, bytes: bigint): bigint {
  if (typeof s === 'number') return s === 0 ? 0n : bytes / BigInt(s);
  if (s.bytes === 0) return 0n;
  const whole = bytes / BigInt(s.bytes);
  let count = whole * BigInt(s.elements);
  let rest = bytes - whole * BigInt(s.bytes);
  for (const [repeat, of] of s.parts) {
    if (rest <= 0n) break;
    const all = BigInt(repeat) * BigInt(typeof of === 'number' ? of : of.bytes);
    const part = rest < all ? rest : all;
    count += elementsIn(of, part);
    rest -= part;
  }
  return count;
}

/** Bytes of every basic element; 1 where they are not alike, or not seen to be at once. */
export function unitOf(s: Signature): number {
  while (typeof s !== 'number') {
    if (s.parts.length !== 1) return 1;
    s = s.parts[0]![1];
  }
  return Math.max(s, 1);
}

/** Bytes of the first `elements` basic elements: MPI_Status_set_elements. */
export function bytesOf(s: Signature, elements: bigint): bigint {
  if (typeof s === 'number') return BigInt(s) * elements;
  if (s.elements === 0) return 0n;
  const whole = elements / BigInt(s.elements);
  let bytes = whole * BigInt(s.bytes);
  let rest = elements - whole * BigInt(s.elements);
  for (const [repeat, of] of s.parts) {
    if (rest <= 0n) break;
    const all = BigInt(repeat) * BigInt(typeof of === 'number' ? 1 : of.elements);
    const part = rest < all ? rest : all;
    bytes += bytesOf(of, part);
    rest -= part;
  }
  return bytes;
}
