/** Operations on windows (MPI 4.1 §12.3): put, get, the accumulates, and their request-based forms. */
import {
  DERIVED,
  ERR,
  LINEAR,
  elementType,
  isContiguous,
  types,
  windows,
  type BuiltinOp,
  type Layout,
} from '@mayfly/mpi';
import { OPS } from './handles.ts';
import { COMPLETE, newSlot } from './slots.ts';
import { windowOf } from './windows-attributes.ts';
import type { Implementations } from './define.ts';
import type { Core } from './core.ts';

type TypeRecord = types.TypeRecord;

/** The one basic element type of a datatype; undefined when it is made of several. */
function basicElement(core: Core, t: TypeRecord): number | undefined {
  if (t.element < DERIVED) return t.element;
  let found: number | undefined;
  for (const part of t.contents.types) {
    const element = basicElement(core, typeof part === 'number' ? types.typeOf(core.layer, part, core.call) : part);
    if (element === undefined || (found !== undefined && found !== element)) return undefined;
    found = element;
  }
  return found;
}

/** Elements of one array argument: its datatype, count and address, checked. */
interface Elements {
  type: TypeRecord;
  layout: Layout;
  count: number;
  address: number;
}

export function windowAccess(core: Core): Implementations {
  const { layer, heap } = core;
  const success = (f: () => void): number => (f(), ERR.SUCCESS);

  function elements(w: windows.WindowRecord, address: number, count: number, datatype: number, what: string): Elements {
    const type = core.committed(datatype, w.comm);
    core.count(count, w.comm, what.replace('addr', 'count'));
    if (type.layout.narrow !== undefined)
      core.fail(
        ERR.TYPE,
        `${what}: a size_t or ptrdiff_t of 32 bits is MPI_UINT32_T or MPI_INT32_T in windows`,
        w.comm,
      );
    return { type, layout: type.layout, count, address: core.checkPlace(address, count, type, w.comm, what) };
  }
  const source = (e: Elements): windows.Source => {
    const bytes = e.layout.size * e.count;
    if (bytes === 0) return windows.NOTHING;
    const at = e.address + (e.layout.segments[0] ?? 0);
    const view = isContiguous(e.layout, e.count) ? heap.bytes.subarray(at, at + bytes) : undefined;
    return {
      bytes,
      view,
      pack: (into) => (view ? into.set(view) : layer.memory.pack(e.layout, e.count, LINEAR, e.address, into)),
    };
  };
  const place = (e: Elements): windows.Place => ({ space: 0, address: e.address, layout: e.layout, count: e.count });
  function target(
    w: windows.WindowRecord,
    rank: number,
    disp: number,
    count: number,
    datatype: number,
  ): windows.Target & { type: TypeRecord } {
    const type = core.committed(datatype, w.comm);
    core.count(count, w.comm, 'target_count');
    return { rank, disp, layout: type.layout, count, type };
  }

  /**
   * "Each datatype argument must be a predefined datatype or a derived datatype, where all basic components are of the
   * same predefined datatype" (§12.3.4).
   */
  function combining(
    w: windows.WindowRecord,
    op: number,
    origin: TypeRecord | undefined,
    at: TypeRecord,
    count = 1,
  ): windows.Combining {
    const name = OPS.get(op) as BuiltinOp | undefined;
    if (name === undefined) return core.fail(ERR.OP, 'the operation is not predefined', w.comm);
    // Nothing is computed: the bytes are all there is, or there are none.
    if (name === 'MPI_REPLACE' || name === 'MPI_NO_OP' || at.layout.size * count === 0) return { op: name, element: 0 };
    const element = basicElement(core, at);
    if (element === undefined || (origin && basicElement(core, origin) !== element))
      return core.fail(
        ERR.TYPE,
        element === undefined
          ? 'the target datatype is made of several basic ones'
          : 'the datatypes of origin and target are made of different basic ones',
        w.comm,
      );
    return { op: name, element };
  }

  const put =
    (passive: boolean) =>
    (
      address: number,
      count: number,
      datatype: number,
      rank: number,
      disp: number,
      targetCount: number,
      targetType: number,
      win: number,
    ): void => {
      const w = windowOf(core, win);
      const from = elements(w, address, count, datatype, 'origin_addr');
      windows.put(layer, w.handle, source(from), target(w, rank, disp, targetCount, targetType), core.call, passive);
    };
  const get =
    (wanted: boolean) =>
    (
      address: number,
      count: number,
      datatype: number,
      rank: number,
      disp: number,
      targetCount: number,
      targetType: number,
      win: number,
    ): number => {
      const w = windowOf(core, win);
      const into = elements(w, address, count, datatype, 'origin_addr');
      return windows.get(
        layer,
        w.handle,
        place(into),
        target(w, rank, disp, targetCount, targetType),
        core.call,
        wanted,
      );
    };
  const accumulate =
    (passive: boolean) =>
    (
      address: number,
      count: number,
      datatype: number,
      rank: number,
      disp: number,
      targetCount: number,
      targetType: number,
      op: number,
      win: number,
    ): void => {
      const w = windowOf(core, win);
      const from = elements(w, address, count, datatype, 'origin_addr');
      const t = target(w, rank, disp, targetCount, targetType);
      windows.accumulate(
        layer,
        w.handle,
        source(from),
        t,
        combining(w, op, from.type, t.type, targetCount),
        core.call,
        passive,
      );
    };
  const getAccumulate =
    (wanted: boolean) =>
    (
      address: number,
      count: number,
      datatype: number,
      result: number,
      resultCount: number,
      resultType: number,
      rank: number,
      disp: number,
      targetCount: number,
      targetType: number,
      op: number,
      win: number,
    ): number => {
      const w = windowOf(core, win);
      // "The origin buffer … is ignored" with MPI_NO_OP (§12.3.4).
      const from = OPS.get(op) === 'MPI_NO_OP' ? undefined : elements(w, address, count, datatype, 'origin_addr');
      const into = elements(w, result, resultCount, resultType, 'result_addr');
      const t = target(w, rank, disp, targetCount, targetType);
      return windows.getAccumulate(
        layer,
        w.handle,
        from ? source(from) : windows.NOTHING,
        place(into),
        t,
        combining(w, op, from?.type, t.type, targetCount),
        core.call,
        wanted,
      );
    };
  /** The request-based form: the request's address stands last. */
  const requested =
    (f: (...args: number[]) => number | void) =>
    (...args: number[]): number =>
      success(() => {
        const at = heap.check(args[args.length - 1]!, 4, 'request');
        heap.setInt(at, newSlot(core, f(...args.slice(0, -1)) ?? COMPLETE), 'request');
      });
  const plain =
    (f: (...args: number[]) => number | void) =>
    (...args: number[]): number =>
      success(() => void f(...args));

  /**
   * The datatypes of MPI_Compare_and_swap: "C integer, Fortran integer, Logical, Multi-language types, or Byte"
   * (§12.3.4).
   */
  function swappable(w: windows.WindowRecord, t: TypeRecord): void {
    const kind = t.element < DERIVED ? elementType(t.element).kind : 'bytes';
    if (kind !== 'integer' && kind !== 'bigint' && kind !== 'logical')
      core.fail(ERR.TYPE, `${t.name || 'a derived datatype'} is neither an integer, a logical nor a byte`, w.comm);
  }

  return {
    Put: plain(put(false) as (...args: number[]) => void),
    Rput: requested(put(true) as (...args: number[]) => void),
    Get: plain(get(false) as (...args: number[]) => number),
    Rget: requested(get(true) as (...args: number[]) => number),
    Accumulate: plain(accumulate(false) as (...args: number[]) => void),
    Raccumulate: requested(accumulate(true) as (...args: number[]) => void),
    Get_accumulate: plain(getAccumulate(false) as (...args: number[]) => number),
    Rget_accumulate: requested(getAccumulate(true) as (...args: number[]) => number),
    Fetch_and_op: (
      address: number,
      result: number,
      datatype: number,
      rank: number,
      disp: number,
      op: number,
      win: number,
    ) =>
      success(() => {
        const w = windowOf(core, win);
        const from = OPS.get(op) === 'MPI_NO_OP' ? undefined : elements(w, address, 1, datatype, 'origin_addr');
        const into = elements(w, result, 1, datatype, 'result_addr');
        if (into.type.handle >= types.FIRST_DERIVED) core.fail(ERR.TYPE, 'the datatype is not predefined', w.comm);
        windows.getAccumulate(
          layer,
          w.handle,
          from ? source(from) : windows.NOTHING,
          place(into),
          target(w, rank, disp, 1, datatype),
          combining(w, op, from?.type, into.type),
          core.call,
        );
      }),
    Compare_and_swap: (
      address: number,
      compare: number,
      result: number,
      datatype: number,
      rank: number,
      disp: number,
      win: number,
    ) =>
      success(() => {
        const w = windowOf(core, win);
        const from = elements(w, address, 1, datatype, 'origin_addr');
        swappable(w, from.type);
        const with_ = elements(w, compare, 1, datatype, 'compare_addr');
        const into = elements(w, result, 1, datatype, 'result_addr');
        const t = target(w, rank, disp, 1, datatype);
        windows.compareAndSwap(layer, w.handle, source(from).view!, source(with_).view!, place(into), t, core.call);
      }),
  };
}
