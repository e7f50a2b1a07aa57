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

export interface Recoveries {
  /** Share of the time axis where it stands, 0 to 1. */
  at: number;
  /** How many lost ranks this bar is the mean of. */
  faults: number;
  slotMs: number;
  startMs: number;
  replayMs: number;
}

/**
 * Recoveries whose phases are known, those that lie in one of `places` places as their mean. `repeat`: how long ranks
 * repeat work, where the fault does not say it.
 */
export function recoveriesOf(
  faults: readonly Fault[],
  from: number,
  to: number,
  places: number,
  repeat: (f: Fault) => number | undefined = () => undefined,
): Recoveries[] {
  const bars = new Map<number, Recoveries>();
  for (const f of faults) {
    if (f.assignedAfterMs === undefined || f.startedAfterMs === undefined || f.recoveredAfterMs === undefined) continue;
    const place = Math.max(0, Math.min(places - 1, Math.floor(((f.at - from) / Math.max(1, to - from)) * places)));
    const bar = bars.get(place) ?? { at: (place + 0.5) / places, faults: 0, slotMs: 0, startMs: 0, replayMs: 0 };
    bars.set(place, bar);
    bar.faults++;
    bar.slotMs += f.assignedAfterMs;
    bar.startMs += Math.max(0, f.startedAfterMs - f.assignedAfterMs);
    bar.replayMs += repeat(f) ?? Math.max(0, f.recoveredAfterMs - f.startedAfterMs);
  }
  return [...bars.values()]
    .map((b) => ({ ...b, slotMs: b.slotMs / b.faults, startMs: b.startMs / b.faults, replayMs: b.replayMs / b.faults }))
    .toSorted((a, b) => a.at - b.at);
}

const round = (n: number): number => Math.round(n * 10) / 10;
