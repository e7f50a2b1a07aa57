/**
 * The first half of Rabenseifner's reductions: reduce-scatter by recursive halving. Partners exchange opposite halves
 * of what is left, so each process ends with one fully reduced piece. For operations that commute; every piece is
 * reduced at one process. Cost: log₂ p α + (p−1)/p n (β + γ), for p a power of two (fold.ts).
 */
import { part, type Buf } from '../buffers.ts';
import type { Folded } from './fold.ts';
import type { Reduction, Schedule } from '../schedule.ts';

/** Pieces [from, to) of a vector cut in `pieces`, on borders of units. */
export function pieces(acc: Buf, unit: number, count: number): (from: number, to: number) => Buf {
  const units = acc.bytes / unit;
  const border = (i: number): number => Math.floor((units * i) / count) * unit;
  return (from, to) => part(acc, border(from), border(to) - border(from));
}

export function reduceScatterHalving(s: Schedule, acc: Buf, incoming: Buf, r: Reduction, f: Folded): void {
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
