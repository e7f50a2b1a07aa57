/**
 * Communicator objects of the API: the making of communicators, caching, errors. Point to point: point-to-point.ts;
 * collectives: collectives.ts; structured values: objects.ts.
 */
import * as bundles from '../bundle.ts';
import * as coll from '../collectives/index.ts';
import * as comms from '../comm.ts';
import * as intercomms from '../intercomm.ts';
import * as ports from '../ports.ts';
import * as requests from '../requests.ts';
import * as spawns from '../spawn.ts';
import { DOUBLE } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import { opHandle } from '../ops.ts';
import { contextOf } from './held.ts';
import * as caching from './caching.ts';
import { addCollectives, startCollective, type CollectiveForms, type CollectiveName } from './collectives.ts';
import { GroupObject } from './group.ts';
import { ErrorHandlerObject, OpObject } from './handles.ts';
import * as objects from './objects.ts';
import { Pins } from './pins.ts';
import { FailureCalls } from './failures.ts';
import { CommRequestObject } from './status.ts';
import * as topologies from './topology-make.ts';
import type { Buf } from '../buffers.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Send = Mayfly.Data | Mayfly.InPlace;

/** The forms of collectives come from their table (collectives.ts). */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging, @typescript-eslint/no-empty-object-type -- addCollectives, below, puts them there
export interface CommObject extends CollectiveForms {}
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- see above
export class CommObject extends FailureCalls implements Mayfly.Comm {
  // ── collectives

  /** Starts a collective whose buffers belong to the program. */
  start(call: string, begin: (pins: Pins) => number): number {
    return bundles.begin(contextOf(this).layer, (b) => begin(new Pins(contextOf(this), this.handle, call, b)));
  }
  private run(name: CollectiveName, call: string, ...args: unknown[]): void {
    contextOf(this).call(() => void this.finish(startCollective(this, name, call, args)));
  }
  private op(op: Mayfly.Op | undefined, call: string): number {
    return op === undefined ? opHandle('MPI_SUM') : OpObject.of(op, call, this.handle);
  }
  /**
   * Reduces one number by the collective `f` on doubles: in place, but over an intercommunicator from one to another.
   */
  private number(call: string, value: number, f: (into: Buf, from: Buf | undefined) => number): number {
    return contextOf(this).call(() => {
      const cell = new Float64Array([value]);
      const result = this.isInter ? new Float64Array(1) : cell;
      this.finish(
        this.start(call, (pins) =>
          f(pins.into(result, 'the value'), result === cell ? undefined : pins.from(cell, 'the value')),
        ),
      );
      return result[0]!;
    });
  }

  reduce(value: number, op?: Mayfly.Op, root?: number): number | undefined;
  reduce<A extends Mayfly.Buffer>(
    send: Mayfly.Of<A> | Mayfly.InPlace,
    recv: Mayfly.Of<A> | null,
    op?: Mayfly.Op,
    root?: number,
  ): void;
  reduce(
    a: number | Send,
    b?: Mayfly.Data | null | Mayfly.Op,
    c?: Mayfly.Op | number,
    d = 0,
  ): number | undefined | void {
    const call = 'MPI_Reduce';
    if (typeof a !== 'number') return this.run('reduce', call, a, b, c, d);
    const root = (c as number | undefined) ?? 0;
    const at = this.isRoot(root);
    const sum = this.number(call, a, (into, from) =>
      coll.reduce(
        contextOf(this).layer,
        this.handle,
        from ?? (at ? undefined : into),
        into,
        DOUBLE,
        this.op(b as Mayfly.Op | undefined, call),
        root,
        call,
      ),
    );
    return at ? sum : undefined;
  }
  allreduce(value: number, op?: Mayfly.Op): number;
  allreduce<A extends Mayfly.Buffer>(send: Mayfly.Of<A> | Mayfly.InPlace, recv: Mayfly.Of<A>, op?: Mayfly.Op): void;
  allreduce(a: number | Send, b?: Mayfly.Data | Mayfly.Op, c?: Mayfly.Op): number | void {
    const call = 'MPI_Allreduce';
    if (typeof a !== 'number') return this.run('allreduce', call, a, b, c);
    return this.number(call, a, (into, from) =>
      coll.allreduce(
        contextOf(this).layer,
        this.handle,
        from,
        into,
        DOUBLE,
        this.op(b as Mayfly.Op | undefined, call),
        call,
      ),
    );
  }
  scan(value: number, op?: Mayfly.Op): number;
  scan<A extends Mayfly.Buffer>(send: Mayfly.Of<A> | Mayfly.InPlace, recv: Mayfly.Of<A>, op?: Mayfly.Op): void;
  scan(a: number | Send, b?: Mayfly.Data | Mayfly.Op, c?: Mayfly.Op): number | void {
    const call = 'MPI_Scan';
    if (typeof a !== 'number') return this.run('scan', call, a, b, c);
    return this.number(call, a, (buf) =>
      coll.scan(
        contextOf(this).layer,
        this.handle,
        undefined,
        buf,
        DOUBLE,
        this.op(b as Mayfly.Op | undefined, call),
        false,
        call,
      ),
    );
  }
  exscan(value: number, op?: Mayfly.Op): number | undefined;
  exscan<A extends Mayfly.Buffer>(send: Mayfly.Of<A> | Mayfly.InPlace, recv: Mayfly.Of<A>, op?: Mayfly.Op): void;
  exscan(a: number | Send, b?: Mayfly.Data | Mayfly.Op, c?: Mayfly.Op): number | undefined | void {
    const call = 'MPI_Exscan';
    if (typeof a !== 'number') return this.run('exscan', call, a, b, c);
    const before = this.number(call, a, (buf) =>
      coll.scan(
        contextOf(this).layer,
        this.handle,
        undefined,
        buf,
        DOUBLE,
        this.op(b as Mayfly.Op | undefined, call),
        true,
        call,
      ),
    );
    return this.rank === 0 ? undefined : before;
  }

  // ── structured values

  bcastObject<T>(value: T | undefined, root = 0): T {
    return contextOf(this).call(() => objects.bcast(contextOf(this), this, value, root));
  }
  gatherObject<T>(value: T, root = 0): T[] | undefined {
    return contextOf(this).call(() => objects.gather(contextOf(this), this, value, root));
  }
  scatterObject<T>(values: readonly T[] | undefined, root = 0): T {
    return contextOf(this).call(() => objects.scatter(contextOf(this), this, values, root));
  }
  allgatherObject<T>(value: T): T[] {
    return contextOf(this).call(() => objects.allgather(contextOf(this), this, value));
  }
  alltoallObject<T>(values: readonly T[]): T[] {
    return contextOf(this).call(() => objects.alltoall(contextOf(this), this, values));
  }
  reduceObject<T>(value: T, fn: (a: T, b: T) => T, root = 0): T | undefined {
    return this.gatherObject(value, root)?.reduce((a, b) => fn(a, b));
  }
  allreduceObject<T>(value: T, fn: (a: T, b: T) => T): T {
    return this.allgatherObject(value).reduce((a, b) => fn(a, b));
  }

  // ── communicators

  make(start: () => number): CommObject | null {
    return contextOf(this).call(() => {
      const { result } = this.finish(start());
      return result === 0 ? null : (contextOf(this).commObject(result) as CommObject);
    });
  }
  /**
   * "as if MPI_COMM_DUP was executed at the time that MPI_COMM_IDUP is called" (§7.4.2): attributes of now. No hints
   * are passed on.
   */
  private duplicating(
    call: string,
    info: Mayfly.Info | undefined,
  ): { request: number; finished: (comm: number) => void } {
    const attributes = caching.copied(contextOf(this), this, this.record(call).attributes);
    const hints = caching.hints(info, call, this.handle);
    return {
      request: comms.dup(contextOf(this).layer, this.handle, call),
      finished: (comm) => {
        const made = contextOf(this).layer.state.comms.rows.get(comm)!;
        made.attributes = attributes;
        if (hints) made.info = hints;
      },
    };
  }
  dup(info?: Mayfly.Info): Mayfly.CartComm & Mayfly.GraphComm & Mayfly.DistGraphComm {
    // Of the topology that this one has; the wider type lets the classes of topologies share the method.
    return contextOf(this).call(() => {
      const { request, finished } = this.duplicating(info ? 'MPI_Comm_dup_with_info' : 'MPI_Comm_dup', info);
      const { result } = this.finish(request);
      finished(result);
      return contextOf(this).commObject(result);
    }) as unknown as Mayfly.CartComm & Mayfly.GraphComm & Mayfly.DistGraphComm;
  }
  idup(info?: Mayfly.Info): Mayfly.CommRequest {
    return contextOf(this).call(() => {
      const { request, finished } = this.duplicating(info ? 'MPI_Comm_idup_with_info' : 'MPI_Comm_idup', info);
      return new CommRequestObject(contextOf(this), request, finished);
    });
  }
  split(color: number, key = 0): Mayfly.Comm | null {
    return this.make(() => comms.split(contextOf(this).layer, this.handle, color, key));
  }
  splitType(type: Mayfly.SplitType | undefined, key = 0, info?: Mayfly.Info): Mayfly.Comm | null {
    const call = 'MPI_Comm_split_type';
    return this.make(() => {
      if (type !== undefined && !['shared', 'hwGuided', 'hwUnguided', 'resourceGuided'].includes(type))
        fail(
          ERR.ARG,
          call,
          `type ${String(type)} is none of 'shared', 'hwGuided', 'hwUnguided', 'resourceGuided'`,
          this.handle,
        );
      return comms.splitType(contextOf(this).layer, this.handle, type, key, caching.hints(info, call, this.handle));
    });
  }
  create(group: Mayfly.Group): Mayfly.Comm | null {
    const call = 'MPI_Comm_create';
    return this.make(() => comms.create(contextOf(this).layer, this.handle, GroupObject.of(group, call).tasks(call)));
  }
  createGroup(group: Mayfly.Group, tag = 0): Mayfly.Comm | null {
    const call = 'MPI_Comm_create_group';
    const tasks = contextOf(this).call(() => GroupObject.of(group, call).tasks(call));
    return tasks.includes(contextOf(this).layer.state.task)
      ? this.make(() => comms.createGroup(contextOf(this).layer, this.handle, tasks, tag))
      : null;
  }
  createIntercomm(localLeader: number, peer: Mayfly.Comm | null, remoteLeader: number, tag = 0): Mayfly.Intercomm {
    return this.make(() =>
      intercomms.create(
        contextOf(this).layer,
        this.handle,
        localLeader,
        () => (peer as CommObject | null)?.handle ?? 0,
        remoteLeader,
        tag,
      ),
    ) as unknown as Mayfly.Intercomm;
  }
  accept(port: string | null, root = 0): Mayfly.Intercomm {
    return this.make(() =>
      ports.accept(contextOf(this).layer, this.handle, root, () => String(port)),
    ) as unknown as Mayfly.Intercomm;
  }
  connect(port: string | null, root = 0, timeout?: number): Mayfly.Intercomm {
    return this.make(() =>
      ports.connect(
        contextOf(this).layer,
        this.handle,
        root,
        () => String(port),
        timeout === undefined
          ? undefined
          : () =>
              timeout >= 0 && timeout <= 1e9
                ? timeout
                : fail(
                    ERR.ARG,
                    'MPI_Comm_connect',
                    `the time-out is ${timeout}, not seconds from 0 to 1e9`,
                    this.handle,
                  ),
      ),
    ) as unknown as Mayfly.Intercomm;
  }
  spawn(args: readonly string[], maxprocs = 1, root = 0): Mayfly.Intercomm {
    return this.spawning('MPI_Comm_spawn', root, () => [{ args, maxprocs }]);
  }
  spawnMultiple(parts: readonly Mayfly.SpawnPart[], root = 0): Mayfly.Intercomm {
    return this.spawning('MPI_Comm_spawn_multiple', root, () =>
      Array.isArray(parts) && parts.length > 0
        ? parts
        : fail(ERR.COUNT, 'MPI_Comm_spawn_multiple', 'there is nothing to spawn: the list is empty', this.handle),
    );
  }
  /** @param wanted looked at at the root only */
  private spawning(call: string, root: number, wanted: () => readonly Mayfly.SpawnPart[]): Mayfly.Intercomm {
    const { layer } = contextOf(this);
    const { handle } = this;
    const part = ({ args, maxprocs: count = 1 }: Mayfly.SpawnPart): { args: string[]; count: number } => {
      if (!Number.isInteger(count) || count < 1)
        fail(ERR.ARG, call, `maxprocs is ${String(count)}, a whole number from 1 on is needed`, handle);
      return { args: Array.from(args, String), count };
    };
    const asked = contextOf(this).call(() => {
      const outcome = requests.wait(
        layer,
        spawns.ask(layer, handle, root, () => ({ known: true, parts: wanted().map(part) }), call),
      );
      if (outcome.error) throw contextOf(this).failed(outcome.error, outcome.comm);
      return outcome;
    });
    return this.make(() =>
      spawns.meetChildren(layer, handle, root, asked.result, asked.status.bytes, call),
    ) as unknown as Mayfly.Intercomm;
  }
  disconnect(): void {
    contextOf(this).call(() => {
      comms.quiesce(contextOf(this).layer, this.handle);
      caching.removeAll(contextOf(this), this, this.record('MPI_Comm_disconnect').attributes);
      comms.free(contextOf(this).layer, this.handle, 'MPI_Comm_disconnect');
    });
  }
  compare(other: Mayfly.Comm): Mayfly.Comparison {
    return contextOf(this).call(() => {
      if (!(other instanceof CommObject))
        return fail(ERR.COMM, 'MPI_Comm_compare', 'the argument is not a communicator', this.handle);
      return comms.compare(contextOf(this).layer, this.handle, other.handle);
    });
  }
  free(): void {
    contextOf(this).call(() => {
      comms.checkFree(this.record('MPI_Comm_free'), 'MPI_Comm_free');
      caching.removeAll(contextOf(this), this, this.record('MPI_Comm_free').attributes);
      comms.free(contextOf(this).layer, this.handle);
    });
  }
  createCart(dims: readonly number[], periods?: readonly boolean[], _reorder?: boolean): Mayfly.CartComm | null {
    return topologies.cart(this, dims, periods) as Mayfly.CartComm | null;
  }
  createGraph(index: readonly number[], edges: readonly number[], _reorder?: boolean): Mayfly.GraphComm | null {
    return topologies.graph(this, index, edges) as unknown as Mayfly.GraphComm | null;
  }
  createDistGraph(
    sources: readonly number[],
    degrees: readonly number[],
    destinations: readonly number[],
    weights?: readonly number[],
  ): Mayfly.DistGraphComm {
    return topologies.distGraph(this, sources, degrees, destinations, weights) as unknown as Mayfly.DistGraphComm;
  }
  createDistGraphAdjacent(
    sources: readonly number[],
    destinations: readonly number[],
    weights?: Mayfly.NeighbourWeights,
  ): Mayfly.DistGraphComm {
    return topologies.adjacent(this, sources, destinations, weights) as unknown as Mayfly.DistGraphComm;
  }

  // ── caching

  getAttr<T>(key: Mayfly.Keyval<T>): T | undefined {
    return contextOf(this).call(() =>
      caching.get(contextOf(this), this.record('MPI_Comm_get_attr').attributes, key, 'MPI_Comm_get_attr', this.handle),
    );
  }
  setAttr<T>(key: Mayfly.Keyval<T>, value: T): void {
    contextOf(this).call(() =>
      caching.set(
        contextOf(this),
        this,
        this.record('MPI_Comm_set_attr').attributes,
        key,
        value,
        'MPI_Comm_set_attr',
        this.handle,
      ),
    );
  }
  deleteAttr(key: Mayfly.Keyval<unknown>): void {
    contextOf(this).call(() =>
      caching.remove(
        contextOf(this),
        this,
        this.record('MPI_Comm_delete_attr').attributes,
        key,
        'MPI_Comm_delete_attr',
        this.handle,
      ),
    );
  }
  get info(): Mayfly.Info {
    return contextOf(this).call(() => Object.fromEntries(this.record('MPI_Comm_get_info').info ?? []));
  }
  setInfo(info: Mayfly.Info): void {
    const call = 'MPI_Comm_set_info';
    contextOf(this).call(() => {
      const record = this.record(call);
      record.info = new Map([...(record.info ?? []), ...(caching.hints(info, call, this.handle) ?? [])]);
    });
  }

  // ── errors

  setErrhandler(handler: Mayfly.ErrorHandler): void {
    contextOf(this).local(() => {
      const record = this.record('MPI_Comm_set_errhandler');
      if (!(handler instanceof ErrorHandlerObject))
        return fail(ERR.ARG, 'MPI_Comm_set_errhandler', 'the argument is not an error handler', this.handle);
      record.errhandler = handler.handle;
    });
  }
  getErrhandler(): Mayfly.ErrorHandler {
    return contextOf(this).call(() =>
      ErrorHandlerObject.get(contextOf(this), this.record('MPI_Comm_get_errhandler').errhandler),
    );
  }
  abort(code = 1): never {
    return contextOf(this).call(() =>
      contextOf(this).abort(
        'ABORTED',
        `rank ${this.rank} of ${this.name} called MPI_Abort with code ${code}`,
        contextOf(this).exitCode(code, 'MPI_Abort'),
      ),
    );
  }
  callErrhandler(error: Mayfly.MPIError): void {
    contextOf(this).call(() => {
      this.record('MPI_Comm_call_errhandler');
      contextOf(this).callHandler(error, this.handle, 'MPI_Comm_call_errhandler');
    });
  }
}
addCollectives(CommObject.prototype);

/** An intercommunicator: what it makes of itself is such too. */
export class IntercommObject extends CommObject {
  get remoteSize(): number {
    return contextOf(this).call(
      () => intercomms.inter(contextOf(this).layer, this.handle, 'MPI_Comm_remote_size').remote.length,
    );
  }
  get remoteGroup(): Mayfly.Group {
    return contextOf(this).call(() =>
      GroupObject.make(contextOf(this), [
        ...intercomms.inter(contextOf(this).layer, this.handle, 'MPI_Comm_remote_group').remote,
      ]),
    );
  }
  merge(high = false): Mayfly.Comm {
    return this.make(() => intercomms.merge(contextOf(this).layer, this.handle, high))!;
  }
}
