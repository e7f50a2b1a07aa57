/**
 * Allgather after Bruck: with the own block first (it already lies at its place in `recv`), each round fetches as many blocks as there already are from the rank
 * that far ahead; then the result is rotated. Any p.
 * Cost: ⌈log₂ p⌉ α + (p−1)/p nβ, and one more local copy.
 */
import { part, type Buf } from '../buffers.ts';
import { block, type Schedule } from '../schedule.ts';

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
