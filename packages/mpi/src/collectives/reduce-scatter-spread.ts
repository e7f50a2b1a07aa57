/**
 * Reduce-scatter: everybody sends each rank its block of the operand; each rank folds the p blocks that it got, from
 * the last rank to the first, so the order is the ranks' own, for operations that commute or not.
 * Cost: (p−1) α overlapped + (p−1)/p n (β + γ), scratch of p own blocks.
 */
import { part, type Buf } from '../buffers.ts';
import { block, type Reduction, type Schedule } from '../schedule.ts';
import { blockOf, type Blocks } from './blocks.ts';

export function reduceScatterSpread(s: Schedule, send: Blocks, recv: Buf, r: Reduction): void {
  const p = s.size;
  const b = send.lengths[s.rank]!;
  const got = s.scratch(p * b);
  for (let k = 1; k < p; k++) {
    const from = (s.rank - k + p) % p;
    if (b > 0) s.recv(from, block(got, from, b));
  }
  for (let k = 1; k < p; k++) {
    const to = (s.rank + k) % p;
    if (send.lengths[to]! > 0) s.send(to, blockOf(send, to));
  }
  s.copy(blockOf(send, s.rank), block(got, s.rank, b)).next();
  const acc = block(got, p - 1, b);
  for (let i = p - 2; i >= 0; i--) s.reduce(r, block(got, i, b), acc);
  s.copy(acc, part(recv, 0, b));
}
