/**
 * What the functions of the binding share: the layer, the program's memory, the tables, the way from handles to
 * objects, buffers by datatype, and the way of errors to their handlers.
 *
 * Owns: the binding's state; how many callbacks of the program are on the stack.
 */
import { constant } from '../abi/constants.ts';
import {
  Interrupted,
  COMM_SELF,
  COMM_WORLD,
  DERIVED,
  ERR,
  LINEAR,
  ERRORS_ARE_FATAL,
  ERRORS_RETURN,
  ERRORS_ABORT,
  GROUP_EMPTY,
  MPIError,
  bundles,
  className,
  commOf,
  fail,
  files,
  isContiguous,
  linear,
  opHandle,
  span,
  start,
  types,
  type BuiltinOp,
  type Buf,
  type Bundle,
  type CommRecord,
  type ErrorRecord,
  type Layer,
  type Layout,
  type OpRecord,
  type StatusRecord,
} from '@mayfly/mpi';
import { Heap } from './heap.ts';
import { Kind, Null, OPS, Predefined, handleOf, numberOf } from './handles.ts';
import { initialState, type BindingState } from './state.ts';
import type { BindingOptions, Program } from '../program.ts';

export const IN_PLACE = 1;
/** The element type of MPI_BYTE. */
const BYTE = 0;

export type { Bundle };
type TypeRecord = types.TypeRecord;

export class Core {
  readonly layer: Layer;
  readonly program: Program;
  readonly heap: Heap;
  state: BindingState = initialState();
  depth = 0;
  resuming = false;

  constructor(readonly options: BindingOptions) {
    this.layer = options.layer;
    this.program = options.program;
    this.heap = new Heap(options.program);
  }

  get call(): string {
    return this.heap.call;
  }

  fail(errorClass: Parameters<typeof fail>[0], text: string, comm = 0): never {
    return fail(errorClass, this.call, text, comm);
  }

  // ── handles

  /** The layer's communicator. @throws MPIError ERR_COMM */
  comm(handle: number): CommRecord {
    return commOf(this.layer, this.commNumber(handle), this.call);
  }
  commNumber(handle: number): number {
    if (handle === Predefined.COMM_WORLD || handle === Predefined.COMM_SELF) {
      if (this.state.phase !== 'active')
        this.fail(ERR.COMM, `MPI_COMM_WORLD and MPI_COMM_SELF are there from MPI_Init to MPI_Finalize only`);
      return handle === Predefined.COMM_WORLD ? COMM_WORLD : COMM_SELF;
    }
    const n = numberOf(Kind.COMM, handle);
    if (n > 0) return n;
    return this.fail(
      ERR.COMM,
      handle === Null.COMM ? 'the communicator is MPI_COMM_NULL' : `${handle} is not a communicator`,
    );
  }
  commHandle(number: number): number {
    return number === 0
      ? Null.COMM
      : number === COMM_WORLD
        ? Predefined.COMM_WORLD
        : number === COMM_SELF
          ? Predefined.COMM_SELF
          : handleOf(Kind.COMM, number);
  }
  groupNumber(handle: number): number {
    if (handle === Predefined.GROUP_EMPTY) return GROUP_EMPTY;
    const n = numberOf(Kind.GROUP, handle);
    if (n > 0 && this.layer.state.groups.rows.has(n)) return n;
    return this.fail(
      ERR.GROUP,
      handle === Null.GROUP ? 'the group is MPI_GROUP_NULL' : `${handle} is not a group, or it was freed`,
    );
  }
  group(handle: number): number[] {
    return this.layer.state.groups.rows.get(this.groupNumber(handle))!;
  }
  /** The layer's handle of an operation. */
  op(handle: number): number {
    const name = OPS.get(handle);
    if (name !== undefined) return opHandle(name as BuiltinOp);
    const n = numberOf(Kind.OP, handle);
    if (n > 0 && this.state.opFunctions.get(n)?.freed === false) return n;
    return this.fail(
      ERR.OP,
      handle === Null.OP ? 'the operation is MPI_OP_NULL' : `${handle} is not an operation, or it was freed`,
    );
  }
  opRecord(handle: number): OpRecord {
    return this.layer.state.ops.rows.get(this.op(handle))!;
  }
  typeNumber(handle: number): number {
    if (handle > 0 && handle < types.FIRST_DERIVED) return handle;
    const n = numberOf(Kind.TYPE, handle);
    return n < 0 ? -1 : n + types.FIRST_DERIVED;
  }
  typeHandle(number: number): number {
    return number < types.FIRST_DERIVED ? number : handleOf(Kind.TYPE, number - types.FIRST_DERIVED);
  }
  /** @throws MPIError ERR_TYPE */
  type(handle: number, comm = 0): TypeRecord {
    return types.typeOf(this.layer, this.typeNumber(handle), this.call, comm);
  }
  /** A type to communicate with. */
  /** The type of `count` elements. Of none MPI_DATATYPE_NULL will do: programs write so for messages without data. */
  typeFor(count: number, handle: number, comm: number): TypeRecord {
    return this.committed(count === 0 && handle === Null.DATATYPE ? constant('MPI_BYTE') : handle, comm);
  }
  committed(handle: number, comm: number): TypeRecord {
    return types.committed(this.layer, this.typeNumber(handle), this.call, comm);
  }
  /** Records of predefined types are shared by all ranks of a process: what the program hangs on them is kept here. */
  typeAttributes(t: TypeRecord): Map<number, unknown> {
    if (t.handle >= types.FIRST_DERIVED) return t.attributes;
    let list = this.state.typeAttributes.get(t.handle);
    if (!list) this.state.typeAttributes.set(t.handle, (list = new Map()));
    return list;
  }
  typeName(t: TypeRecord): string {
    return this.state.typeNames.get(t.handle) ?? t.name;
  }
  setTypeName(t: TypeRecord, name: string): void {
    if (t.handle >= types.FIRST_DERIVED) t.name = name;
    else this.state.typeNames.set(t.handle, name);
  }
  /** Id of a type for the layer's reductions: a function of the program is told the very type that the call names. */
  reductionType(type: TypeRecord, op: number): number {
    const builtin = this.layer.state.ops.rows.get(op)?.builtin;
    if (!builtin && type.layout.narrow !== undefined)
      this.fail(
        ERR.OP,
        'a function of the program cannot reduce a buffer of size_t or ptrdiff_t, which have 32 bits, as a type of ' +
          '64 bits: it would not know which of the two it gets. Use MPI_UINT32_T or MPI_INT32_T, or a buffer of long',
      );
    if (!builtin) return DERIVED + type.handle;
    // "Byte: MPI_BYTE", bitwise alone (§6.9.2). TypeScript's bytes are numbers.
    if (type.element === BYTE && !builtin.startsWith('MPI_B')) this.fail(ERR.OP, `${builtin} is not for MPI_BYTE`);
    return type.element;
  }

  messageHandle(number: number): number {
    return number === 0 ? Null.MESSAGE : number < 0 ? Null.MESSAGE_NO_PROC : handleOf(Kind.MESSAGE, number);
  }
  messageNumber(handle: number): number {
    return handle === Null.MESSAGE_NO_PROC ? -1 : Math.max(numberOf(Kind.MESSAGE, handle), 0);
  }

  /** @throws MPIError ERR_INFO; undefined for MPI_INFO_NULL */
  info(handle: number): Map<string, string> | undefined {
    if (handle === Null.INFO) return undefined;
    if (handle === Null.INFO_ENV) return this.environment();
    return (
      this.state.infos.get(numberOf(Kind.INFO, handle)) ??
      this.fail(ERR.INFO, `${handle} is not an info object, or it was freed`)
    );
  }
  /** [MPI_INFO_ENV] What is known of how the job was started. */
  environment(): Map<string, string> {
    const { device, state } = this.layer;
    const processes = String(device.part?.size ?? state.size);
    return new Map([
      ['maxprocs', processes],
      ['soft', processes],
      ['arch', 'wasm32'],
      ['thread_level', 'MPI_THREAD_MULTIPLE'],
    ]);
  }
  newInfo(entries: Map<string, string>): number {
    const n = this.state.nextInfo++;
    this.state.infos.set(n, new Map(entries));
    return handleOf(Kind.INFO, n);
  }

  // ── buffers

  count(count: number, comm: number, what = 'count'): number {
    if (count < 0) this.fail(ERR.COUNT, `${what} ${count} is negative`, comm);
    return count;
  }

  /** The place of `count` elements at an address; their first byte lies at its beginning. */
  checkPlace(address: number, count: number, t: TypeRecord, comm: number, what: string): number {
    const a = address >>> 0;
    const { from, to } = span(t.layout, count);
    if (from === to) return a;
    if (a === IN_PLACE) this.fail(ERR.BUFFER, `MPI_IN_PLACE is not allowed for ${what} here`, comm);
    // MPI_BOTTOM is address 0: with it the type's displacements are addresses.
    if (a === 0 && from < 8) this.fail(ERR.BUFFER, `${what} is a null pointer, the count is ${count}`, comm);
    if (a + from < 0 || a + to > this.heap.bytes.length)
      this.fail(
        ERR.BUFFER,
        `${what} goes from address ${a + from} to ${a + to}, the memory has ${this.heap.bytes.length} bytes`,
        comm,
      );
    return a;
  }

  /** Elements without gaps, checked like {@link checkPlace}; the common case, so without its objects. */
  contiguous(address: number, count: number, t: TypeRecord, comm: number, what: string): Buf {
    const { layout } = t;
    const from = (address >>> 0) + start(layout);
    const bytes = layout.size * count;
    if (bytes > 0 && (address >>> 0 <= IN_PLACE || from < 0 || from + bytes > this.heap.bytes.length))
      this.checkPlace(address, count, t, comm, what);
    return linear(from, bytes);
  }

  /** Elements to be sent: where they lie, or a packed copy. */
  outgoing(bundle: Bundle, address: number, count: number, t: TypeRecord, comm: number, what = 'sendbuf'): Buf {
    if (isContiguous(t.layout, count)) return this.contiguous(address, count, t, comm, what);
    return bundles.outgoing(this.layer, bundle, this.place(address, count, t, comm, what));
  }
  place(address: number, count: number, t: TypeRecord, comm: number, what: string): bundles.Place {
    return { space: LINEAR, address: this.checkPlace(address, count, t, comm, what), layout: t.layout, count };
  }

  /** Elements to be taken at once, or a packed copy of them that holds until anything else is packed. */
  taken(address: number, count: number, t: TypeRecord, comm: number, use: (bytes: Uint8Array) => void): void {
    const { layer } = this;
    if (isContiguous(t.layout, count)) return use(layer.memory.view(this.contiguous(address, count, t, comm, 'buf')));
    const a = this.checkPlace(address, count, t, comm, 'buf');
    const packed = layer.memory.packer?.packed(t.layout, count, a);
    if (packed) return use(packed);
    const into = new Uint8Array(t.layout.size * count);
    layer.memory.pack(t.layout, count, LINEAR, a, into);
    use(into);
  }

  /** Where elements are to arrive: in place, or packed, to be spread when the request is complete. */
  incoming(bundle: Bundle, address: number, count: number, t: TypeRecord, comm: number, what = 'recvbuf'): Buf {
    if (isContiguous(t.layout, count)) return this.contiguous(address, count, t, comm, what);
    return bundles.incoming(this.layer, bundle, this.place(address, count, t, comm, what));
  }

  /** Elements that are read and written: a packed copy of what is there, spread again at the end. */
  both(bundle: Bundle, address: number, count: number, t: TypeRecord, comm: number, what = 'recvbuf'): Buf {
    if (isContiguous(t.layout, count)) return this.contiguous(address, count, t, comm, what);
    return bundles.both(this.layer, bundle, this.place(address, count, t, comm, what));
  }

  /** Packs what lies at an address into a buffer. */
  packInto(layout: Layout, count: number, address: number, into: Buf): void {
    this.layer.memory.pack(layout, count, LINEAR, address, this.layer.memory.view(into));
  }
  /** Spreads what a call without a request has computed. */
  unpackNow(bundle: Bundle): void {
    bundles.unpackNow(this.layer, bundle);
  }

  room(bundle: Bundle, bytes: number): Buf {
    return bundles.room(this.layer, bundle, bytes);
  }

  /** Starts a request whose buffers are described by a bundle, which goes with it. */
  begin(make: (bundle: Bundle) => number): number {
    return bundles.begin(this.layer, make);
  }

  // ── statuses

  /** @param address MPI_STATUS_IGNORE: nothing is written. MPI_ERROR is left alone (§3.2.5). */
  setStatus(address: number, s: StatusRecord): void {
    if (address === 0) return;
    const a = this.heap.check(address, 32, 'status');
    const { view } = this.heap;
    view.setInt32(a, s.source, true);
    view.setInt32(a + 4, s.tag, true);
    view.setInt32(a + 12, s.bytes | 0, true);
    view.setInt32(a + 16, Math.floor(s.bytes / 4294967296), true);
    view.setInt32(a + 20, s.cancelled ? 1 : 0, true);
  }
  setStatusError(address: number, code: number): void {
    if (address !== 0) this.heap.setInt(address + 8, code, 'status');
  }
  /** Bytes of a status, exact: a program may have set them to anything. */
  statusBytes(address: number): bigint {
    const a = this.heap.check(address, 32, 'status');
    return (BigInt(this.heap.view.getInt32(a + 16, true)) << 32n) | BigInt(this.heap.view.getUint32(a + 12, true));
  }
  setStatusBytes(address: number, bytes: bigint): void {
    const a = this.heap.check(address, 32, 'status');
    this.heap.view.setInt32(a + 12, Number(BigInt.asIntN(32, bytes)), true);
    this.heap.view.setInt32(a + 16, Number(BigInt.asIntN(32, bytes >> 32n)), true);
  }

  // ── callbacks

  /** Calls a function of the program. No image is taken meanwhile (B3). */
  callback(index: number, ...args: (number | bigint)[]): number | bigint | void {
    return this.#run(this.program.callable(index), args);
  }

  #run(fn: ReturnType<Program['callable']>, args: (number | bigint)[]): number | bigint | void {
    const { call, large } = this.heap;
    this.depth++;
    try {
      return fn(...args);
    } finally {
      this.depth--;
      this.heap.call = call;
      this.heap.large = large;
    }
  }

  /** Lends the program's memory for the arguments of a callback. */
  lend<T>(bytes: number, use: (address: number) => T): T {
    const address = this.program.malloc(bytes);
    if (address === 0) return this.fail(ERR.NO_MEM, `no memory for ${bytes} bytes of arguments of a callback`);
    let result: T;
    try {
      result = use(address);
    } catch (e) {
      // The program may leave the call by longjmp, out of an error handler. It is entered again after an Interrupted.
      if (!(e instanceof Interrupted)) this.program.free(address);
      throw e;
    }
    this.program.free(address);
    return result;
  }

  /** Calls a function that answers an MPI error code. @throws MPIError with the code that it answered */
  callbackCode(what: string, comm: number, index: number, ...args: number[]): void {
    const code = Number(this.callback(index, ...args) ?? 0);
    if (code !== ERR.SUCCESS) throw new MPIError(code as never, this.call, `the ${what} answered ${code}`, comm);
  }

  // ── errors

  /**
   * An MPI error at its communicator's error handler: the code for the program, if it goes on. Errors without a
   * communicator are MPI_COMM_SELF's (§9.3); older programs set a handler on MPI_COMM_WORLD only and mean all errors:
   * then it is that one.
   */
  raise(error: MPIError): number {
    const { comms } = this.layer.state;
    this.state.lastErrors.set(error.errorClass, error.errorString);
    // Before MPI is in use and after, no handler of the program is in force.
    if (!this.inUse) return this.program.abort(error.errorClass, error.message, 'MPI_ERROR');
    if (error.comm === files.FILE_NULL)
      return this.handle(this.layer.state.files.errhandler, Null.FILE, error.errorClass, error.message);
    let comm = comms.rows.get(error.comm);
    if (!comm) {
      comm = comms.rows.get(COMM_SELF)!;
      const world = comms.rows.get(COMM_WORLD)!;
      if (comm.errhandler === ERRORS_ARE_FATAL && world.errhandler !== ERRORS_ARE_FATAL) comm = world;
    }
    const object =
      comm.window !== undefined
        ? handleOf(Kind.WIN, comm.window)
        : comm.file !== undefined
          ? handleOf(Kind.FILE, comm.file)
          : this.commHandle(comm.handle);
    return this.handle(comm.errhandler, object, error.errorClass, error.message);
  }
  /** An MPI error at another object's error handler (the layer's number). */
  raiseAt(errhandler: number, object: number, error: MPIError): number {
    this.state.lastErrors.set(error.errorClass, error.errorString);
    return this.handle(errhandler, object, error.errorClass, error.message);
  }
  /** MPI is in use: in the World Model, or in a session. */
  get inUse(): boolean {
    return this.state.phase === 'active' || this.state.sessions.size > 0;
  }

  /** Calls an error handler of the layer's number for an object, as the last act of a call (B4 of program.ts). */
  handle(errhandler: number, object: number, code: number, message: string): number {
    if (errhandler === ERRORS_ARE_FATAL || errhandler === ERRORS_ABORT)
      return this.program.abort(code || 1, message, 'MPI_ERROR');
    if (errhandler === ERRORS_RETURN) return code;
    const index = this.state.errorFunctions.get(errhandler);
    if (index === undefined) return code;
    let answer = code;
    this.lend(8, (a) => {
      this.heap.setInt(a, object, 'comm');
      this.heap.setInt(a + 4, code, 'errorcode');
      this.#run(this.program.callableLast(index), [a, a + 4, 0]);
      // "The second is the error code to be returned by the MPI routine that raised the error" (§9.3.1): the handler
      // may change it.
      answer = this.heap.int(a + 4, 'errorcode');
    });
    return answer;
  }

  failed(record: ErrorRecord, comm: number): MPIError {
    return new MPIError(record.errorClass as never, record.call, record.text, comm);
  }
  className(code: number): string {
    return className(code);
  }
}
