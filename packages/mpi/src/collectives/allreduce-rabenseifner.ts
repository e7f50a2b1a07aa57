/**
 * Rabenseifner's allreduce for long vectors: reduce-scatter by recursive halving, then the pieces are gathered
 * everywhere by recursive doubling. For operations that commute; all ranks get the same bits.
 * Cost: 2 log₂ p α + 2 (p−1)/p nβ + (p−1)/p nγ.
 */
import { fold, unfold } from './fold.ts';
import { pieces, reduceScatterHalving } from './reduce-scatter-halving.ts';
import type { Buf } from '../buffers.ts';
import type { Reduction, Schedule } from '../schedule.ts';

/** `acc` holds this rank's operand, and then the result. */
export function allreduceRabenseifner(s: Schedule, acc: Buf, r: Reduction): void {
  const incoming = s.scratch(acc.bytes);
  const f = fold(s, acc, incoming, r);
  if (f.me >= 0) {
    reduceScatterHalving(s, acc, incoming, r, f);
    const range = pieces(acc, r.unit, f.pof2);
    for (let mask = 1; mask < f.pof2; mask *= 2) {
      const peer = f.me ^ mask;
      const mine = f.me & ~(mask - 1);
      const theirs = peer & ~(mask - 1);
      const out = range(mine, mine + mask);
      const into = range(theirs, theirs + mask);
      if (out.bytes > 0) s.send(f.real(peer), out);
      if (into.bytes > 0) s.recv(f.real(peer), into);
      s.next();
    }
  }
  unfold(s, acc, f);
}
