/** What a Channel Memory holds of a task. */
import { WORLD, type TaskId } from '@mayfly/wire';
import { slotOf, type State } from './state.ts';
import { EVERYTHING } from './tasks.ts';
import type { Holdings, Range } from './events.ts';

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
