/** Communicator objects of the API: collectives and the making of communicators. Point to point: point-to-point.ts; structured values: objects.ts. */
import * as coll from '../collectives/index.ts';
import * as comms from '../comm.ts';
import * as intercomms from '../intercomm.ts';
import * as ports from '../ports.ts';
import * as requests from '../requests.ts';
import * as spawns from '../spawn.ts';
import { ERRORS_ARE_FATAL, ERRORS_RETURN } from '../constants.ts';
import { BYTE, DOUBLE } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import { opHandle } from '../ops.ts';
import * as topology from '../topology.ts';
import { describe, IN_PLACE } from './context.ts';
import { GroupObject } from './group.ts';
import { ErrorHandlerObject, OpObject } from './handles.ts';
import * as objects from './objects.ts';
import { PointToPoint } from './point-to-point.ts';
import { NO_BYTES, type Buf } from '../buffers.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Buffer = Mayfly.Buffer;
type Send = Buffer | Mayfly.InPlace;

/** Gives arrays of the program to a request that is about to start. */
export interface Pins {
  /** @param array null or undefined: none */
  buf(array: unknown, what: string): Buf | undefined;
  need(array: unknown, what: string): Buf;
  vector(v: Mayfly.Vector, what: string): coll.VectorArgument;
  /** Type of the last array; all arrays of one call have the same. */
  readonly type: number;
  readonly unit: number;
}

export class CommObject extends PointToPoint implements Mayfly.Comm {
  // ── collectives

  /** Starts a collective whose buffers are arrays of the program: they are pinned until its request goes. */
  start(call: string, begin: (pins: Pins) => number): number {
    const { context, layer, handle } = this;
    const spaces: number[] = [];
    let type = BYTE;
    let unit = 0;
    const need = (array: unknown, what: string): Buf => {
      const a = context.bytes(array, call, handle, what);
      if (unit > 0 && a.type.id !== type) fail(ERR.TYPE, call, `${what} is ${describe(array)}, the other buffer has another element type`, handle);
      type = a.type.id;
      unit = a.type.bytes;
      const b = layer.memory.pin(a.bytes);
      spaces.push(b.space);
      return b;
    };
    const pins: Pins = {
      need,
      buf: (array, what) => (array === null || array === undefined || array === IN_PLACE ? undefined : need(array, what)),
      vector: (v, what) => {
        if (typeof v !== 'object' || v === null || !('counts' in v)) fail(ERR.ARG, call, `${what} is ${describe(v)}, not { data, counts, displs? }`, handle);
        return { buf: need(v.data, `the data of ${what}`), unit, counts: v.counts, displs: v.displs };
      },
      get type() {
        return type;
      },
      get unit() {
        return unit;
      },
    };
    try {
      const request = begin(pins);
      layer.state.requests.rows.get(request)!.spaces.push(...spaces);
      return request;
    } catch (e) {
      for (const space of spaces) layer.memory.unpin(space);
      throw e;
    }
  }
  protected run(call: string, begin: (pins: Pins) => number): void {
    this.context.call(() => void this.finish(this.start(call, begin)));
  }
  private irun(call: string, begin: (pins: Pins) => number): Mayfly.Request {
    return this.request(() => this.start(call, begin));
  }
  private op(op: Mayfly.Op | undefined, call: string): number {
    return op === undefined ? opHandle('MPI_SUM') : OpObject.of(op, call, this.handle);
  }
  /** Reduces one number by the collective `f` on doubles: in place, but over an intercommunicator from one to another. */
  private number(call: string, value: number, f: (into: Buf, from: Buf | undefined) => number): number {
    return this.context.call(() => {
      const cell = new Float64Array([value]);
      const result = this.isInter ? new Float64Array(1) : cell;
      this.finish(this.start(call, (pins) => f(pins.need(result, 'the value'), result === cell ? undefined : pins.need(cell, 'the value'))));
      return result[0]!;
    });
  }

  barrier(): void {
    this.run('MPI_Barrier', () => coll.barrier(this.layer, this.handle));
  }
  ibarrier(): Mayfly.Request {
    return this.irun('MPI_Ibarrier', () => coll.barrier(this.layer, this.handle, 'MPI_Ibarrier'));
  }
  private bcastOn(call: string, buf: Buffer, root: number) {
    return (pins: Pins): number => coll.bcast(this.layer, this.handle, this.isRoot(root) || this.hasOwn(root) ? pins.need(buf, 'the buffer') : NO_BYTES, root, call);
  }
  bcast(buf: Buffer, root = 0): void {
    this.run('MPI_Bcast', this.bcastOn('MPI_Bcast', buf, root));
  }
  ibcast(buf: Buffer, root = 0): Mayfly.Request {
    return this.irun('MPI_Ibcast', this.bcastOn('MPI_Ibcast', buf, root));
  }
  private reduceOn(call: string, send: Send, recv: Buffer | null, op: Mayfly.Op | undefined, root: number) {
    return (pins: Pins): number => {
      const from = this.sendBuf(pins, send, call, root);
      const into = this.isRoot(root) ? pins.buf(recv, 'the receive buffer') : undefined;
      return coll.reduce(this.layer, this.handle, from, into, pins.type, this.op(op, call), root, call);
    };
  }
  /** A send buffer, or undefined for IN_PLACE. */
  private sendBuf(pins: Pins, send: unknown, call: string, root = 0): Buf | undefined {
    if (!this.hasOwn(root)) return undefined;
    if (send === null || send === undefined) fail(ERR.BUFFER, call, `the send buffer is ${describe(send)}`, this.handle);
    return pins.buf(send, 'the send buffer');
  }
  reduce(value: number, op?: Mayfly.Op, root?: number): number | undefined;
  reduce<A extends Buffer>(send: A | Mayfly.InPlace, recv: A | null, op?: Mayfly.Op, root?: number): void;
  reduce(a: number | Send, b?: Buffer | null | Mayfly.Op, c?: Mayfly.Op | number, d = 0): number | undefined | void {
    const call = 'MPI_Reduce';
    if (typeof a !== 'number') return this.run(call, this.reduceOn(call, a, b as Buffer | null, c as Mayfly.Op | undefined, d));
    const root = (c as number | undefined) ?? 0;
    const at = this.isRoot(root);
    const sum = this.number(call, a, (into, from) => coll.reduce(this.layer, this.handle, from ?? (at ? undefined : into), into, DOUBLE, this.op(b as Mayfly.Op | undefined, call), root, call));
    return at ? sum : undefined;
  }
  ireduce<A extends Buffer>(send: A | Mayfly.InPlace, recv: A | null, op?: Mayfly.Op, root = 0): Mayfly.Request {
    return this.irun('MPI_Ireduce', this.reduceOn('MPI_Ireduce', send, recv, op, root));
  }
  private allreduceOn(call: string, send: Send, recv: Buffer, op: Mayfly.Op | undefined) {
    return (pins: Pins): number => {
      const from = this.sendBuf(pins, send, call);
      const into = pins.need(recv, 'the receive buffer');
      return coll.allreduce(this.layer, this.handle, from, into, pins.type, this.op(op, call), call);
    };
  }
  allreduce(value: number, op?: Mayfly.Op): number;
  allreduce<A extends Buffer>(send: A | Mayfly.InPlace, recv: A, op?: Mayfly.Op): void;
  allreduce(a: number | Send, b?: Buffer | Mayfly.Op, c?: Mayfly.Op): number | void {
    const call = 'MPI_Allreduce';
    if (typeof a !== 'number') return this.run(call, this.allreduceOn(call, a, b as Buffer, c));
    return this.number(call, a, (into, from) => coll.allreduce(this.layer, this.handle, from, into, DOUBLE, this.op(b as Mayfly.Op | undefined, call), call));
  }
  iallreduce<A extends Buffer>(send: A | Mayfly.InPlace, recv: A, op?: Mayfly.Op): Mayfly.Request {
    return this.irun('MPI_Iallreduce', this.allreduceOn('MPI_Iallreduce', send, recv, op));
  }
  private scanOn(call: string, send: Send, recv: Buffer, op: Mayfly.Op | undefined, exclusive: boolean) {
    return (pins: Pins): number => {
      const from = this.sendBuf(pins, send, call);
      const into = pins.need(recv, 'the receive buffer');
      return coll.scan(this.layer, this.handle, from, into, pins.type, this.op(op, call), exclusive, call);
    };
  }
  scan(value: number, op?: Mayfly.Op): number;
  scan<A extends Buffer>(send: A | Mayfly.InPlace, recv: A, op?: Mayfly.Op): void;
  scan(a: number | Send, b?: Buffer | Mayfly.Op, c?: Mayfly.Op): number | void {
    const call = 'MPI_Scan';
    if (typeof a !== 'number') return this.run(call, this.scanOn(call, a, b as Buffer, c, false));
    return this.number(call, a, (buf) => coll.scan(this.layer, this.handle, undefined, buf, DOUBLE, this.op(b as Mayfly.Op | undefined, call), false, call));
  }
  exscan(value: number, op?: Mayfly.Op): number | undefined;
  exscan<A extends Buffer>(send: A | Mayfly.InPlace, recv: A, op?: Mayfly.Op): void;
  exscan(a: number | Send, b?: Buffer | Mayfly.Op, c?: Mayfly.Op): number | undefined | void {
    const call = 'MPI_Exscan';
    if (typeof a !== 'number') return this.run(call, this.scanOn(call, a, b as Buffer, c, true));
    const before = this.number(call, a, (buf) => coll.scan(this.layer, this.handle, undefined, buf, DOUBLE, this.op(b as Mayfly.Op | undefined, call), true, call));
    return this.rank === 0 ? undefined : before;
  }
  private gatherOn(call: string, send: Send, recv: Buffer | null, root: number) {
    return (pins: Pins): number => {
      const from = this.sendBuf(pins, send, call, root);
      return coll.gather(this.layer, this.handle, from, this.isRoot(root) ? pins.buf(recv, 'the receive buffer') : undefined, root, call);
    };
  }
  gather<A extends Buffer>(send: A | Mayfly.InPlace, recv: A | null, root = 0): void {
    this.run('MPI_Gather', this.gatherOn('MPI_Gather', send, recv, root));
  }
  igather<A extends Buffer>(send: A | Mayfly.InPlace, recv: A | null, root = 0): Mayfly.Request {
    return this.irun('MPI_Igather', this.gatherOn('MPI_Igather', send, recv, root));
  }
  gatherv<A extends Buffer>(send: A | Mayfly.InPlace, recv: Mayfly.Vector<A> | null, root = 0): void {
    const call = 'MPI_Gatherv';
    this.run(call, (pins) => {
      const from = this.sendBuf(pins, send, call, root);
      return coll.gatherv(this.layer, this.handle, from, this.isRoot(root) && recv ? pins.vector(recv, 'the receive buffer') : undefined, root);
    });
  }
  /** The place of the own block of a scatter, or undefined for IN_PLACE. */
  private ownPlace(pins: Pins, recv: unknown, call: string, root: number): Buf | undefined {
    if (!this.hasOwn(root)) return undefined;
    if (recv === null || recv === undefined) fail(ERR.BUFFER, call, `the receive buffer is ${describe(recv)}`, this.handle);
    return pins.buf(recv, 'the receive buffer');
  }
  private scatterOn(call: string, send: Buffer | null, recv: Buffer | Mayfly.InPlace, root: number) {
    return (pins: Pins): number => {
      const from = this.isRoot(root) ? pins.buf(send, 'the send buffer') : undefined;
      return coll.scatter(this.layer, this.handle, from, this.ownPlace(pins, recv, call, root), root, call);
    };
  }
  scatter<A extends Buffer>(send: A | null, recv: A | Mayfly.InPlace, root = 0): void {
    this.run('MPI_Scatter', this.scatterOn('MPI_Scatter', send, recv, root));
  }
  iscatter<A extends Buffer>(send: A | null, recv: A | Mayfly.InPlace, root = 0): Mayfly.Request {
    return this.irun('MPI_Iscatter', this.scatterOn('MPI_Iscatter', send, recv, root));
  }
  scatterv<A extends Buffer>(send: Mayfly.Vector<A> | null, recv: A | Mayfly.InPlace, root = 0): void {
    const call = 'MPI_Scatterv';
    this.run(call, (pins) => {
      const from = this.isRoot(root) && send ? pins.vector(send, 'the send buffer') : undefined;
      return coll.scatterv(this.layer, this.handle, from, this.ownPlace(pins, recv, call, root), root);
    });
  }
  private allgatherOn(call: string, send: Send, recv: Buffer) {
    return (pins: Pins): number => coll.allgather(this.layer, this.handle, this.sendBuf(pins, send, call), pins.need(recv, 'the receive buffer'), call);
  }
  allgather<A extends Buffer>(send: A | Mayfly.InPlace, recv: A): void {
    this.run('MPI_Allgather', this.allgatherOn('MPI_Allgather', send, recv));
  }
  iallgather<A extends Buffer>(send: A | Mayfly.InPlace, recv: A): Mayfly.Request {
    return this.irun('MPI_Iallgather', this.allgatherOn('MPI_Iallgather', send, recv));
  }
  allgatherv<A extends Buffer>(send: A | Mayfly.InPlace, recv: Mayfly.Vector<A>): void {
    const call = 'MPI_Allgatherv';
    this.run(call, (pins) => coll.allgatherv(this.layer, this.handle, this.sendBuf(pins, send, call), pins.vector(recv, 'the receive buffer')));
  }
  private alltoallOn(call: string, send: Send, recv: Buffer) {
    return (pins: Pins): number => coll.alltoall(this.layer, this.handle, this.sendBuf(pins, send, call), pins.need(recv, 'the receive buffer'), call);
  }
  alltoall<A extends Buffer>(send: A | Mayfly.InPlace, recv: A): void {
    this.run('MPI_Alltoall', this.alltoallOn('MPI_Alltoall', send, recv));
  }
  ialltoall<A extends Buffer>(send: A | Mayfly.InPlace, recv: A): Mayfly.Request {
    return this.irun('MPI_Ialltoall', this.alltoallOn('MPI_Ialltoall', send, recv));
  }
  alltoallv<A extends Buffer>(send: Mayfly.Vector<A> | Mayfly.InPlace, recv: Mayfly.Vector<A>): void {
    this.run('MPI_Alltoallv', (pins) => coll.alltoallv(this.layer, this.handle, 'data' in send ? pins.vector(send, 'the send buffer') : undefined, pins.vector(recv, 'the receive buffer')));
  }
  reduceScatter<A extends Buffer>(send: A | Mayfly.InPlace, recv: A, counts: ArrayLike<number>, op?: Mayfly.Op): void {
    const call = 'MPI_Reduce_scatter';
    this.run(call, (pins) => {
      const from = this.sendBuf(pins, send, call);
      const into = pins.need(recv, 'the receive buffer');
      return coll.reduceScatter(this.layer, this.handle, from, into, counts, pins.type, pins.unit, this.op(op, call));
    });
  }
  reduceScatterBlock<A extends Buffer>(send: A | Mayfly.InPlace, recv: A, op?: Mayfly.Op): void {
    const call = 'MPI_Reduce_scatter_block';
    this.run(call, (pins) => {
      const from = this.sendBuf(pins, send, call);
      const into = pins.need(recv, 'the receive buffer');
      return coll.reduceScatterBlock(this.layer, this.handle, from, into, pins.type, pins.unit, this.op(op, call));
    });
  }

  // ── structured values

  bcastObject<T>(value: T | undefined, root = 0): T {
    return this.context.call(() => objects.bcast(this.context, this, value, root));
  }
  gatherObject<T>(value: T, root = 0): T[] | undefined {
    return this.context.call(() => objects.gather(this.context, this, value, root));
  }
  scatterObject<T>(values: readonly T[] | undefined, root = 0): T {
    return this.context.call(() => objects.scatter(this.context, this, values, root));
  }
  allgatherObject<T>(value: T): T[] {
    return this.context.call(() => objects.allgather(this.context, this, value));
  }
  alltoallObject<T>(values: readonly T[]): T[] {
    return this.context.call(() => objects.alltoall(this.context, this, values));
  }
  reduceObject<T>(value: T, fn: (a: T, b: T) => T, root = 0): T | undefined {
    return this.gatherObject(value, root)?.reduce((a, b) => fn(a, b));
  }
  allreduceObject<T>(value: T, fn: (a: T, b: T) => T): T {
    return this.allgatherObject(value).reduce((a, b) => fn(a, b));
  }

  // ── communicators

  protected make(start: () => number): CommObject | null {
    return this.context.call(() => {
      const { result } = this.finish(start());
      return result === 0 ? null : (this.context.commObject(result) as CommObject);
    });
  }
  dup(): Mayfly.CartComm {
    // A CartComm only where this is one; the wider type lets CartObject share the method.
    return this.make(() => comms.dup(this.layer, this.handle)) as unknown as Mayfly.CartComm;
  }
  split(color: number, key = 0): Mayfly.Comm | null {
    return this.make(() => comms.split(this.layer, this.handle, color, key));
  }
  create(group: Mayfly.Group): Mayfly.Comm | null {
    const call = 'MPI_Comm_create';
    return this.make(() => comms.create(this.layer, this.handle, GroupObject.of(group, call).tasks(call)));
  }
  createGroup(group: Mayfly.Group, tag = 0): Mayfly.Comm | null {
    const call = 'MPI_Comm_create_group';
    const tasks = this.context.call(() => GroupObject.of(group, call).tasks(call));
    return tasks.includes(this.layer.state.task) ? this.make(() => comms.createGroup(this.layer, this.handle, tasks, tag)) : null;
  }
  createIntercomm(localLeader: number, peer: Mayfly.Comm | null, remoteLeader: number, tag = 0): Mayfly.Intercomm {
    return this.make(() => intercomms.create(this.layer, this.handle, localLeader, () => (peer as CommObject | null)?.handle ?? 0, remoteLeader, tag)) as unknown as Mayfly.Intercomm;
  }
  accept(port: string | null, root = 0): Mayfly.Intercomm {
    return this.make(() => ports.accept(this.layer, this.handle, root, () => String(port))) as unknown as Mayfly.Intercomm;
  }
  connect(port: string | null, root = 0): Mayfly.Intercomm {
    return this.make(() => ports.connect(this.layer, this.handle, root, () => String(port))) as unknown as Mayfly.Intercomm;
  }
  spawn(args: readonly string[], maxprocs = 1, root = 0): Mayfly.Intercomm {
    const call = 'MPI_Comm_spawn';
    const { layer, handle } = this;
    const asked = this.context.call(() => {
      const outcome = requests.wait(layer, spawns.ask(layer, handle, root, () => {
        if (!Number.isInteger(maxprocs) || maxprocs < 1) fail(ERR.ARG, call, `maxprocs is ${String(maxprocs)}, a whole number from 1 on is needed`, handle);
        return { known: true, parts: [{ args: Array.from(args, String), count: maxprocs }] };
      }));
      if (outcome.error) throw this.context.failed(outcome.error, outcome.comm);
      return outcome;
    });
    return this.make(() => spawns.meetChildren(layer, handle, root, asked.result, asked.status.bytes)) as unknown as Mayfly.Intercomm;
  }
  disconnect(): void {
    this.context.call(() => {
      comms.quiesce(this.layer, this.handle);
      comms.free(this.layer, this.handle, 'MPI_Comm_disconnect');
    });
  }
  compare(other: Mayfly.Comm): Mayfly.Comparison {
    return this.context.call(() => {
      if (!(other instanceof CommObject)) return fail(ERR.COMM, 'MPI_Comm_compare', 'the argument is not a communicator', this.handle);
      return comms.compare(this.layer, this.handle, other.handle);
    });
  }
  free(): void {
    this.context.call(() => comms.free(this.layer, this.handle));
  }
  createCart(dims: readonly number[], periods?: readonly boolean[], _reorder?: boolean): Mayfly.CartComm | null {
    return this.make(() => topology.createCart(this.layer, this.handle, dims, periods ?? dims.map(() => false))) as Mayfly.CartComm | null;
  }

  // ── errors

  setErrhandler(handler: Mayfly.ErrorHandler): void {
    this.context.call(() => {
      const record = this.record('MPI_Comm_set_errhandler');
      if (!(handler instanceof ErrorHandlerObject)) return fail(ERR.ARG, 'MPI_Comm_set_errhandler', 'the argument is not an error handler', this.handle);
      record.errhandler = handler.handle;
    });
  }
  getErrhandler(): Mayfly.ErrorHandler {
    return this.context.call(() => {
      const { errhandler } = this.record('MPI_Comm_get_errhandler');
      const predefined: Record<number, string> = { [ERRORS_ARE_FATAL]: 'MPI_ERRORS_ARE_FATAL', [ERRORS_RETURN]: 'MPI_ERRORS_RETURN' };
      return new ErrorHandlerObject(this.context, errhandler, this.layer.state.errhandlers.rows.get(errhandler)?.name ?? predefined[errhandler] ?? 'user-defined error handler');
    });
  }
  abort(code = 1): never {
    return this.context.call(() => this.context.abort('ABORTED', `rank ${this.rank} of ${this.name} called MPI_Abort with code ${code}`, this.context.exitCode(code, 'MPI_Abort')));
  }
}

/** An intercommunicator: what it makes of itself is such too. */
export class IntercommObject extends CommObject {
  get remoteSize(): number {
    return this.context.call(() => intercomms.inter(this.layer, this.handle, 'MPI_Comm_remote_size').remote.length);
  }
  get remoteGroup(): Mayfly.Group {
    return this.context.call(() => GroupObject.make(this.context, [...intercomms.inter(this.layer, this.handle, 'MPI_Comm_remote_group').remote]));
  }
  merge(high = false): Mayfly.Comm {
    return this.make(() => intercomms.merge(this.layer, this.handle, high))!;
  }
}

export class CartObject extends CommObject implements Mayfly.CartComm {
  get dims(): readonly number[] {
    return this.context.call(() => [...topology.cartOf(this.record('MPI_Cart_get'), 'MPI_Cart_get').dims]);
  }
  get periods(): readonly boolean[] {
    return this.context.call(() => [...topology.cartOf(this.record('MPI_Cart_get'), 'MPI_Cart_get').periods]);
  }
  get coords(): readonly number[] {
    return this.context.call(() => topology.coordsOf(this.record('MPI_Cart_get'), this.rank));
  }
  coordsOf(rank: number): number[] {
    return this.context.call(() => topology.coordsOf(this.record('MPI_Cart_coords'), rank));
  }
  cartRank(coords: ArrayLike<number>): number {
    return this.context.call(() => topology.rankAt(this.record('MPI_Cart_rank'), coords));
  }
  shift(direction: number, displacement = 1): { source: number; dest: number } {
    return this.context.call(() => topology.shift(this.record('MPI_Cart_shift'), direction, displacement));
  }
  sub(keep: readonly boolean[]): Mayfly.CartComm {
    return this.make(() => topology.sub(this.layer, this.handle, keep)) as unknown as Mayfly.CartComm;
  }
}
