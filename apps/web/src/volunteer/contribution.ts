/** What this browser has given so far, over all its visits: kept with the choices. Pure but for where it is kept. */
import type { Gave } from '@mayfly/node/page';
import { remember, remembered } from '../shared/stored.ts';

export type Kept = Gave;
const NOTHING: Kept = { usefulMs: 0, replayedMs: 0, finished: 0, jobs: 0 };
const KEY = 'gave';

export function parseKept(text: string | undefined): Kept {
  try {
    const all = JSON.parse(text ?? '{}') as Partial<Record<keyof Kept, unknown>>;
    const count = (v: unknown): number => (typeof v === 'number' && Number.isFinite(v) && v >= 0 ? v : 0);
    return {
      usefulMs: count(all.usefulMs),
      replayedMs: count(all.replayedMs),
      finished: count(all.finished),
      jobs: count(all.jobs),
    };
  } catch {
    return NOTHING;
  }
}

export const plus = (a: Kept, b: Kept, sign = 1): Kept => ({
  usefulMs: a.usefulMs + sign * b.usefulMs,
  replayedMs: a.replayedMs + sign * b.replayedMs,
  finished: a.finished + sign * b.finished,
  jobs: a.jobs + sign * b.jobs,
});

/**
 * Adds what a visit gives to what is kept; another tab of this browser may do the same, so only differences are added.
 */
export class Giving {
  #added: Kept = NOTHING;
  #sum: Kept = parseKept(remembered(KEY));

  /** `now`: what this visit has given so far. Returns the sum over all visits. */
  take(now: Kept): Kept {
    return plus(this.#sum, plus(now, this.#added, -1));
  }

  keep(now: Kept): void {
    this.#sum = plus(parseKept(remembered(KEY)), plus(now, this.#added, -1));
    this.#added = now;
    remember(KEY, JSON.stringify(this.#sum));
  }
}
