/** What the charts draw, as numbers and paths. Pure. */
import { recoveryOf, type Fault, type JobView } from '@mayfly/wire';

export const HEIGHT = 100;
type Series = readonly (number | null)[];

/** What a scale counts: things of which there is half a one (a rate), bytes, or ms. */
export type Unit = 'rate' | 'bytes' | 'time';
export interface Scale {
  max: number;
  /** Numbers with a line, `max` the last. */
  lines: number[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Scales of time that are not decimal: where they end, and how many lines they have. */
const CLOCK = [
  [30_000, 3],
  [MINUTE, 4],
  [2 * MINUTE, 4],
  [5 * MINUTE, 5],
  [10 * MINUTE, 5],
  [20 * MINUTE, 4],
  [30 * MINUTE, 3],
  [HOUR, 4],
] as const;

/** The scale on which `most` has a place, with up to five lines at numbers that people read as round. */
export function scaleOf(most: number, unit: Unit): Scale {
  if (unit !== 'time' || most <= 20_000 * SLACK) return decimal(most, unit === 'rate' ? 0 : 1);
  const clock = CLOCK.find(([end]) => most <= end * SLACK);
  if (clock) return split(clock[0], clock[1]);
  const hours = decimal(most / HOUR, 1);
  return { max: hours.max * HOUR, lines: hours.lines.map((n) => n * HOUR) };
}

/** So far beyond its scale, a value is drawn at the top. */
const SLACK = 1.001;

/** The next of 1, 2, 5, 10, 20 … at or above; 1 for nothing. `least`: there is nothing smaller. */
function decimal(n: number, least: number): Scale {
  const power = n > 0 ? 10 ** Math.floor(Math.log10(n)) : 1;
  const next = n > 0 ? ([1, 2, 5].map((k) => k * power).find((k) => n <= k * SLACK) ?? 10 * power) : 1;
  const max = Math.max(least, next);
  const round = (line: number): boolean =>
    Number(line.toPrecision(2)) === Number(line.toPrecision(6)) && (least === 0 || max > 10 || line % least === 0);
  return split(max, [4, 5, 2].find((parts) => round(max / parts)) ?? 1);
}

/** All of a number of things, with lines at whole ones. */
export const wholeScale = (n: number): Scale => split(n, [5, 4, 3, 2].find((parts) => n % parts === 0) ?? 1);

const split = (max: number, parts: number): Scale => ({
  max,
  lines: Array.from({ length: parts }, (_, i) => Number(((max * (i + 1)) / parts).toPrecision(6))),
});

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
