/** Clusters of ranks and their timers as people type them: on the command line and in the form. */
import { MAX_RANKS } from './limits.ts';

const whole = (text: string, least: number, most: number): number | undefined => {
  const n = Number(text);
  return /^\d{1,9}$/.test(text) && n >= least && n <= most ? n : undefined;
};

/** '2', '0-3,4-7', '0-2+7,3-6': how many, or the ranks of each. Undefined: it is neither. */
export function clustersOfText(text: string): number | number[][] | undefined {
  const count = whole(text, 1, MAX_RANKS);
  if (count !== undefined) return count;
  const clusters: number[][] = [];
  for (const cluster of text.split(',')) {
    const ranks: number[] = [];
    for (const range of cluster.split('+')) {
      const ends = range.split('-').map((n) => whole(n.trim(), 0, MAX_RANKS - 1));
      const [first, last = first] = ends;
      if (first === undefined || last === undefined || last < first || ends.length > 2 || ends.includes(undefined))
        return undefined;
      for (let rank = first; rank <= last; rank++) ranks.push(rank);
    }
    clusters.push(ranks);
  }
  return clusters;
}

/** What {@link clustersOfText} reads as the same clusters. */
export function textOfClusters(clusters: number | readonly (readonly number[])[]): string {
  if (typeof clusters === 'number') return String(clusters);
  return clusters
    .map((ranks) => {
      const ranges: [first: number, last: number][] = [];
      for (const rank of ranks) {
        const range = ranges.at(-1);
        if (range?.[1] === rank - 1) range[1] = rank;
        else ranges.push([rank, rank]);
      }
      return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join('+');
    })
    .join(',');
}

/** '30,none': seconds between checkpoints, of each cluster, as ms; null: no timer. Undefined: it is not that. */
export function timersOfText(text: string): (number | null)[] | undefined {
  const timers = text.split(',').map((part) => {
    const one = part.trim();
    if (one === 'none') return null;
    return /^\d{1,5}(\.\d{1,3})?$/.test(one) ? Math.round(Number(one) * 1000) : undefined;
  });
  return timers.every((ms) => ms !== undefined) ? timers : undefined;
}

/** What {@link timersOfText} reads as the same timers. */
export const textOfTimers = (timers: readonly (number | null)[]): string =>
  timers.map((ms) => (ms === null ? 'none' : String(ms / 1000))).join(',');
