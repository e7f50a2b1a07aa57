/**
 * Gather up a binomial tree: each process collects the blocks of its subtree, a contiguous range of relative ranks, and
 * hands them on in one message.
 * Cost: ⌈log₂ p⌉ α + (p−1)/p nβ.
 */
import { part, type Buf } from '../buffers.ts';
import { block, type Schedule } from '../schedule.ts';

/** Number of relative ranks in the subtree that begins at `me`. */
export const subtree = (me: number, p: number): number => Math.min(me === 0 ? p : me & -me, p - me);

/** @param mine this rank's block @param recv at the root: p blocks */
export function gatherBinomial(s: Schedule, mine: Buf, recv: Buf | undefined, root: number): void {
  const p = s.size;
  const b = mine.bytes;
  const me = (s.rank - root + p) % p;
  const real = (r: number): number => (r + root) % p;
  const width = subtree(me, p);
  const direct = me === 0 && root === 0;
  const own = direct ? recv! : width === 1 ? mine : s.scratch(width * b);
  s.copy(mine, part(own, 0, b));
  for (let mask = 1; mask < width; mask *= 2) s.recv(real(me + mask), part(own, mask * b, subtree(me + mask, p) * b));
  s.next();
  if (me !== 0) s.send(real(me - (me & -me)), part(own, 0, width * b));
  else if (!direct) {
    // Relative rank 0 is the root: turn back.
    s.copy(part(own, 0, (p - root) * b), part(recv!, root * b, (p - root) * b));
    s.copy(part(own, (p - root) * b, root * b), block(recv!, 0, root * b));
  }
}
