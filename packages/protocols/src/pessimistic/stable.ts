/**
 * What an image depends on at one Channel Memory: the messages that the task sent before it, and at the task's home the
 * arrivals that it had consumed. (Its determinants may lie at several: images.ts.)
 */
import { WORLD, homeOf, routeOf } from '@mayfly/wire';
import { slotOf, type State } from '../channel-memory/state.ts';
import type { Line } from './position.ts';

/** All of it is durable here. */
export function isStable(s: State, task: number, line: Line): boolean {
  const { index, count } = s.options;
  const home = homeOf(s.sources[task]!.task, count) === index;
  if (
    home &&
    !s.destinations[task]!.done &&
    (s.destinations[task]!.closed || s.destinations[task]!.arrivalsSynced < line.arrivals)
  )
    return false;
  for (const [dst, n] of line.sends) {
    if (routeOf(s.sources[task]!.task, dst, count) !== index) continue;
    if (dst === WORLD) {
      if (s.worlds[task]!.channel.synced < n) return false;
    } else if (
      dst >= s.sources.length ||
      (!s.destinations[dst]!.done && (s.destinations[dst]!.channels[slotOf(s, task)]?.synced ?? 0) < n)
    )
      return false;
  }
  return true;
}
