/**
 * Allreduce by recursive doubling: partners at distance 1, 2, 4 … exchange what they have reduced so far. Where p is no
 * power of two, the first ranks fold in pairs before and hear the result after. Operands are always combined in rank
 * order, so it serves operations that do not commute, and all ranks get the same bits.
 * Cost: ⌈log₂ p⌉ (α + nβ + nγ), two more α + nβ when p is no power of two. Best for short vectors.
 */
import type { Buf } from '../buffers.ts';
import { fold, unfold } from './fold.ts';
import type { Reduction, Schedule } from '../schedule.ts';

/** `acc` holds this rank's operand, and then the result. */
export function allreduceRecursiveDoubling(s: Schedule, acc: Buf, r: Reduction): void {
  if (s.size === 1) return;
  const incoming = s.scratch(acc.bytes);
  const f = fold(s, acc, incoming, r);
  if (f.me >= 0) {
    for (let mask = 1; mask < f.pof2; mask *= 2) {
      const peer = f.me ^ mask;
      s.send(f.real(peer), acc).recv(f.real(peer), incoming).next();
      if (peer < f.me) s.reduce(r, incoming, acc);
      else s.reduceRight(r, incoming, acc);
    }
  }
  unfold(s, acc, f);
}
