/**
 * Reduce up a binomial tree. A subtree covers a contiguous range of relative ranks and children are taken nearest
 * first, so operands are combined in the order of relative ranks, whatever the timing. For an operation that does not
 * commute the tree stands on rank 0, where that order is the ranks' own, and rank 0 hands the result to the root.
 * Cost: ⌈log₂ p⌉ (α + nβ + nγ), one more α + nβ for a non-commutative operation with another root.
 */
import type { Buf } from '../buffers.ts';
import { subtree } from './gather-binomial.ts';
import type { Reduction, Schedule } from '../schedule.ts';

/** @param send this rank's operand @param recv at the root: the result */
export function reduceBinomial(s: Schedule, send: Buf, recv: Buf | undefined, r: Reduction, root: number): void {
  const p = s.size;
  const top = r.commute ? root : 0;
  const me = (s.rank - top + p) % p;
  const real = (v: number): number => (v + top) % p;
  const width = subtree(me, p);
  let acc = send;
  if (width > 1 || (me === 0 && s.rank === root)) {
    acc = me === 0 && s.rank === root ? recv! : s.scratch(send.bytes);
    s.copy(send, acc);
    const incoming = s.scratch(send.bytes);
    for (let mask = 1; mask < width; mask *= 2) {
      s.recv(real(me + mask), incoming).next();
      s.reduceRight(r, incoming, acc);
    }
  }
  if (me !== 0) s.send(real(me - (me & -me)), acc);
  else if (top !== root) s.send(root, acc);
  if (s.rank === root && top !== root) s.next().recv(top, recv!);
}
