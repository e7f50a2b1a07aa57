/**
 * All-to-all in pairs: p−1 rounds, in round k to the rank k ahead and from the rank k behind: one long block at a time
 * in flight per process. Cost: (p−1) α + nβ.
 */
import type { Schedule } from '../schedule.ts';
import { blockOf, type Blocks } from './blocks.ts';

export function alltoallPairwise(s: Schedule, send: Blocks, recv: Blocks): void {
  const p = s.size;
  s.copy(blockOf(send, s.rank), blockOf(recv, s.rank));
  for (let k = 1; k < p; k++) {
    const to = (s.rank + k) % p;
    const from = (s.rank - k + p) % p;
    s.recv(from, blockOf(recv, from)).send(to, blockOf(send, to)).next();
  }
}
