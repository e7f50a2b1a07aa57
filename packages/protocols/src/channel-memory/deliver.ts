/**
 * A message for a task whose home this is becomes an arrival: its chunks are logged and pushed, and at its last chunk
 * it gets its number, unless a stage holds it back (stage.ts).
 */
import { FILES, WORLD, patchArrival, type Header } from '@mayfly/wire';
import { inputArrives, pushAhead, pushWhole, takeBack } from './push.ts';
import { append, touch, type State } from './state.ts';
import type { Channel, Destination, Partial } from './tasks.ts';

/** Counts a chunk, which is logged at `lsn`, towards its message. */
export function part(c: Channel, h: Header, lsn: number): Partial {
  const p = (c.partial ??= { size: h.size, bytes: 0, lsns: [], ahead: false, pushed: 0, bodies: [] });
  p.bytes += h.bytes;
  p.lsns.push(lsn);
  return p;
}

/** One chunk for a task, in the order of its channel. `record`: what is logged, where that is not `frame`. */
export function toTask(
  s: State,
  d: Destination,
  c: Channel,
  h: Header,
  v: DataView,
  at: number,
  frame: Uint8Array,
  whole: boolean,
  record: Uint8Array | undefined,
): void {
  if (!whole) {
    number(s, d, c, h, v, at, record);
    const lsn = append(s, d.stream, record ?? frame);
    pushAhead(s, d, part(c, h, lsn), frame);
    return;
  }
  const { partial } = c;
  c.partial = undefined;
  c.count = h.channel;
  touch(s, c);
  for (const stage of s.stages)
    if (stage.holds?.(c)) {
      if (partial) takeBack(d, partial);
      stage.hold!(d, { channel: c, header: h, view: v, at, frame, record, partial });
      return settle(s);
    }
  arrives(s, d, c, h, v, at, frame, record, partial);
  settle(s);
}

function settle(s: State): void {
  for (const stage of s.stages) stage.settle?.();
}

/** C3. */
function number(
  s: State,
  d: Destination,
  c: Channel,
  h: Header,
  v: DataView,
  at: number,
  record: Uint8Array | undefined,
): number {
  const n = s.policy.number(d, c.src, h.offset, h.offset + h.bytes === h.size);
  const receiver = d.push?.attachment.incarnation ?? s.sources[d.task]!.fence;
  patchArrival(v, at, n, receiver);
  if (record) patchArrival(new DataView(record.buffer, record.byteOffset), 0, n, receiver);
  return n;
}

/** A whole message becomes the next arrival: it is numbered, logged and pushed. */
export function arrives(
  s: State,
  d: Destination,
  c: Channel,
  h: Header,
  v: DataView,
  at: number,
  frame: Uint8Array,
  record: Uint8Array | undefined,
  partial: Partial | undefined,
): void {
  const n = number(s, d, c, h, v, at, record);
  const lsn = append(s, d.stream, record ?? frame);
  if (partial) {
    partial.bytes += h.bytes;
    partial.lsns.push(lsn);
  }
  d.index.restore(n, lsn, h.size, partial?.lsns);
  if (c.src === WORLD || c.src === FILES) inputArrives(d, n, h.size);
  pushWhole(s, d, n, h.size, frame, partial);
  for (const stage of s.stages) stage.numbered?.(d.task, n, c.src, h.channel);
}
