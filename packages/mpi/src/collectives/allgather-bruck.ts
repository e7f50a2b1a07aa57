/**
 * Allgather and allgatherv after Bruck: with the own block first (it already lies at its place in `recv`), each round
 * fetches as many blocks as there already are from the rank that far ahead; then they go to their places. Any p, blocks
 * of any length, since all ranks know all lengths. Cost: ⌈log₂ p⌉ α + (p−1)/p nβ, and one more local copy.
 */
import { part } from '../buffers.ts';
import { blockOf, type Blocks } from './blocks.ts';
import type { Schedule } from '../schedule.ts';

export function allgatherBruck(s: Schedule, recv: Blocks): void {
  const p = s.size;
  const at = (k: number): number => (s.rank + k) % p;
  /**
   * Byte at which the k-th block ahead begins, in the order of the ranks from the own one on; of the rank `by` further
   * ahead the same from its own one on.
   */
  const bytesFrom = (by: number, blocks: number): number => {
    let bytes = 0;
    for (let i = 0; i < blocks; i++) bytes += recv.lengths[at(by + i)]!;
    return bytes;
  };
  const all = s.scratch(bytesFrom(0, p));
  s.copy(blockOf(recv, s.rank), part(all, 0, recv.lengths[s.rank]!));
  for (let have = 1; have < p; have *= 2) {
    const n = Math.min(have, p - have);
    s.send(at(p - have), part(all, 0, bytesFrom(0, n)))
      .recv(at(have), part(all, bytesFrom(0, have), bytesFrom(have, n)))
      .next();
  }
  // Blocks that lie one behind the other there, too, go as one.
  let from = 0;
  for (let k = 0; k < p;) {
    const offset = recv.offsets[at(k)]!;
    let bytes = 0;
    do bytes += recv.lengths[at(k++)]!;
    while (k < p && recv.offsets[at(k)] === offset + bytes);
    s.copy(part(all, from, bytes), part(recv.buf, offset, bytes));
    from += bytes;
  }
}
