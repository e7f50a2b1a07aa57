/**
 * Waiting in tests: for a condition, and not for a time. The only other way to wait is Vitest's `expect.poll`, whose
 * limit is in vitest.config.ts.
 */
import { patient } from './pace.mjs';

export { pace, patient } from './pace.mjs';

/** How long a wait may stand still, ms, on a machine that is busy with the tests alone. */
const LIMIT_MS = 120_000;
/** A pause that took longer than this did so because this process was not run: only so much of it counts, ms. */
const LONGEST_PAUSE_MS = 500;

export interface Patience {
  /** How long it may stand still, ms; multiplied by the pace of the machine. */
  readonly limitMs?: number;
  /** What changes while the wait gets on: each change begins the limit anew. */
  readonly progress?: () => unknown;
}

/**
 * Asks until `condition` returns something, less often the longer it has waited: each answer of a server takes
 * processor time.
 * @param what what is waited for, for the error
 * @param condition what ends the wait: anything but `false`, `undefined` and `null`
 * @returns what the condition returned
 * @throws when nothing has changed for the limit. Time in which this process did not run does not count.
 */
export async function until<T>(
  what: string | (() => string),
  condition: () => T | Promise<T>,
  { limitMs = LIMIT_MS, progress }: Patience = {},
): Promise<Exclude<T, false | undefined | null>> {
  const limit = patient(limitMs);
  let still = 0;
  let seen: unknown;
  for (let waited = 0; ;) {
    const found = await condition();
    if (found !== false && found !== undefined && found !== null) return found as Exclude<T, false | undefined | null>;
    const now = progress?.();
    if (now !== seen) still = 0;
    seen = now;
    if (still > limit)
      throw new Error(`nothing changed for ${Math.round(limit / 1000)} s: ${typeof what === 'string' ? what : what()}`);
    const began = performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.min(20 + waited / 20, 250)));
    const took = Math.min(performance.now() - began, LONGEST_PAUSE_MS);
    waited += took;
    still += took;
  }
}
