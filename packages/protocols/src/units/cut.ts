/**
 * The cut of a task in a wave: counts, not a place in a stream. A marker "is a line": message n of channel (q, p) lies
 * before q's cut exactly if n ≤ sends_q[p]. So a cut can be repeated after a reconnection, and it means the same to
 * every Channel Memory.
 */
import type { Cut, TaskId } from '@mayfly/wire';

/**
 * A global checkpoint is consistent exactly if no task has consumed what its sender's image has not sent: for all q, p:
 * receives_p[q] ≤ sends_q[p]. Undefined: it is; else the channel that shows the contradiction.
 */
export function contradiction(cuts: ReadonlyMap<TaskId, Cut>): { src: TaskId; dst: TaskId } | undefined {
  const sent = new Map([...cuts].map(([src, { sends }]) => [src, new Map(sends)]));
  for (const [dst, { receives }] of cuts)
    for (const [src, count] of receives) {
      const sends = sent.get(src);
      if (sends && count > (sends.get(dst) ?? 0)) return { src, dst };
    }
  return undefined;
}
