/**
 * Reduce-scatter of short vectors among many: reduce to rank 0 up a binomial tree, which hands everybody its block. In
 * the ranks' order, for operations that commute or not.
 * Cost: (⌈log₂ p⌉ + 1) α + ⌈log₂ p⌉ n (β + γ); 2 (p−1) messages, where everybody to everybody takes p (p−1).
 */
import { part, type Buf } from '../buffers.ts';
import { blockOf, type Blocks } from './blocks.ts';
import { reduceBinomial } from './reduce-binomial.ts';
import type { Reduction, Schedule } from '../schedule.ts';

export function reduceScatterTree(s: Schedule, send: Blocks, recv: Buf, r: Reduction): void {
  const bytes = send.lengths.reduce((a, b) => a + b, 0);
  const own = part(recv, 0, send.lengths[s.rank]!);
  const whole = s.rank === 0 ? s.scratch(bytes) : undefined;
  reduceBinomial(s, part(send.buf, 0, bytes), whole, r, 0);
  s.next();
  if (!whole) {
    if (own.bytes > 0) s.recv(0, own);
    return;
  }
  const blocks = { ...send, buf: whole };
  for (let i = 1; i < s.size; i++) if (send.lengths[i]! > 0) s.send(i, blockOf(blocks, i));
  s.copy(blockOf(blocks, 0), own);
}
