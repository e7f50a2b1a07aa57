/**
 * From runs to ratios: what a protocol costs without losses, what a loss costs, and what follows for a loss every so
 * often. Pure.
 */
import { median } from '../table.ts';

export interface Run {
  readonly protocol: string;
  /** Runs of one round followed each other: the machine was about as fast. */
  readonly round: number;
  /** s */
  readonly took: number;
  /** Processor time of server and nodes, s, divided by the number of processors. */
  readonly busy: number;
  /** How many there were. */
  readonly losses: number;
  /** s from one to the next; undefined: none was wanted. */
  readonly every?: number;
}

/** The middle one of several, and the range that they cover. */
export interface Spread {
  readonly middle: number;
  readonly least: number;
  readonly most: number;
  readonly count: number;
}

const spread = (a: readonly number[]): Spread | undefined =>
  a.length === 0 ? undefined : { middle: median(a), least: Math.min(...a), most: Math.max(...a), count: a.length };

/** By the clock, or by processor time: what the clock would show if the job kept all processors busy, alone. */
export type Measure = 'took' | 'busy';

const calm = (runs: readonly Run[], protocol: string): Run[] =>
  runs.filter((r) => r.protocol === protocol && r.every === undefined);

/** The time without losses as a multiple of that of `none` in the same round. */
export function overhead(runs: readonly Run[], protocol: string, by: Measure): Spread | undefined {
  const none = new Map(calm(runs, 'none').map((r) => [r.round, r[by]]));
  return spread(calm(runs, protocol).flatMap((r) => (none.has(r.round) ? [r[by] / none.get(r.round)!] : [])));
}

/**
 * s that a loss adds to a run, against the run without losses of the same round. A run with one loss says that for any
 * interval, one with several only for its own.
 */
export function costOfLoss(runs: readonly Run[], protocol: string, every: number, by: Measure): Spread | undefined {
  const base = new Map(calm(runs, protocol).map((r) => [r.round, r[by]]));
  return spread(
    runs.flatMap((r) =>
      r.protocol === protocol && base.has(r.round) && (r.losses === 1 || (r.losses > 1 && r.every === every))
        ? [(r[by] - base.get(r.round)!) / r.losses]
        : [],
    ),
  );
}

/**
 * The time with a loss every `every` s as a multiple of that of `none` without losses: in a time t there are t / every
 * losses, so t = without + cost × t / every. Infinity: losses come faster than work.
 */
export function withLosses(runs: readonly Run[], protocol: string, every: number, by: Measure): Spread | undefined {
  const [without, cost] = [overhead(runs, protocol, by), costOfLoss(runs, protocol, every, by)];
  if (!without || !cost) return undefined;
  const at = (c: number): number => (c < every ? without.middle / (1 - c / every) : Infinity);
  return { middle: at(cost.middle), least: at(cost.least), most: at(cost.most), count: cost.count };
}
