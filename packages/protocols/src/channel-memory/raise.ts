/**
 * Channels between the members of a team that was dissolved: until then no log had their messages, and they go on
 * behind them (T2: "One channel, one numbering").
 *
 *  T9 "The image's counts raise the CM's counts of channels that were local and become remote." It is done before any
 *     member is fenced again: so what the fence answers for the next incarnation has these counts, and they are durable
 *     before a message follows them (F2, C7).
 */
import type { Dissolved } from '../contract/dissolved.ts';
import { discardPartial } from './push.ts';
import { slotOf, touch, type State } from './state.ts';
import { channelOf } from './tasks.ts';
import { appendBase } from './trim.ts';

export function raise(s: State, dissolved: readonly Dissolved[]): void {
  for (const { task, sends } of dissolved.flatMap((d) => d.from))
    for (const [dst, count] of sends) {
      const d = s.destinations[dst];
      if (!d || d.done) continue;
      const c = channelOf(d, slotOf(s, task), task);
      if (c.count >= count) continue;
      discardPartial(d, c);
      c.count = count;
      touch(s, c);
      appendBase(s, d);
      s.syncWanted = true;
    }
}
