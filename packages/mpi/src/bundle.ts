/**
 * Elements of a datatype as buffers of the layer, which moves contiguous bytes: where they lie so already, that place;
 * else a packed copy, which is spread over its places when the owner sees that the request is complete (`spread` in
 * matching.ts).
 *
 * Both bindings describe the arguments of a call with it: a C program's lie in its linear memory, a TypeScript
 * program's in an array that is pinned.
 */
import { isContiguous, start, type Layout } from './layout.ts';
import { releaseSpace, scratch, type Layer } from './layer.ts';
import { LINEAR, part, type Buf } from './buffers.ts';
import type { Unpack } from './state.ts';

/** Spaces and what is to be unpacked, of a request that is about to start. */
export interface Bundle {
  spaces: number[];
  unpack: Unpack[];
}
export const bundle = (): Bundle => ({ spaces: [], unpack: [] });

/** `count` elements, which lie inside of their space. */
export interface Place {
  space: number;
  /** Of the first element's origin. */
  address: number;
  layout: Layout;
  count: number;
}

const lying = (p: Place): Buf => ({
  space: p.space,
  offset: p.address + start(p.layout),
  bytes: p.layout.size * p.count,
});

export function room(layer: Layer, b: Bundle, bytes: number): Buf {
  const buf = scratch(layer, bytes);
  b.spaces.push(buf.space);
  return buf;
}

/** Elements to be sent: where they lie, or a packed copy. */
export function outgoing(layer: Layer, b: Bundle, p: Place): Buf {
  if (isContiguous(p.layout, p.count)) return lying(p);
  const buf = room(layer, b, p.layout.size * p.count);
  layer.memory.pack(p.layout, p.count, p.space, p.address, layer.memory.view(buf));
  return buf;
}

/** Where elements are to arrive. */
export function incoming(layer: Layer, b: Bundle, p: Place): Buf {
  if (isContiguous(p.layout, p.count)) return lying(p);
  const from = room(layer, b, p.layout.size * p.count);
  b.unpack.push({
    layout: p.layout,
    count: p.count,
    from,
    address: p.address,
    space: p.space,
  });
  return from;
}

/** Elements that are read and written: a packed copy of what is there, spread again at the end. */
export function both(layer: Layer, b: Bundle, p: Place): Buf {
  const buf = incoming(layer, b, p);
  if (buf.space < 0) layer.memory.pack(p.layout, p.count, p.space, p.address, layer.memory.view(buf));
  return buf;
}

/**
 * Blocks of different types, packed one behind the other; undefined: an empty one. Received ones hold what is there: in
 * place it is sent.
 */
export function behindOneAnother(
  layer: Layer,
  b: Bundle,
  places: readonly (Place | undefined)[],
  receives: boolean,
): { buf: Buf; lengths: number[] } {
  const lengths = places.map((p) => (p ? p.layout.size * p.count : 0));
  const buf = room(
    layer,
    b,
    lengths.reduce((x, y) => x + y, 0),
  );
  let at = 0;
  places.forEach((p, i) => {
    const from = part(buf, at, lengths[i]!);
    at += lengths[i]!;
    if (!p || lengths[i] === 0) return;
    layer.memory.pack(p.layout, p.count, p.space, p.address, layer.memory.view(from));
    if (receives)
      b.unpack.push({
        layout: p.layout,
        count: p.count,
        from,
        address: p.address,
        space: p.space,
      });
  });
  return { buf, lengths };
}

/** Starts a request whose buffers are described by a bundle, which goes with it. */
export function begin(layer: Layer, make: (b: Bundle) => number): number {
  const b = bundle();
  let request = 0;
  try {
    request = make(b);
  } finally {
    if (request === 0) for (const space of b.spaces) releaseSpace(layer, space);
  }
  if (b.spaces.length > 0) {
    const r = layer.state.requests.rows.get(request)!;
    r.spaces.push(...b.spaces);
    if (b.unpack.length > 0) r.unpack = b.unpack;
  }
  return request;
}

/** Spreads what a call without a request has computed. */
export function unpackNow(layer: Layer, b: Bundle): void {
  for (const u of b.unpack)
    layer.memory.unpack(u.layout, u.count, layer.memory.view(u.from), u.space ?? LINEAR, u.address);
}
