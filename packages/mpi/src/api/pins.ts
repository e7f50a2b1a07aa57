/** Gives the buffers of a program to a request that is about to start: they are pinned until it goes. */
import * as bundles from '../bundle.ts';
import { BYTE } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import { contextOf, Held } from './held.ts';
import { describe, IN_PLACE, type Context } from './context.ts';
import { DatatypeObject, ElementsObject, place } from './datatype.ts';
import { NO_BYTES, type Buf } from '../buffers.ts';
import { span } from '../layout.ts';
import type { ElementType } from '../datatypes.ts';
import type { VectorArgument } from '../collectives/index.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

export class Pins extends Held {
  private element: ElementType | undefined;

  constructor(
    context: Context,
    private readonly comm: number,
    readonly call: string,
    private readonly bundle: bundles.Bundle,
  ) {
    super(context);
  }

  private take(data: unknown, what: string, receives: boolean): Buf {
    const p = place(contextOf(this), this.bundle, data, this.call, this.comm, what);
    this.alike(p.element, data, what);
    return (receives ? bundles.both : bundles.outgoing)(contextOf(this).layer, this.bundle, p.place);
  }
  private alike(element: ElementType | undefined, data: unknown, what: string): void {
    if (this.element && element && this.element !== element)
      fail(ERR.TYPE, this.call, `${what} is ${describe(data)}, the other buffer has another element type`, this.comm);
    this.element ??= element;
  }
  /** A buffer that is sent. */
  from(data: unknown, what: string): Buf {
    return this.take(data, what, false);
  }
  /** A buffer that is received, or sent and received (in place). */
  into(data: unknown, what: string): Buf {
    return this.take(data, what, true);
  }
  /** null, undefined and IN_PLACE: none. */
  maybeFrom(data: unknown, what: string): Buf | undefined {
    return data === null || data === undefined || data === IN_PLACE ? undefined : this.from(data, what);
  }
  maybeInto(data: unknown, what: string): Buf | undefined {
    return data === null || data === undefined || data === IN_PLACE ? undefined : this.into(data, what);
  }
  vector(v: unknown, what: string, receives: boolean): VectorArgument {
    if (typeof v !== 'object' || v === null || !('counts' in v))
      return fail(ERR.ARG, this.call, `${what} is ${describe(v)}, not { data, counts, displs? }`, this.comm);
    const { data, datatype, counts, displs } = v as Mayfly.Vector;
    if (data instanceof ElementsObject)
      fail(ERR.TYPE, this.call, `${what} has counts, its data has to be a typed array`, this.comm);
    if (datatype !== undefined)
      return this.spread(v as Mayfly.Vector, DatatypeObject.of(contextOf(this), datatype, this.call), what, receives);
    return { buf: this.take(data, `the data of ${what}`, receives), unit: this.unit, counts, displs };
  }
  /** Blocks of elements of a datatype, which go packed. */
  private spread(
    { data, counts, displs }: Mayfly.Vector,
    type: DatatypeObject,
    what: string,
    receives: boolean,
  ): VectorArgument {
    const { layout, name } = type.record(this.call, this.comm);
    const { space } = place(contextOf(this), this.bundle, data, this.call, this.comm, `the data of ${what}`).place;
    this.alike(type.element, data, what);
    let next = 0;
    const places = Array.from(counts, (count, i): bundles.Place => {
      if (!Number.isSafeInteger(count) || count < 0)
        fail(ERR.COUNT, this.call, `count ${i} of ${what} is ${String(count)}`, this.comm);
      const at = displs ? displs[i] : next;
      if (!Number.isSafeInteger(at))
        fail(ERR.ARG, this.call, `displacement ${i} of ${what} is ${String(at)}`, this.comm);
      next += count;
      const address = at! * layout.extent;
      const { from, to } = span(layout, count);
      if (from !== to && (address + from < 0 || address + to > data.byteLength))
        fail(
          ERR.BUFFER,
          this.call,
          `block ${i} of ${what}, ${count} elements of ${name || 'the datatype'}, lies from byte ` +
            `${address + from} to ${address + to}, the array has ${data.byteLength} bytes`,
          this.comm,
        );
      return { space, address, layout, count };
    });
    const { buf, lengths } = bundles.behindOneAnother(contextOf(this).layer, this.bundle, places, receives);
    return { buf, unit: 1, counts: lengths, displs: undefined };
  }
  private list(list: unknown, n: number, what: string): (bundles.Place | undefined)[] {
    if (!Array.isArray(list) || list.length !== n)
      return fail(
        ERR.COUNT,
        this.call,
        `${what} ${Array.isArray(list) ? `has ${list.length} blocks` : `is ${describe(list)}`}, a list of ` +
          `${n} is needed`,
        this.comm,
      );
    return list.map((x: unknown, i) =>
      x === null || x === undefined
        ? undefined
        : place(contextOf(this), this.bundle, x, this.call, this.comm, `block ${i} of ${what}`).place,
    );
  }
  /** Blocks of any type, one per neighbour; null: an empty one. */
  blocks(list: unknown, n: number, what: string, receives: boolean): Buf[] {
    return this.list(list, n, what).map((p) =>
      p ? (receives ? bundles.both : bundles.outgoing)(contextOf(this).layer, this.bundle, p) : NO_BYTES,
    );
  }
  /** The same, one per rank, as one buffer. */
  packed(list: unknown, n: number, what: string, receives: boolean): VectorArgument {
    const { buf, lengths } = bundles.behindOneAnother(
      contextOf(this).layer,
      this.bundle,
      this.list(list, n, what),
      receives,
    );
    return { buf, unit: 1, counts: lengths, displs: undefined };
  }
  /** Element type of the buffers, for reductions: they see packed elements. @throws MPIError ERR_TYPE */
  get type(): number {
    return this.element?.id ?? BYTE;
  }
  get unit(): number {
    return this.element?.bytes ?? 1;
  }
  /** @throws MPIError ERR_TYPE for a datatype of different elements */
  reducible(): void {
    if (!this.element)
      fail(ERR.TYPE, this.call, 'the datatype has elements of different types: no operation is for them', this.comm);
  }
}
