/**
 * Partitions and announcements as they arrive, and rounds that take them (partitioned.ts: Q1 to Q3). Calls no device
 * but in {@link takeQueued}.
 */
import { part } from './buffers.ts';
import { Mode, PROC_NULL } from './constants.ts';
import { ERR } from './errors.ts';
import { rankOfTask, type Layer } from './layer.ts';
import { complete, pull, stored, tellStored } from './matching.ts';
import type { Arrival } from './device.ts';
import type { PartitionedChannel, PartitionedReceive } from './partitioned-state.ts';

const EMPTY = new Uint8Array(0);

export const isPartitioned = (mode: number): boolean =>
  (mode & Mode.KIND) === Mode.ANNOUNCE || (mode & Mode.KIND) === Mode.PARTITION;

export const meets = (r: PartitionedReceive, c: PartitionedChannel): boolean =>
  r.source === c.src && r.context === c.context && r.tag === c.tag;
export function join(r: PartitionedReceive, c: PartitionedChannel): void {
  c.receive = r.handle;
  r.channel = c.channel;
}
export const channelOf = (layer: Layer, src: number, channel: number): PartitionedChannel | undefined =>
  layer.state.partitioned.channels.find((c) => c.src === src && c.channel === channel);

/** Outside of polls only: bodies that stayed in the log are pulled. */
export function takeQueued(layer: Layer, r: PartitionedReceive, c: PartitionedChannel): void {
  while (r.request !== 0 && c.queue.length > 0) {
    const e = c.queue.shift()!;
    const target = place(layer, r, e.word, e.size, e.tag);
    if (e.body) target.set(e.body.subarray(0, target.length));
    else pull(layer, e.arrival, e.size, target);
    if (e.body && e.size > 0) {
      stored(layer, -e.size);
      tellStored(layer);
    }
    if (r.left === 0) over(layer, r);
  }
}

/** Where partition i of the sender's `partitions` goes; counts it (Q3). */
function place(layer: Layer, r: PartitionedReceive, i: number, size: number, partitions: number): Uint8Array {
  const all = r.bytes * r.partitions;
  if (r.block === 0 && size > 0) {
    r.block = size;
    r.came = new Uint8Array(Math.ceil(all / size));
    r.left = r.total = partitions * size;
  }
  const at = i * r.block;
  const fitting = Math.max(0, Math.min(size, all - at));
  if (fitting < size)
    wrongLength(
      layer,
      r,
      `rank ${source(layer, r)} sends partitions of ${size} bytes, number ${i} among them; the receive with ` +
        `tag ${r.tag} has ${all} bytes`,
    );
  if (size > 0 && i < r.came.length) r.came[i] = 1;
  if (size === 0) r.left = r.total = 0;
  else r.left -= size;
  return layer.memory.view(part(r.into, at, fitting));
}

const source = (layer: Layer, r: PartitionedReceive): number => {
  const comm = layer.state.comms.rows.get(r.comm);
  return comm ? rankOfTask(comm.remote ?? comm.group, r.source) : r.source;
};

function wrongLength(layer: Layer, r: PartitionedReceive, text: string): void {
  const request = layer.state.requests.rows.get(r.request);
  if (request) request.error ??= { errorClass: ERR.TRUNCATE, call: 'MPI_Precv_init', text };
}

/** The round is complete. */
export function over(layer: Layer, r: PartitionedReceive): void {
  const request = layer.state.requests.rows.get(r.request);
  r.request = 0;
  if (!request) return;
  if (r.source !== PROC_NULL)
    request.status = {
      source: source(layer, r),
      tag: r.tag,
      bytes: Math.min(r.total ?? Infinity, r.bytes * r.partitions),
      cancelled: false,
      object: false,
    };
  complete(layer, request);
  if (r.freed) forget(layer, r);
}

/** An announcement or a partition arrives. Calls no device: bodies in the log are pulled after the poll. */
export function arrive(layer: Layer, a: Arrival): void {
  const s = layer.state.partitioned;
  if ((a.mode & Mode.KIND) === Mode.ANNOUNCE) {
    const c: PartitionedChannel = {
      src: a.src,
      context: a.context,
      tag: a.tag,
      channel: a.word,
      receive: 0,
      queue: [],
    };
    s.channels.push(c);
    const i = s.waiting.findIndex((h) => meets(s.receives.rows.get(h)!, c));
    if (i >= 0) join(s.receives.rows.get(s.waiting.splice(i, 1)[0]!)!, c);
    return;
  }
  // The channel stands in the tag of a partition, and how many there are in its context.
  const c = channelOf(layer, a.src, a.tag);
  if (!c) return;
  const r = c.receive ? s.receives.rows.get(c.receive) : undefined;
  if (r && r.request !== 0 && c.queue.length === 0) {
    const target = place(layer, r, a.word, a.size, a.context);
    if (a.size > 0) {
      if (a.body) target.set(a.body.subarray(0, target.length));
      else layer.deferred.push({ do: 'pull', arrival: a.number, size: a.size, into: target });
    }
    if (r.left === 0) over(layer, r);
    return;
  }
  const keep =
    a.size > 0 && a.body !== undefined && layer.state.unexpectedBytes + a.size <= layer.device.unexpectedBytes;
  if (keep) stored(layer, a.size);
  c.queue.push({
    arrival: a.number,
    src: a.src,
    mode: a.mode,
    tag: a.context,
    word: a.word,
    size: a.size,
    body: a.size === 0 ? EMPTY : keep ? a.body!.slice() : undefined,
  });
}

export function forget(layer: Layer, r: PartitionedReceive): void {
  const s = layer.state.partitioned;
  // A receive that no channel has met keeps its turn, so that later ones meet theirs.
  if (!s.waiting.includes(r.handle)) {
    s.receives.rows.delete(r.handle);
    s.channels = s.channels.filter((c) => c.receive !== r.handle);
  }
  if (r.into.space < 0) layer.state.scratch.delete(r.into.space);
}
