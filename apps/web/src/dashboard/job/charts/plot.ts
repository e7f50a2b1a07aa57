/** What the charts draw, as numbers and paths. Pure. */
import type { Fault } from '@mayfly/wire';

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

export interface Recovery {
  /** Of one lost rank, or the mean of several. */
  faults: readonly Fault[];
  slotMs: number;
  startMs: number;
  replayMs: number;
}

type Recovered = Fault & Required<Pick<Fault, 'assignedAfterMs' | 'startedAfterMs' | 'recoveredAfterMs'>>;
const hasRecovered = (f: Fault): f is Recovered =>
  f.assignedAfterMs !== undefined && f.startedAfterMs !== undefined && f.recoveredAfterMs !== undefined;

/**
 * Recoveries whose phases are known, in the order of the losses: a bar for each, or, of more than `most`, for so many
 * in a row as their mean. `repeat`: how long a rank repeats work, where the fault does not say it.
 */
export function recoveriesOf(
  faults: readonly Fault[],
  most: number,
  repeat: (f: Fault) => number | undefined = () => undefined,
): Recovery[] {
  const known = faults.filter(hasRecovered).toSorted((a, b) => a.at - b.at);
  const each = Math.max(1, Math.ceil(known.length / most));
  return Array.from({ length: Math.ceil(known.length / each) }, (_, i) => {
    const of = known.slice(i * each, (i + 1) * each);
    const mean = (ms: (f: Recovered) => number): number => of.reduce((sum, f) => sum + ms(f), 0) / of.length;
    return {
      faults: of,
      slotMs: mean((f) => f.assignedAfterMs),
      startMs: mean((f) => Math.max(0, f.startedAfterMs - f.assignedAfterMs)),
      replayMs: mean((f) => repeat(f) ?? Math.max(0, f.recoveredAfterMs - f.startedAfterMs)),
    };
  });
}

const round = (n: number): number => Math.round(n * 10) / 10;
