/**
 * Collectives of structured values: the lengths go first, then the bytes, each by the collective of buffers. A short
 * broadcast (the usual case: parameters) goes with its length in one message.
 */
import * as coll from '../collectives/index.ts';
import { part, type Buf } from '../buffers.ts';
import { PROC_NULL } from '../constants.ts';
import { ERR, fail } from '../errors.ts';
import { neighboursOf } from '../neighbours.ts';
import type { Context } from './context.ts';
import type { Collective } from './collectives.ts';

/** Bytes of a broadcast's first message, the length included. */
const FIRST = 512;

const sum = (counts: ArrayLike<number>): number => Array.from(counts).reduce((a, b) => a + b, 0);

/** Decodes the blocks of a gathered buffer. */
function decodeAll<T>(
  context: Context,
  comm: Collective,
  data: Uint8Array,
  counts: ArrayLike<number>,
  call: string,
): T[] {
  let at = 0;
  return Array.from(counts, (n) => context.decode<T>(data.subarray(at, (at += n)), call, comm.handle));
}

export function bcast<T>(context: Context, comm: Collective, value: T | undefined, root: number): T {
  const call = 'bcastObject';
  const { layer } = context;
  const first = new Uint8Array(FIRST);
  const head = new DataView(first.buffer);
  const bytes = comm.isRoot(root) ? context.encode(value, call, comm.handle) : undefined;
  if (bytes) {
    head.setUint32(0, bytes.length, true);
    first.set(bytes.subarray(0, FIRST - 4), 4);
  }
  const tell = (part: Uint8Array): void =>
    void comm.finish(
      comm.start(call, (pins) => coll.bcast(layer, comm.handle, pins.into(part, 'the value'), root, call)),
    );
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

export function gather<T>(context: Context, comm: Collective, value: T, root: number): T[] | undefined {
  const call = 'gatherObject';
  const { layer } = context;
  const bytes = context.encode(value, call, comm.handle);
  const at = comm.isRoot(root);
  const own = comm.hasOwn(root);
  const counts = new Uint32Array(at ? comm.blocks : 0);
  comm.finish(
    comm.start(call, (pins) =>
      coll.gather(
        layer,
        comm.handle,
        own ? pins.from(new Uint32Array([bytes.length]), 'the length') : undefined,
        at ? pins.into(counts, 'the lengths') : undefined,
        root,
        call,
      ),
    ),
  );
  const data = new Uint8Array(sum(counts));
  comm.finish(
    comm.start(call, (pins) =>
      coll.gatherv(
        layer,
        comm.handle,
        own ? pins.from(bytes, 'the value') : undefined,
        at ? pins.vector({ data, counts }, 'the values', true) : undefined,
        root,
        call,
      ),
    ),
  );
  return at ? decodeAll(context, comm, data, counts, call) : undefined;
}

function encodeAll(
  context: Context,
  comm: Collective,
  values: unknown,
  call: string,
  n = comm.blocks,
  each = 'rank',
): { data: Uint8Array; counts: Uint32Array } {
  if (!Array.isArray(values) || values.length !== n)
    return fail(
      ERR.COUNT,
      call,
      Array.isArray(values) ? `${values.length} values for ${n} ${each}s` : `takes an array with one value per ${each}`,
      comm.handle,
    );
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

export function scatter<T>(context: Context, comm: Collective, values: readonly T[] | undefined, root: number): T {
  const call = 'scatterObject';
  const { layer } = context;
  const own = comm.hasOwn(root);
  const all = comm.isRoot(root) ? encodeAll(context, comm, values, call) : undefined;
  const length = new Uint32Array(1);
  comm.finish(
    comm.start(call, (pins) =>
      coll.scatter(
        layer,
        comm.handle,
        all && pins.from(all.counts, 'the lengths'),
        own ? pins.into(length, 'the length') : undefined,
        root,
        call,
      ),
    ),
  );
  const mine = new Uint8Array(length[0]!);
  comm.finish(
    comm.start(call, (pins) =>
      coll.scatterv(
        layer,
        comm.handle,
        all && pins.vector(all, 'the values', false),
        own ? pins.into(mine, 'the value') : undefined,
        root,
        call,
      ),
    ),
  );
  return own ? context.decode<T>(mine, call, comm.handle) : (undefined as T);
}

export function allgather<T>(context: Context, comm: Collective, value: T): T[] {
  const call = 'allgatherObject';
  const { layer } = context;
  const bytes = context.encode(value, call, comm.handle);
  const counts = new Uint32Array(comm.blocks);
  comm.finish(
    comm.start(call, (pins) =>
      coll.allgather(
        layer,
        comm.handle,
        pins.from(new Uint32Array([bytes.length]), 'the length'),
        pins.into(counts, 'the lengths'),
        call,
      ),
    ),
  );
  const data = new Uint8Array(sum(counts));
  comm.finish(
    comm.start(call, (pins) =>
      coll.allgatherv(
        layer,
        comm.handle,
        pins.from(bytes, 'the value'),
        pins.vector({ data, counts }, 'the values', true),
        call,
      ),
    ),
  );
  return decodeAll(context, comm, data, counts, call);
}

export function alltoall<T>(context: Context, comm: Collective, values: readonly T[]): T[] {
  const call = 'alltoallObject';
  const { layer } = context;
  const out = encodeAll(context, comm, values, call);
  const counts = new Uint32Array(comm.blocks);
  comm.finish(
    comm.start(call, (pins) =>
      coll.alltoall(layer, comm.handle, pins.from(out.counts, 'the lengths'), pins.into(counts, 'the lengths'), call),
    ),
  );
  const data = new Uint8Array(sum(counts));
  comm.finish(
    comm.start(call, (pins) =>
      coll.alltoallv(
        layer,
        comm.handle,
        pins.vector(out, 'the values', false),
        pins.vector({ data, counts }, 'the values', true),
        call,
      ),
    ),
  );
  return decodeAll(context, comm, data, counts, call);
}

// ── neighbours: the lengths go to them first, then the bytes; nothing comes from MPI_PROC_NULL

function exchanged<T>(
  context: Context,
  comm: Collective,
  out: { data: Uint8Array; counts: Uint32Array },
  call: string,
): (T | undefined)[] {
  const { layer } = context;
  const { sources } = neighboursOf(comm.record(call), call);
  const counts = new Uint32Array(sources.length);
  const block = (b: Buf, i: number): Buf => part(b, 4 * i, 4);
  comm.finish(
    comm.start(call, (pins) => {
      const [from, into] = [pins.from(out.counts, 'the lengths'), pins.into(counts, 'the lengths')];
      return coll.neighbour(
        layer,
        comm.handle,
        (i) => block(from, i),
        (i) => block(into, i),
        call,
      );
    }),
  );
  const data = new Uint8Array(sum(counts));
  const offsets = (list: Uint32Array): number[] => Array.from(list, (_, i) => sum(list.subarray(0, i)));
  const [ins, outs] = [offsets(counts), offsets(out.counts)];
  comm.finish(
    comm.start(call, (pins) => {
      const [from, into] = [pins.from(out.data, 'the values'), pins.into(data, 'the values')];
      return coll.neighbour(
        layer,
        comm.handle,
        (i) => part(from, outs[i]!, out.counts[i]!),
        (i) => part(into, ins[i]!, counts[i]!),
        call,
      );
    }),
  );
  return sources.map((rank, i) =>
    rank === PROC_NULL ? undefined : context.decode<T>(data.subarray(ins[i], ins[i]! + counts[i]!), call, comm.handle),
  );
}

export function neighbourAllgather<T>(context: Context, comm: Collective, value: T): (T | undefined)[] {
  const call = 'neighborAllgatherObject';
  const { destinations } = neighboursOf(comm.record(call), call);
  return exchanged(
    context,
    comm,
    encodeAll(
      context,
      comm,
      destinations.map(() => value),
      call,
      destinations.length,
      'neighbour',
    ),
    call,
  );
}

export function neighbourAlltoall<T>(context: Context, comm: Collective, values: readonly T[]): (T | undefined)[] {
  const call = 'neighborAlltoallObject';
  const { destinations } = neighboursOf(comm.record(call), call);
  return exchanged(context, comm, encodeAll(context, comm, values, call, destinations.length, 'neighbour'), call);
}
