/**
 * What a window does to the memory of others: put, get, accumulate and their kin (MPI 4.1 §12.3). Displacements count
 * elements of the target's array.
 */
import { BYTE } from '../datatypes.ts';
import { contiguousLayout } from '../layout.ts';
import { BUILTIN_OPS } from '../ops.ts';
import { ERR, fail } from '../errors.ts';
import * as windows from '../windows/index.ts';
import { contextOf, Held } from './held.ts';
import { DatatypeObject, ElementsObject, sentBytes } from './datatype.ts';
import { OpObject } from './handles.ts';
import { RequestObject } from './status.ts';
import type { Context } from './context.ts';
import type { ElementType } from '../datatypes.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Buffer = Mayfly.Buffer;

export class WindowOperations extends Held {
  protected constructor(
    context: Context,
    readonly handle: number,
    readonly memory: Buffer | null,
  ) {
    super(context);
  }

  protected record(call: string): windows.WindowRecord {
    return windows.windowOf(contextOf(this).layer, this.handle, call);
  }
  protected get comm(): number {
    return contextOf(this).layer.state.windows.table.rows.get(this.handle)?.comm ?? 0;
  }

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
}
