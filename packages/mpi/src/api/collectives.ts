/**
 * The collectives of the API (MPI 4.1 chapter 6, §8.6): one starter each, which its three forms share. `x` blocks, `ix`
 * gives a request, `xInit` one that is started again and again. What an argument means is said in types/mayfly.d.ts.
 */
import * as coll from '../collectives/index.ts';
import { checkBlocks } from '../checks.ts';
import { NO_BYTES, part, type Buf } from '../buffers.ts';
import { ERR, fail } from '../errors.ts';
import { neighboursOf } from '../neighbours.ts';
import { opHandle } from '../ops.ts';
import { contextOf } from './held.ts';
import { describe, IN_PLACE } from './context.ts';
import { OpObject } from './handles.ts';
import type { Pins } from './pins.ts';
import type { PointToPoint } from './point-to-point.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Data = Mayfly.Data;
type Vector = Mayfly.Vector;
type InPlace = Mayfly.InPlace;
type Nothing = null | undefined;
type Op = Mayfly.Op;

/** A communicator as its collectives need it. */
export interface Collective extends PointToPoint {
  /** Starts a collective whose buffers belong to the program. */
  start(call: string, begin: (pins: Pins) => number): number;
}

const op = (c: Collective, call: string, o: Op | undefined): number =>
  o === undefined ? opHandle('MPI_SUM') : OpObject.of(o, call, c.handle);

/** A send buffer, or undefined for IN_PLACE; of an intercommunicator's root and those beside it there is none. */
function sendBuf(c: Collective, pins: Pins, send: unknown, root = 0): Buf | undefined {
  if (!c.hasOwn(root)) return undefined;
  if (send === null || send === undefined)
    fail(ERR.BUFFER, pins.call, `the send buffer is ${describe(send)}`, c.handle);
  return pins.maybeFrom(send, 'the send buffer');
}
/** The place of the own block of a scatter, or undefined for IN_PLACE. */
function ownPlace(c: Collective, pins: Pins, recv: unknown, root: number): Buf | undefined {
  if (!c.hasOwn(root)) return undefined;
  if (recv === null || recv === undefined)
    fail(ERR.BUFFER, pins.call, `the receive buffer is ${describe(recv)}`, c.handle);
  return pins.maybeInto(recv, 'the receive buffer');
}
const into = (pins: Pins, recv: unknown): Buf => pins.into(recv, 'the receive buffer');
const vectorFrom = (pins: Pins, v: unknown): coll.VectorArgument | undefined =>
  v === IN_PLACE ? undefined : pins.vector(v, 'the send buffer', false);
const vectorInto = (pins: Pins, v: unknown): coll.VectorArgument => pins.vector(v, 'the receive buffer', true);

function scan(exclusive: boolean) {
  return (c: Collective, pins: Pins, call: string, send: Data | InPlace, recv: Data, o?: Op): number => {
    const from = sendBuf(c, pins, send);
    const to = into(pins, recv);
    pins.reducible();
    return coll.scan(contextOf(c).layer, c.handle, from, to, pins.type, op(c, call, o), exclusive, call);
  };
}

/** By name; arguments behind the first three are the program's. */
const STARTERS = {
  barrier: (c: Collective, _pins: Pins, call: string): number => coll.barrier(contextOf(c).layer, c.handle, call),
  bcast: (c: Collective, pins: Pins, call: string, buf: Data | Nothing, root = 0): number =>
    coll.bcast(
      contextOf(c).layer,
      c.handle,
      c.isRoot(root) ? pins.from(buf, 'the buffer') : c.hasOwn(root) ? pins.into(buf, 'the buffer') : NO_BYTES,
      root,
      call,
    ),
  reduce: (
    c: Collective,
    pins: Pins,
    call: string,
    send: Data | InPlace | Nothing,
    recv: Data | Nothing,
    o?: Op,
    root = 0,
  ): number => {
    const from = sendBuf(c, pins, send, root);
    const to = c.isRoot(root) ? pins.maybeInto(recv, 'the receive buffer') : undefined;
    if (from || to) pins.reducible();
    return coll.reduce(contextOf(c).layer, c.handle, from, to, pins.type, op(c, call, o), root, call);
  },
  allreduce: (c: Collective, pins: Pins, call: string, send: Data | InPlace, recv: Data, o?: Op): number => {
    const from = sendBuf(c, pins, send);
    const to = into(pins, recv);
    pins.reducible();
    return coll.allreduce(contextOf(c).layer, c.handle, from, to, pins.type, op(c, call, o), call);
  },
  scan: scan(false),
  exscan: scan(true),
  gather: (
    c: Collective,
    pins: Pins,
    call: string,
    send: Data | InPlace | Nothing,
    recv: Data | Nothing,
    root = 0,
  ): number => {
    const from = sendBuf(c, pins, send, root);
    return coll.gather(
      contextOf(c).layer,
      c.handle,
      from,
      c.isRoot(root) ? pins.maybeInto(recv, 'the receive buffer') : undefined,
      root,
      call,
    );
  },
  gatherv: (
    c: Collective,
    pins: Pins,
    call: string,
    send: Data | InPlace | Nothing,
    recv: Vector | Nothing,
    root = 0,
  ): number => {
    const from = sendBuf(c, pins, send, root);
    return coll.gatherv(
      contextOf(c).layer,
      c.handle,
      from,
      c.isRoot(root) && recv ? vectorInto(pins, recv) : undefined,
      root,
      call,
    );
  },
  scatter: (
    c: Collective,
    pins: Pins,
    call: string,
    send: Data | Nothing,
    recv: Data | InPlace | Nothing,
    root = 0,
  ): number => {
    const from = c.isRoot(root) ? pins.maybeFrom(send, 'the send buffer') : undefined;
    return coll.scatter(contextOf(c).layer, c.handle, from, ownPlace(c, pins, recv, root), root, call);
  },
  scatterv: (
    c: Collective,
    pins: Pins,
    call: string,
    send: Vector | Nothing,
    recv: Data | InPlace | Nothing,
    root = 0,
  ): number => {
    const from = c.isRoot(root) && send ? vectorFrom(pins, send) : undefined;
    return coll.scatterv(contextOf(c).layer, c.handle, from, ownPlace(c, pins, recv, root), root, call);
  },
  allgather: (c: Collective, pins: Pins, call: string, send: Data | InPlace, recv: Data): number =>
    coll.allgather(contextOf(c).layer, c.handle, sendBuf(c, pins, send), into(pins, recv), call),
  allgatherv: (c: Collective, pins: Pins, call: string, send: Data | InPlace, recv: Vector): number =>
    coll.allgatherv(contextOf(c).layer, c.handle, sendBuf(c, pins, send), vectorInto(pins, recv), call),
  alltoall: (c: Collective, pins: Pins, call: string, send: Data | InPlace, recv: Data): number =>
    coll.alltoall(contextOf(c).layer, c.handle, sendBuf(c, pins, send), into(pins, recv), call),
  alltoallv: (c: Collective, pins: Pins, call: string, send: Vector | InPlace, recv: Vector): number =>
    coll.alltoallv(contextOf(c).layer, c.handle, vectorFrom(pins, send), vectorInto(pins, recv), call),
  alltoallw: (
    c: Collective,
    pins: Pins,
    call: string,
    send: readonly (Data | null)[] | InPlace,
    recv: readonly (Data | null)[],
  ): number =>
    coll.alltoallv(
      contextOf(c).layer,
      c.handle,
      send === IN_PLACE ? undefined : pins.packed(send, c.blocks, 'the send buffer', false),
      pins.packed(recv, c.blocks, 'the receive buffer', true),
      call,
    ),
  reduceScatter: (
    c: Collective,
    pins: Pins,
    call: string,
    send: Data | InPlace,
    recv: Data,
    counts: ArrayLike<number>,
    o?: Op,
  ): number => {
    const from = sendBuf(c, pins, send);
    const to = into(pins, recv);
    pins.reducible();
    return coll.reduceScatter(
      contextOf(c).layer,
      c.handle,
      from,
      to,
      counts,
      pins.type,
      pins.unit,
      op(c, call, o),
      call,
    );
  },
  reduceScatterBlock: (c: Collective, pins: Pins, call: string, send: Data | InPlace, recv: Data, o?: Op): number => {
    const from = sendBuf(c, pins, send);
    const to = into(pins, recv);
    pins.reducible();
    return coll.reduceScatterBlock(contextOf(c).layer, c.handle, from, to, pins.type, pins.unit, op(c, call, o), call);
  },
};

// ── neighbourhoods

const degrees = (c: Collective, call: string): { in: number; out: number } => {
  const n = neighboursOf(c.record(call), call);
  return { in: n.sources.length, out: n.destinations.length };
};
/** One of `n` equal blocks. */
function equal(c: Collective, call: string, buf: Buf, n: number, what: string): (i: number) => Buf {
  if (n > 0 && buf.bytes % n !== 0)
    fail(ERR.COUNT, call, `${what} has ${buf.bytes} bytes, which ${n} neighbours cannot share evenly`, c.handle);
  const bytes = n === 0 ? 0 : buf.bytes / n;
  return (i) => part(buf, i * bytes, bytes);
}
function listed(c: Collective, call: string, v: coll.VectorArgument, n: number, what: string): (i: number) => Buf {
  const { offsets, lengths } = checkBlocks(c.record(call), v.counts, v.displs, v.unit, v.buf.bytes, call, what, n);
  return (i) => part(v.buf, offsets[i]!, lengths[i]!);
}

const NEIGHBOUR_STARTERS = {
  neighborAllgather: (c: Collective, pins: Pins, call: string, send: Data, recv: Data): number => {
    const n = degrees(c, call);
    const from = pins.from(send, 'the send buffer');
    return coll.neighbour(
      contextOf(c).layer,
      c.handle,
      () => from,
      equal(c, call, into(pins, recv), n.in, 'the receive buffer'),
      call,
    );
  },
  neighborAllgatherv: (c: Collective, pins: Pins, call: string, send: Data, recv: Vector): number => {
    const n = degrees(c, call);
    const from = pins.from(send, 'the send buffer');
    return coll.neighbour(
      contextOf(c).layer,
      c.handle,
      () => from,
      listed(c, call, vectorInto(pins, recv), n.in, 'the receive buffer'),
      call,
    );
  },
  neighborAlltoall: (c: Collective, pins: Pins, call: string, send: Data, recv: Data): number => {
    const n = degrees(c, call);
    const from = equal(c, call, pins.from(send, 'the send buffer'), n.out, 'the send buffer');
    return coll.neighbour(
      contextOf(c).layer,
      c.handle,
      from,
      equal(c, call, into(pins, recv), n.in, 'the receive buffer'),
      call,
    );
  },
  neighborAlltoallv: (c: Collective, pins: Pins, call: string, send: Vector, recv: Vector): number => {
    const n = degrees(c, call);
    const from = listed(c, call, pins.vector(send, 'the send buffer', false), n.out, 'the send buffer');
    return coll.neighbour(
      contextOf(c).layer,
      c.handle,
      from,
      listed(c, call, vectorInto(pins, recv), n.in, 'the receive buffer'),
      call,
    );
  },
  neighborAlltoallw: (
    c: Collective,
    pins: Pins,
    call: string,
    send: readonly (Data | null)[],
    recv: readonly (Data | null)[],
  ): number => {
    const n = degrees(c, call);
    const from = pins.blocks(send, n.out, 'the send buffer', false);
    const to = pins.blocks(recv, n.in, 'the receive buffer', true);
    return coll.neighbour(
      contextOf(c).layer,
      c.handle,
      (i) => from[i]!,
      (i) => to[i]!,
      call,
    );
  },
};

// ── forms

type Starter = (c: Collective, pins: Pins, call: string, ...args: never[]) => number;
/** Reductions of one number have a blocking form of their own, in comm.ts. */
const OWN_BLOCKING = new Set(['reduce', 'allreduce', 'scan', 'exscan']);

export type CollectiveName = keyof typeof STARTERS;
/** What {@link addForms} adds. */
type Forms<N extends string> = { [K in N | `i${N}` | `${N}Init`]: unknown };
export type CollectiveForms = Pick<
  Mayfly.Comm,
  Exclude<keyof Forms<CollectiveName>, 'reduce' | 'allreduce' | 'scan' | 'exscan'>
>;
export type NeighbourForms = Pick<Mayfly.TopologyComm, keyof Forms<keyof typeof NEIGHBOUR_STARTERS>>;

/** neighborAlltoallv: Neighbor_alltoallv. */
const standard = (name: string): string =>
  `${name[0]!.toUpperCase()}${name.slice(1).replace(/[A-Z]/g, (x) => `_${x.toLowerCase()}`)}`;

export function startCollective(c: Collective, name: CollectiveName, call: string, args: readonly unknown[]): number {
  return c.start(call, (pins) => (STARTERS[name] as Starter)(c, pins, call, ...(args as never[])));
}

function addForms(prototype: object, starters: Readonly<Record<string, Starter>>): void {
  const put = (name: string, value: unknown): void =>
    void Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  for (const [name, starter] of Object.entries(starters)) {
    const base = standard(name);
    const started = (c: Collective, call: string, args: never[]): number =>
      c.start(call, (pins) => starter(c, pins, call, ...args));
    const blocking = `MPI_${base}`;
    if (!OWN_BLOCKING.has(name))
      put(name, function (this: Collective, ...args: never[]): void {
        contextOf(this).call(() => void this.finish(started(this, blocking, args)));
      });
    const later = `MPI_I${base[0]!.toLowerCase()}${base.slice(1)}`;
    put(`i${name}`, function (this: Collective, ...args: never[]): Mayfly.Request {
      return this.request(() => started(this, later, args));
    });
    const init = `MPI_${base}_init`;
    put(`${name}Init`, function (this: Collective, ...args: never[]): Mayfly.PersistentRequest {
      return this.persistent(init, () => started(this, init, args), true);
    });
  }
}
export const addCollectives = (prototype: object): void =>
  addForms(prototype, STARTERS as unknown as Record<string, Starter>);
export const addNeighbourhoods = (prototype: object): void =>
  addForms(prototype, NEIGHBOUR_STARTERS as unknown as Record<string, Starter>);
