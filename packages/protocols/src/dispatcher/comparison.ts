/**
 * Observations of a rank. They show whether the nodes that lost the rank for lack of progress were to blame (S4 in
 * stragglers.ts).
 *
 * Owns: Task.comparisons. Each stands until its rank is seen to do something, however many incarnations later and
 * whatever became of those in between: else a node that crashes at once would clear the one before it of being silent.
 */
import { blame, hasRecord } from './reputation.ts';
import type { Core, Task } from './state.ts';
import type { Comparison } from './suspicions.ts';

/** The rank did something new that the server has seen. */
export function called(core: Core, t: Task): void {
  const pause = core.time - t.callAt;
  t.callAt = t.seenAt = core.time;
  if (t.node !== undefined && (t.patience > 1 || hasRecord(core, t.node)))
    t.job.longestPause = Math.max(t.job.longestPause, pause);
  for (const c of t.comparisons) {
    // A rank that goes on although no message has come since then was not waiting.
    if (c.kind === 'call' || (c.kind === 'wait' && (t.logged?.arrivals ?? 0) <= (c.arrivals ?? 0)))
      compare(core, t, c, core.time - t.beganAt);
  }
  t.comparisons = [];
  t.patience = 1;
  t.doubted = t.strangers = 0;
  t.comparedAt.clear();
}

/** The rank has begun. */
export function began(core: Core, t: Task): void {
  const took = core.time - t.since;
  t.callAt = t.seenAt = t.beganAt = core.time;
  t.job.longestStart = Math.max(t.job.longestStart ?? 0, took);
  for (const c of t.comparisons) if (c.kind === 'start') compare(core, t, c, took);
  t.comparisons = t.comparisons.filter((c) => c.kind !== 'start');
}

/** Nothing came of the rank at a node. What the node did with it last counts. */
export function suspect(t: Task, c: Comparison): void {
  t.comparisons = [...t.comparisons.filter((o) => o.node !== c.node), c];
}

/** S4. */
function compare(core: Core, t: Task, c: Comparison, took: number): void {
  if (c.node === t.node) return;
  if (took < c.took) {
    const ms = blame(
      core,
      c.node,
      1,
      `rank ${t.task} of job ${t.job.record.spec.id} made no progress there, but did elsewhere`,
    );
    if (c.fault === undefined) return;
    if (ms > 0) t.job.faults[c.fault]!.quarantineMs = ms;
    t.job.dirtyFaults.add(c.fault);
  }
}
