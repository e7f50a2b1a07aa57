/**
 * What of a task's logs a restart would miss. The comm worker asks before its rank begins, and the dispatcher before it
 * assigns an incarnation: a job ends with LOST_LOG because the server's own logs lack something, never because a node
 * claims it.
 */
import type { TaskId } from '@mayfly/wire';
import { addRange, missing } from '../channel-memory/ranges.ts';
import type { Holdings } from '../channel-memory/events.ts';
import type { ReplayFrom } from './position.ts';

/** The logs of a task as far as a restart needs them; `lacks`: the first determinant in [from, to) that no log has. */
export interface Known {
  readonly arrivals: number;
  readonly consumed: number;
  readonly determinants: number;
  readonly limit: (dst: TaskId) => number;
  readonly lacks: (from: number, to: number) => number | undefined;
}

/** What the logs lost of what a restart from `replay` needs (power loss beyond `behind`); undefined: nothing. */
export function lostFor({ prologue, image }: ReplayFrom, known: Known): string | undefined {
  const consumed = Math.max(known.consumed, image.arrivals);
  if (consumed > known.arrivals)
    return `arrivals ${known.arrivals + 1} to ${consumed}, whose effects are known elsewhere`;
  for (const [dst, n] of image.sends)
    if (known.limit(dst) < n)
      return `messages to task ${dst} before the image: ${n} were sent, ${known.limit(dst)} are logged`;
  const determinant =
    known.lacks(0, prologue.determinants) ??
    known.lacks(image.determinants, Math.max(known.determinants, image.determinants));
  return determinant === undefined ? undefined : `determinant ${determinant}, whose effects are known elsewhere`;
}

/** The same, from what all Channel Memories of a job answered. */
export function lostFrom(replay: ReplayFrom, all: readonly Holdings[]): string | undefined {
  const limits = new Map<TaskId, number>();
  const held: [number, number][] = [];
  for (const h of all) {
    for (const [dst, n] of h.sent) limits.set(dst, Math.max(n, limits.get(dst) ?? 0));
    for (const [a, b] of h.held) addRange(held, a, b);
  }
  const most = (of: (h: Holdings) => number): number => Math.max(0, ...all.map(of));
  return lostFor(replay, {
    arrivals: most((h) => h.arrivals),
    consumed: most((h) => h.consumed),
    determinants: most((h) => h.determinants),
    limit: (dst) => limits.get(dst) ?? 0,
    lacks: (from, to) => missing(held, from, to)[0]?.[0],
  });
}
