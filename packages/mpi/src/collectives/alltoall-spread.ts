/**
 * All-to-all, spread: everything is sent at once, staggered so that not everybody begins with rank 0; then everything
 * is awaited. Sends are buffered by the Channel Memory, so nothing waits in turn.
 * Cost: (p−1) α overlapped + nβ; the messages of all p−1 peers may be under way at once.
 */
import type { Schedule } from '../schedule.ts';
import { blockOf, type Blocks } from './blocks.ts';

export function alltoallSpread(s: Schedule, send: Blocks, recv: Blocks): void {
  const p = s.size;
  s.copy(blockOf(send, s.rank), blockOf(recv, s.rank));
  for (let k = 1; k < p; k++) s.recv((s.rank - k + p) % p, blockOf(recv, (s.rank - k + p) % p));
  for (let k = 1; k < p; k++) s.send((s.rank + k) % p, blockOf(send, (s.rank + k) % p));
}
