/**
 * Gather and gatherv straight to the root: for blocks whose lengths only the root knows, and for long ones, which would
 * pass through the server once per level of a tree.
 * Cost: α + nβ at the root; p−1 messages, each byte moves once.
 */
import { blockOf, type Blocks } from './blocks.ts';
import type { Buf } from '../buffers.ts';
import type { Schedule } from '../schedule.ts';

/** @param mine undefined: already in place at the root */
export function gathervLinear(s: Schedule, mine: Buf | undefined, recv: Blocks | undefined, root: number): void {
  if (s.rank !== root) {
    s.send(root, mine!);
    return;
  }
  if (mine) s.copy(mine, blockOf(recv!, root));
  for (let i = 0; i < s.size; i++) if (i !== root) s.recv(i, blockOf(recv!, i));
}
