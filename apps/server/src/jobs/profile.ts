/** Where the time of each rank went: what the ranks say of themselves, and what the server knows of them. Pure. */
import { LANE_KINDS, SPENT, taskId, type RankProfile } from '@mayfly/wire';
import type { JobHistory } from '../history/job-history.ts';
import type { RankTimes, RunSummary } from './run-log.ts';

const placesOf = (own: RankTimes, call: string): { place: string; ms: number }[] =>
  (own.places ?? []).flatMap(([of, place, ms]) => (of === call && ms >= 0.5 ? [{ place, ms: Math.round(ms) }] : []));

/** `history`: how long a rank started, was dead, or paused. */
export function profileOf(size: number, run: RunSummary, history: JobHistory | undefined): RankProfile[] {
  const b = history?.buckets;
  const known = b && b.until > b.origin ? b.read(b.origin, b.until - b.origin, 1, 0, size - 1).sums : undefined;
  return Array.from({ length: size }, (_, rank) => {
    const own = run.ranks?.[rank];
    const ms: Record<string, number> = {};
    LANE_KINDS.forEach((kind, k) => {
      const spent = k < SPENT.length ? (own?.spentMs[k] ?? 0) : (known?.[rank * LANE_KINDS.length + k] ?? 0);
      // What took less than a millisecond was not nothing.
      if (spent > 0) ms[kind] = spent < 1 ? Number(spent.toPrecision(1)) : Math.round(spent);
    });
    return {
      rank: taskId(rank),
      ms,
      calls: (own?.calls ?? []).map(([call, ms, times]) => ({
        call,
        ms: Math.round(ms),
        times,
        places: placesOf(own!, call),
      })),
    };
  });
}
