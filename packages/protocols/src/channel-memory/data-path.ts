/**
 * The data path: it checks one chunk of a message, logs its determinants and then the chunk, numbers the message at its
 * last chunk, and pushes it. A few small objects per message, no copy of the body.
 */
import { Flag, Kind, WORLD, emptyHeader, encodeFrame, routeOf, type Header } from '@mayfly/wire';
import { toTask } from './deliver.ts';
import { protocolError } from './refuse.ts';
import { discardPartial, forgetInput } from './push.ts';
import { slideOverEntries } from './records.ts';
import { isTeam, slideOverSections } from './sections.ts';
import { ownerOf, takesAll } from './stage.ts';
import { ackSoon, slotOf, touch, type State } from './state.ts';
import { channelOf, type Attachment, type Channel, type Destination } from './tasks.ts';
import { onceDurable, trimBehindBase } from './trim.ts';
import { toWorld, voidPart, worldLimit } from './world.ts';

/** DATA at `o` of `bytes`, ending at `end`; its determinants are logged already (C2). @throws ProtocolError */
export function data(s: State, a: Attachment, h: Header, bytes: Uint8Array, v: DataView, o: number, end: number): void {
  const { index, count, homes = count } = s.options;
  if (h.dst !== WORLD && h.dst >= s.sources.length) throw protocolError('BAD_FRAME', `no task ${h.dst}`);
  if (routeOf(a.task, h.dst, homes) !== index)
    throw protocolError('BAD_FRAME', `channel ${h.src} → ${h.dst} is not logged here`);
  const whole = (h.flags & Flag.LAST) !== 0;
  if (h.size > (h.dst === WORLD ? worldLimit(h.mode) : s.maxMessageBytes))
    throw protocolError('TOO_LARGE', `message of ${h.size} bytes`);
  if (h.bytes !== Math.min(s.chunkBytes, h.size - h.offset) || h.offset % s.chunkBytes !== 0)
    throw protocolError('BAD_FRAME', `part of ${h.bytes} bytes at ${h.offset} of ${h.size}`);
  if (whole !== (h.offset + h.bytes === h.size))
    throw protocolError('BAD_FRAME', 'LAST does not stand on the last part');

  const w = h.dst === WORLD ? s.worlds[a.task]! : undefined;
  const d = w === undefined ? s.destinations[h.dst]! : undefined;
  const c = w?.channel ?? channelOf(d!, slotOf(s, a.task), a.task);
  const owner = d && ownerOf(s.stages, a.task);
  if (d && (d.done || (!owner && takesAll(s.stages, d.task)))) return dropForDone(s, c, h.channel, whole);
  if (owner?.waits(a, h, () => data(s, a, h, bytes, v, o, end)) === true) return;
  if (d?.closed === true) {
    c.resync = true;
    return;
  }
  // C1: every message of a channel once, in order.
  if (s.policy.repeated(h.channel, c.count)) {
    touch(s, c);
    return;
  }
  if (c.resync) {
    if (h.channel !== c.count + 1 || h.offset !== 0) return;
    c.resync = false;
  }
  if (h.channel > c.count + 1)
    throw protocolError('OUT_OF_SEQUENCE', `message ${h.channel} of ${h.src} → ${h.dst} after ${c.count}`);
  if (h.offset === 0 && w) voidPart(s, w);
  else if (h.offset === 0) discardPartial(d, c);
  else if (c.partial?.size === h.size && h.offset + h.bytes <= c.partial.bytes)
    return; // a chunk that is there already
  else if (c.partial?.bytes !== h.offset || c.partial.size !== h.size)
    throw protocolError(
      'OUT_OF_SEQUENCE',
      `part at ${h.offset} of message ${h.channel} after ${c.partial?.bytes ?? 0}`,
    );

  // The record keeps the entries, so that a message never survives its determinants; what is pushed does not.
  const record = s.policy.record(h, bytes, o, end);
  const at = isTeam(h) ? slideOverSections(bytes, v, o, h) : slideOverEntries(bytes, v, o, h);
  const frame = bytes.subarray(at, end);
  if (d && owner) owner.takes(d, c, h, frame, whole);
  else if (d) toTask(s, d, c, h, v, at, frame, whole, record);
  else toWorld(s, w!, h, frame, whole, record ?? frame);
}

/** The receiver has ended: its messages count as logged, so that their senders may forget and suppress them. */
function dropForDone(s: State, c: Channel, channel: number, whole: boolean): void {
  if (whole) c.count = Math.max(c.count, channel);
  touch(s, c);
}

/**
 * A message from WORLD (standard input) or FILES (an answer) for a task homed here; numbers that are logged already are
 * dropped.
 */
export function appendWorldMessage(s: State, d: Destination, m: Destination['heldWorld'][number]): void {
  if (d.done || takesAll(s.stages, d.task)) return;
  if (d.closed) {
    d.heldWorld.push(m);
    return;
  }
  const { src, channel, mode, context, body } = m;
  const c = channelOf(d, slotOf(s, src), src);
  if (channel <= c.count) return;
  if (channel !== c.count + 1)
    throw new RangeError(`message ${channel} of ${src === WORLD ? 'the world' : 'the file service'} after ${c.count}`);
  for (let offset = 0; ; offset += s.chunkBytes) {
    const bytes = body.subarray(offset, offset + s.chunkBytes);
    const h = emptyHeader(Kind.ARRIVAL);
    const whole = offset + bytes.length === body.length;
    h.flags = whole ? Flag.LAST : 0;
    h.mode = mode;
    h.src = src;
    h.context = context;
    h.dst = d.task;
    h.channel = channel;
    h.offset = offset;
    h.size = body.length;
    const frame = encodeFrame(h, bytes);
    toTask(s, d, c, { ...h, bytes: bytes.length }, new DataView(frame.buffer), 0, frame, whole, undefined);
    if (whole) return;
  }
}

/** The task is done: its log may go, later messages to it are dropped. */
export function done(s: State, d: Destination): void {
  if (d.done) return;
  d.done = true;
  d.closed = false;
  d.push = undefined;
  forgetInput(d);
  for (const c of d.channels) {
    if (c === undefined) continue;
    discardPartial(d, c);
    touch(s, c);
    const source = s.sources[c.src];
    if (source?.attachment) ackSoon(s, source);
  }
  // behind a BASE (C7): others may depend on the positions of senders that its messages contained
  if (d.stream.next > 0) onceDurable(s, () => trimBehindBase(s, d, { from: 0, to: d.stream.next, keep: new Set() }));
}
