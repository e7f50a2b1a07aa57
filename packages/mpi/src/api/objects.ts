/**
 * Collectives of structured values: the lengths go first, then the bytes, each by the collective of buffers. A short broadcast (the usual
 * case: parameters) goes with its length in one message.
 */
import * as coll from '../collectives/index.ts';
import { ERR, fail } from '../errors.ts';
import type { Context } from './context.ts';
import type { CommObject } from './comm.ts';

/** Bytes of a broadcast's first message, the length included. */
const FIRST = 512;

const sum = (counts: ArrayLike<number>): number => Array.from(counts).reduce((a, b) => a + b, 0);

/** Decodes the blocks of a gathered buffer. */
function decodeAll<T>(context: Context, comm: CommObject, data: Uint8Array, counts: ArrayLike<number>, call: string): T[] {
  let at = 0;
  return Array.from(counts, (n) => context.decode<T>(data.subarray(at, (at += n)), call, comm.handle));
}

export function bcast<T>(context: Context, comm: CommObject, value: T | undefined, root: number): T {
  const call = 'bcastObject';
  const { layer } = context;
  const first = new Uint8Array(FIRST);
  const head = new DataView(first.buffer);
  const bytes = comm.isRoot(root) ? context.encode(value, call, comm.handle) : undefined;
  if (bytes) {
    head.setUint32(0, bytes.length, true);
    first.set(bytes.subarray(0, FIRST - 4), 4);
  }
  const tell = (part: Uint8Array): void => void comm.finish(comm.start(call, (pins) => coll.bcast(layer, comm.handle, pins.need(part, 'the value'), root, call)));
  tell(first);
  if (!bytes && !comm.hasOwn(root)) {
    // Beside the root of an intercommunicator: nothing comes, but the collectives of all processes are numbered alike.
    tell(first.subarray(0, 0));
    return value as T;
  }
  const length = head.getUint32(0, true);
  const whole = bytes ?? new Uint8Array(length);
  if (!bytes) whole.set(first.subarray(4, 4 + Math.min(length, FIRST - 4)));
  if (length > FIRST - 4 || comm.isInter) tell(whole.subarray(Math.min(FIRST - 4, length)));
  return bytes ? (value as T) : context.decode<T>(whole, call, comm.handle);
}

export function gather<T>(context: Context, comm: CommObject, value: T, root: number): T[] | undefined {
  const call = 'gatherObject';
  const { layer } = context;
  const bytes = context.encode(value, call, comm.handle);
  const at = comm.isRoot(root);
  const own = comm.hasOwn(root);
  const counts = new Uint32Array(at ? comm.blocks : 0);
  comm.finish(comm.start(call, (pins) => coll.gather(layer, comm.handle, own ? pins.need(new Uint32Array([bytes.length]), 'the length') : undefined, at ? pins.need(counts, 'the lengths') : undefined, root, call)));
  const data = new Uint8Array(sum(counts));
  comm.finish(comm.start(call, (pins) => coll.gatherv(layer, comm.handle, own ? pins.need(bytes, 'the value') : undefined, at ? pins.vector({ data, counts }, 'the values') : undefined, root, call)));
  return at ? decodeAll(context, comm, data, counts, call) : undefined;
}

function encodeAll(context: Context, comm: CommObject, values: unknown, call: string): { data: Uint8Array; counts: Uint32Array } {
  if (!Array.isArray(values) || values.length !== comm.blocks)
    return fail(ERR.COUNT, call, Array.isArray(values) ? `${values.length} values for ${comm.blocks} ranks` : 'takes an array with one value per rank', comm.handle);
  const parts = values.map((v) => context.encode(v, call, comm.handle));
  const counts = Uint32Array.from(parts, (p) => p.length);
  const data = new Uint8Array(sum(counts));
  let at = 0;
  for (const p of parts) {
    data.set(p, at);
    at += p.length;
  }
  return { data, counts };
}

export function scatter<T>(context: Context, comm: CommObject, values: readonly T[] | undefined, root: number): T {
  const call = 'scatterObject';
  const { layer } = context;
  const own = comm.hasOwn(root);
  const all = comm.isRoot(root) ? encodeAll(context, comm, values, call) : undefined;
  const length = new Uint32Array(1);
  comm.finish(comm.start(call, (pins) => coll.scatter(layer, comm.handle, all && pins.need(all.counts, 'the lengths'), own ? pins.need(length, 'the length') : undefined, root, call)));
  const mine = new Uint8Array(length[0]!);
  comm.finish(comm.start(call, (pins) => coll.scatterv(layer, comm.handle, all && pins.vector(all, 'the values'), own ? pins.need(mine, 'the value') : undefined, root, call)));
  return own ? context.decode<T>(mine, call, comm.handle) : (undefined as T);
}

export function allgather<T>(context: Context, comm: CommObject, value: T): T[] {
  const call = 'allgatherObject';
  const { layer } = context;
  const bytes = context.encode(value, call, comm.handle);
  const counts = new Uint32Array(comm.blocks);
  comm.finish(comm.start(call, (pins) => coll.allgather(layer, comm.handle, pins.need(new Uint32Array([bytes.length]), 'the length'), pins.need(counts, 'the lengths'), call)));
  const data = new Uint8Array(sum(counts));
  comm.finish(comm.start(call, (pins) => coll.allgatherv(layer, comm.handle, pins.need(bytes, 'the value'), pins.vector({ data, counts }, 'the values'), call)));
  return decodeAll(context, comm, data, counts, call);
}

export function alltoall<T>(context: Context, comm: CommObject, values: readonly T[]): T[] {
  const call = 'alltoallObject';
  const { layer } = context;
  const out = encodeAll(context, comm, values, call);
  const counts = new Uint32Array(comm.blocks);
  comm.finish(comm.start(call, (pins) => coll.alltoall(layer, comm.handle, pins.need(out.counts, 'the lengths'), pins.need(counts, 'the lengths'), call)));
  const data = new Uint8Array(sum(counts));
  comm.finish(comm.start(call, (pins) => coll.alltoallv(layer, comm.handle, pins.vector(out, 'the values'), pins.vector({ data, counts }, 'the values'), call)));
  return decodeAll(context, comm, data, counts, call);
}
