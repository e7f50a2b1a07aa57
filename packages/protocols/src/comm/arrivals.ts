/**
 * Arrivals of a task at its comm core.
 *
 *  M3  Arrivals go to the rank in arrival order, each once. Their chunks go as they come, those of different senders
 *      mixed; a first chunk makes void what came of its sender's message before, and an arrival exists for the rank
 *      when its last chunk is there.
 *  M4  An arrival is kept until it is synced, and returned to a Channel Memory that lost it.
 */
import { Flag, Kind, encodeFrame, type Header } from '@mayfly/wire';
import { cost } from '../channel-memory/push.ts';
import type { CommTask } from './task.ts';

/** The far side broke the protocol: the link is closed and opened again. */
export class BadLink extends Error {}

/** M3: a chunk has come. True: it goes to the rank. @throws BadLink */
export function arrives(t: CommTask, h: Header, bytes: Uint8Array): boolean {
  const last = (h.flags & Flag.LAST) !== 0;
  let p = h.offset === 0 ? undefined : t.partials.get(h.src);
  if (h.offset > 0 && (p?.bytes !== h.offset || p.channel !== h.channel))
    throw new BadLink(`part at ${h.offset} of a message that did not begin`);
  if (p === undefined) {
    p = { frames: [], bytes: 0, channel: h.channel };
    if (!last) t.partials.set(h.src, p);
  }
  if (t.policy.retainsArrivals) p.frames.push(bytes);
  p.bytes += h.bytes;
  if (!last) return true;
  t.partials.delete(h.src);
  if (h.arrival < t.expected) return false;
  if (h.arrival > t.expected) throw new BadLink(`arrival ${h.arrival} instead of ${t.expected}`);
  t.received = h.arrival;
  const envelope = (h.flags & Flag.NO_BODY) !== 0;
  if (t.policy.retainsArrivals) t.arrivals.push({ arrival: h.arrival, frames: p.frames });
  t.numbers.push(h.arrival);
  t.costs.push(cost(envelope ? 0 : h.size));
  return true;
}

/** M4: to a home CM that recovers. Its log stays closed until the logs were found consistent (`ready`). */
export function resupply(t: CommTask): Uint8Array[] {
  const from = t.reportFrom;
  if (from === undefined) return [];
  t.reportFrom = undefined;
  const out: Uint8Array[] = [];
  for (let i = t.arrivalsHead; i < t.arrivals.length; i++) {
    const a = t.arrivals[i]!;
    if (a.arrival <= from) continue;
    for (const frame of a.frames) {
      const copy = frame.slice();
      const v = new DataView(copy.buffer);
      v.setUint8(0, Kind.RESUPPLY);
      v.setUint32(16, t.incarnation, true);
      out.push(copy);
    }
  }
  out.push(encodeFrame(t.header(Kind.RESUPPLIED)));
  return out;
}
