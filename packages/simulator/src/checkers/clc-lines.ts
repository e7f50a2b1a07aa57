/**
 * The recovery line and the garbage line of clusters, by their definition: of all ways to go back, the one that undoes
 * least. Shares no code with the cores; enumerates where that is few, and else goes back step by step.
 */

/** What a committed checkpoint of a cluster (CLC) says of what its cluster depends on. */
export interface Clc {
  readonly sn: number;
  readonly ddv: readonly number[];
}
/** By cluster, the oldest first. */
export type Kept = readonly (readonly Clc[])[];

const FEW = 3000;

/**
 * By cluster: the place of the CLC that it goes back to; its number of CLCs where it goes on.
 * @param most by cluster: the newest CLC that it may go back to, of those that have failed
 */
export function greatestLine(kept: Kept, most: ReadonlyMap<number, number>): number[] {
  const start = kept.map((clcs, cluster) => most.get(cluster) ?? clcs.length);
  if (start.reduce((n, at) => n * (at + 1), 1) > FEW) return stepByStep(kept, start);
  const best = kept.map(() => -1);
  const at = kept.map(() => 0);
  for (;;) {
    if (consistent(kept, at)) at.forEach((x, i) => (best[i] = Math.max(best[i]!, x)));
    let i = 0;
    while (i < at.length && at[i] === start[i]) at[i++] = 0;
    if (i === at.length) return best;
    at[i]!++;
  }
}

/** Nobody keeps what depends on something undone: what a CLC's interval depends on is in its DDV. */
function consistent(kept: Kept, at: readonly number[]): boolean {
  return kept.every((clcs, j) => {
    const last = clcs[at[j]! - 1];
    return kept.every((of, i) => {
      const back = of[at[i]!];
      return i === j || !back || !last || last.ddv[i]! < back.sn;
    });
  });
}

function stepByStep(kept: Kept, start: readonly number[]): number[] {
  const at = [...start];
  while (!consistent(kept, at)) {
    const j = at.findIndex((_, cluster) =>
      kept.some((of, i) => {
        const back = of[at[i]!];
        const last = kept[cluster]![at[cluster]! - 1];
        return i !== cluster && back && last && last.ddv[i]! >= back.sn;
      }),
    );
    at[j]!--;
  }
  return at;
}

/** By cluster: the oldest CLC that a loss may need in one or two clusters, the newest of which may be damaged. */
export function oldestNeeded(kept: Kept): number[] {
  const oldest = kept.map((clcs) => clcs.length - 1);
  const starts = kept.map((clcs) => [clcs.length - 1, Math.max(0, clcs.length - 2)]);
  const need = (most: ReadonlyMap<number, number>): void =>
    greatestLine(kept, most).forEach((at, i) => (oldest[i] = Math.min(oldest[i]!, at)));
  for (let f = 0; f < kept.length; f++)
    for (const a of starts[f]!) {
      need(new Map([[f, a]]));
      for (let g = f + 1; g < kept.length; g++)
        for (const b of starts[g]!)
          need(
            new Map([
              [f, a],
              [g, b],
            ]),
          );
    }
  return oldest;
}
