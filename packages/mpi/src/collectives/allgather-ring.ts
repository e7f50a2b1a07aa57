/**
 * Allgather round a ring: in p−1 rounds everybody passes on to the right what came last from the left; this rank's
 * block already lies at its place in `recv`. Neighbours only; best for long blocks, and for blocks of different length.
 * Cost: (p−1) α + (p−1)/p nβ.
 */
import type { Schedule } from '../schedule.ts';
import { blockOf, type Blocks } from './blocks.ts';

export function allgatherRing(s: Schedule, recv: Blocks): void {
  const p = s.size;
  for (let k = 0; k < p - 1; k++) {
    s.send((s.rank + 1) % p, blockOf(recv, (s.rank - k + p) % p))
      .recv((s.rank - 1 + p) % p, blockOf(recv, (s.rank - k - 1 + p) % p))
      .next();
  }
}
