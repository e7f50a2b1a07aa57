/**
 * A row compares one number: the paper's, that of the reference model, and ours. The reference model is a few lines at
 * the level of clusters (Poisson messages, CLCs that take no time); its numbers are means of as many runs as each row
 * says.
 */
import type { FederationStatistics } from '@mayfly/simulator';
import { sample, type Runs, type Sample } from './setups.ts';

export interface Row {
  readonly what: string;
  readonly paper?: string;
  /** The paper's number has to be among those of the seeds. */
  readonly paperNumber?: number;
  readonly reference?: Reference;
  readonly instant: Sample;
  readonly costly: Sample | undefined;
  /** Why the paper's number cannot follow from the parameters that it states. */
  readonly cannot?: string;
}

export interface Reference {
  readonly mean: number;
  readonly runs: number;
  /** Half of the last digit that is printed. */
  readonly rounding: number;
  /** Standard deviation of one of its runs, where few of our seeds may show none. */
  readonly deviation?: number;
}
export const reference = (mean: number, runs = 300, deviation = 0): Reference => ({
  ...{ mean, runs, deviation },
  rounding: 0.05,
});

export function row(
  what: string,
  runs: Runs,
  of: (s: FederationStatistics) => number,
  more: Partial<Pick<Row, 'paper' | 'paperNumber' | 'reference' | 'cannot'>> = {},
): Row {
  const costly = runs.costly.length > 0 ? sample(runs.costly.map(of)) : undefined;
  const paper = more.paperNumber === undefined ? {} : { paper: String(more.paperNumber) };
  return { what, ...paper, ...more, instant: sample(runs.instant.map(of)), costly };
}

/** How far our mean may be from the reference: three standard errors of the difference of both means, and rounding. */
export function tolerance({ instant, reference: r }: Row): number {
  if (!r) return Infinity;
  const deviation = Math.max(instant.deviation, r.deviation ?? 0);
  return 3 * deviation * Math.sqrt(1 / instant.count + 1 / r.runs) + r.rounding;
}
export const agrees = (r: Row): boolean => !r.reference || Math.abs(r.instant.mean - r.reference.mean) <= tolerance(r);
export const inRange = ({ paperNumber: p, instant, cannot }: Row): boolean =>
  p === undefined || cannot !== undefined || (instant.least <= p && p <= instant.most);
