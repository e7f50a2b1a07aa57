/**
 * Whose job is next, where jobs of several owners wait for slots. Pure: the numbers come from the dispatcher.
 *
 *  D27 The next job is the first of the owner that has the fewest slots in use; of equal ones, of the owner that has
 *      used the least lately; of equal ones, the job that was submitted first. Jobs of one owner keep their order. A
 *      job that has waited for {@link DispatcherSettings.overdueMs}, with nothing of its owner starting meanwhile,
 *      comes before all that have not, and of such jobs the one that has waited longest comes first. So every job comes
 *      first some day, however many other owners come, and then holds back the others until its slots are free (D4).
 *
 * What was used lately is slot-time that loses half of its weight in each {@link DispatcherSettings.halfLifeMs}.
 */

/** The first job of an owner that waits. */
export interface Head {
  /** Slots that the owner has in use. */
  readonly inUse: number;
  /** What it used lately. */
  readonly recent: number;
  /** Since when it waits, and its owner has started nothing. */
  readonly since: number;
  /** Place in the order of submission. */
  readonly order: number;
}

/** D27. Undefined: nobody waits. */
export function next<H extends Head>(heads: Iterable<H>, now: number, overdueMs: number): H | undefined {
  let best: H | undefined;
  let bestKey: readonly number[] = [];
  for (const head of heads) {
    const overdue = now - head.since >= overdueMs;
    const key = overdue ? [0, head.since, head.order] : [1, head.inUse, head.recent, head.order];
    if (!best || less(key, bestKey)) {
      best = head;
      bestKey = key;
    }
  }
  return best;
}

function less(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! < b[i]!;
  return false;
}

/**
 * What was used lately after `ms`, of which `slots` were in use all the time. An owner that has one slot in use for
 * ever comes to halfLifeMs / ln 2.
 */
export function decayed(recent: number, slots: number, ms: number, halfLifeMs: number): number {
  const left = 2 ** (-Math.max(0, ms) / halfLifeMs);
  return recent * left + ((slots * halfLifeMs) / Math.LN2) * (1 - left);
}
