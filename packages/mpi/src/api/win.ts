/**
 * Windows of the API: an array of the program that other processes read and write (MPI 4.1 chapter 12). Here are their
 * making, synchronisation, caching and errors; what they do to the memory of others: win-operations.ts.
 */
import { ERR, fail } from '../errors.ts';
import { rankOfTask } from '../layer.ts';
import * as windows from '../windows/index.ts';
import { contextOf } from './held.ts';
import * as caching from './caching.ts';
import { CommObject } from './comm.ts';
import { describe } from './context.ts';
import { GroupObject } from './group.ts';
import { ErrorHandlerObject } from './handles.ts';
import { WindowOperations } from './win-operations.ts';
import type { Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Buffer = Mayfly.Buffer;

export class WinObject extends WindowOperations implements Mayfly.Win {
  private groupObject: GroupObject | undefined;

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
