/** What a Channel Memory holds of a task. */
import { WORLD, type TaskId } from '@mayfly/wire';
import { slotOf, type State } from './state.ts';
import { EVERYTHING, type Source } from './tasks.ts';
import type { Holdings, Range, Witness } from './events.ts';

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

/** Undefined: it recovers, or knows no such task. */
export function witnessOf(s: State, task: TaskId): Witness | undefined {
  const source = s.sources[task];
  if (!s.serving || source === undefined) return undefined;
  const a = source.attachment;
  return {
    arrivals: arrivalsFor(s, task),
    events: eventsOf(source),
    whole: a?.answered === true && (!a.resume || a.spoke),
  };
}

/** Undefined: its log is elsewhere, or ended, or the end of it may be lost. */
export function arrivalsFor(s: State, task: TaskId): number | undefined {
  const d = s.destinations[task];
  return d === undefined || d.closed || d.done ? undefined : d.index.count;
}

/** Events of a task that are known here. */
export const eventsOf = ({ evidence, held }: Source): number => Math.max(evidence.determinants, held.at(-1)?.[1] ?? 0);
