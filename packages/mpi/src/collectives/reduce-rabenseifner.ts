/**
 * Rabenseifner's reduce for long vectors: reduce-scatter by recursive halving, then the pieces go to the root. For
 * operations that commute. Cost: (log₂ p + 1) α + 2 (p−1)/p nβ + (p−1)/p nγ.
 */
import { fold } from './fold.ts';
import { pieces, reduceScatterHalving } from './reduce-scatter-halving.ts';
import type { Buf } from '../buffers.ts';
import type { Reduction, Schedule } from '../schedule.ts';

/** `acc` holds this rank's operand (destroyed), `recv` gets the result at the root. */
export function reduceRabenseifner(s: Schedule, acc: Buf, recv: Buf | undefined, r: Reduction, root: number): void {
  const incoming = s.scratch(acc.bytes);
  const f = fold(s, acc, incoming, r);
  const out = pieces(acc, r.unit, f.pof2);
  if (f.me >= 0) {
    reduceScatterHalving(s, acc, incoming, r, f);
    const mine = out(f.me, f.me + 1);
    if (s.rank !== root && mine.bytes > 0) s.send(root, mine);
  }
  if (s.rank !== root) return;
  const into = pieces(recv!, r.unit, f.pof2);
  for (let i = 0; i < f.pof2; i++) {
    const piece = into(i, i + 1);
    if (i === f.me) s.copy(out(i, i + 1), piece);
    else if (piece.bytes > 0) s.recv(f.real(i), piece);
  }
}
