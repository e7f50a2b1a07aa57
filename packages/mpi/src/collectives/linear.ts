/**
 * Gatherv and scatterv: the root exchanges with everybody directly, since only it knows all lengths.
 * Cost: (p−1) α + nβ at the root.
 */
import { part, type Buf } from '../buffers.ts';
import type { Schedule } from '../schedule.ts';

/** Blocks of a vector collective, in bytes. */
export interface Blocks {
  buf: Buf;
  offsets: readonly number[];
  lengths: readonly number[];
}
export const blockOf = (b: Blocks, i: number): Buf => part(b.buf, b.offsets[i]!, b.lengths[i]!);

/** @param mine undefined: already in place at the root */
export function gathervLinear(s: Schedule, mine: Buf | undefined, recv: Blocks | undefined, root: number): void {
  if (s.rank !== root) {
    s.send(root, mine!);
    return;
  }
  if (mine) s.copy(mine, blockOf(recv!, root));
  for (let i = 0; i < s.size; i++) if (i !== root) s.recv(i, blockOf(recv!, i));
}

/** @param mine undefined: stays in place at the root */
export function scattervLinear(s: Schedule, send: Blocks | undefined, mine: Buf | undefined, root: number): void {
  if (s.rank !== root) {
    s.recv(root, mine!);
    return;
  }
  for (let i = 0; i < s.size; i++) if (i !== root) s.send(i, blockOf(send!, i));
  if (mine) s.copy(blockOf(send!, root), mine);
}
