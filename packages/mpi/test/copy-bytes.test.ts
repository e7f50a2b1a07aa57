/** Copies between shared memory and memory of one's own, wherever both lie within a word. */
import { describe, expect, it } from 'vitest';
import { copyBytes } from '@mayfly/mpi';

const ROOM = 70_000;
const own = (): Uint8Array => new Uint8Array(ROOM);
const shared = (): Uint8Array => new Uint8Array(new SharedArrayBuffer(ROOM));
const KINDS = [
  ['into shared memory', shared, own],
  ['out of shared memory', own, shared],
  ['within shared memory', shared, shared],
  ['without shared memory', own, own],
] as const;
/** Below and above what a detour is for, with and without a rest of a piece. */
const LENGTHS = [0, 1, 1023, 1024, 16_384, 16_385, 50_001];

describe.each(KINDS)('%s', (_, to, of) => {
  it.each(LENGTHS)('%i bytes arrive, and nothing else changes', (length) => {
    for (const from of [0, 1, 4, 8])
      for (const start of [0, 3, 4]) {
        const source = of();
        for (let i = 0; i < ROOM; i++) source[i] = (i * 7 + (i >> 8)) & 255 || 1;
        const into = to();
        copyBytes(into, start, source.subarray(from, from + length));
        const expected = new Uint8Array(ROOM);
        expected.set(source.subarray(from, from + length), start);
        expect(Buffer.compare(Buffer.from(into), Buffer.from(expected))).toBe(0);
      }
  });
});
