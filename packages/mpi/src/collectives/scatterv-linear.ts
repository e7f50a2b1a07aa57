/**
 * Scatter and scatterv straight from the root: for blocks whose lengths only the root knows, and for long ones.
 * Cost: α + nβ at the root; p−1 messages, each byte moves once.
 */
import { blockOf, type Blocks } from './blocks.ts';
import type { Buf } from '../buffers.ts';
import type { Schedule } from '../schedule.ts';

/** @param mine undefined: stays in place at the root */
export function scattervLinear(s: Schedule, send: Blocks | undefined, mine: Buf | undefined, root: number): void {
  if (s.rank !== root) {
    s.recv(root, mine!);
    return;
  }
  for (let i = 0; i < s.size; i++) if (i !== root) s.send(i, blockOf(send!, i));
  if (mine) s.copy(blockOf(send!, root), mine);
}
