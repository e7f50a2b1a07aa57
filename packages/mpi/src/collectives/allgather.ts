/**
 * Allgather, three ways. This rank's block already lies at its place in `recv`.
 */
import { part, type Buf } from '../buffers.ts';
import { block, type Schedule } from '../schedule.ts';
import { blockOf, type Blocks } from './linear.ts';

/**
 * Recursive doubling: partners at distance 1, 2, 4 … exchange everything that they have. For powers of two.
 * Cost: log₂ p α + (p−1)/p nβ.
 */
export function allgatherRecursiveDoubling(s: Schedule, recv: Buf, bytes: number): void {
  for (let mask = 1; mask < s.size; mask *= 2) {
    const peer = s.rank ^ mask;
    const mine = s.rank & ~(mask - 1);
    const theirs = peer & ~(mask - 1);
    s.send(peer, part(recv, mine * bytes, mask * bytes)).recv(peer, part(recv, theirs * bytes, mask * bytes)).next();
  }
}

/**
 * Bruck: with the own block first, each round fetches as many blocks as there already are from the rank that far ahead; then the
 * result is rotated. Any p.
 * Cost: ⌈log₂ p⌉ α + (p−1)/p nβ, and one more local copy.
 */
export function allgatherBruck(s: Schedule, recv: Buf, bytes: number): void {
  const p = s.size;
  const all = s.scratch(p * bytes);
  s.copy(block(recv, s.rank, bytes), part(all, 0, bytes));
  for (let have = 1; have < p; have *= 2) {
    const n = Math.min(have, p - have) * bytes;
    s.send((s.rank - have + p) % p, part(all, 0, n)).recv((s.rank + have) % p, part(all, have * bytes, n)).next();
  }
  const ahead = (p - s.rank) * bytes;
  s.copy(part(all, 0, ahead), part(recv, s.rank * bytes, ahead));
  s.copy(part(all, ahead, p * bytes - ahead), part(recv, 0, p * bytes - ahead));
}

/**
 * Ring: in p−1 rounds everybody passes on to the right what came last from the left. Neighbours only; best for long blocks, and for
 * blocks of different length.
 * Cost: (p−1) α + (p−1)/p nβ.
 */
export function allgatherRing(s: Schedule, recv: Blocks): void {
  const p = s.size;
  for (let k = 0; k < p - 1; k++) {
    s.send((s.rank + 1) % p, blockOf(recv, (s.rank - k + p) % p))
      .recv((s.rank - 1 + p) % p, blockOf(recv, (s.rank - k - 1 + p) % p))
      .next();
  }
}
