/**
 * Windows of the API: an array of the program that other processes read and write (MPI 4.1 chapter 12). Displacements
 * count elements of the target's array.
 */
import { BYTE } from '../datatypes.ts';
import { contiguousLayout } from '../layout.ts';
import { BUILTIN_OPS } from '../ops.ts';
import { ERR, fail } from '../errors.ts';
import { rankOfTask } from '../layer.ts';
import * as windows from '../windows/index.ts';
import { contextOf, Held } from './held.ts';
import * as caching from './caching.ts';
import { CommObject } from './comm.ts';
import { describe } from './context.ts';
import { DatatypeObject, ElementsObject, sentBytes } from './datatype.ts';
import { GroupObject } from './group.ts';
import { ErrorHandlerObject, OpObject } from './handles.ts';
import { RequestObject } from './status.ts';
import type { Context } from './context.ts';
import type { ElementType } from '../datatypes.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Buffer = Mayfly.Buffer;

export class WinObject extends Held implements Mayfly.Win {
  private groupObject: GroupObject | undefined;

  private constructor(
    context: Context,
    readonly handle: number,
    readonly memory: Buffer | null,
  ) {
    super(context);
  }

  static create(context: Context, memory: Buffer | null, comm: Mayfly.Comm, info?: Mayfly.Info): WinObject {
    const call = 'MPI_Win_create';
    return context.call(() => {
      if (!(comm instanceof CommObject)) return fail(ERR.COMM, call, `the communicator is ${describe(comm)}`);
      const given = memory === null ? undefined : context.bytes(memory, call, comm.handle, 'the memory');
      const kept = caching.hints(info, call, comm.handle);
      const base =
        given && given.bytes.length > 0 ? context.layer.memory.pin(given.bytes) : { space: 0, offset: 0, bytes: 0 };
      let handle: number;
      try {
        handle = windows.startMake(context.layer, comm.handle, 'create', base, given?.type.bytes ?? 1, call);
      } catch (e) {
        if (base.space > 0) context.layer.memory.unpin(base.space);
        throw e;
      }
      windows.finishMake(context.layer, handle, call);
      if (kept) windows.windowOf(context.layer, handle, call).info = kept;
      const win = new WinObject(context, handle, memory);
      context.windows.set(handle, win);
      return win;
    });
  }

  private record(call: string): windows.WindowRecord {
    return windows.windowOf(contextOf(this).layer, this.handle, call);
  }
  private get comm(): number {
    return contextOf(this).layer.state.windows.table.rows.get(this.handle)?.comm ?? 0;
  }
  get group(): Mayfly.Group {
    return contextOf(this).call(() => {
      const { group } = windows.commOfWindow(contextOf(this).layer, this.record('MPI_Win_get_group'));
      if (!this.groupObject || !contextOf(this).layer.state.groups.rows.has(this.groupObject.handle))
        this.groupObject = GroupObject.make(contextOf(this), [...group]);
      return this.groupObject;
    });
  }
  get name(): string {
    return contextOf(this).call(
      () => windows.commOfWindow(contextOf(this).layer, this.record('MPI_Win_get_name')).name,
    );
  }
  set name(value: string) {
    contextOf(this).call(
      () =>
        void (windows.commOfWindow(contextOf(this).layer, this.record('MPI_Win_set_name')).name = String(value).slice(
          0,
          128,
        )),
    );
  }

  // ── operations

  private bytes(array: unknown, call: string, what: string): { bytes: Uint8Array; type: ElementType } {
    this.record(call);
    return contextOf(this).bytes(array, call, this.comm, what);
  }
  /** What is brought; without a type: elements of different types. */
  private brought(
    data: unknown,
    call: string,
    what = 'the buffer',
  ): { bytes: Uint8Array; type: ElementType | undefined } {
    this.record(call);
    const type =
      data instanceof ElementsObject ? data.datatype.element : contextOf(this).bytes(data, call, this.comm, what).type;
    return { bytes: sentBytes(contextOf(this), data, call, this.comm, what), type };
  }
  /** As many elements there as here, or those that are described. */
  private at(target: number, disp: Mayfly.TargetPlace, bytes: number, call: string): windows.Target {
    const at = typeof disp === 'object' && disp !== null ? disp : { disp };
    const from = at.disp ?? 0;
    if (!Number.isInteger(from))
      fail(ERR.DISP, call, `the displacement ${String(from)} is not a whole number`, this.comm);
    if (!('datatype' in at)) return { rank: target, disp: from, layout: contiguousLayout(bytes), count: 1 };
    const { count = 1 } = at;
    if (!Number.isInteger(count) || count < 0)
      fail(ERR.COUNT, call, `the count ${String(count)} is not a number of elements`, this.comm);
    return {
      rank: target,
      disp: from,
      layout: DatatypeObject.of(contextOf(this), at.datatype, call).record(call, this.comm).layout,
      count,
    };
  }
  private combining(op: Mayfly.Op | undefined, type: ElementType | undefined, call: string): windows.Combining {
    const name = op === undefined ? 'MPI_SUM' : BUILTIN_OPS[OpObject.of(op, call, this.comm) - 1];
    if (name === undefined) return fail(ERR.OP, call, 'the operation is not predefined', this.comm);
    if (!type && name !== 'MPI_REPLACE' && name !== 'MPI_NO_OP')
      fail(ERR.TYPE, call, `the datatype has elements of different types: ${name} is not for them`, this.comm);
    return { op: name, element: type?.id ?? BYTE };
  }
  /** An operation whose answer goes into an array, which is pinned until it has come. */
  private fetching(
    into: { bytes: Uint8Array; given?: ElementsObject },
    begin: (place: windows.Place) => number,
  ): number {
    const { memory } = contextOf(this).layer;
    const { given } = into;
    const { space } = memory.pin(given ? given.bytes : into.bytes);
    const rows = contextOf(this).layer.state.windows.replies;
    const before = rows.next;
    try {
      return begin(
        given
          ? { space, address: given.address, layout: given.datatype.record('MPI_Get').layout, count: given.count }
          : { space, address: 0, layout: contiguousLayout(into.bytes.length), count: 1 },
      );
    } finally {
      // Nothing was asked for: a failure, or MPI_PROC_NULL.
      if (rows.next === before) memory.unpin(space);
    }
  }
  /** Where an answer goes. */
  private answered(
    into: unknown,
    call: string,
    what?: string,
  ): { bytes: Uint8Array; type: ElementType | undefined; given?: ElementsObject } {
    return { ...this.brought(into, call, what), ...(into instanceof ElementsObject && { given: into }) };
  }
  private getOn(call: string, into: Mayfly.Data, target: number, disp: Mayfly.TargetPlace, wanted: boolean): number {
    const b = this.answered(into, call);
    return this.fetching(b, (place) =>
      windows.get(contextOf(this).layer, this.handle, place, this.at(target, disp, b.bytes.length, call), call, wanted),
    );
  }
  private putOn(call: string, from: Mayfly.Data, target: number, disp: Mayfly.TargetPlace, passive: boolean): void {
    const { bytes } = this.brought(from, call);
    windows.put(
      contextOf(this).layer,
      this.handle,
      windows.sourceOf(bytes),
      this.at(target, disp, bytes.length, call),
      call,
      passive,
    );
  }
  private accumulateOn(
    call: string,
    from: Mayfly.Data,
    target: number,
    disp: Mayfly.TargetPlace,
    op: Mayfly.Op | undefined,
    passive: boolean,
  ): void {
    const { bytes, type } = this.brought(from, call);
    windows.accumulate(
      contextOf(this).layer,
      this.handle,
      windows.sourceOf(bytes),
      this.at(target, disp, bytes.length, call),
      this.combining(op, type, call),
      call,
      passive,
    );
  }
  private getAccumulateOn(
    call: string,
    from: Mayfly.Data,
    into: Mayfly.Data,
    target: number,
    disp: Mayfly.TargetPlace,
    op: Mayfly.Op | undefined,
    wanted: boolean,
  ): number {
    const b = this.brought(from, call);
    const result = this.answered(into, call, 'the result');
    if (result.type !== b.type)
      fail(ERR.TYPE, call, 'the buffer and the result have different element types', this.comm);
    const c = this.combining(op, b.type, call);
    return this.fetching(result, (place) =>
      windows.getAccumulate(
        contextOf(this).layer,
        this.handle,
        windows.sourceOf(b.bytes),
        place,
        this.at(target, disp, result.bytes.length, call),
        c,
        call,
        wanted,
      ),
    );
  }
  private request(start: () => number): Mayfly.Request {
    return contextOf(this).call(() => new RequestObject(contextOf(this), start()));
  }

  put(from: Mayfly.Data, target: number, disp: Mayfly.TargetPlace = 0): void {
    contextOf(this).call(() => this.putOn('MPI_Put', from, target, disp, false));
  }
  get(into: Mayfly.Data, target: number, disp: Mayfly.TargetPlace = 0): void {
    contextOf(this).call(() => void this.getOn('MPI_Get', into, target, disp, false));
  }
  rget(into: Mayfly.Data, target: number, disp: Mayfly.TargetPlace = 0): Mayfly.Request {
    return this.request(() => this.getOn('MPI_Rget', into, target, disp, true));
  }
  accumulate(from: Mayfly.Data, target: number, disp: Mayfly.TargetPlace = 0, op?: Mayfly.Op): void {
    contextOf(this).call(() => this.accumulateOn('MPI_Accumulate', from, target, disp, op, false));
  }
  getAccumulate<A extends Buffer>(
    from: Mayfly.Of<A>,
    into: Mayfly.Of<A>,
    target: number,
    disp: Mayfly.TargetPlace = 0,
    op?: Mayfly.Op,
  ): void {
    contextOf(this).call(() => void this.getAccumulateOn('MPI_Get_accumulate', from, into, target, disp, op, false));
  }
  rgetAccumulate<A extends Buffer>(
    from: Mayfly.Of<A>,
    into: Mayfly.Of<A>,
    target: number,
    disp: Mayfly.TargetPlace = 0,
    op?: Mayfly.Op,
  ): Mayfly.Request {
    return this.request(() => this.getAccumulateOn('MPI_Rget_accumulate', from, into, target, disp, op, true));
  }
  compareAndSwap<A extends Buffer>(from: A, compare: A, into: A, target: number, disp = 0): void {
    const call = 'MPI_Compare_and_swap';
    contextOf(this).call(() => {
      const b = this.bytes(from, call, 'the buffer');
      const with_ = this.bytes(compare, call, 'the value to compare with');
      const result = this.bytes(into, call, 'the result');
      if (from.length !== 1 || compare.length !== 1 || into.length !== 1)
        fail(ERR.COUNT, call, 'the buffers have to have one element each', this.comm);
      if (b.type.id !== with_.type.id || b.type.id !== result.type.id || b.type.kind === 'float')
        fail(ERR.TYPE, call, 'the buffers have to be integers of one type', this.comm);
      this.fetching(result, (place) => {
        windows.compareAndSwap(
          contextOf(this).layer,
          this.handle,
          b.bytes,
          with_.bytes,
          place,
          this.at(target, disp, b.bytes.length, call),
          call,
        );
        return 0;
      });
    });
  }

  // ── synchronisation

  private run(start: (call: string) => void, finish: (call: string) => void, call: string): void {
    contextOf(this).call(() => {
      start(call);
      finish(call);
    });
  }
  fence(assertion = 0): void {
    const { layer } = contextOf(this);
    this.run(
      (call) => windows.startFence(layer, this.handle, assertion, call),
      (call) => windows.finishFence(layer, this.handle, assertion, call),
      'MPI_Win_fence',
    );
  }
  private tasks(ranks: readonly number[], call: string): number[] {
    const { group } = windows.commOfWindow(contextOf(this).layer, this.record(call));
    return ranks.map(
      (r) =>
        group[r] ??
        fail(ERR.RANK, call, `${String(r)} is not a rank: the window has ranks 0 to ${group.length - 1}`, this.comm),
    );
  }
  post(ranks: readonly number[], assertion = 0): void {
    contextOf(this).call(() =>
      windows.post(contextOf(this).layer, this.handle, this.tasks(ranks, 'MPI_Win_post'), assertion),
    );
  }
  start(ranks: readonly number[], assertion = 0): void {
    contextOf(this).call(() =>
      windows.startAccess(contextOf(this).layer, this.handle, this.tasks(ranks, 'MPI_Win_start'), assertion),
    );
  }
  complete(): void {
    const { layer } = contextOf(this);
    this.run(
      (call) => windows.startComplete(layer, this.handle, call),
      (call) => windows.finishComplete(layer, this.handle, call),
      'MPI_Win_complete',
    );
  }
  wait(): void {
    contextOf(this).call(() => windows.waitExposure(contextOf(this).layer, this.handle));
  }
  test(): boolean {
    return contextOf(this).call(() => windows.testExposure(contextOf(this).layer, this.handle));
  }
  lock(target: number, type: 'exclusive' | 'shared' = 'exclusive', assertion = 0): void {
    const { layer } = contextOf(this);
    this.run(
      (call) => {
        const number =
          type === 'exclusive'
            ? windows.Lock.EXCLUSIVE
            : type === 'shared'
              ? windows.Lock.SHARED
              : fail(ERR.LOCKTYPE, call, `the type ${String(type)} is neither 'exclusive' nor 'shared'`, this.comm);
        windows.startLock(layer, this.handle, number, target, assertion, call);
      },
      (call) => windows.finishLock(layer, this.handle, call),
      'MPI_Win_lock',
    );
  }
  lockAll(assertion = 0): void {
    const { layer } = contextOf(this);
    this.run(
      (call) => windows.startLockAll(layer, this.handle, assertion, call),
      (call) => windows.finishLock(layer, this.handle, call),
      'MPI_Win_lock_all',
    );
  }
  unlock(target: number): void {
    const { layer } = contextOf(this);
    this.run(
      (call) => windows.startUnlock(layer, this.handle, target, call),
      (call) => windows.finishPassive(layer, this.handle, target, call),
      'MPI_Win_unlock',
    );
  }
  unlockAll(): void {
    const { layer } = contextOf(this);
    this.run(
      (call) => windows.startUnlockAll(layer, this.handle, call),
      (call) => windows.finishPassive(layer, this.handle, undefined, call),
      'MPI_Win_unlock_all',
    );
  }
  flush(target?: number): void {
    const { layer } = contextOf(this);
    this.run(
      (call) =>
        target === undefined
          ? windows.startFlushAll(layer, this.handle, call)
          : windows.startFlush(layer, this.handle, target, call),
      (call) => windows.finishPassive(layer, this.handle, target, call),
      target === undefined ? 'MPI_Win_flush_all' : 'MPI_Win_flush',
    );
  }
  flushLocal(target?: number): void {
    const { layer } = contextOf(this);
    this.run(
      (call) => windows.startFlushLocal(layer, this.handle, target, call),
      (call) => windows.finishPassive(layer, this.handle, target, call),
      target === undefined ? 'MPI_Win_flush_local_all' : 'MPI_Win_flush_local',
    );
  }
  sync(): void {
    contextOf(this).call(() => windows.sync(contextOf(this).layer, this.handle));
  }
  free(): void {
    const { layer } = contextOf(this);
    this.run(
      (call) => {
        windows.startFree(layer, this.handle, call);
        caching.removeAll(contextOf(this), this, this.record(call).attributes);
      },
      (call) => windows.finishFree(layer, this.handle, call),
      'MPI_Win_free',
    );
    contextOf(this).windows.delete(this.handle);
  }

  // ── caching

  getAttr<T>(key: Mayfly.Keyval<T, Mayfly.Win>): T | undefined {
    const call = 'MPI_Win_get_attr';
    return contextOf(this).call(() => caching.get(contextOf(this), this.record(call).attributes, key, call, this.comm));
  }
  setAttr<T>(key: Mayfly.Keyval<T, Mayfly.Win>, value: T): void {
    const call = 'MPI_Win_set_attr';
    contextOf(this).call(() =>
      caching.set(contextOf(this), this, this.record(call).attributes, key, value, call, this.comm),
    );
  }
  deleteAttr(key: Mayfly.Keyval<unknown, Mayfly.Win>): void {
    const call = 'MPI_Win_delete_attr';
    contextOf(this).call(() =>
      caching.remove(contextOf(this), this, this.record(call).attributes, key, call, this.comm),
    );
  }
  get info(): Mayfly.Info {
    return contextOf(this).call(() =>
      Object.fromEntries([...windows.WINDOW_HINTS, ...(this.record('MPI_Win_get_info').info ?? [])]),
    );
  }
  setInfo(info: Mayfly.Info): void {
    const call = 'MPI_Win_set_info';
    contextOf(this).call(() => {
      const w = this.record(call);
      w.info = new Map([...(w.info ?? []), ...(caching.hints(info, call, w.comm) ?? [])]);
    });
  }

  // ── errors

  setErrhandler(handler: Mayfly.ErrorHandler): void {
    contextOf(this).call(() => {
      const w = this.record('MPI_Win_set_errhandler');
      if (!(handler instanceof ErrorHandlerObject))
        fail(ERR.ARG, 'MPI_Win_set_errhandler', `the handler is ${describe(handler)}`, w.comm);
      windows.commOfWindow(contextOf(this).layer, w).errhandler = (handler as ErrorHandlerObject).handle;
    });
  }
  getErrhandler(): Mayfly.ErrorHandler {
    return contextOf(this).call(() =>
      ErrorHandlerObject.get(
        contextOf(this),
        windows.commOfWindow(contextOf(this).layer, this.record('MPI_Win_get_errhandler')).errhandler,
      ),
    );
  }
  callErrhandler(error: Mayfly.MPIError): void {
    contextOf(this).call(() =>
      contextOf(this).callHandler(error, this.record('MPI_Win_call_errhandler').comm, 'MPI_Win_call_errhandler'),
    );
  }
  /** This process's rank in the window. */
  get rank(): number {
    return contextOf(this).call(() =>
      rankOfTask(
        windows.commOfWindow(contextOf(this).layer, this.record('MPI_Win_get_group')).group,
        contextOf(this).layer.state.task,
      ),
    );
  }
}
