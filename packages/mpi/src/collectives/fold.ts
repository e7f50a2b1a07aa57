/**
 * Folding p ranks onto the largest power of two below: of the first 2(p − 2^k) ranks each even one gives its operand to
 * the next odd one and sits out. The others are renumbered in rank order, so every new rank stands for a contiguous
 * range of old ones.
 */
import type { Buf } from '../buffers.ts';
import type { Reduction, Schedule } from '../schedule.ts';

export interface Folded {
  pof2: number;
  /** New rank, or −1: sits out. */
  me: number;
  /** Rank of a new rank. */
  real: (folded: number) => number;
  rest: number;
}

export function fold(s: Schedule, acc: Buf, incoming: Buf, r: Reduction): Folded {
  let pof2 = 1;
  while (pof2 * 2 <= s.size) pof2 *= 2;
  const rest = s.size - pof2;
  const real = (v: number): number => (v < rest ? v * 2 + 1 : v + rest);
  let me = s.rank - rest;
  if (s.rank < 2 * rest) {
    if (s.rank % 2 === 0) {
      s.send(s.rank + 1, acc).next();
      me = -1;
    } else {
      s.recv(s.rank - 1, incoming)
        .next()
        .reduce(r, incoming, acc);
      me = (s.rank - 1) / 2;
    }
  }
  return { pof2, me, real, rest };
}

/** Gives the result to those who sat out. */
export function unfold(s: Schedule, acc: Buf, f: Folded): void {
  if (s.rank >= 2 * f.rest) return;
  if (s.rank % 2 === 0) s.recv(s.rank + 1, acc);
  else s.send(s.rank - 1, acc);
}
