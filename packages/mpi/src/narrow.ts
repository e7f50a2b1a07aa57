/**
 * Elements that have 32 bits in memory and 64 in messages: a `size_t` that a C program sends as MPI_UNSIGNED_LONG. Its
 * peer may have an `unsigned long` of 64 bits there, and reductions compute with 64 bits.
 */
import { ERR, fail } from './errors.ts';
import type { Layout } from './layout.ts';

const MEMORY = 4;
const PACKED = 8;

export function packNarrow(l: Layout, count: number, memory: Uint8Array, address: number, into: Uint8Array): void {
  const from = new DataView(memory.buffer, memory.byteOffset, memory.byteLength);
  const to = new DataView(into.buffer, into.byteOffset, into.byteLength);
  for (let i = 0; i < count; i++) {
    const low = from.getInt32(address + i * MEMORY, true);
    to.setInt32(i * PACKED, low, true);
    to.setInt32(i * PACKED + 4, l.narrow === 'size' ? 0 : low >> 31, true);
  }
}

/** Whole elements. @throws MPIError ERR_TRUNCATE, and nothing is written, when one of them has more than 32 bits */
export function unpackNarrow(l: Layout, count: number, packed: Uint8Array, memory: Uint8Array, address: number): void {
  const from = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const to = new DataView(memory.buffer, memory.byteOffset, memory.byteLength);
  const whole = Math.min(count, Math.floor(packed.length / PACKED));
  for (let i = 0; i < whole; i++) {
    const low = from.getInt32(i * PACKED, true);
    const high = from.getInt32(i * PACKED + 4, true);
    if (high !== low >> 31 && !(high === 0 && l.narrow !== 'signed'))
      fail(
        ERR.TRUNCATE,
        'MPI',
        `the value ${from.getBigInt64(i * PACKED, true)} does not fit into 32 bits, which a size_t or ptrdiff_t has: ` +
          `receive it in a long`,
      );
  }
  for (let i = 0; i < whole; i++) to.setInt32(address + i * MEMORY, from.getInt32(i * PACKED, true), true);
}
