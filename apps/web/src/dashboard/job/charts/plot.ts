/** What the charts draw, as numbers and paths. Pure. */
import { recoveryOf, type Fault, type JobView } from '@mayfly/wire';

export const HEIGHT = 100;
type Series = readonly (number | null)[];

/** The next of 1, 2, 5, 10, 20 … at or above; 1 for nothing. */
export function niceMax(n: number): number {
  if (!(n > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 5, 10].map((k) => k * power).find((k) => k >= n * 0.999) ?? 10 * power;
}

/** Up to five lines of a scale at round numbers, `max` the last. */
export function linesOf(max: number): number[] {
  const round = (n: number): boolean => Number(n.toPrecision(2)) === Number(n.toPrecision(6));
  const parts = [4, 5, 3, 2].find((p) => round(max / p)) ?? 1;
  return Array.from({ length: parts }, (_, i) => Number(((max * (i + 1)) / parts).toPrecision(6)));
}

export const maxOf = (s: Series): number => s.reduce<number>((m, v) => Math.max(m, v ?? 0), 0);

/** Column of the last value; -1: there is none. What lies behind it is no gap. */
export const lastKnown = (s: Series): number => s.findLastIndex((v) => v !== null);

/**
 * Steps, one per column, x in columns and y in HEIGHT; a gap where nobody saw. `close`: as areas down to the line of
 * zero.
 */
export function stepsOf(s: Series, max: number, close = false): string {
  const out: string[] = [];
  let before: number | null = null;
  s.forEach((v, c) => {
    if (v === null) {
      if (before !== null && close) out.push(`V${HEIGHT}Z`);
    } else {
      const y = round(HEIGHT - (HEIGHT * v) / max);
      out.push(before !== null ? `V${y}` : close ? `M${c} ${HEIGHT}V${y}` : `M${c} ${y}`, `H${c + 1}`);
    }
    before = v;
  });
  if (before !== null && close) out.push(`V${HEIGHT}Z`);
  return out.join('');
}

export interface RecoveryBar {
  /** Of one lost rank, or the mean of several. */
  faults: readonly Fault[];
  place: number;
  start: number;
  repeat: number;
}

/**
 * Recoveries, in the order of the losses: a bar for each, or, of more than `most`, for so many in a row as their mean.
 */
export function recoveriesOf({ faults, waves }: Pick<JobView, 'faults' | 'waves'>, most: number): RecoveryBar[] {
  const known = faults
    .flatMap((fault) => {
      const { place, start, repeat = 0 } = recoveryOf(fault, waves) ?? {};
      return place === undefined || start === undefined ? [] : [{ fault, place, start, repeat }];
    })
    .toSorted((a, b) => a.fault.at - b.fault.at);
  const each = Math.max(1, Math.ceil(known.length / most));
  return Array.from({ length: Math.ceil(known.length / each) }, (_, i) => {
    const of = known.slice(i * each, (i + 1) * each);
    const mean = (phase: 'place' | 'start' | 'repeat'): number => of.reduce((sum, r) => sum + r[phase], 0) / of.length;
    return {
      faults: of.map((r) => r.fault),
      place: mean('place'),
      start: mean('start'),
      repeat: mean('repeat'),
    };
  });
}

const round = (n: number): number => Math.round(n * 10) / 10;
