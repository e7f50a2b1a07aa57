/**
 * What the Channel Memories hold of a task, and what of it a restart would miss. The comm worker asks before its rank
 * begins, and the dispatcher before it assigns an incarnation: a job ends with LOST_LOG because the server's own logs
 * lack something, never because a node says so.
 */
import { WORLD, type ReplayFrom, type TaskId } from '@mayfly/wire';
import { addRange, missing } from './cover.ts';
import { EVERYTHING, slotOf, type State } from './state.ts';
import type { Holdings, Range } from './types.ts';

/** Messages of a task logged whole here, by receiver: the limits of its next incarnation (Figure 4, per channel). */
export function sentBy(s: State, task: TaskId): [TaskId, number][] {
  const sent: [TaskId, number][] = [];
  for (const to of s.destinations) {
    const c = to?.channels[slotOf(s, task)];
    if (to?.done) sent.push([to.task, EVERYTHING]);
    else if (c && c.count > 0) sent.push([c.dst, c.count]);
  }
  const world = s.worlds[task]?.channel.count ?? 0;
  if (world > 0) sent.push([WORLD, world]);
  return sent;
}

export function holdingsOf(s: State, task: TaskId): Holdings {
  const source = s.sources[task]!;
  const { determinants, consumed } = source.evidence;
  return {
    arrivals: s.destinations[task]?.index.count ?? 0,
    determinants,
    consumed,
    held: source.held.map(([a, b]): Range => [a, b]),
    sent: sentBy(s, task),
  };
}

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
