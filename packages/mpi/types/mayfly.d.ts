/* eslint-disable max-lines -- one page, as a user reads it */
/**
 * The module 'mayfly': MPI for TypeScript programs, in the idiom of mpi4py. Calls block as MPI's do; there is no `await`.
 *
 *   import { COMM_WORLD as comm, SUM } from 'mayfly';
 *   const sum = comm.allreduce(comm.rank, SUM);
 *   if (comm.rank === 0) console.log(`sum of ranks: ${sum}`);
 *
 * Names of the standard stand in brackets (MPI 4.1). Lengths of buffers are in elements, times in seconds, unless said otherwise.
 * A whole typed array is the buffer: pass `array.subarray(from, to)` for a part. Errors are {@link MPIError}s; what happens to one
 * is the error handler's matter ({@link Comm.setErrhandler}): by default it ends the job (MPI_ERRORS_ARE_FATAL).
 */

// ───────────────────────────── Data ─────────────────────────────

/** A message buffer. The element type is the datatype: Int32Array is MPI_INT32_T, Float64Array MPI_DOUBLE, Uint8Array MPI_BYTE … */
export type Buffer =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array
  | Float32Array | Float64Array | BigInt64Array | BigUint64Array;

/** Blocks of different length for gatherv, scatterv, allgatherv, alltoallv. Counts and displacements are in elements of `data`. */
export interface Vector<A extends Buffer = Buffer> {
  data: A;
  /** One count per rank. */
  counts: ArrayLike<number>;
  /** One offset per rank; absent: the blocks lie one behind the other. */
  displs?: ArrayLike<number>;
}

/**
 * A structured value for sendObject and its kin, and for checkpoints: null, undefined, booleans, numbers, bigints, strings,
 * arrays, plain objects, Map, Set, ArrayBuffer and typed arrays, nested at will (no cycles, no functions, no class instances).
 */
export type Value = unknown;

/** [MPI_IN_PLACE] The rank's contribution already lies in the receive buffer. */
export interface InPlace {
  readonly name: 'MPI_IN_PLACE';
}
export declare const IN_PLACE: InPlace;

/** [MPI_ANY_SOURCE] */
export declare const ANY_SOURCE: -1;
/** [MPI_ANY_TAG] */
export declare const ANY_TAG: -2;
/** [MPI_PROC_NULL] Sends to it and receives from it complete at once and do nothing. */
export declare const PROC_NULL: -3;
/** [MPI_ROOT] The root of a collective over an {@link Intercomm} passes this. */
export declare const ROOT: -4;
/** [MPI_UNDEFINED] A colour of {@link Comm.split} for "none", a rank that is not in a group. */
export declare const UNDEFINED: -32766;
/** [MPI_TAG_UB] The largest tag. Tags go from 0 to this. */
export declare const TAG_UB: 2147483647;

// ───────────────────────────── Status and requests ─────────────────────────────

/** [MPI_Status] What a receive got, or a probe saw. */
export interface Status {
  /** Rank of the sender in the communicator; PROC_NULL for a receive from there; ANY_SOURCE for an empty status. */
  readonly source: number;
  readonly tag: number;
  /** Length of the message in bytes. */
  readonly bytes: number;
  /** True when the operation was cancelled. [MPI_Test_cancelled] */
  readonly cancelled: boolean;
  /** True when the message holds a structured value (receive it with recvObject). */
  readonly isObject: boolean;
  /** Set by waitall/waitsome when this operation failed. [MPI_ERROR] */
  readonly error?: MPIError | undefined;
  /** [MPI_Get_count] Elements of the given array type (`status.count(Float64Array)`); UNDEFINED when not a whole number of them. */
  count(type: { readonly BYTES_PER_ELEMENT: number }): number;
}

/**
 * [MPI_Request] A started operation. Do not change its buffer (receives: do not read it either) before wait or a successful test.
 * A completed request is inactive: waiting for it again returns an empty status at once.
 */
export interface Request {
  /** [MPI_Wait] */
  wait(): Status;
  /** [MPI_Test] undefined: not yet complete. */
  test(): Status | undefined;
  /** [MPI_Request_get_status] As test, but the request stays active. */
  getStatus(): Status | undefined;
  /** [MPI_Cancel] Receives that have not matched are cancelled; for everything else this does nothing. Then wait for it. */
  cancel(): void;
  /** [MPI_Request_free] The operation completes by itself, the handle is given up. */
  free(): void;
  /** True once completed and waited for, or freed. */
  readonly inactive: boolean;
}

/** [MPI_Waitall] Statuses in the order of the requests. @throws MPIError ERR_IN_STATUS when some failed: its `statuses` say which. */
export declare function waitall(requests: readonly Request[]): Status[];
/** [MPI_Waitany] The first active request (lowest index among those complete); undefined when none is active. */
export declare function waitany(requests: readonly Request[]): { index: number; status: Status } | undefined;
/** [MPI_Waitsome] Waits for at least one; empty when none is active. */
export declare function waitsome(requests: readonly Request[]): { index: number; status: Status }[];
/** [MPI_Testall] All of them, or undefined and none is completed. */
export declare function testall(requests: readonly Request[]): Status[] | undefined;
/** [MPI_Testany] */
export declare function testany(requests: readonly Request[]): { index: number; status: Status } | undefined;
/** [MPI_Testsome] */
export declare function testsome(requests: readonly Request[]): { index: number; status: Status }[];

// ───────────────────────────── Operations ─────────────────────────────

/** [MPI_Op] */
export interface Op {
  readonly name: string;
  readonly commutative: boolean;
  /** [MPI_Op_free] Only for those made by Op.create. */
  free(): void;
}
export declare const Op: {
  /**
   * [MPI_Op_create] `inout[i] = in[i] ∘ inout[i]` for every element, `in` from lower ranks. Must be associative. It may not
   * communicate. Not commutative (`commute` false): evaluated in rank order.
   */
  create<A extends Buffer>(fn: (input: A, inout: A) => void, commute: boolean): Op;
};
export declare const SUM: Op;
export declare const PROD: Op;
export declare const MIN: Op;
export declare const MAX: Op;
/** Logical and bitwise operations are for integer arrays; logical ones give 0 or 1. */
export declare const LAND: Op;
export declare const LOR: Op;
export declare const LXOR: Op;
export declare const BAND: Op;
export declare const BOR: Op;
export declare const BXOR: Op;
/** [MPI_MINLOC] The buffer holds pairs value, index, value, index …; of equal values the lowest index wins. */
export declare const MINLOC: Op;
/** [MPI_MAXLOC] As MINLOC, for the largest value. */
export declare const MAXLOC: Op;
/** [MPI_REPLACE] Of windows: the value that comes. */
export declare const REPLACE: Op;
/** [MPI_NO_OP] Of {@link Win.getAccumulate}: the value that is there. */
export declare const NO_OP: Op;

// ───────────────────────────── Groups ─────────────────────────────

/** [MPI_Comm_compare, MPI_Group_compare] */
export type Comparison = 'IDENT' | 'CONGRUENT' | 'SIMILAR' | 'UNEQUAL';

/** [MPI_Group] An ordered set of processes. Local: no call of a group communicates. */
export interface Group {
  readonly size: number;
  /** This process's rank in the group, or UNDEFINED. */
  readonly rank: number;
  /** [MPI_Group_incl] */
  incl(ranks: ArrayLike<number>): Group;
  /** [MPI_Group_excl] */
  excl(ranks: ArrayLike<number>): Group;
  /** [MPI_Group_range_incl] Triplets first, last, stride. */
  rangeIncl(ranges: readonly (readonly [first: number, last: number, stride: number])[]): Group;
  /** [MPI_Group_range_excl] */
  rangeExcl(ranges: readonly (readonly [first: number, last: number, stride: number])[]): Group;
  /** [MPI_Group_union] This group, then those of `other` that are not in it. */
  union(other: Group): Group;
  /** [MPI_Group_intersection] In the order of this group. */
  intersection(other: Group): Group;
  /** [MPI_Group_difference] */
  difference(other: Group): Group;
  /** [MPI_Group_translate_ranks] Ranks of this group as ranks of `other`; UNDEFINED where there is none. */
  translateRanks(ranks: ArrayLike<number>, other: Group): number[];
  /** [MPI_Group_compare] */
  compare(other: Group): Comparison;
  /** [MPI_Group_free] */
  free(): void;
}
/** [MPI_GROUP_EMPTY] */
export declare const GROUP_EMPTY: Group;

// ───────────────────────────── Communicators ─────────────────────────────

/** [MPI_Comm] */
export interface Comm {
  /** [MPI_Comm_rank] This process, 0 … size−1. */
  readonly rank: number;
  /** [MPI_Comm_size] */
  readonly size: number;
  /** [MPI_Comm_get_name, MPI_Comm_set_name] For messages of errors. */
  name: string;
  /** [MPI_Comm_group] */
  readonly group: Group;

  // Point to point (chapter 3). Messages of one sender on one communicator do not overtake one another.

  /**
   * [MPI_Send] Returns when `buf` may be used again; it never waits for the receiver (messages are kept by the Channel Memory).
   * @param dest rank 0 … size−1, or PROC_NULL
   * @param tag 0 … TAG_UB
   * @throws MPIError ERR_RANK, ERR_TAG, ERR_BUFFER, ERR_COMM
   */
  send(buf: Buffer, dest: number, tag?: number): void;
  /** [MPI_Ssend] Returns when a receive has matched the message. */
  ssend(buf: Buffer, dest: number, tag?: number): void;
  /**
   * [MPI_Recv] The message may be shorter than `buf` (see `status.count`), not longer.
   * @throws MPIError ERR_TRUNCATE when it is longer (`buf` then holds its beginning), ERR_TYPE for a structured value
   */
  recv(buf: Buffer, source?: number, tag?: number): Status;
  /** [MPI_Isend] */
  isend(buf: Buffer, dest: number, tag?: number): Request;
  /** [MPI_Issend] */
  issend(buf: Buffer, dest: number, tag?: number): Request;
  /** [MPI_Irecv] */
  irecv(buf: Buffer, source?: number, tag?: number): Request;
  /** [MPI_Sendrecv] */
  sendrecv(send: Buffer, dest: number, sendTag: number, recv: Buffer, source?: number, recvTag?: number): Status;
  /** [MPI_Sendrecv_replace] */
  sendrecvReplace(buf: Buffer, dest: number, sendTag?: number, source?: number, recvTag?: number): Status;
  /** [MPI_Probe] Waits for a message without receiving it. */
  probe(source?: number, tag?: number): Status;
  /** [MPI_Iprobe] undefined: none is there. */
  iprobe(source?: number, tag?: number): Status | undefined;

  /** Sends a structured value; receive it with recvObject. */
  sendObject(value: Value, dest: number, tag?: number): void;
  isendObject(value: Value, dest: number, tag?: number): Request;
  /** @throws MPIError ERR_TYPE when the message is a plain buffer */
  recvObject<T = any>(source?: number, tag?: number): { value: T; status: Status };

  // Collectives (chapter 6). Every process of the communicator calls them, in the same order. Results do not depend on timing.

  /** [MPI_Barrier] */
  barrier(): void;
  /** [MPI_Bcast] */
  bcast(buf: Buffer, root?: number): void;
  /** [MPI_Reduce] `recv` counts at the root only. At the root `send` may be IN_PLACE. */
  reduce<A extends Buffer>(send: A | InPlace, recv: A | null, op?: Op, root?: number): void;
  /** Reduces one number; undefined except at the root. */
  reduce(value: number, op?: Op, root?: number): number | undefined;
  /** [MPI_Allreduce] */
  allreduce<A extends Buffer>(send: A | InPlace, recv: A, op?: Op): void;
  /** Reduces one number (MPI_DOUBLE) over all processes. */
  allreduce(value: number, op?: Op): number;
  /** [MPI_Scan] Rank i gets the reduction over ranks 0 … i. */
  scan<A extends Buffer>(send: A | InPlace, recv: A, op?: Op): void;
  scan(value: number, op?: Op): number;
  /** [MPI_Exscan] Rank i gets the reduction over ranks 0 … i−1; rank 0's `recv` is left alone. */
  exscan<A extends Buffer>(send: A | InPlace, recv: A, op?: Op): void;
  /** undefined at rank 0. */
  exscan(value: number, op?: Op): number | undefined;
  /** [MPI_Gather] `recv` (root only) holds size blocks of `send`'s length. Root may pass IN_PLACE. */
  gather<A extends Buffer>(send: A | InPlace, recv: A | null, root?: number): void;
  /** [MPI_Gatherv] */
  gatherv<A extends Buffer>(send: A | InPlace, recv: Vector<A> | null, root?: number): void;
  /** [MPI_Scatter] `send` (root only) holds size blocks of `recv`'s length. Root may pass IN_PLACE as `recv`. */
  scatter<A extends Buffer>(send: A | null, recv: A | InPlace, root?: number): void;
  /** [MPI_Scatterv] */
  scatterv<A extends Buffer>(send: Vector<A> | null, recv: A | InPlace, root?: number): void;
  /** [MPI_Allgather] */
  allgather<A extends Buffer>(send: A | InPlace, recv: A): void;
  /** [MPI_Allgatherv] */
  allgatherv<A extends Buffer>(send: A | InPlace, recv: Vector<A>): void;
  /** [MPI_Alltoall] Block j of `send` goes to rank j; block i of `recv` came from rank i. */
  alltoall<A extends Buffer>(send: A | InPlace, recv: A): void;
  /** [MPI_Alltoallv] */
  alltoallv<A extends Buffer>(send: Vector<A> | InPlace, recv: Vector<A>): void;
  /** [MPI_Reduce_scatter] `counts[i]` elements of the reduction go to rank i. */
  reduceScatter<A extends Buffer>(send: A | InPlace, recv: A, counts: ArrayLike<number>, op?: Op): void;
  /** [MPI_Reduce_scatter_block] */
  reduceScatterBlock<A extends Buffer>(send: A | InPlace, recv: A, op?: Op): void;

  // Non-blocking collectives (§6.12): the same, completed by the request.

  /** [MPI_Ibarrier] */
  ibarrier(): Request;
  /** [MPI_Ibcast] */
  ibcast(buf: Buffer, root?: number): Request;
  /** [MPI_Ireduce] */
  ireduce<A extends Buffer>(send: A | InPlace, recv: A | null, op?: Op, root?: number): Request;
  /** [MPI_Iallreduce] */
  iallreduce<A extends Buffer>(send: A | InPlace, recv: A, op?: Op): Request;
  /** [MPI_Igather] */
  igather<A extends Buffer>(send: A | InPlace, recv: A | null, root?: number): Request;
  /** [MPI_Iscatter] */
  iscatter<A extends Buffer>(send: A | null, recv: A | InPlace, root?: number): Request;
  /** [MPI_Iallgather] */
  iallgather<A extends Buffer>(send: A | InPlace, recv: A): Request;
  /** [MPI_Ialltoall] */
  ialltoall<A extends Buffer>(send: A | InPlace, recv: A): Request;

  // Collectives of structured values: every process may bring one of another length.

  /** Every process gets the root's value. */
  bcastObject<T>(value: T | undefined, root?: number): T;
  /** At the root: the values in rank order; undefined elsewhere. */
  gatherObject<T>(value: T, root?: number): T[] | undefined;
  /** Rank i gets `values[i]` of the root. */
  scatterObject<T>(values: readonly T[] | undefined, root?: number): T;
  allgatherObject<T>(value: T): T[];
  /** `values[j]` goes to rank j; entry i of the result came from rank i. */
  alltoallObject<T>(values: readonly T[]): T[];
  /** Folds the values in rank order: fn(fn(v0, v1), v2) …; undefined except at the root. */
  reduceObject<T>(value: T, fn: (a: T, b: T) => T, root?: number): T | undefined;
  allreduceObject<T>(value: T, fn: (a: T, b: T) => T): T;

  // Communicators (chapter 7) and topologies (chapter 8)

  /** [MPI_Comm_dup] */
  dup(): Comm;
  /** [MPI_Comm_split] Same `color` (≥ 0), same communicator, ordered by `key`, then by old rank. Color UNDEFINED: null. */
  split(color: number, key?: number): Comm | null;
  /** [MPI_Comm_create] Processes outside `group` (a subgroup of this one's) get null. All call it. */
  create(group: Group): Comm | null;
  /** [MPI_Comm_create_group] Only the processes of `group` call it; `tag` tells makings that go on side by side apart. Others that call it get null. */
  createGroup(group: Group, tag?: number): Comm | null;
  /** [MPI_Comm_compare] */
  compare(other: Comm): Comparison;
  /** [MPI_Comm_free] Collective. */
  free(): void;
  /**
   * [MPI_Comm_spawn] Starts more processes of this program, with these arguments, on slots that are free now: all of them or none (ERR_SPAWN). They have a COMM_WORLD of their
   * own and find this process's group with {@link getParent}. Only the root's arguments count.
   */
  spawn(args: readonly string[], maxprocs?: number, root?: number): Intercomm;
  /** [MPI_Comm_disconnect] As free, after all communication on it is complete. */
  disconnect(): void;

  // Two groups (§7.6, §11.9)

  /** [MPI_Comm_test_inter] This is an {@link Intercomm}. */
  readonly isInter: boolean;
  /**
   * [MPI_Intercomm_create] Two disjoint groups become an intercommunicator: each calls it on its own communicator, and the leaders find each other on `peer`.
   * @param peer a communicator of both leaders; null at all others
   * @param remoteLeader rank of the other leader in `peer`
   */
  createIntercomm(localLeader: number, peer: Comm | null, remoteLeader: number, tag?: number): Intercomm;
  /** [MPI_Comm_accept] Waits for a group that connects. @param port of openPort, at the root; null at all others */
  accept(port: string | null, root?: number): Intercomm;
  /** [MPI_Comm_connect] @throws MPIError ERR_PORT when the port is not open */
  connect(port: string | null, root?: number): Intercomm;

  /** [MPI_Cart_create] Processes beyond the grid get null. @param periods one flag per dimension (default: none is periodic) */
  createCart(dims: readonly number[], periods?: readonly boolean[], reorder?: boolean): CartComm | null;

  // Errors (chapter 9)

  /** [MPI_Comm_set_errhandler] */
  setErrhandler(handler: ErrorHandler): void;
  /** [MPI_Comm_get_errhandler] */
  getErrhandler(): ErrorHandler;
  /** [MPI_Abort] Ends the whole job with this exit code (0 … 255). */
  abort(code?: number): never;
}

/**
 * [§7.6] Two groups: `rank`, `size` and `group` are of the own one, ranks of messages are those of the other. Collectives move data from one group to the
 * other: in a rooted one the root passes ROOT, the others of its group PROC_NULL (and null for buffers), the other group the root's rank. There is no scan, no IN_PLACE.
 */
export interface Intercomm extends Comm {
  /** [MPI_Comm_remote_size] */
  readonly remoteSize: number;
  /** [MPI_Comm_remote_group] */
  readonly remoteGroup: Group;
  /** [MPI_Intercomm_merge] One communicator of both; the group that says high comes last. */
  merge(high?: boolean): Comm;
  bcast(buf: Buffer | null, root?: number): void;
  reduce<A extends Buffer>(send: A | InPlace | null, recv: A | null, op?: Op, root?: number): void;
  reduce(value: number, op?: Op, root?: number): number | undefined;
  gather<A extends Buffer>(send: A | InPlace | null, recv: A | null, root?: number): void;
  gatherv<A extends Buffer>(send: A | InPlace | null, recv: Vector<A> | null, root?: number): void;
  scatter<A extends Buffer>(send: A | null, recv: A | InPlace | null, root?: number): void;
  scatterv<A extends Buffer>(send: Vector<A> | null, recv: A | InPlace | null, root?: number): void;
  dup(): Intercomm;
  /** Processes of both groups with the same color; null where one of the groups has none. */
  split(color: number, key?: number): Intercomm | null;
  create(group: Group): Intercomm | null;
}

/** [MPI_Comm_create_from_group] A communicator of a group alone, without a parent: all of it call this with the same text. */
export declare function createFromGroup(group: Group, tag: string): Comm;
/** [MPI_Comm_get_parent] The processes that started this one with {@link Comm.spawn}; null: it was not spawned, or has disconnected from them. */
export declare function getParent(): Intercomm | null;
/** [MPI_Open_port] The name of a port of this process, for accept and connect. */
export declare function openPort(): string;
/** [MPI_Close_port] */
export declare function closePort(port: string): void;
/** [MPI_Publish_name] Tells all processes of the job. */
export declare function publishName(service: string, port: string): void;
/** [MPI_Unpublish_name] */
export declare function unpublishName(service: string, port: string): void;
/** [MPI_Lookup_name] @throws MPIError ERR_NAME when no such name has been heard of yet */
export declare function lookupName(service: string): string;

/** A communicator with a Cartesian topology (§8.5). Row-major: the last coordinate runs fastest. */
export interface CartComm extends Comm {
  readonly dims: readonly number[];
  readonly periods: readonly boolean[];
  /** This process's coordinates. */
  readonly coords: readonly number[];
  /** [MPI_Cart_coords] */
  coordsOf(rank: number): number[];
  /** [MPI_Cart_rank] Coordinates of periodic dimensions may lie outside the grid. */
  cartRank(coords: ArrayLike<number>): number;
  /** [MPI_Cart_shift] Whom to receive from and send to for a shift by `displacement` along a dimension; PROC_NULL at a border. */
  shift(direction: number, displacement?: number): { source: number; dest: number };
  /** [MPI_Cart_sub] Grids of the kept dimensions. */
  sub(keep: readonly boolean[]): CartComm;
  dup(): CartComm;
}

/** [MPI_COMM_WORLD] All processes of the job. */
export declare const COMM_WORLD: Comm;
/** [MPI_COMM_SELF] This process alone. */
export declare const COMM_SELF: Comm;

/** [MPI_Dims_create] A balanced grid for `nnodes` processes; entries of `dims` other than 0 are kept. */
export declare function dimsCreate(nnodes: number, dims: number | readonly number[]): number[];

// ───────────────────────────── Windows ─────────────────────────────

/**
 * [MPI_Win] One-sided communication (chapter 12): an array of each process, which the others read and write. Displacements count elements of the target's array.
 *
 * An operation is applied at its target inside any MPI call of the target: a target that computes for long without one lets the others wait. Operations need an epoch: two
 * fences around them, or start and complete (post and wait at the target), or lock and unlock.
 */
export interface Win {
  /** The array that this process gave. */
  readonly memory: Buffer | null;
  /** This process's rank in the window. */
  readonly rank: number;
  /** [MPI_Win_get_group] */
  readonly group: Group;
  /** [MPI_Win_get_name, MPI_Win_set_name] */
  name: string;

  /**
   * [MPI_Put] Writes `from` into the array of rank `target`, from element `disp` on. `from` may be used again at once.
   * @throws MPIError ERR_RMA_SYNC outside of an epoch, ERR_RMA_RANGE outside of the target's array, ERR_RANK, ERR_DISP
   */
  put(from: Buffer, target: number, disp?: number): void;
  /** [MPI_Get] Fills `into`; it is there when the epoch ends, or after a flush. */
  get(into: Buffer, target: number, disp?: number): void;
  /** [MPI_Accumulate] target = target op from, elementwise and atomic per operation; `op` is predefined (default: SUM). */
  accumulate(from: Buffer, target: number, disp?: number, op?: Op): void;
  /** [MPI_Get_accumulate, MPI_Fetch_and_op] As accumulate, and `into` gets what stood there before. */
  getAccumulate<A extends Buffer>(from: A, into: A, target: number, disp?: number, op?: Op): void;
  /** [MPI_Compare_and_swap] One integer: `from` is written if `compare` stands there; `into` gets what stood there. */
  compareAndSwap<A extends Buffer>(from: A, compare: A, into: A, target: number, disp?: number): void;
  /** [MPI_Rget] Within lock and unlock; `into` is filled when the request is complete. */
  rget(into: Buffer, target: number, disp?: number): Request;
  /** [MPI_Rget_accumulate] */
  rgetAccumulate<A extends Buffer>(from: A, into: A, target: number, disp?: number, op?: Op): Request;

  /** [MPI_Win_fence] Collective. Ends the epoch before (what was started is complete, here and at the targets) and begins the next. @param assertion MODE_… */
  fence(assertion?: number): void;
  /** [MPI_Win_post] The processes `ranks` may access this one's array, until {@link Win.wait}. */
  post(ranks: readonly number[], assertion?: number): void;
  /** [MPI_Win_start] Begins an access epoch for these targets. */
  start(ranks: readonly number[], assertion?: number): void;
  /** [MPI_Win_complete] Ends it. */
  complete(): void;
  /** [MPI_Win_wait] Returns when all processes of the post have completed. */
  wait(): void;
  /** [MPI_Win_test] True: they have, and the epoch is over. */
  test(): boolean;
  /** [MPI_Win_lock] Begins an epoch for one target that takes no part. @param type 'exclusive' (default) or 'shared' */
  lock(target: number, type?: 'exclusive' | 'shared', assertion?: number): void;
  /** [MPI_Win_lock_all] Shared, for all targets. */
  lockAll(assertion?: number): void;
  /** [MPI_Win_unlock] What was started is complete, here and there. */
  unlock(target: number): void;
  /** [MPI_Win_unlock_all] */
  unlockAll(): void;
  /** [MPI_Win_flush, MPI_Win_flush_all] Completes what was started for `target` (default: for all), here and there. */
  flush(target?: number): void;
  /** [MPI_Win_flush_local, MPI_Win_flush_local_all] Completes it here: buffers of `get` are filled. */
  flushLocal(target?: number): void;
  /** [MPI_Win_sync] Lets what has come take effect: for loops that look at their own array. */
  sync(): void;
  /** [MPI_Win_free] Collective. */
  free(): void;
  /** [MPI_Win_set_errhandler] The default is ERRORS_ARE_FATAL. A handler gets the window's own communicator. */
  setErrhandler(handler: ErrorHandler): void;
}
export declare const Win: {
  /** [MPI_Win_create] Collective. `memory` may differ in length and type from process to process; null: none. It belongs to the window until `free`. @param comm default: COMM_WORLD */
  create(memory: Buffer | null, comm?: Comm): Win;
};

/** Kind of the elements of a view. */
export type ElementArrayType = { readonly BYTES_PER_ELEMENT: number; new (length: number): Buffer };

/** Which elements of a file a process sees: blocks [first, number] of each `extent` elements, again and again. */
export interface FilePattern {
  blocks: readonly (readonly [first: number, count: number])[];
  extent: number;
}

/**
 * [MPI_File] A file of the job (chapter 14): input files of the job can be read, what is written is a result file. Offsets and pointers count elements of the
 * view, bytes where none was set. Reads and writes give the number of elements, which at the end of the file is less than the buffer has. What was written is
 * seen by every read that begins later, wherever. Errors are thrown, and do not end the job by themselves.
 */
export interface File {
  /** As it was opened. */
  readonly name: string;
  /** [MPI_File_get_amode] */
  readonly amode: number;
  /** [MPI_File_get_group] */
  readonly group: Group;
  /** [MPI_File_get_size] Bytes. */
  readonly size: number;
  /** [MPI_File_set_size] Collective. */
  setSize(bytes: number): void;
  /** [MPI_File_preallocate] Collective. */
  preallocate(bytes: number): void;
  /** [MPI_File_set_view] Collective. What this process sees of the file from byte `disp` on. Pointers go to 0. */
  setView(disp: number, element?: ElementArrayType, pattern?: FilePattern): void;
  /** [MPI_File_get_byte_offset] */
  byteOffset(offset: number): number;
  /** [MPI_File_sync] Collective. */
  sync(): void;
  /** [MPI_File_get_atomicity] */
  readonly atomicity: boolean;
  /** [MPI_File_set_atomicity] Collective. */
  setAtomicity(flag: boolean): void;

  /** [MPI_File_get_position] The individual pointer. */
  readonly position: number;
  /** [MPI_File_seek] @param whence SEEK_SET (default), SEEK_CUR or SEEK_END */
  seek(offset: number, whence?: number): void;
  /** [MPI_File_get_position_shared] */
  readonly positionShared: number;
  /** [MPI_File_seek_shared] Collective. */
  seekShared(offset: number, whence?: number): void;

  /** [MPI_File_read] At the individual pointer, which moves on. */
  read(buf: Buffer): number;
  /** [MPI_File_write] */
  write(buf: Buffer): number;
  /** [MPI_File_read_all] Collective. */
  readAll(buf: Buffer): number;
  /** [MPI_File_write_all] Collective. */
  writeAll(buf: Buffer): number;
  /** [MPI_File_read_at] */
  readAt(buf: Buffer, offset: number): number;
  /** [MPI_File_write_at] */
  writeAt(buf: Buffer, offset: number): number;
  /** [MPI_File_read_at_all] Collective. */
  readAtAll(buf: Buffer, offset: number): number;
  /** [MPI_File_write_at_all] Collective. */
  writeAtAll(buf: Buffer, offset: number): number;
  /** [MPI_File_read_shared] At the pointer that all share: each access gets a place of its own. */
  readShared(buf: Buffer): number;
  /** [MPI_File_write_shared] */
  writeShared(buf: Buffer): number;
  /** [MPI_File_read_ordered] Collective: at the shared pointer, one after the other in the order of the ranks. */
  readOrdered(buf: Buffer): number;
  /** [MPI_File_write_ordered] Collective. */
  writeOrdered(buf: Buffer): number;
  /** [MPI_File_iread] The status of the request has the bytes that were read. */
  iread(buf: Buffer): Request;
  /** [MPI_File_iwrite] */
  iwrite(buf: Buffer): Request;
  /** [MPI_File_iread_at] */
  ireadAt(buf: Buffer, offset: number): Request;
  /** [MPI_File_iwrite_at] */
  iwriteAt(buf: Buffer, offset: number): Request;
  /** [MPI_File_iread_shared] */
  ireadShared(buf: Buffer): Request;
  /** [MPI_File_iwrite_shared] */
  iwriteShared(buf: Buffer): Request;
  /** [MPI_File_close] Collective. */
  close(): void;
}
export declare const File: {
  /**
   * [MPI_File_open] Collective.
   * @param mode a sum of MODE_…, or 'r' (reading, the default), 'w' (MODE_CREATE, writing), 'rw' (MODE_CREATE, both); what a file holds stays: setSize(0) empties it
   * @throws MPIError ERR_NO_SUCH_FILE, ERR_FILE_EXISTS, ERR_AMODE, ERR_BAD_FILE
   */
  open(comm: Comm, name: string, mode?: number | 'r' | 'w' | 'rw'): File;
  /** [MPI_File_delete] @throws MPIError ERR_NO_SUCH_FILE, ERR_FILE_IN_USE */
  delete(name: string): void;
};
/** [MPI_MODE_…] Of {@link File.open}; to be added up. */
export declare const MODE_RDONLY: 16;
export declare const MODE_WRONLY: 256;
export declare const MODE_RDWR: 32;
export declare const MODE_CREATE: 2;
export declare const MODE_EXCL: 8;
export declare const MODE_APPEND: 1;
export declare const MODE_DELETE_ON_CLOSE: 4;
export declare const MODE_SEQUENTIAL: 64;
export declare const MODE_UNIQUE_OPEN: 128;
/** [MPI_SEEK_…] Of {@link File.seek}. */
export declare const SEEK_SET: 403;
export declare const SEEK_CUR: 401;
export declare const SEEK_END: 402;
/** [MPI_MODE_NOCHECK] Assertions for fence, post, start and lock; they add up. */
export declare const MODE_NOCHECK: 1024;
/** [MPI_MODE_NOPRECEDE] A fence that ends no epoch: it sends nothing. */
export declare const MODE_NOPRECEDE: 2048;
/** [MPI_MODE_NOPUT] */
export declare const MODE_NOPUT: 4096;
/** [MPI_MODE_NOSTORE] */
export declare const MODE_NOSTORE: 8192;
/** [MPI_MODE_NOSUCCEED] A fence that begins no epoch. */
export declare const MODE_NOSUCCEED: 16384;

// ───────────────────────────── Errors ─────────────────────────────

/** [error classes, §9.4] */
export declare const SUCCESS: 0;
export declare const ERR_BUFFER: 1;
export declare const ERR_COUNT: 2;
export declare const ERR_TYPE: 3;
export declare const ERR_TAG: 4;
export declare const ERR_COMM: 5;
export declare const ERR_RANK: 6;
export declare const ERR_ROOT: 8;
export declare const ERR_GROUP: 9;
export declare const ERR_OP: 10;
export declare const ERR_TOPOLOGY: 11;
export declare const ERR_DIMS: 12;
export declare const ERR_ARG: 13;
export declare const ERR_UNKNOWN: 14;
export declare const ERR_TRUNCATE: 15;
export declare const ERR_OTHER: 16;
export declare const ERR_INTERN: 17;
export declare const ERR_IN_STATUS: 19;
export declare const ERR_PENDING: 18;
export declare const ERR_REQUEST: 7;
export declare const ERR_BAD_FILE: 23;
export declare const ERR_NO_SUCH_FILE: 42;
export declare const ERR_IO: 35;
export declare const ERR_ACCESS: 20;
export declare const ERR_AMODE: 21;
export declare const ERR_FILE: 30;
export declare const ERR_FILE_EXISTS: 28;
export declare const ERR_FILE_IN_USE: 29;
export declare const ERR_NO_SPACE: 41;
export declare const ERR_QUOTA: 44;
export declare const ERR_READ_ONLY: 45;
export declare const ERR_SERVICE: 51;
export declare const ERR_SPAWN: 53;
export declare const ERR_PORT: 43;
export declare const ERR_NAME: 38;
export declare const ERR_UNSUPPORTED_OPERATION: 55;
export declare const ERR_ASSERT: 22;
export declare const ERR_DISP: 26;
export declare const ERR_LOCKTYPE: 37;
export declare const ERR_RMA_RANGE: 48;
export declare const ERR_RMA_SYNC: 50;
export declare const ERR_WIN: 56;
/** Mayfly's own class: misuse of {@link checkpoint}. */
export declare const ERR_CHECKPOINT: 100;

/** A failed MPI call. */
export declare abstract class MPIError extends Error {
  /** [MPI_Error_class] One of the ERR_ constants. */
  readonly errorClass: number;
  /** Name of the class, 'MPI_ERR_TRUNCATE'. */
  readonly className: string;
  /** [MPI_Error_string] */
  readonly errorString: string;
  /** The call that failed, 'MPI_Recv'. */
  readonly call: string;
  /** ERR_IN_STATUS: one status per request. */
  readonly statuses: readonly Status[] | undefined;
}

/** [MPI_Errhandler] */
export interface ErrorHandler {
  readonly name: string;
  /** [MPI_Errhandler_free] */
  free(): void;
}
export declare const ErrorHandler: {
  /** [MPI_Comm_create_errhandler] `fn` runs, then the failed call throws the error. */
  create(fn: (comm: Comm, error: MPIError) => void): ErrorHandler;
};
/** [MPI_ERRORS_ARE_FATAL] The default: an error ends the whole job, `catch` or not. */
export declare const ERRORS_ARE_FATAL: ErrorHandler;
/** [MPI_ERRORS_RETURN] The call throws its {@link MPIError}. */
export declare const ERRORS_RETURN: ErrorHandler;

// ───────────────────────────── Environment ─────────────────────────────

/** [MPI_Wtime] Seconds. The job's clock: coarse, monotonic, and the same again when a lost rank is replayed. */
export declare function wtime(): number;
/** [MPI_Wtick] Seconds. */
export declare function wtick(): number;
/** [MPI_Get_processor_name] */
export declare function processorName(): string;
/** [MPI_Get_version] */
export declare function getVersion(): { version: number; subversion: number };
/** [MPI_Finalize] Called for you at the end of the program. */
export declare function finalize(): void;
/** [MPI_Initialized] and not [MPI_Finalized]. */
export declare function isActive(): boolean;
/** [MPI_Abort] of COMM_WORLD. */
export declare function abort(code?: number): never;
/** Ends this process after what it has sent and written. The job's exit code is the highest one of its ranks. */
export declare function exit(code?: number): never;

/** Arguments behind the program's name on the command line. */
export declare const args: readonly string[];

/** Environment variables that were given to the job; the same for every rank. */
export declare const env: Readonly<Record<string, string>>;

/** Standard input. It goes to rank 0 of COMM_WORLD; the other ranks see its end at once, as with mpiexec. */
export declare const stdin: {
  /** The next line without its line end; null at the end. Blocks. */
  readLine(): string | null;
  /** At most `bytes` bytes, as they come; empty at the end. Blocks until there is at least one. */
  read(bytes: number): Uint8Array;
  /** Everything up to the end, as text. Blocks. */
  readAll(): string;
};

/**
 * Files. Input files are those submitted with the job: the same for every rank, never changing. Files that the program writes are
 * the job's results; they are not read back. Paths are relative, without `..`.
 */
export declare const files: {
  /** A whole input file. @throws MPIError ERR_NO_SUCH_FILE, ERR_BAD_FILE (path) */
  read(path: string): Uint8Array;
  /** As UTF-8. */
  readText(path: string): string;
  exists(path: string): boolean;
  /** Paths of all input files, sorted. */
  list(): string[];
  /** Writes a result file from its start (text as UTF-8). It replaces what stands there, but does not shorten a longer file. */
  write(path: string, data: string | Uint8Array): void;
  /** Adds to what this rank has written of the file. */
  append(path: string, data: string | Uint8Array): void;
  /** [MPI_File_write_at] Writes at a byte offset: ranks may write different parts of one file. */
  writeAt(path: string, offset: number, data: string | Uint8Array): void;
};

/** Writes exactly this text to standard output; no line end is added. */
export declare function print(text: string): void;
export interface Console {
  /** A line to standard output. */
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  debug(...values: unknown[]): void;
  /** A line to standard error. */
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
}
/** The same as the global `console`. */
export declare const console: Console;

// ───────────────────────────── Checkpoints ─────────────────────────────

/** Name of a piece of registered data (an MPI tag or a word). */
export type CheckpointTag = number | string;
/** Data that is kept by value: `get` is asked at a checkpoint, `set` gets the value back at a rollback. */
export interface Kept<T = any> {
  get(): T;
  set(value: T): void;
}
export interface CheckpointOptions {
  /** Shortest time between two checkpoints of this rank, ms. Default: what the job says. 0: at every `here`. */
  intervalMs?: number;
}

/**
 * Operation-level checkpoints, after Tang, Fagg, Dongarra, "Proposal of MPI operation level checkpoint/rollback":
 *
 *   const x = new Float64Array(n); const state = { step: 0 };
 *   checkpoint.register('x', x);
 *   checkpoint.register('state', state);
 *   if (checkpoint.open().restarted) { checkpoint.rollback('x'); checkpoint.rollback('state'); }
 *   for (; state.step < steps; state.step++) {
 *     checkpoint.here();
 *     …
 *   }
 *
 * What a lost rank does again: everything before `open` returns (the prologue) is executed again from the start, silently, on the
 * messages that it had. Then `open` reports a restart and the rank stands at its last `here`, as if that had just returned: the program must
 * go on from there. So, after `open`: what was communicated and printed between `open` and that `here` has happened and must not
 * happen again (guard it with `!restarted`, or do it before `open`); communicators that are alive at `here` must come from the
 * prologue; requests must be complete. Without checkpoints a lost rank re-executes from its start: right, but slower.
 * Each rank checkpoints by itself, whenever it likes; nothing has to be synchronised.
 */
export declare const checkpoint: {
  /** [MPI_Ckpt_open] Once. Ends the prologue. */
  open(options?: CheckpointOptions): { restarted: boolean };
  /**
   * [MPI_Ckpt] Marks data to be kept: a typed array (copied), a plain object or array (copied deeply, restored in place), or
   * get and set. A tag registered again names the new data.
   */
  register(tag: CheckpointTag, data: Buffer | Kept | object): void;
  /**
   * [MPI_Ckpt_here] Takes a checkpoint of everything registered if one is due, or in any case with `force`. Whether one was taken is not told,
   * since a replay may decide otherwise.
   * @throws MPIError ERR_CHECKPOINT: not open, a pending request, a communicator made after `open`
   */
  here(force?: boolean): void;
  /**
   * [MPI_Rollback] After a restart: puts the data of `tag` back into `into`, or into what is registered under the tag, or else into a new
   * array or object; registers it, and returns it (of get and set data: the value).
   * @throws MPIError ERR_CHECKPOINT: no restart, unknown tag, another type or length
   */
  rollback<T = any>(tag: CheckpointTag, into?: Buffer | Kept | object): T;
  /** [MPI_Remove_ckpt] */
  remove(tag: CheckpointTag): void;
  /** [MPI_Ckpt_ctrl] Changes options. */
  control(options: CheckpointOptions): void;
  /** [MPI_Ckpt_close] No more checkpoints; a restart goes to the last one. */
  close(): void;
};
