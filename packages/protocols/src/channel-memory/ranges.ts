/** Ranges of numbers, and when the determinants of several Channel Memories together reach an image's line. */
import type { Range } from './events.ts';

/** Adds [from, to) to sorted, disjoint `ranges`, in place; neighbours melt together. */
export function addRange(ranges: [number, number][], from: number, to: number): void {
  if (to <= from) return;
  let i = ranges.length;
  while (i > 0 && ranges[i - 1]![0] > from) i--;
  ranges.splice(i, 0, [from, to]);
  for (let k = Math.max(0, i - 1); k + 1 < ranges.length;) {
    const a = ranges[k]!;
    const b = ranges[k + 1]!;
    if (b[0] <= a[1]) {
      a[1] = Math.max(a[1], b[1]);
      ranges.splice(k + 1, 1);
    } else if (k > i) break;
    else k++;
  }
}

/** The parts of [from, to) that `ranges` (sorted, disjoint) lack. */
export function missing(ranges: readonly Range[], from: number, to: number): Range[] {
  const out: Range[] = [];
  let at = from;
  for (const [a, b] of ranges) {
    if (a >= to) break;
    if (b <= at) continue;
    if (a > at) out.push([at, a]);
    at = Math.max(at, b);
  }
  if (at < to) out.push([at, to]);
  return out;
}

/**
 * True when the union of what the Channel Memories hold has every determinant in [from, to): the condition of an
 * image's line.
 */
export function coversDeterminants(perCm: Iterable<readonly Range[]>, from: number, to: number): boolean {
  const all: [number, number][] = [];
  for (const ranges of perCm) for (const [a, b] of ranges) addRange(all, a, b);
  return missing(all, from, to).length === 0;
}
