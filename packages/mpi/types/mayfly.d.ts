/* eslint-disable max-lines -- one page, as a user reads it */
/**
 * The module 'mayfly': MPI for TypeScript programs, in the idiom of mpi4py. Calls block as MPI's do; there is no
 * `await`.
 *
 *   import { COMM_WORLD as comm, SUM } from 'mayfly';
 *   const sum = comm.allreduce(comm.rank, SUM);
 *   if (comm.rank === 0) console.log(`sum of ranks: ${sum}`);
 *
 * Names of the standard stand in brackets (MPI 4.1). Lengths of buffers are in elements, times in seconds, unless said
 * otherwise. A whole typed array is the buffer: pass `array.subarray(from, to)` for a part. Errors are
 * {@link MPIError}s; what happens to one is the error handler's matter ({@link Comm.setErrhandler}): by default it
 * ends the job (MPI_ERRORS_ARE_FATAL).
 */

// ───────────────────────────── Data ─────────────────────────────

/**
 * A message buffer. The element type is the datatype: Int32Array is MPI_INT32_T, Float64Array MPI_DOUBLE, Uint8Array
 * MPI_BYTE …
 */
export type Buffer =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** A buffer for a call: a typed array as it is, or elements of a {@link Datatype} in one. */
export type Of<A extends Buffer> = A | Elements<A>;
export type Data = Buffer | Elements;

/**
 * Blocks of different length for gatherv, scatterv, allgatherv, alltoallv. Counts and displacements are in elements of
 * `data`, or of `datatype`.
 */
export interface Vector<A extends Buffer = Buffer> {
  data: A;
  /** What a block has so many of, one `extent` apart; absent: elements of `data`. */
  datatype?: Datatype;
  /** One count per rank. */
  counts: ArrayLike<number>;
  /** One offset per rank; absent: the blocks lie one behind the other. */
  displs?: ArrayLike<number>;
}

/**
 * A structured value for sendObject and its kin, and for checkpoints: null, undefined, booleans, numbers, bigints,
 * strings, arrays, plain objects, Map, Set, ArrayBuffer and typed arrays, nested at will (no cycles, no functions, no
 * class instances).
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
/** [MPI_UNIVERSE_SIZE] Slots that there were for the job when it began. */
export declare const UNIVERSE_SIZE: number;
/**
 * [MPI_APPNUM] Which program of the job this process runs; of a spawned process: which of the commands it was started
 * with.
 */
export declare const APPNUM: number;

// ───────────────────────────── Datatypes ─────────────────────────────

/** What a datatype can be made of: a kind of typed array (`Float64Array`), or another datatype. */
export type TypeLike = ElementArrayType | Datatype;

/**
 * Some bytes of an array, as a datatype says (chapter 5): it stands wherever a typed array does.
 *
 *   const a = new Float64Array(rows * columns);
 *   const column = datatype(Float64Array).vector(rows, 1, columns);
 *   comm.send(column.of(a, 1, 3), right);      // the fourth column
 *   comm.recv(a.subarray(0, rows), left);      // arrives as `rows` numbers
 *
 * Elements that are not contiguous are packed and spread by the call. Reductions see packed elements.
 */
export interface Elements<A extends ArrayBufferView = ArrayBufferView> {
  readonly data: A;
  readonly datatype: Datatype;
  readonly count: number;
  /** In elements of `data` (of a DataView in bytes). */
  readonly offset: number;
}

/**
 * [MPI_Datatype] Which bytes belong to an element. Made by {@link datatype} and {@link struct}, and from each other;
 * ready for communication at once (there is no commit). Counts, lengths and strides are in elements of the type that it
 * is made of, bytes where it says so. Rarely needed: the part of an array that is contiguous is `array.subarray(from,
 * to)`.
 * @throws MPIError ERR_ARG for what is no whole number, ERR_COUNT for negative lengths, ERR_TYPE once it was freed
 */
export interface Datatype {
  /** [MPI_Type_size, MPI_Type_size_x] Bytes of data. */
  readonly size: number;
  /** [MPI_Type_get_extent, MPI_Type_get_extent_x] Bytes from one element to the next. */
  readonly extent: number;
  /** Byte at which an element begins, relative to its place. */
  readonly lb: number;
  /** [MPI_Type_get_true_extent, MPI_Type_get_true_extent_x] First byte of data, and bytes up to the last one. */
  readonly trueExtent: { lb: number; extent: number };
  /** [MPI_Type_get_name, MPI_Type_set_name] */
  name: string;
  /** [MPI_Type_get_envelope, MPI_Type_get_contents] How it was made. */
  readonly contents: TypeContents;

  /**
   * `count` elements in an array, the first at `offset` (elements of the array).
   * @throws MPIError ERR_BUFFER when one lies outside of the array
   */
  of<A extends ArrayBufferView>(array: A, count?: number, offset?: number): Elements<A>;

  /** [MPI_Type_contiguous] */
  contiguous(count: number): Datatype;
  /** [MPI_Type_vector] `count` blocks of `length`, `stride` from the start of one to that of the next. */
  vector(count: number, length: number, stride: number): Datatype;
  /** [MPI_Type_create_hvector] The stride is in bytes. */
  hvector(count: number, length: number, stride: number): Datatype;
  /**
   * [MPI_Type_indexed, MPI_Type_create_indexed_block] Blocks of these lengths (one number: all alike) at these
   * displacements.
   */
  indexed(lengths: ArrayLike<number> | number, displs: ArrayLike<number>): Datatype;
  /** [MPI_Type_create_hindexed, MPI_Type_create_hindexed_block] The displacements are in bytes. */
  hindexed(lengths: ArrayLike<number> | number, displs: ArrayLike<number>): Datatype;
  /**
   * [MPI_Type_create_subarray] A part of an array of several dimensions. @param order 'C': the last dimension runs
   * fastest (default)
   */
  subarray(
    sizes: ArrayLike<number>,
    subsizes: ArrayLike<number>,
    starts: ArrayLike<number>,
    order?: 'C' | 'F',
  ): Datatype;
  /**
   * [MPI_Type_create_darray] What process `rank` of `size` has of an array that is distributed over a grid of processes
   * (row-major).
   */
  darray(size: number, rank: number, dims: readonly Distributed[], order?: 'C' | 'F'): Datatype;
  /** [MPI_Type_create_resized] Other bounds, in bytes: where the next element begins. */
  resized(lb: number, extent: number): Datatype;
  /** [MPI_Type_dup] */
  dup(): Datatype;
  /** [MPI_Type_free] What was started with it completes. */
  free(): void;

  /** [MPI_Type_get_attr] undefined: there is none. */
  getAttr<T>(key: Keyval<T, Datatype>): T | undefined;
  /** [MPI_Type_set_attr] Predefined datatypes carry attributes, too. */
  setAttr<T>(key: Keyval<T, Datatype>, value: T): void;
  /** [MPI_Type_delete_attr] */
  deleteAttr(key: Keyval<unknown, Datatype>): void;

  /** [MPI_Pack, MPI_Pack_size] The elements' bytes behind one another. */
  pack(array: ArrayBufferView, count?: number, offset?: number): Uint8Array;
  /** [MPI_Unpack] The reverse. @throws MPIError ERR_TRUNCATE when there are too few bytes */
  unpack(packed: Uint8Array, array: ArrayBufferView, count?: number, offset?: number): void;
  /** [MPI_Pack_external, MPI_Pack_external_size] In the form "external32" (§14.5.2), which every machine reads. */
  packExternal(array: ArrayBufferView, count?: number, offset?: number): Uint8Array;
  /** [MPI_Unpack_external] */
  unpackExternal(packed: Uint8Array, array: ArrayBufferView, count?: number, offset?: number): void;
}

/** One field of a {@link struct}. */
export interface StructField {
  /** Bytes from the start of the struct. */
  offset: number;
  type: TypeLike;
  /** Elements behind one another (default: 1). */
  count?: number;
}

/** One dimension of {@link Datatype.darray}. */
export interface Distributed {
  /** Elements of the whole array. */
  size: number;
  by: 'block' | 'cyclic' | 'none';
  /** Elements of a block (default: as even as can be; cyclic: 1). */
  block?: number;
  /** Processes along this dimension. */
  processes: number;
}

/** The constructor of a datatype and its arguments, in the order of §5.1.13. */
export interface TypeContents {
  /** 'NAMED', 'VECTOR', 'STRUCT' … [MPI_COMBINER_…] */
  readonly combiner: string;
  readonly integers: readonly number[];
  /** Bytes. */
  readonly addresses: readonly number[];
  /** Names. */
  readonly datatypes: readonly string[];
}

/** The datatype of a kind of typed array: `datatype(Float64Array)` is MPI_DOUBLE. */
export declare function datatype(kind: TypeLike): Datatype;
/**
 * [MPI_Type_create_struct] Fields of different types; `resized` gives it the length of a record. Give it a Uint8Array
 * or a DataView of the records.
 */
export declare function struct(fields: readonly StructField[]): Datatype;

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
  /**
   * [MPI_Get_count] Elements of the given array type (`status.count(Float64Array)`) or datatype; UNDEFINED when not a
   * whole number of them.
   */
  count(type: Countable): number;
  /** [MPI_Get_elements, MPI_Get_elements_x] Basic elements, also of a datatype that came in part. */
  elements(type: Datatype): number;
}
/** What a message can be counted in. */
export type Countable = { readonly BYTES_PER_ELEMENT: number } | Datatype;

/**
 * [MPI_Request] A started operation. Do not change its buffer (receives: do not read it either) before wait or a
 * successful test. A completed request is inactive: waiting for it again returns an empty status at once.
 */
export interface Request {
  /** [MPI_Wait] */
  wait(): Status;
  /** [MPI_Test] undefined: not yet complete. */
  test(): Status | undefined;
  /** [MPI_Request_get_status] As test, but the request stays active. */
  getStatus(): Status | undefined;
  /**
   * [MPI_Cancel] Receives that have not matched are cancelled; for everything else this does nothing. Then wait for it.
   */
  cancel(): void;
  /** [MPI_Request_free] The operation completes by itself, the handle is given up. */
  free(): void;
  /** True once completed and waited for, or freed. */
  readonly inactive: boolean;
}

/** A receive of a structured value. */
export interface ObjectRequest<T = any> extends Request {
  /** The value, once the request is complete. */
  readonly value: T;
}

/** A communicator that is being made. */
export interface CommRequest extends Request {
  /** The communicator, once the request is complete. */
  readonly comm: Comm;
}

/**
 * A request that is started again and again with the same arguments (§3.9, §6.13): `start`, then `wait` or `test`, then
 * `start` again. Its buffer is looked at anew at each start. One that is alive at {@link checkpoint}.here has to be
 * made before `open`.
 */
export interface PersistentRequest extends Request {
  /** [MPI_Start] @throws MPIError ERR_REQUEST when it is active already, or was freed */
  start(): void;
}
/** [MPI_Startall] */
export declare function startall(requests: readonly PersistentRequest[]): void;

/**
 * A persistent send whose parts leave one by one (chapter 4): after `start`, say of each partition once that it is
 * ready; `wait` returns when all are. The elements of the buffer are cut into partitions of equal length.
 */
export interface PartitionedSend extends PersistentRequest {
  readonly partitions: number;
  /**
   * [MPI_Pready] @throws MPIError ERR_REQUEST when it is not started, ERR_ARG for a partition that there is not, or
   * that is ready already
   */
  ready(partition: number): void;
  /** [MPI_Pready_range] From `first` to `last`, both included. */
  readyRange(first: number, last: number): void;
  /** [MPI_Pready_list] */
  readyList(partitions: readonly number[]): void;
}
/** A persistent receive whose parts come one by one. Sender and receiver may cut the same bytes differently. */
export interface PartitionedReceive extends PersistentRequest {
  readonly partitions: number;
  /** [MPI_Parrived] True: partition `partition` of this round may be used. */
  arrived(partition: number): boolean;
}

/**
 * [MPI_Message] A message that {@link Comm.mprobe} has taken out of its queue: nobody else can receive it. Receive it
 * once.
 */
export interface Message {
  /** Its source, tag and length. */
  readonly status: Status;
  /** [MPI_Mrecv] @throws MPIError ERR_TRUNCATE, ERR_REQUEST when it was received before */
  recv(buf: Data): Status;
  /** [MPI_Imrecv] */
  irecv(buf: Data): Request;
  recvObject<T = any>(): { value: T; status: Status };
}

/**
 * [MPI_Waitall] Statuses in the order of the requests. @throws MPIError ERR_IN_STATUS when some failed: its `statuses`
 * say which.
 */
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
  /** [MPI_Op_commutative] */
  readonly commutative: boolean;
  /**
   * [MPI_Reduce_local] `inout[i] = input[i] ∘ inout[i]`, here. @throws MPIError ERR_TYPE, ERR_COUNT for arrays that are
   * not alike, ERR_OP
   */
  reduceLocal<A extends Buffer>(input: Of<A>, inout: Of<A>): void;
  /** [MPI_Op_free] Only for those made by Op.create. */
  free(): void;
}
export declare const Op: {
  /**
   * [MPI_Op_create] `inout[i] = in[i] ∘ inout[i]` for every element, `in` from lower ranks. Must be associative. It may
   * not communicate. Not commutative (`commute` false): evaluated in rank order.
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
  /** [MPI_Group_size] */
  readonly size: number;
  /** [MPI_Group_rank] This process's rank in the group, or UNDEFINED. */
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

/** What the members of a communicator have agreed on, the same at all of them. */
export interface Agreement {
  readonly flag: number;
  /** A member has failed that not all have acknowledged (in C the code MPIX_ERR_PROC_FAILED). */
  readonly failed: boolean;
}

/**
 * FT-MPI's modes, for jobs under the protocol `app` that ask for them. From the news of a loss every call fails with
 * ERR_OTHER, but `rank`, `size`, `setErrhandler`, `wtime`, `abort` and `exit`, until all processes that are left have
 * called `recover`.
 */
export declare const ft: {
  /** [MPI_INIT_RESTARTED_NODE] This process takes the place of one that was lost. */
  readonly restarted: boolean;
  /** [FTMPI_ERROR_FAILURE] Ranks that were lost before the last recovery, as they were numbered then. */
  readonly failed: readonly number[];
  /** [MPIX_Comm_recover] COMM_WORLD works again when it returns. Without a loss it changes nothing. */
  recover(): void;
};

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
  /**
   * States how far this rank is with its whole work: `done` of `total`, or a fraction of 1. Pages and command line show
   * the least of what the ranks state, with an estimate of the time left. Costs one store into memory: call it as often
   * as you like, on one rank or on all.
   * @throws MPIError ERR_ARG for a negative number or NaN
   */
  progress(done: number, total?: number): void;

  // Point to point (chapter 3). Messages of one sender on one communicator do not overtake one another.

  /**
   * [MPI_Send] Returns when `buf` may be used again; it never waits for the receiver (messages are kept by the Channel
   * Memory).
   * @param dest rank 0 … size−1, or PROC_NULL
   * @param tag 0 … TAG_UB
   * @throws MPIError ERR_RANK, ERR_TAG, ERR_BUFFER, ERR_COMM
   */
  send(buf: Data, dest: number, tag?: number): void;
  /** [MPI_Ssend] Returns when a receive has matched the message. */
  ssend(buf: Data, dest: number, tag?: number): void;
  /**
   * [MPI_Recv] The message may be shorter than `buf` (see `status.count`), not longer.
   * @throws MPIError ERR_TRUNCATE when it is longer (`buf` then holds its beginning), ERR_TYPE for a structured value
   */
  recv(buf: Data, source?: number, tag?: number): Status;
  /** [MPI_Isend] */
  isend(buf: Data, dest: number, tag?: number): Request;
  /** [MPI_Issend] */
  issend(buf: Data, dest: number, tag?: number): Request;
  /** [MPI_Irecv] */
  irecv(buf: Data, source?: number, tag?: number): Request;
  /** [MPI_Sendrecv] */
  sendrecv(send: Data, dest: number, sendTag: number, recv: Data, source?: number, recvTag?: number): Status;
  /** [MPI_Sendrecv_replace] */
  sendrecvReplace(buf: Data, dest: number, sendTag?: number, source?: number, recvTag?: number): Status;
  /** [MPI_Isendrecv] */
  isendrecv(send: Data, dest: number, sendTag: number, recv: Data, source?: number, recvTag?: number): Request;
  /** [MPI_Isendrecv_replace] */
  isendrecvReplace(buf: Data, dest: number, sendTag?: number, source?: number, recvTag?: number): Request;
  /** [MPI_Send_init] */
  sendInit(buf: Data, dest: number, tag?: number): PersistentRequest;
  /** [MPI_Ssend_init] */
  ssendInit(buf: Data, dest: number, tag?: number): PersistentRequest;
  /** [MPI_Recv_init] */
  recvInit(buf: Data, source?: number, tag?: number): PersistentRequest;
  /**
   * [MPI_Psend_init] @param partitions how many equal parts `buf` is cut into
   * @throws MPIError ERR_COUNT when it cannot be cut so
   */
  psendInit(buf: Data, partitions: number, dest: number, tag?: number): PartitionedSend;
  /**
   * [MPI_Precv_init] Meets the {@link Comm.psendInit} with the same tag, in the order in which both were made. `source`
   * and `tag` are no wildcards.
   */
  precvInit(buf: Data, partitions: number, source: number, tag?: number): PartitionedReceive;
  /** [MPI_Probe] Waits for a message without receiving it. */
  probe(source?: number, tag?: number): Status;
  /** [MPI_Iprobe] undefined: none is there. */
  iprobe(source?: number, tag?: number): Status | undefined;

  /** [MPI_Mprobe] Waits for a message and takes it: receive it by {@link Message.recv}. */
  mprobe(source?: number, tag?: number): Message;
  /** [MPI_Improbe] undefined: none is there. */
  improbe(source?: number, tag?: number): Message | undefined;

  /** Sends a structured value; receive it with recvObject. */
  sendObject(value: Value, dest: number, tag?: number): void;
  isendObject(value: Value, dest: number, tag?: number): Request;
  /** @throws MPIError ERR_TYPE when the message is a plain buffer */
  recvObject<T = any>(source?: number, tag?: number): { value: T; status: Status };
  irecvObject<T = any>(source?: number, tag?: number): ObjectRequest<T>;

  // Collectives (chapter 6). Every process of the communicator calls them, in the same order. Results do not depend on
  // timing.

  /** [MPI_Barrier] */
  barrier(): void;
  /** [MPI_Bcast] */
  bcast(buf: Data, root?: number): void;
  /** [MPI_Reduce] `recv` counts at the root only. At the root `send` may be IN_PLACE. */
  reduce<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A> | null, op?: Op, root?: number): void;
  /** Reduces one number; undefined except at the root. */
  reduce(value: number, op?: Op, root?: number): number | undefined;
  /** [MPI_Allreduce] */
  allreduce<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): void;
  /** Reduces one number (MPI_DOUBLE) over all processes. */
  allreduce(value: number, op?: Op): number;
  /** [MPI_Scan] Rank i gets the reduction over ranks 0 … i. */
  scan<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): void;
  scan(value: number, op?: Op): number;
  /** [MPI_Exscan] Rank i gets the reduction over ranks 0 … i−1; rank 0's `recv` is left alone. */
  exscan<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): void;
  /** undefined at rank 0. */
  exscan(value: number, op?: Op): number | undefined;
  /** [MPI_Gather] `recv` (root only) holds size blocks of `send`'s length. Root may pass IN_PLACE. */
  gather<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A> | null, root?: number): void;
  /** [MPI_Gatherv] */
  gatherv<A extends Buffer>(send: Of<A> | InPlace, recv: Vector<A> | null, root?: number): void;
  /** [MPI_Scatter] `send` (root only) holds size blocks of `recv`'s length. Root may pass IN_PLACE as `recv`. */
  scatter<A extends Buffer>(send: Of<A> | null, recv: Of<A> | InPlace, root?: number): void;
  /** [MPI_Scatterv] */
  scatterv<A extends Buffer>(send: Vector<A> | null, recv: Of<A> | InPlace, root?: number): void;
  /** [MPI_Allgather] */
  allgather<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>): void;
  /** [MPI_Allgatherv] */
  allgatherv<A extends Buffer>(send: Of<A> | InPlace, recv: Vector<A>): void;
  /** [MPI_Alltoall] Block j of `send` goes to rank j; block i of `recv` came from rank i. */
  alltoall<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>): void;
  /** [MPI_Alltoallv] */
  alltoallv<A extends Buffer>(send: Vector<A> | InPlace, recv: Vector<A>): void;
  /** [MPI_Alltoallw] Blocks of any type: `send[j]` goes to rank j, `recv[i]` comes from rank i; null: nothing. */
  alltoallw(send: readonly (Data | null)[] | InPlace, recv: readonly (Data | null)[]): void;
  /** [MPI_Reduce_scatter] `counts[i]` elements of the reduction go to rank i. */
  reduceScatter<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, counts: ArrayLike<number>, op?: Op): void;
  /** [MPI_Reduce_scatter_block] */
  reduceScatterBlock<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): void;

  // Non-blocking collectives (§6.12): the same, completed by the request. Buffers are left alone until then.

  /** [MPI_Ibarrier] */
  ibarrier(): Request;
  /** [MPI_Ibcast] */
  ibcast(buf: Data, root?: number): Request;
  /** [MPI_Ireduce] */
  ireduce<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A> | null, op?: Op, root?: number): Request;
  /** [MPI_Iallreduce] */
  iallreduce<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): Request;
  /** [MPI_Iscan] */
  iscan<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): Request;
  /** [MPI_Iexscan] */
  iexscan<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): Request;
  /** [MPI_Igather] */
  igather<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A> | null, root?: number): Request;
  /** [MPI_Igatherv] */
  igatherv<A extends Buffer>(send: Of<A> | InPlace, recv: Vector<A> | null, root?: number): Request;
  /** [MPI_Iscatter] */
  iscatter<A extends Buffer>(send: Of<A> | null, recv: Of<A> | InPlace, root?: number): Request;
  /** [MPI_Iscatterv] */
  iscatterv<A extends Buffer>(send: Vector<A> | null, recv: Of<A> | InPlace, root?: number): Request;
  /** [MPI_Iallgather] */
  iallgather<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>): Request;
  /** [MPI_Iallgatherv] */
  iallgatherv<A extends Buffer>(send: Of<A> | InPlace, recv: Vector<A>): Request;
  /** [MPI_Ialltoall] */
  ialltoall<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>): Request;
  /** [MPI_Ialltoallv] */
  ialltoallv<A extends Buffer>(send: Vector<A> | InPlace, recv: Vector<A>): Request;
  /** [MPI_Ialltoallw] */
  ialltoallw(send: readonly (Data | null)[] | InPlace, recv: readonly (Data | null)[]): Request;
  /** [MPI_Ireduce_scatter] */
  ireduceScatter<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, counts: ArrayLike<number>, op?: Op): Request;
  /** [MPI_Ireduce_scatter_block] */
  ireduceScatterBlock<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): Request;

  // Persistent collectives (§6.13): the same, started again and again. All processes make them in the same order; they
  // may start them in any.

  /** [MPI_Barrier_init] */
  barrierInit(): PersistentRequest;
  /** [MPI_Bcast_init] */
  bcastInit(buf: Data, root?: number): PersistentRequest;
  /** [MPI_Reduce_init] */
  reduceInit<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A> | null, op?: Op, root?: number): PersistentRequest;
  /** [MPI_Allreduce_init] */
  allreduceInit<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): PersistentRequest;
  /** [MPI_Scan_init] */
  scanInit<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): PersistentRequest;
  /** [MPI_Exscan_init] */
  exscanInit<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): PersistentRequest;
  /** [MPI_Gather_init] */
  gatherInit<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A> | null, root?: number): PersistentRequest;
  /** [MPI_Gatherv_init] */
  gathervInit<A extends Buffer>(send: Of<A> | InPlace, recv: Vector<A> | null, root?: number): PersistentRequest;
  /** [MPI_Scatter_init] */
  scatterInit<A extends Buffer>(send: Of<A> | null, recv: Of<A> | InPlace, root?: number): PersistentRequest;
  /** [MPI_Scatterv_init] */
  scattervInit<A extends Buffer>(send: Vector<A> | null, recv: Of<A> | InPlace, root?: number): PersistentRequest;
  /** [MPI_Allgather_init] */
  allgatherInit<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>): PersistentRequest;
  /** [MPI_Allgatherv_init] */
  allgathervInit<A extends Buffer>(send: Of<A> | InPlace, recv: Vector<A>): PersistentRequest;
  /** [MPI_Alltoall_init] */
  alltoallInit<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>): PersistentRequest;
  /** [MPI_Alltoallv_init] */
  alltoallvInit<A extends Buffer>(send: Vector<A> | InPlace, recv: Vector<A>): PersistentRequest;
  /** [MPI_Alltoallw_init] */
  alltoallwInit(send: readonly (Data | null)[] | InPlace, recv: readonly (Data | null)[]): PersistentRequest;
  /** [MPI_Reduce_scatter_init] */
  reduceScatterInit<A extends Buffer>(
    send: Of<A> | InPlace,
    recv: Of<A>,
    counts: ArrayLike<number>,
    op?: Op,
  ): PersistentRequest;
  /** [MPI_Reduce_scatter_block_init] */
  reduceScatterBlockInit<A extends Buffer>(send: Of<A> | InPlace, recv: Of<A>, op?: Op): PersistentRequest;

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

  // Failures of processes (ULFM): jobs under the protocol app

  /** [MPIX_Comm_revoke] What is pending on it and what comes later throws ERR_REVOKED, at all members. */
  revoke(): void;
  /** [MPIX_Comm_is_revoked] */
  readonly isRevoked: boolean;
  /** [MPIX_Comm_shrink] The members that are left, in their order. */
  shrink(): Comm;
  /** [MPIX_Comm_ishrink] */
  ishrink(): CommRequest;
  /** [MPIX_Comm_agree] All members that are left get the bitwise AND of their flags (32 bits). */
  agree(flag: number): Agreement;
  /** [MPIX_Comm_get_failed] The failed members that this process has heard of, in an order that is the same at all. */
  readonly failed: Group;
  /** [MPIX_Comm_failure_get_acked] Those that it has acknowledged. */
  readonly acknowledged: Group;
  /** [MPIX_Comm_failure_ack] Acknowledges all that it has heard of. */
  failureAck(): void;
  /** [MPIX_Comm_ack_failed] Acknowledges the first so many. Returns how many are acknowledged. */
  ackFailed(most: number): number;

  // Communicators (chapter 7) and topologies (chapter 8)

  /**
   * [MPI_Comm_dup, MPI_Comm_dup_with_info] Topology and error handler come along, attributes as their keys' `copy`
   * says. @param info hints of the new one; the old one's are not passed on
   */
  dup(info?: Info): Comm;
  /** [MPI_Comm_idup, MPI_Comm_idup_with_info] The communicator is in the request when that is complete. */
  idup(info?: Info): CommRequest;
  /**
   * [MPI_Comm_split] Same `color` (≥ 0), same communicator, ordered by `key`, then by old rank. Color UNDEFINED: null.
   */
  split(color: number, key?: number): Comm | null;
  /**
   * [MPI_Comm_split_type] Processes that share a resource. Here a rank shares memory with nobody: 'shared' gives each
   * one of its own. null: nothing is known of what is asked for.
   * @param info for 'resourceGuided': `{ mpi_pset_name: 'mpi://WORLD' }`, or `{ mpi_hw_resource_type:
   * 'mpi_shared_memory' }`
   */
  splitType(type: SplitType | undefined, key?: number, info?: Info): Comm | null;
  /** [MPI_Comm_create] Processes outside `group` (a subgroup of this one's) get null. All call it. */
  create(group: Group): Comm | null;
  /**
   * [MPI_Comm_create_group] Only the processes of `group` call it; `tag` tells makings that go on side by side apart.
   * Others that call it get null.
   */
  createGroup(group: Group, tag?: number): Comm | null;
  /** [MPI_Comm_compare] */
  compare(other: Comm): Comparison;
  /** [MPI_Comm_free] Collective. */
  free(): void;
  /**
   * [MPI_Comm_spawn] Starts more processes of this program, with these arguments, on slots that are free now: all of
   * them or none (ERR_SPAWN). They have a COMM_WORLD of their own and find this process's group with {@link getParent}.
   * Only the root's arguments count.
   */
  spawn(args: readonly string[], maxprocs?: number, root?: number): Intercomm;
  /**
   * [MPI_Comm_spawn_multiple] The same with several lists of arguments: one COMM_WORLD of all, in the order of the
   * list; {@link APPNUM} says which part of it a process belongs to.
   */
  spawnMultiple(parts: readonly SpawnPart[], root?: number): Intercomm;
  /** [MPI_Comm_disconnect] As free, after all communication on it is complete. */
  disconnect(): void;

  // Two groups (§7.6, §11.9)

  /** [MPI_Comm_test_inter] This is an {@link Intercomm}. */
  readonly isInter: boolean;
  /**
   * [MPI_Intercomm_create] Two disjoint groups become an intercommunicator: each calls it on its own communicator, and
   * the leaders find each other on `peer`.
   * @param peer a communicator of both leaders; null at all others
   * @param remoteLeader rank of the other leader in `peer`
   */
  createIntercomm(localLeader: number, peer: Comm | null, remoteLeader: number, tag?: number): Intercomm;
  /** [MPI_Comm_accept] Waits for a group that connects. @param port of openPort, at the root; null at all others */
  accept(port: string | null, root?: number): Intercomm;
  /**
   * [MPI_Comm_connect] @throws MPIError ERR_PORT when the port is not open, or when its process does not accept in time
   * @param timeout seconds to wait for the accept, at the root (default: 180)
   */
  connect(port: string | null, root?: number, timeout?: number): Intercomm;

  /**
   * [MPI_Cart_create] Processes beyond the grid get null. @param periods one flag per dimension (default: none is
   * periodic)
   */
  createCart(dims: readonly number[], periods?: readonly boolean[], reorder?: boolean): CartComm | null;
  /**
   * [MPI_Graph_create] All processes give the whole graph: the neighbours of node i are edges[index[i − 1]] …
   * edges[index[i] − 1]. Processes beyond it get null.
   * @throws MPIError ERR_ARG for an index that does not rise, an edge to a node that there is not
   */
  createGraph(index: readonly number[], edges: readonly number[], reorder?: boolean): GraphComm | null;
  /**
   * [MPI_Dist_graph_create] Each process gives some edges, its own or others': `degrees[i]` edges from `sources[i]`, to
   * the next so many of `destinations`.
   * @param weights one per edge, by all processes or by none
   */
  createDistGraph(
    sources: readonly number[],
    degrees: readonly number[],
    destinations: readonly number[],
    weights?: readonly number[],
  ): DistGraphComm;
  /**
   * [MPI_Dist_graph_create_adjacent] Each process gives its own neighbours: those that send to it, and those that it
   * sends to.
   */
  createDistGraphAdjacent(
    sources: readonly number[],
    destinations: readonly number[],
    weights?: NeighbourWeights,
  ): DistGraphComm;

  // Caching and hints (§7.7, chapter 10)

  /** [MPI_Comm_get_attr] undefined: there is none. */
  getAttr<T>(key: Keyval<T>): T | undefined;
  /** [MPI_Comm_set_attr] @throws MPIError ERR_TYPE for what is no {@link Value}, ERR_KEYVAL for a key that was freed */
  setAttr<T>(key: Keyval<T>, value: T): void;
  /** [MPI_Comm_delete_attr] */
  deleteAttr(key: Keyval<unknown>): void;
  /** [MPI_Comm_get_info] */
  readonly info: Info;
  /** [MPI_Comm_set_info] Besides those that it has. */
  setInfo(info: Info): void;

  // Errors (chapter 9)

  /** [MPI_Comm_set_errhandler] */
  setErrhandler(handler: ErrorHandler): void;
  /** [MPI_Comm_get_errhandler] */
  getErrhandler(): ErrorHandler;
  /** [MPI_Comm_call_errhandler] As if a call had failed with this error, but nothing is thrown. */
  callErrhandler(error: MPIError): void;
  /** [MPI_Abort] Ends the whole job with this exit code (0 … 255). */
  abort(code?: number): never;
}

/** Processes with the same arguments. */
export interface SpawnPart {
  args: readonly string[];
  /** Default: 1. */
  maxprocs?: number;
}

/**
 * [§7.6] Two groups: `rank`, `size` and `group` are of the own one, ranks of messages are those of the other.
 * Collectives move data from one group to the other: in a rooted one the root passes ROOT, the others of its group
 * PROC_NULL (and null for buffers), the other group the root's rank. There is no scan, no IN_PLACE.
 */
export interface Intercomm extends Comm {
  /** [MPI_Comm_remote_size] */
  readonly remoteSize: number;
  /** [MPI_Comm_remote_group] */
  readonly remoteGroup: Group;
  /** [MPI_Intercomm_merge] One communicator of both; the group that says high comes last. */
  merge(high?: boolean): Comm;
  bcast(buf: Data | null, root?: number): void;
  reduce<A extends Buffer>(send: Of<A> | InPlace | null, recv: Of<A> | null, op?: Op, root?: number): void;
  reduce(value: number, op?: Op, root?: number): number | undefined;
  gather<A extends Buffer>(send: Of<A> | InPlace | null, recv: Of<A> | null, root?: number): void;
  gatherv<A extends Buffer>(send: Of<A> | InPlace | null, recv: Vector<A> | null, root?: number): void;
  scatter<A extends Buffer>(send: Of<A> | null, recv: Of<A> | InPlace | null, root?: number): void;
  scatterv<A extends Buffer>(send: Vector<A> | null, recv: Of<A> | InPlace | null, root?: number): void;
  dup(info?: Info): Intercomm;
  /** Processes of both groups with the same color; null where one of the groups has none. */
  split(color: number, key?: number): Intercomm | null;
  create(group: Group): Intercomm | null;
}

/**
 * [MPI_Comm_create_from_group] A communicator of a group alone, without a parent: all of it call this with the same
 * text.
 */
export declare function createFromGroup(group: Group, tag: string): Comm;
/**
 * [MPI_Intercomm_create_from_groups] Two disjoint groups, without a parent: all of both call this with the same text,
 * each with its own group first.
 * @param remoteGroup counts at the local leader only; null at all others
 * @param remoteLeader rank of the other leader in `remoteGroup`
 */
export declare function createIntercommFromGroups(
  localGroup: Group,
  localLeader: number,
  remoteGroup: Group | null,
  remoteLeader: number,
  tag: string,
): Intercomm;
/**
 * [MPI_Comm_get_parent] The processes that started this one with {@link Comm.spawn}; null: it was not spawned, or has
 * disconnected from them.
 */
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

/**
 * A communicator whose processes have neighbours (chapter 8). Blocks of its collectives lie in the order of `sources`
 * and `destinations`; of a grid that is, dimension by dimension, the one in the negative and the one in the positive
 * direction. Blocks of PROC_NULL, beyond a border, are left alone. Buffers of blocks of one length are cut evenly.
 */
export interface TopologyComm extends Comm {
  /** [MPI_Dist_graph_neighbors, MPI_Dist_graph_neighbors_count] Ranks that this one receives from. */
  readonly sources: readonly number[];
  /** Ranks that it sends to. */
  readonly destinations: readonly number[];

  /**
   * [MPI_Neighbor_allgather] `send` goes to every destination; block i of `recv` comes from source i. @throws MPIError
   * ERR_COUNT when a buffer cannot be cut evenly
   */
  neighborAllgather<A extends Buffer>(send: Of<A>, recv: Of<A>): void;
  /** [MPI_Neighbor_allgatherv] One count per source. */
  neighborAllgatherv<A extends Buffer>(send: Of<A>, recv: Vector<A>): void;
  /** [MPI_Neighbor_alltoall] Block i of `send` goes to destination i. */
  neighborAlltoall<A extends Buffer>(send: Of<A>, recv: Of<A>): void;
  /** [MPI_Neighbor_alltoallv] */
  neighborAlltoallv<A extends Buffer>(send: Vector<A>, recv: Vector<A>): void;
  /** [MPI_Neighbor_alltoallw] Blocks of any type, parts of arrays and of datatypes; null: an empty one. */
  neighborAlltoallw(send: readonly (Data | null)[], recv: readonly (Data | null)[]): void;
  /** [MPI_Ineighbor_allgather] */
  ineighborAllgather<A extends Buffer>(send: Of<A>, recv: Of<A>): Request;
  /** [MPI_Ineighbor_allgatherv] */
  ineighborAllgatherv<A extends Buffer>(send: Of<A>, recv: Vector<A>): Request;
  /** [MPI_Ineighbor_alltoall] */
  ineighborAlltoall<A extends Buffer>(send: Of<A>, recv: Of<A>): Request;
  /** [MPI_Ineighbor_alltoallv] */
  ineighborAlltoallv<A extends Buffer>(send: Vector<A>, recv: Vector<A>): Request;
  /** [MPI_Ineighbor_alltoallw] */
  ineighborAlltoallw(send: readonly (Data | null)[], recv: readonly (Data | null)[]): Request;
  /** [MPI_Neighbor_allgather_init] */
  neighborAllgatherInit<A extends Buffer>(send: Of<A>, recv: Of<A>): PersistentRequest;
  /** [MPI_Neighbor_allgatherv_init] */
  neighborAllgathervInit<A extends Buffer>(send: Of<A>, recv: Vector<A>): PersistentRequest;
  /** [MPI_Neighbor_alltoall_init] */
  neighborAlltoallInit<A extends Buffer>(send: Of<A>, recv: Of<A>): PersistentRequest;
  /** [MPI_Neighbor_alltoallv_init] */
  neighborAlltoallvInit<A extends Buffer>(send: Vector<A>, recv: Vector<A>): PersistentRequest;
  /** [MPI_Neighbor_alltoallw_init] */
  neighborAlltoallwInit(send: readonly (Data | null)[], recv: readonly (Data | null)[]): PersistentRequest;
  /** The values of all sources, in their order; undefined for PROC_NULL. */
  neighborAllgatherObject<T>(value: T): (T | undefined)[];
  /** `values[i]` goes to destination i; entry i of the result came from source i. */
  neighborAlltoallObject<T>(values: readonly T[]): (T | undefined)[];
}

/** A graph that all processes know (§8.5.3). */
export interface GraphComm extends TopologyComm {
  /** [MPI_Graph_get, MPI_Graphdims_get] */
  readonly index: readonly number[];
  readonly edges: readonly number[];
  /** [MPI_Graph_neighbors, MPI_Graph_neighbors_count] */
  neighborsOf(rank: number): number[];
  dup(info?: Info): GraphComm;
}

/** A graph of which each process knows its neighbours (§8.5.4). */
export interface DistGraphComm extends TopologyComm {
  /** Of the edges from `sources` and to `destinations`; undefined: none were given. */
  readonly weights: { readonly sources: readonly number[]; readonly destinations: readonly number[] } | undefined;
  dup(info?: Info): DistGraphComm;
}
/** Of the edges from each source and to each destination. */
export interface NeighbourWeights {
  sources: readonly number[];
  destinations: readonly number[];
}

/** A communicator with a Cartesian topology (§8.5). Row-major: the last coordinate runs fastest. */
export interface CartComm extends TopologyComm {
  /** [MPI_Cart_get, MPI_Cartdim_get] */
  readonly dims: readonly number[];
  readonly periods: readonly boolean[];
  /** This process's coordinates. */
  readonly coords: readonly number[];
  /** [MPI_Cart_coords] */
  coordsOf(rank: number): number[];
  /** [MPI_Cart_rank] Coordinates of periodic dimensions may lie outside the grid. */
  cartRank(coords: ArrayLike<number>): number;
  /**
   * [MPI_Cart_shift] Whom to receive from and send to for a shift by `displacement` along a dimension; PROC_NULL at a
   * border.
   */
  shift(direction: number, displacement?: number): { source: number; dest: number };
  /** [MPI_Cart_sub] Grids of the kept dimensions. */
  sub(keep: readonly boolean[]): CartComm;
  dup(info?: Info): CartComm;
}

/** [MPI_COMM_TYPE_…] */
export type SplitType = 'shared' | 'hwGuided' | 'hwUnguided' | 'resourceGuided';

/** [MPI_Info] Hints: texts by key, as a plain object. */
export type Info = Readonly<Record<string, string>>;

/** What carries attributes, each kind of them under keys of its own. */
export type Cached = Comm | Datatype | Win;
/**
 * [MPI_Comm_create_keyval, MPI_Type_create_keyval, MPI_Win_create_keyval] A key for attributes: values that
 * communicators, datatypes or windows carry for whoever has the key. Values are structured values, so that images hold
 * them. Make keys before {@link checkpoint}.open.
 */
export interface Keyval<T = any, O = Comm> {
  /** Only for the compiler: the type of the values, and of what carries them. */
  readonly of: T;
  readonly on: O;
  /**
   * [MPI_Comm_free_keyval, MPI_Type_free_keyval, MPI_Win_free_keyval] What carries a value keeps it, and its functions
   * are still called.
   */
  free(): void;
}
/** What happens to values of a key. */
export interface KeyvalFunctions<T = any, O = Comm> {
  /** A communicator or datatype is duplicated: the value of the new one; undefined (or no function): none. */
  copy?: (object: O, value: T) => T | undefined;
  /** A value goes, with what carries it or by another one. */
  delete?: (object: O, value: T) => void;
}
/**
 * For communicators; `createKeyval<number, Win>()` is for windows, `createKeyval<number, Datatype>()` for datatypes.
 */
export declare function createKeyval<T = any, O extends Cached = Comm>(functions?: KeyvalFunctions<T, O>): Keyval<T, O>;

/**
 * [MPI_Session_init] MPI without COMM_WORLD (§11.3): a process set gives a group, {@link createFromGroup} of that a
 * communicator.
 */
export interface Session {
  /** [MPI_Session_get_num_psets, MPI_Session_get_nth_pset] Names of the process sets: 'mpi://WORLD', 'mpi://SELF'. */
  readonly psets: readonly string[];
  /** [MPI_Session_get_pset_info] `mpi_size`: how many processes it has. @throws MPIError ERR_ARG for another name */
  psetInfo(name: string): Info;
  /** [MPI_Session_get_info] */
  readonly info: Info;
  /** [MPI_Group_from_session_pset] */
  group(name: string): Group;
  /** [MPI_Session_finalize] */
  finalize(): void;
}
export declare const Session: {
  init(): Session;
};

/** [MPI_COMM_WORLD] All processes of the job. */
export declare const COMM_WORLD: Comm;
/** [MPI_COMM_SELF] This process alone. */
export declare const COMM_SELF: Comm;

/** [MPI_Dims_create] A balanced grid for `nnodes` processes; entries of `dims` other than 0 are kept. */
export declare function dimsCreate(nnodes: number, dims: number | readonly number[]): number[];

// ───────────────────────────── Windows ─────────────────────────────

/**
 * [MPI_Win] One-sided communication (chapter 12): an array of each process, which the others read and write.
 * Displacements count elements of the target's array.
 *
 * An operation is applied at its target inside any MPI call of the target: a target that computes for long without one
 * lets the others wait. Operations need an epoch: two fences around them, or start and complete (post and wait at the
 * target), or lock and unlock.
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
   * @throws MPIError ERR_RMA_SYNC outside of an epoch, ERR_RMA_RANGE outside of the target's array, ERR_RANK, ERR_DISP,
   * ERR_TRUNCATE when there are more or fewer bytes there than here
   */
  put(from: Data, target: number, disp?: TargetPlace): void;
  /** [MPI_Get] Fills `into`; it is there when the epoch ends, or after a flush. */
  get(into: Data, target: number, disp?: TargetPlace): void;
  /**
   * [MPI_Accumulate] target = target op from, elementwise and atomic per operation; `op` is predefined (default: SUM).
   */
  accumulate(from: Data, target: number, disp?: TargetPlace, op?: Op): void;
  /** [MPI_Get_accumulate, MPI_Fetch_and_op] As accumulate, and `into` gets what stood there before. */
  getAccumulate<A extends Buffer>(from: Of<A>, into: Of<A>, target: number, disp?: TargetPlace, op?: Op): void;
  /** [MPI_Compare_and_swap] One integer: `from` is written if `compare` stands there; `into` gets what stood there. */
  compareAndSwap<A extends Buffer>(from: A, compare: A, into: A, target: number, disp?: number): void;
  /** [MPI_Rget] Within lock and unlock; `into` is filled when the request is complete. */
  rget(into: Data, target: number, disp?: TargetPlace): Request;
  /** [MPI_Rget_accumulate] */
  rgetAccumulate<A extends Buffer>(from: Of<A>, into: Of<A>, target: number, disp?: TargetPlace, op?: Op): Request;

  /**
   * [MPI_Win_fence] Collective. Ends the epoch before (what was started is complete, here and at the targets) and
   * begins the next. @param assertion MODE_…
   */
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

  /** [MPI_Win_get_attr] undefined: there is none. */
  getAttr<T>(key: Keyval<T, Win>): T | undefined;
  /** [MPI_Win_set_attr] */
  setAttr<T>(key: Keyval<T, Win>, value: T): void;
  /** [MPI_Win_delete_attr] */
  deleteAttr(key: Keyval<unknown, Win>): void;
  /**
   * [MPI_Win_get_info] Those that it was given, and what Mayfly says of those of the standard; none changes what a
   * window does.
   */
  readonly info: Info;
  /** [MPI_Win_set_info] Besides those that it has. */
  setInfo(info: Info): void;

  /** [MPI_Win_set_errhandler] The default is ERRORS_ARE_FATAL. */
  setErrhandler(handler: ErrorHandler): void;
  /** [MPI_Win_get_errhandler] */
  getErrhandler(): ErrorHandler;
  /** [MPI_Win_call_errhandler] As if a call had failed with this error, but nothing is thrown. */
  callErrhandler(error: MPIError): void;
}
/**
 * Where in the target's array: from this element on, as many bytes as are brought or fetched; or elements of a datatype
 * (which none but the origin needs to know), the first at `disp`.
 */
export type TargetPlace = number | { disp?: number; datatype: Datatype; count?: number };
export declare const Win: {
  /**
   * [MPI_Win_create] Collective. `memory` may differ in length and type from process to process; null: none. It belongs
   * to the window until `free`.
   * @param comm default: COMM_WORLD
   */
  create(memory: Buffer | null, comm?: Comm, info?: Info): Win;
};

/** Kind of the elements of a view. */
export type ElementArrayType = { readonly BYTES_PER_ELEMENT: number; new (length: number): Buffer };

/** Which elements of a file a process sees: blocks [first, number] of each `extent` elements, again and again. */
export interface FilePattern {
  blocks: readonly (readonly [first: number, count: number])[];
  extent: number;
}

/**
 * [MPI_File] A file of the job (chapter 14): input files of the job can be read, what is written is a result file.
 * Offsets and pointers count elements of the view, bytes where none was set. Reads and writes give the number of
 * elements (of a datatype whole ones), which at the end of the file is less than the buffer has. What was written is
 * seen by every read that begins later, wherever. Errors are thrown, and do not end the job by themselves.
 */
export interface File {
  /** As it was opened. */
  readonly name: string;
  /** [MPI_File_get_amode] */
  readonly amode: number;
  /** [MPI_File_get_group] */
  readonly group: Group;
  /** [MPI_File_get_info] Those that it was given: none changes what a file does. */
  readonly info: Info;
  /** [MPI_File_set_info] Collective. Besides those that it has. */
  setInfo(info: Info): void;
  /** [MPI_File_get_size] Bytes. */
  readonly size: number;
  /** [MPI_File_set_size] Collective. */
  setSize(bytes: number): void;
  /** [MPI_File_preallocate] Collective. */
  preallocate(bytes: number): void;
  /** [MPI_File_set_view] Collective. What this process sees of the file from byte `disp` on. Pointers go to 0. */
  setView(disp: number, element?: TypeLike, pattern?: FilePattern | Datatype): void;
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
  read(buf: Data): number;
  /** [MPI_File_write] */
  write(buf: Data): number;
  /** [MPI_File_read_all] Collective. */
  readAll(buf: Data): number;
  /** [MPI_File_write_all] Collective. */
  writeAll(buf: Data): number;
  /** [MPI_File_read_at] */
  readAt(buf: Data, offset: number): number;
  /** [MPI_File_write_at] */
  writeAt(buf: Data, offset: number): number;
  /** [MPI_File_read_at_all] Collective. */
  readAtAll(buf: Data, offset: number): number;
  /** [MPI_File_write_at_all] Collective. */
  writeAtAll(buf: Data, offset: number): number;
  /** [MPI_File_read_shared] At the pointer that all share: each access gets a place of its own. */
  readShared(buf: Data): number;
  /** [MPI_File_write_shared] */
  writeShared(buf: Data): number;
  /** [MPI_File_read_ordered] Collective: at the shared pointer, one after the other in the order of the ranks. */
  readOrdered(buf: Data): number;
  /** [MPI_File_write_ordered] Collective. */
  writeOrdered(buf: Data): number;
  /** [MPI_File_iread] The status of the request has the bytes that were read. */
  iread(buf: Data): Request;
  /** [MPI_File_iwrite] */
  iwrite(buf: Data): Request;
  /** [MPI_File_iread_at] */
  ireadAt(buf: Data, offset: number): Request;
  /** [MPI_File_iwrite_at] */
  iwriteAt(buf: Data, offset: number): Request;
  /** [MPI_File_iread_all] Collective. */
  ireadAll(buf: Data): Request;
  /** [MPI_File_iwrite_all] Collective. */
  iwriteAll(buf: Data): Request;
  /** [MPI_File_iread_at_all] Collective. */
  ireadAtAll(buf: Data, offset: number): Request;
  /** [MPI_File_iwrite_at_all] Collective. */
  iwriteAtAll(buf: Data, offset: number): Request;
  /** [MPI_File_iread_shared] */
  ireadShared(buf: Data): Request;
  /** [MPI_File_iwrite_shared] */
  iwriteShared(buf: Data): Request;
  /** [MPI_File_close] Collective. */
  close(): void;
}
export declare const File: {
  /**
   * [MPI_File_open] Collective.
   * @param mode a sum of MODE_…, or 'r' (reading, the default), 'w' (MODE_CREATE, writing), 'rw' (MODE_CREATE, both);
   * what a file holds stays: setSize(0) empties it
   * @throws MPIError ERR_NO_SUCH_FILE, ERR_FILE_EXISTS, ERR_AMODE, ERR_BAD_FILE
   */
  open(comm: Comm, name: string, mode?: number | 'r' | 'w' | 'rw', info?: Info): File;
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
export declare const ERR_INFO: 34;
export declare const ERR_INFO_KEY: 31;
export declare const ERR_INFO_VALUE: 33;
export declare const ERR_KEYVAL: 36;
export declare const ERR_SESSION: 60;
/** Mayfly's own class: misuse of {@link checkpoint}. */
export declare const ERR_CHECKPOINT: 100;
/** Of ULFM (MPIX_ in C). */
export declare const ERR_PROC_FAILED: 101;
export declare const ERR_PROC_FAILED_PENDING: 102;
export declare const ERR_REVOKED: 103;

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
  /**
   * [MPI_Comm_create_errhandler, MPI_Win_create_errhandler] `fn` runs with the communicator or the window, then the
   * failed call throws the error.
   */
  create<O extends Comm | Win = Comm>(fn: (object: O, error: MPIError) => void): ErrorHandler;
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
/**
 * [MPI_Get_processor_name] The node and its engine: `lab 3 (Chromium 156)`. Another one after a restart elsewhere; what
 * a replay repeats says what it said.
 */
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

/** A variable of the tool interface. */
export interface ToolVariable {
  readonly name: string;
  readonly description: string;
  /** Limits are 'control' (they are constants); 'counter' and 'aggregate' grow, a 'level' goes up and down. */
  readonly kind: 'control' | 'counter' | 'aggregate' | 'level';
}
/** What variables have counted since it was started or reset. */
export interface ToolSession {
  /** [MPI_T_pvar_read] By name. */
  read(): Record<string, number>;
  /** [MPI_T_pvar_reset] */
  reset(): void;
}
/**
 * The tool information interface (§15.3): numbers about this rank's own MPI, the same again when a lost rank is
 * replayed.
 */
export declare const tool: {
  /** [MPI_T_cvar_get_num, MPI_T_cvar_get_info] */
  readonly controlVariables: readonly ToolVariable[];
  /** [MPI_T_pvar_get_num, MPI_T_pvar_get_info] */
  readonly performanceVariables: readonly ToolVariable[];
  /** [MPI_T_category_get_num, MPI_T_category_get_info, MPI_T_category_get_cvars, MPI_T_category_get_pvars] */
  readonly categories: readonly {
    readonly name: string;
    readonly description: string;
    readonly variables: readonly string[];
  }[];
  /**
   * [MPI_T_cvar_read] The value of a variable now: `tool.read('messages_sent')`. @throws MPIError ERR_ARG for a name
   * that there is not
   */
  read(name: string): number;
  /**
   * [MPI_T_pvar_session_create, MPI_T_pvar_handle_alloc, MPI_T_pvar_start] Counts from now on (default: everything that
   * counts).
   */
  start(names?: readonly string[]): ToolSession;
};

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
 * Files. Input files are those submitted with the job: the same for every rank, never changing. Files that the program
 * writes are the job's results; they are not read back. Paths are relative, without `..`.
 */
export declare const files: {
  /** A whole input file. @throws MPIError ERR_NO_SUCH_FILE, ERR_BAD_FILE (path) */
  read(path: string): Uint8Array;
  /** As UTF-8. */
  readText(path: string): string;
  exists(path: string): boolean;
  /** Paths of all input files, sorted. */
  list(): string[];
  /**
   * Writes a result file from its start (text as UTF-8). It replaces what stands there, but does not shorten a longer
   * file.
   */
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
  /** With the protocol `app`, as the rest: the processes that take part. Default: COMM_WORLD. */
  comm?: Comm;
  /** So many nodes may be lost at once. Default: 1. */
  copies?: number;
  /**
   * What others keep: `copies`, as many as that option says (the default); one at a partner (`pair`); or for a group of
   * processes one checksum (`checksum`), as many as `copies` says (`weighted`), or those of floating-point numbers,
   * whose last digits a recovery changes (`real`).
   */
  code?: 'copies' | 'pair' | 'checksum' | 'weighted' | 'real';
  /** Processes that share checksums. Default: up to 8, on different nodes. */
  group?: number;
  /** Every so many-th checkpoint goes to the server's disk. Default: 1000. */
  ratio?: number;
  /** MB that a process may spend on copies and checksums. Default: 256. */
  memory?: number;
  /** True: all checkpoints go to the disk, and none to the memory of others. */
  disk?: boolean;
  /** False: messages that cross a checkpoint are the program's. */
  crossing?: boolean;
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
 * What a lost rank does again: everything before `open` returns (the prologue) is executed again from the start,
 * silently, on the messages that it had. Then `open` reports a restart and the rank stands at its last `here`, as if
 * that had just returned: the program must go on from there. So, after `open`: what was communicated and printed
 * between `open` and that `here` has happened and must not happen again (guard it with `!restarted`, or do it before
 * `open`); communicators that are alive at `here` must come from the prologue; requests must be complete. Without
 * checkpoints a lost rank re-executes from its start: right, but slower. Each rank checkpoints by itself, whenever it
 * likes; nothing has to be synchronised. Only ranks that form a team under the log (docs/teams.md) take theirs
 * together: each at its n-th `here` for some n, unless one has received there what another sends behind it.
 *
 * With the protocol `app` nothing is executed again, and checkpoints are those of all processes of `comm` together
 * (docs/mpi-ckpt.md): `open` and `control` are collective, and so is the first `rollback` behind a `here`; each `here`
 * is a checkpoint. `open` reports `restarted` where there is one to go back to, so in the place of a lost
 * process. After `ft.recover()` the others call `rollback` (of a communicator of their own, `control` first), while a
 * replacement is in `open`. `close` removes what is on the disk, and checkpoints may be opened again.
 */
export declare const checkpoint: {
  /** [MPI_Ckpt_open] Once. Ends the prologue. */
  open(options?: CheckpointOptions): { restarted: boolean };
  /**
   * [MPI_Ckpt] Marks data to be kept: a typed array (copied), a plain object or array (copied deeply, restored in
   * place), or get and set. A tag registered again names the new data.
   */
  register(tag: CheckpointTag, data: Buffer | Kept | object): void;
  /**
   * [MPI_Ckpt_here] Takes a checkpoint of everything registered if one is due, or in any case with `force` (in a team
   * `force` asks for one soon). Whether one was taken is not told, since a replay may decide otherwise.
   * @throws MPIError ERR_CHECKPOINT: not open, a pending request, a communicator made after `open`
   */
  here(force?: boolean): void;
  /**
   * [MPI_Rollback] After a restart: puts the data of `tag` back into `into`, or into what is registered under the tag,
   * or else into a new array or object; registers it, and returns it (of get and set data: the value).
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
