/**
 * Windows (MPI 4.1 §12.2, §12.5): making, freeing, what a window says of itself, synchronisation. The operations on
 * them: windows-access.ts.
 */
import { ERR, Interrupted, PROC_NULL, linear, windows, type Buf } from '@mayfly/mpi';
import { constant } from '../abi/constants.ts';
import { deleteAttributes } from './attributes.ts';
import { record, type Implementation, type Implementations } from './define.ts';
import { errhandlerHandle, errhandlerNumber, errorName } from './environment.ts';
import { Kind, Null, Predefined, handleOf } from './handles.ts';
import { windowOf } from './windows-attributes.ts';
import type { Core } from './core.ts';

export function windowFunctions(core: Core): Implementations {
  const { layer, heap, program } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);
  const own = (w: windows.WindowRecord) => core.state.windows.get(w.handle)!;

  /**
   * A call that makes a window. @param memory its memory, and where the program wants to know the address (0: nowhere)
   */
  const making = (
    name: string,
    memory: (args: number[]) => {
      flavor: windows.Flavor;
      base: Buf;
      unit: number;
      info: number;
      comm: number;
      allocated: number;
      told: number;
    },
  ): Implementation => ({
    start: (...args) => {
      const at = heap.check(args[args.length - 1]!, 4, 'win');
      const { flavor, base, unit, info, comm, allocated, told } = memory(args);
      const given = core.info(info);
      let n: number;
      try {
        n = windows.startMake(layer, core.comm(comm).handle, flavor, base, unit, core.call);
      } catch (e) {
        if (!(e instanceof Interrupted)) program.free(allocated);
        throw e;
      }
      core.state.windows.set(n, { name: '', info: new Map(given), memory: allocated, cells: 0 });
      return record(name, 0, [n, at, told, base.offset]);
    },
    finish: (r) => {
      const [n, at, told, base] = r.at as [number, number, number, number];
      windows.finishMake(layer, n, core.call);
      if (told !== 0) heap.setInt(told, base, 'baseptr');
      heap.setInt(at, handleOf(Kind.WIN, n), 'win');
      return ERR.SUCCESS;
    },
  });
  const sized = (size: number, comm: number): number =>
    size < 0 ? core.fail(ERR.SIZE, `size ${size} is negative`, core.comm(comm).handle) : size;
  const allocate = (flavor: windows.Flavor) => (args: number[]) => {
    const [size, unit, info, comm, told] = args as [number, number, number, number, number];
    heap.check(told, 4, 'baseptr');
    const c = core.comm(comm);
    const bytes = sized(size, comm);
    if (unit <= 0) core.fail(ERR.DISP, `disp_unit ${unit} is not > 0`, c.handle);
    const address = program.malloc(Math.max(bytes, 1));
    if (address === 0) core.fail(ERR.NO_MEM, `no memory for ${bytes} bytes`, c.handle);
    return { flavor, base: linear(address, bytes), unit, info, comm, allocated: address, told };
  };

  /** A call on one window in two halves: `begin` answers what the second half needs besides the window. */
  const waiting = (
    name: string,
    win: (args: number[]) => number,
    begin: (n: number, args: number[]) => number[] | void,
    end: (n: number, at: number[]) => void,
  ): Implementation => ({
    start: (...args) => {
      const n = windowOf(core, win(args)).handle;
      return record(name, 0, [n, ...(begin(n, args) ?? [])]);
    },
    finish: (r) => success(() => end(r.at[0]!, r.at.slice(1))),
  });
  const first = (args: number[]): number => args[0]!;
  const second = (args: number[]): number => args[1]!;
  const last = (args: number[]): number => args[args.length - 1]!;
  const flush = (name: string, local: boolean): Implementation =>
    waiting(
      name,
      second,
      (n, [rank]) => (
        local ? windows.startFlushLocal(layer, n, rank, core.call) : windows.startFlush(layer, n, rank!, core.call),
        [rank!]
      ),
      (n, [rank]) => windows.finishPassive(layer, n, rank, core.call),
    );
  const flushAll = (name: string, local: boolean): Implementation =>
    waiting(
      name,
      first,
      (n) =>
        local ? windows.startFlushLocal(layer, n, undefined, core.call) : windows.startFlushAll(layer, n, core.call),
      (n) => windows.finishPassive(layer, n, undefined, core.call),
    );

  const lockType = (type: number, w: windows.WindowRecord): number => {
    if (type === constant('MPI_LOCK_EXCLUSIVE')) return windows.Lock.EXCLUSIVE;
    return type === constant('MPI_LOCK_SHARED')
      ? windows.Lock.SHARED
      : core.fail(ERR.LOCKTYPE, `lock type ${type} is neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED`, w.comm);
  };

  return {
    Win_create: making('Win_create', ([base, size, unit, info, comm]) => {
      const bytes = sized(size!, comm!);
      const address = base! >>> 0;
      if (bytes > 0 && (address === 0 || address + bytes > heap.bytes.length))
        core.fail(
          ERR.BUFFER,
          address === 0
            ? `base is a null pointer, size is ${bytes}`
            : `the window goes to address ${address + bytes}, the memory has ${heap.bytes.length} bytes`,
          core.comm(comm!).handle,
        );
      return {
        flavor: 'create',
        base: linear(address, bytes),
        unit: unit!,
        info: info!,
        comm: comm!,
        allocated: 0,
        told: 0,
      };
    }),
    Win_allocate: making('Win_allocate', allocate('allocate')),
    Win_allocate_shared: making('Win_allocate_shared', (args) => {
      const c = core.comm(args[3]!);
      if (c.group.length > 1)
        core.fail(
          ERR.RMA_SHARED,
          `no two of the ${c.group.length} ranks of ${c.name} share memory: split it by MPI_COMM_TYPE_SHARED first`,
          c.handle,
        );
      return allocate('shared')(args);
    }),
    Win_create_dynamic: making('Win_create_dynamic', ([info, comm]) => ({
      flavor: 'dynamic',
      base: linear(0, 0),
      unit: 1,
      info: info!,
      comm: comm!,
      allocated: 0,
      told: 0,
    })),
    Win_free: {
      start: (at) => {
        const handle = heap.int(at!, 'win');
        const w = windowOf(core, handle);
        windows.startFree(layer, w.handle, core.call);
        deleteAttributes(core, 'win', handle, w.attributes);
        return record('Win_free', 0, [w.handle, at!]);
      },
      finish: (r) => {
        const [n, at] = r.at as [number, number];
        windows.finishFree(layer, n, core.call);
        const { memory, cells } = core.state.windows.get(n)!;
        core.state.windows.delete(n);
        if (memory !== 0) program.free(memory);
        if (cells !== 0) program.free(cells);
        heap.setInt(at, Null.WIN, 'win');
        return ERR.SUCCESS;
      },
    },
    Win_attach: (win: number, base: number, size: number) =>
      success(() => {
        const w = windowOf(core, win);
        if (size < 0) core.fail(ERR.SIZE, `size ${size} is negative`, w.comm);
        const address = base >>> 0;
        if (size > 0 && (address === 0 || address + size > heap.bytes.length))
          core.fail(ERR.RMA_ATTACH, `the memory from ${address} to ${address + size} is not there`, w.comm);
        windows.attach(layer, w.handle, address, size, core.call);
      }),
    Win_detach: (win: number, base: number) =>
      success(() => windows.detach(layer, windowOf(core, win).handle, base >>> 0, core.call)),
    Win_shared_query: (win: number, rank: number, size: number, unit: number, baseptr: number) =>
      success(() => {
        const w = windowOf(core, win);
        if (w.flavor === 'dynamic') core.fail(ERR.RMA_FLAVOR, 'a dynamic window has no memory of its own', w.comm);
        windows.checkRank(layer, w, rank, core.call);
        for (const [at, what] of [
          [size, 'size'],
          [unit, 'disp_unit'],
          [baseptr, 'baseptr'],
        ] as const)
          heap.check(at, 4, what);
        const c = windows.commOfWindow(layer, w);
        // Only the own memory can be read and written directly. MPI_PROC_NULL asks for the lowest rank that has any.
        const here = rank === c.rank || (rank === PROC_NULL && w.sizes.findIndex((s) => s > 0) === c.rank);
        heap.setInt(size, here ? w.sizes[c.rank]! : 0, 'size');
        heap.setInt(unit, rank === PROC_NULL ? w.units[c.rank]! : w.units[rank]!, 'disp_unit');
        heap.setInt(baseptr, here ? w.base.offset : 0, 'baseptr');
      }),
    Win_get_group: (win: number, at: number) =>
      success(() => {
        const { group } = windows.commOfWindow(layer, windowOf(core, win));
        heap.check(at, 4, 'group');
        const { groups } = layer.state;
        const n = groups.next++;
        groups.rows.set(n, [...group]);
        heap.setInt(at, group.length === 0 ? Predefined.GROUP_EMPTY : handleOf(Kind.GROUP, n), 'group');
      }),
    Win_set_name: (win: number, at: number) =>
      success(() => void (own(windowOf(core, win)).name = heap.string(at, 'win_name', 127))),
    Win_get_name: (win: number, at: number, length: number) =>
      success(() =>
        heap.setInt(
          length,
          heap.setString(at, win === Null.WIN ? 'MPI_WIN_NULL' : own(windowOf(core, win)).name, 128, 'win_name'),
          'resultlen',
        ),
      ),
    Win_set_info: (win: number, info: number) =>
      success(() => {
        const { info: kept } = own(windowOf(core, win));
        for (const [key, value] of core.info(info) ?? []) kept.set(key, value);
      }),
    Win_get_info: (win: number, at: number) =>
      success(() => {
        const w = windowOf(core, win);
        heap.check(at, 4, 'info_used');
        const noncontiguous =
          w.flavor === 'shared' || w.flavor === 'allocate' ? [['alloc_shared_noncontig', 'false'] as const] : [];
        heap.setInt(
          at,
          core.newInfo(new Map([...windows.WINDOW_HINTS, ...noncontiguous, ...own(w).info])),
          'info_used',
        );
      }),
    Win_set_errhandler: (win: number, handle: number) =>
      success(
        () => void (windows.commOfWindow(layer, windowOf(core, win)).errhandler = errhandlerNumber(core, handle)),
      ),
    Win_get_errhandler: (win: number, at: number) =>
      success(() =>
        heap.setInt(at, errhandlerHandle(windows.commOfWindow(layer, windowOf(core, win)).errhandler), 'errhandler'),
      ),
    Win_call_errhandler: (win: number, code: number) =>
      success(
        () =>
          void core.handle(
            windows.commOfWindow(layer, windowOf(core, win)).errhandler,
            win,
            code,
            `error ${code} raised by the program: ${errorName(core, code)}`,
          ),
      ),

    Win_fence: waiting(
      'Win_fence',
      second,
      (n, [assertion]) => (windows.startFence(layer, n, assertion!, core.call), [assertion!]),
      (n, [assertion]) => windows.finishFence(layer, n, assertion!, core.call),
    ),
    Win_post: (group: number, assertion: number, win: number) =>
      success(() => windows.post(layer, windowOf(core, win).handle, core.group(group), assertion, core.call)),
    Win_start: (group: number, assertion: number, win: number) =>
      success(() => windows.startAccess(layer, windowOf(core, win).handle, core.group(group), assertion, core.call)),
    Win_complete: waiting(
      'Win_complete',
      first,
      (n) => windows.startComplete(layer, n, core.call),
      (n) => windows.finishComplete(layer, n, core.call),
    ),
    Win_wait: waiting(
      'Win_wait',
      first,
      (n) => windows.checkExposed(layer, n, core.call),
      (n) => windows.waitExposure(layer, n, core.call),
    ),
    Win_test: (win: number, flag: number) =>
      success(() => {
        heap.check(flag, 4, 'flag');
        heap.setInt(flag, windows.testExposure(layer, windowOf(core, win).handle, core.call) ? 1 : 0, 'flag');
      }),
    Win_lock: waiting(
      'Win_lock',
      last,
      (n, [type, rank, assertion, win]) =>
        windows.startLock(layer, n, lockType(type!, windowOf(core, win!)), rank!, assertion!, core.call),
      (n) => windows.finishLock(layer, n, core.call),
    ),
    Win_lock_all: waiting(
      'Win_lock_all',
      second,
      (n, [assertion]) => windows.startLockAll(layer, n, assertion!, core.call),
      (n) => windows.finishLock(layer, n, core.call),
    ),
    Win_unlock: waiting(
      'Win_unlock',
      second,
      (n, [rank]) => (windows.startUnlock(layer, n, rank!, core.call), [rank!]),
      (n, [rank]) => windows.finishPassive(layer, n, rank, core.call),
    ),
    Win_unlock_all: waiting(
      'Win_unlock_all',
      first,
      (n) => windows.startUnlockAll(layer, n, core.call),
      (n) => windows.finishPassive(layer, n, undefined, core.call),
    ),
    Win_flush: flush('Win_flush', false),
    Win_flush_local: flush('Win_flush_local', true),
    Win_flush_all: flushAll('Win_flush_all', false),
    Win_flush_local_all: flushAll('Win_flush_local_all', true),
    Win_sync: (win: number) => success(() => windows.sync(layer, windowOf(core, win).handle, core.call)),
  };
}
