/**
 * Makes a failing run short: fewer faults (delta debugging), then a smaller workload, for as long as it fails in the
 * same way. Cost: one run per try, at most `tries`.
 */
import { drawFaults, type Fault } from './faults.ts';
import type { Setup } from './setup.ts';
import { draw, run, type RunOptions, type RunReport } from './run.ts';

export interface Shrunk {
  /** Give these to `run` with the same seed. */
  readonly options: RunOptions;
  readonly report: RunReport;
  readonly faultsBefore: number;
  readonly tries: number;
}

/** The checker that spoke, or the first words of the error: a shorter run must fail for the same reason. */
const kind = (violation: string): string => /^K\d+/.exec(violation)?.[0] ?? violation.replace(/\d+/g, 'n').slice(0, 40);

export function shrink(seed: number, o: RunOptions = {}, most = 400): Shrunk | undefined {
  const first = run(seed, o);
  if (first.violation === undefined) return undefined;
  const wanted = kind(first.violation);
  let tries = 0;
  let best = first;
  let options: RunOptions = { ...o, faults: o.faults ?? drawFaults(seed, o.faultEveryMs, o.only) };
  const attempt = (candidate: RunOptions): boolean => {
    if (tries >= most) return false;
    tries++;
    const r = run(seed, candidate);
    if (r.violation === undefined || kind(r.violation) !== wanted) return false;
    best = r;
    options = candidate;
    return true;
  };
  const before = options.faults!.length;
  // what falls after the end of the run never mattered
  attempt({ ...options, faults: options.faults!.filter((f) => f.at <= first.simulatedMs) });
  fewerFaults(attempt, () => options);
  for (const [key, values] of Object.entries(SMALLER))
    for (const value of values) {
      const now = draw(seed, options);
      const is = key in now.spec ? now.spec[key as keyof typeof now.spec] : now[key as keyof Setup];
      if (typeof is !== 'number' || is <= value) continue;
      const changed =
        key in now.spec ? { spec: { ...options.spec, [key]: value } } : { setup: { ...options.setup, [key]: value } };
      if (attempt({ ...options, ...changed })) break;
    }
  fewerFaults(attempt, () => options);
  return { options, report: best, faultsBefore: before, tries };
}

/** What else may be smaller, smallest first. */
const SMALLER: Record<string, readonly number[]> = {
  rounds: [1, 2, 3, 5, 8, 13],
  size: [2, 3, 4],
  channelMemories: [1, 2],
  maxBody: [16, 200],
  stdin: [0],
  nodes: [1, 2, 3],
  maxDelay: [2, 10],
};

/** ddmin: leaves out halves, quarters, … single faults. */
function fewerFaults(attempt: (o: RunOptions) => boolean, options: () => RunOptions): void {
  let parts = 2;
  for (;;) {
    const faults: readonly Fault[] = options().faults ?? [];
    if (faults.length === 0) return;
    parts = Math.min(parts, faults.length);
    const size = Math.ceil(faults.length / parts);
    let shorter = false;
    for (let i = 0; i < faults.length && !shorter; i += size)
      shorter = attempt({ ...options(), faults: [...faults.slice(0, i), ...faults.slice(i + size)] });
    if (shorter) parts = Math.max(2, parts - 1);
    else if (parts >= faults.length) return;
    else parts *= 2;
  }
}
