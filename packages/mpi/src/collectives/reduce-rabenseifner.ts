/**
 * Rabenseifner's reductions for long vectors: reduce-scatter by recursive halving (partners exchange opposite halves of what is left, so each
 * process ends with one fully reduced piece), then allgather the pieces by recursive doubling, or send them to the root.
 * For operations that commute. Every piece is reduced at one process, so all ranks get the same bits.
 * Cost: 2 log₂ p α + 2 (p−1)/p nβ + (p−1)/p nγ.
 */
import { part, type Buf } from '../buffers.ts';
import { fold, unfold, type Folded } from './fold.ts';
import type { Reduction, Schedule } from '../schedule.ts';

/** Pieces [from, to) of a vector cut in `pieces`, on borders of units. */
function pieces(acc: Buf, unit: number, count: number): (from: number, to: number) => Buf {
  const units = acc.bytes / unit;
  const border = (i: number): number => Math.floor((units * i) / count) * unit;
  return (from, to) => part(acc, border(from), border(to) - border(from));
}

function reduceScatterHalving(s: Schedule, acc: Buf, incoming: Buf, r: Reduction, f: Folded): void {
  const range = pieces(acc, r.unit, f.pof2);
  let from = 0;
  let to = f.pof2;
  for (let mask = f.pof2 / 2; mask >= 1; mask /= 2) {
    const peer = f.me ^ mask;
    const middle = (from + to) / 2;
    const lower = range(from, middle);
    const upper = range(middle, to);
    const [keep, give] = (f.me & mask) === 0 ? [lower, upper] : [upper, lower];
    const got = part(incoming, 0, keep.bytes);
    if (give.bytes > 0) s.send(f.real(peer), give);
    if (keep.bytes > 0) s.recv(f.real(peer), got);
    s.next().reduce(r, got, keep);
    if ((f.me & mask) === 0) to = middle;
    else from = middle;
  }
}

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
