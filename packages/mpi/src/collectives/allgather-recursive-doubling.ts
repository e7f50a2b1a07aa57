/**
 * Allgather by recursive doubling: partners at distance 1, 2, 4 … exchange everything that they have; this rank's block
 * already lies at its place in `recv`. For powers of two.
 * Cost: log₂ p α + (p−1)/p nβ.
 */
import { part, type Buf } from '../buffers.ts';
import type { Schedule } from '../schedule.ts';

export function allgatherRecursiveDoubling(s: Schedule, recv: Buf, bytes: number): void {
  for (let mask = 1; mask < s.size; mask *= 2) {
    const peer = s.rank ^ mask;
    const mine = s.rank & ~(mask - 1);
    const theirs = peer & ~(mask - 1);
    s.send(peer, part(recv, mine * bytes, mask * bytes))
      .recv(peer, part(recv, theirs * bytes, mask * bytes))
      .next();
  }
}
