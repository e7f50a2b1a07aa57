/**
 * Datatypes of the API (MPI 4.1 chapter 5), and the buffers that calls are given: a typed array is its own datatype;
 * {@link ElementsObject} says which bytes of an array are meant. What is not contiguous goes packed (bundle.ts).
 */
import * as bundles from '../bundle.ts';
import { ELEMENT_TYPES, BYTE, typeOfArray, type ElementType } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import { externalSize, fromExternal, toExternal } from '../external32.ts';
import { contiguousLayout, isContiguous, span, start } from '../layout.ts';
import { pack, unpack } from '../packing.ts';
import { PREDEFINED_TYPES } from '../predefined-types.ts';
import * as types from '../types/index.ts';
import { contextOf, Held } from './held.ts';
import * as caching from './caching.ts';
import { describe, type Context } from './context.ts';
import type { Buf } from '../buffers.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

/** Handle of the datatype whose elements a typed array has. */
const handleOf = new Map(
  ELEMENT_TYPES.slice(0, 12).map((e) => [
    e.id,
    e.id === BYTE
      ? types.BYTE_TYPE
      : ([...PREDEFINED_TYPES.values()].find((t) => t.element === e.id && t.name === e.name)?.handle ??
        types.BYTE_TYPE),
  ]),
);

const COMBINERS = new Map<number, string>(Object.entries(types.Combiner).map(([name, n]) => [n, name]));
const DISTRIBUTIONS = { none: 16, block: 17, cyclic: 18, default: 19 } as const;
/** MPI_ORDER_… */
const ORDER = { C: 0x30, F: 0x31 } as const;

const whole = (x: unknown, what: string, call: string): number =>
  typeof x === 'number' && Number.isSafeInteger(x)
    ? x
    : fail(ERR.ARG, call, `${what} ${String(x)} is not a whole number`);
const wholes = (list: ArrayLike<number>, what: string, call: string): number[] =>
  Array.from(list, (x) => whole(x, what, call));
const alike = (a: readonly number[], b: readonly number[], call: string): void =>
  void (a.length !== b.length && fail(ERR.ARG, call, `${a.length} lengths for ${b.length} displacements`));

const bytesOf = (a: ArrayBufferView): Uint8Array => new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
const unitOf = (a: ArrayBufferView): number => (a as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;

export class DatatypeObject extends Held implements Mayfly.Datatype {
  constructor(
    context: Context,
    readonly handle: number,
    /** Of all its basic elements; undefined: they differ. */
    readonly element: ElementType | undefined,
  ) {
    super(context);
  }

  /** The datatype of a kind of typed array. */
  static of(context: Context, kind: unknown, call: string): DatatypeObject {
    if (kind instanceof DatatypeObject) return kind;
    const array =
      typeof kind === 'function' && 'BYTES_PER_ELEMENT' in kind
        ? new (kind as unknown as new (n: number) => Mayfly.Buffer)(0)
        : undefined;
    const element =
      typeOfArray(array) ?? fail(ERR.TYPE, call, `${describe(kind)} is neither a datatype nor a kind of typed array`);
    return new DatatypeObject(context, handleOf.get(element.id)!, element);
  }
  static struct(context: Context, fields: readonly Mayfly.StructField[]): DatatypeObject {
    const call = 'MPI_Type_create_struct';
    return context.call(() => {
      const parts = fields.map((f) => DatatypeObject.of(context, f.type, call));
      const lengths = fields.map((f) => whole(f.count ?? 1, 'the count', call));
      const made = types.struct(
        context.layer,
        lengths,
        fields.map((f) => whole(f.offset, 'the offset', call)),
        parts.map((p) => p.handle),
      );
      types.commit(context.layer, made);
      return new DatatypeObject(
        context,
        made,
        parts.every((p) => p.element === parts[0]!.element) ? parts[0]?.element : undefined,
      );
    });
  }

  record(call: string, comm = 0): types.TypeRecord {
    return types.committed(contextOf(this).layer, this.handle, call, comm);
  }
  private make(call: string, build: (call: string) => number): DatatypeObject {
    return contextOf(this).call(() => {
      this.record(call);
      const made = build(call);
      types.commit(contextOf(this).layer, made);
      return new DatatypeObject(contextOf(this), made, this.element);
    });
  }
  private ask<T>(call: string, f: (t: types.TypeRecord) => T): T {
    return contextOf(this).call(() => f(this.record(call)));
  }

  get size(): number {
    return this.ask('MPI_Type_size', (t) => t.layout.size);
  }
  get extent(): number {
    return this.ask('MPI_Type_get_extent', (t) => t.layout.extent);
  }
  get lb(): number {
    return this.ask('MPI_Type_get_extent', (t) => t.layout.lb);
  }
  get trueExtent(): { lb: number; extent: number } {
    return this.ask('MPI_Type_get_true_extent', types.trueExtent);
  }
  get name(): string {
    return this.ask('MPI_Type_get_name', (t) => t.name);
  }
  set name(value: string) {
    this.ask('MPI_Type_set_name', (t) => {
      if (t.handle < types.FIRST_DERIVED)
        fail(ERR.TYPE, 'MPI_Type_set_name', `${t.name} is predefined: its name is its own`);
      t.name = String(value).slice(0, 128);
    });
  }
  get contents(): Mayfly.TypeContents {
    return this.ask('MPI_Type_get_contents', (t) => ({
      combiner: COMBINERS.get(t.contents.combiner)!,
      integers: [...t.contents.ints],
      addresses: [...t.contents.addresses],
      datatypes: t.contents.types
        .map((x) => (typeof x === 'number' ? x : x.handle))
        .map((h) => types.typeOf(contextOf(this).layer, h, 'MPI_Type_get_contents').name || `datatype ${h}`),
    }));
  }

  contiguous(count: number): DatatypeObject {
    return this.make('MPI_Type_contiguous', (call) =>
      types.contiguous(contextOf(this).layer, whole(count, 'the count', call), this.handle),
    );
  }
  vector(count: number, length: number, stride: number): DatatypeObject {
    return this.make('MPI_Type_vector', (call) =>
      types.vector(
        contextOf(this).layer,
        whole(count, 'the count', call),
        whole(length, 'the length', call),
        whole(stride, 'the stride', call),
        this.handle,
        false,
      ),
    );
  }
  hvector(count: number, length: number, stride: number): DatatypeObject {
    return this.make('MPI_Type_create_hvector', (call) =>
      types.vector(
        contextOf(this).layer,
        whole(count, 'the count', call),
        whole(length, 'the length', call),
        whole(stride, 'the stride', call),
        this.handle,
        true,
      ),
    );
  }
  private blocks(
    call: string,
    lengths: ArrayLike<number> | number,
    displs: ArrayLike<number>,
    bytes: boolean,
  ): DatatypeObject {
    return this.make(call, () => {
      const at = wholes(displs, 'displacement', call);
      const same = typeof lengths === 'number';
      const list = same ? at.map(() => whole(lengths, 'the length', call)) : wholes(lengths, 'length', call);
      alike(list, at, call);
      return types.indexed(contextOf(this).layer, list, at, this.handle, bytes, same);
    });
  }
  indexed(lengths: ArrayLike<number> | number, displs: ArrayLike<number>): DatatypeObject {
    return this.blocks(
      typeof lengths === 'number' ? 'MPI_Type_create_indexed_block' : 'MPI_Type_indexed',
      lengths,
      displs,
      false,
    );
  }
  hindexed(lengths: ArrayLike<number> | number, displs: ArrayLike<number>): DatatypeObject {
    return this.blocks(
      typeof lengths === 'number' ? 'MPI_Type_create_hindexed_block' : 'MPI_Type_create_hindexed',
      lengths,
      displs,
      true,
    );
  }
  subarray(
    sizes: ArrayLike<number>,
    subsizes: ArrayLike<number>,
    starts: ArrayLike<number>,
    order: 'C' | 'F' = 'C',
  ): DatatypeObject {
    return this.make('MPI_Type_create_subarray', (call) => {
      const [all, part, from] = [
        wholes(sizes, 'size', call),
        wholes(subsizes, 'size', call),
        wholes(starts, 'start', call),
      ];
      if (part.length !== all.length || from.length !== all.length)
        fail(ERR.ARG, call, `${all.length} sizes, ${part.length} sizes of the part, ${from.length} starts`);
      return types.subarray(contextOf(this).layer, all, part, from, ORDER[order], order === 'F', this.handle);
    });
  }
  darray(size: number, rank: number, dims: readonly Mayfly.Distributed[], order: 'C' | 'F' = 'C'): DatatypeObject {
    return this.make('MPI_Type_create_darray', (call) =>
      types.darray(
        contextOf(this).layer,
        {
          size: whole(size, 'the size', call),
          rank: whole(rank, 'the rank', call),
          gsizes: dims.map((d) => whole(d.size, 'size', call)),
          psizes: dims.map((d) => whole(d.processes, 'processes', call)),
          distribs: dims.map((d) => DISTRIBUTIONS[d.by]),
          dargs: dims.map((d) => (d.block === undefined ? DISTRIBUTIONS.default : whole(d.block, 'block', call))),
          order: ORDER[order],
          fortran: order === 'F',
        },
        this.handle,
      ),
    );
  }
  resized(lb: number, extent: number): DatatypeObject {
    return this.make('MPI_Type_create_resized', (call) =>
      types.resized(
        contextOf(this).layer,
        this.handle,
        whole(lb, 'the lower bound', call),
        whole(extent, 'the extent', call),
      ),
    );
  }
  dup(): DatatypeObject {
    return contextOf(this).call(() => {
      const attributes = caching.copied(contextOf(this), this, this.attributes('MPI_Type_dup'));
      const made = this.make('MPI_Type_dup', () => types.dup(contextOf(this).layer, this.handle));
      made.record('MPI_Type_dup').attributes = attributes;
      return made;
    });
  }
  free(): void {
    contextOf(this).call(() => {
      if (this.handle >= types.FIRST_DERIVED)
        caching.removeAll(contextOf(this), this, this.attributes('MPI_Type_free'));
      types.free(contextOf(this).layer, this.handle);
    });
  }

  // ── caching

  /** Those of predefined datatypes are this rank's own: the datatypes themselves are shared by all. */
  private attributes(call: string): Map<number, unknown> {
    const t = this.record(call);
    if (this.handle >= types.FIRST_DERIVED) return t.attributes;
    const all = (contextOf(this).layer.state.typeAttributes ??= new Map<number, Map<number, unknown>>());
    let own = all.get(this.handle);
    if (!own) all.set(this.handle, (own = new Map<number, unknown>()));
    return own;
  }
  getAttr<T>(key: Mayfly.Keyval<T, Mayfly.Datatype>): T | undefined {
    const call = 'MPI_Type_get_attr';
    return contextOf(this).call(() => caching.get(contextOf(this), this.attributes(call), key, call, 0));
  }
  setAttr<T>(key: Mayfly.Keyval<T, Mayfly.Datatype>, value: T): void {
    const call = 'MPI_Type_set_attr';
    contextOf(this).call(() => caching.set(contextOf(this), this, this.attributes(call), key, value, call, 0));
  }
  deleteAttr(key: Mayfly.Keyval<unknown, Mayfly.Datatype>): void {
    const call = 'MPI_Type_delete_attr';
    contextOf(this).call(() => caching.remove(contextOf(this), this, this.attributes(call), key, call, 0));
  }

  of<A extends ArrayBufferView>(array: A, count = 1, offset = 0): Mayfly.Elements<A> {
    return contextOf(this).call(() => new ElementsObject(this, array, count, offset));
  }

  // ── packing

  pack(array: ArrayBufferView, count = 1, offset = 0): Uint8Array {
    return contextOf(this).call(() => {
      const e = new ElementsObject(this, array, count, offset);
      const { layout } = e.check('MPI_Pack', 0);
      const into = new Uint8Array(layout.size * count);
      pack(layout, count, e.bytes, e.address, into);
      return into;
    });
  }
  unpack(packed: Uint8Array, array: ArrayBufferView, count = 1, offset = 0): void {
    const call = 'MPI_Unpack';
    contextOf(this).call(() => {
      const e = new ElementsObject(this, array, count, offset);
      const { layout } = e.check(call, 0);
      if (packed.length < layout.size * count)
        fail(ERR.TRUNCATE, call, `${packed.length} packed bytes, ${count} elements have ${layout.size * count}`);
      unpack(layout, count, packed, e.bytes, e.address);
    });
  }
  packExternal(array: ArrayBufferView, count = 1, offset = 0): Uint8Array {
    return contextOf(this).call(() => {
      const native = this.pack(array, count, offset);
      const t = this.record('MPI_Pack_external');
      const into = new Uint8Array(externalSize(t) * count);
      toExternal(t, count, native, into);
      return into;
    });
  }
  unpackExternal(packed: Uint8Array, array: ArrayBufferView, count = 1, offset = 0): void {
    const call = 'MPI_Unpack_external';
    contextOf(this).call(() => {
      const t = this.record(call);
      if (packed.length < externalSize(t) * count)
        fail(ERR.TRUNCATE, call, `${packed.length} packed bytes, ${count} elements have ${externalSize(t) * count}`);
      const native = new Uint8Array(t.layout.size * count);
      fromExternal(t, count, packed, native);
      this.unpack(native, array, count, offset);
    });
  }
}

/** `count` elements of a datatype in an array; their memory is looked up at each use, as the array's own is. */
export class ElementsObject<A extends ArrayBufferView = ArrayBufferView> implements Mayfly.Elements<A> {
  constructor(
    readonly datatype: DatatypeObject,
    readonly data: A,
    readonly count: number,
    readonly offset: number,
  ) {
    const call = 'Datatype.of';
    if (!ArrayBuffer.isView(data)) fail(ERR.BUFFER, call, `the data is ${describe(data)}, not a typed array`);
    if (whole(count, 'the count', call) < 0) fail(ERR.COUNT, call, `count ${count} is negative`);
    whole(offset, 'the offset', call);
    this.check(call, 0);
  }
  get bytes(): Uint8Array {
    return bytesOf(this.data);
  }
  get address(): number {
    return this.offset * unitOf(this.data);
  }
  /** @throws MPIError ERR_BUFFER when elements lie outside of the array, ERR_TYPE when the datatype was freed */
  check(call: string, comm: number): types.TypeRecord {
    const t = this.datatype.record(call, comm);
    const { from, to } = span(t.layout, this.count);
    if (this.address + from < 0 || this.address + to > this.data.byteLength)
      fail(
        ERR.BUFFER,
        call,
        `${this.count} elements of ${t.name || 'the datatype'} lie from byte ${this.address + from} to ` +
          `${this.address + to}, the array has ${this.data.byteLength} bytes`,
        comm,
      );
    return t;
  }
}

/** What is to be sent, as bytes that hold until the array changes. */
export function sentBytes(context: Context, data: unknown, call: string, comm: number, what?: string): Uint8Array {
  if (!(data instanceof ElementsObject)) return context.bytes(data, call, comm, what).bytes;
  const { layout } = data.check(call, comm);
  if (isContiguous(layout, data.count))
    return data.bytes.subarray(data.address + start(layout), data.address + start(layout) + layout.size * data.count);
  const into = new Uint8Array(layout.size * data.count);
  pack(layout, data.count, data.bytes, data.address, into);
  return into;
}

/** @throws MPIError ERR_BUFFER, ERR_TYPE for what no call can use */
export const checkData = (context: Context, data: unknown, call: string, comm: number, what?: string): void =>
  void (data instanceof ElementsObject ? data.check(call, comm) : context.bytes(data, call, comm, what));

/** The place of a buffer argument, pinned for a request that is about to start. */
export function place(
  context: Context,
  b: bundles.Bundle,
  data: unknown,
  call: string,
  comm: number,
  what?: string,
): { place: bundles.Place; element: ElementType | undefined } {
  const given = data instanceof ElementsObject ? data : undefined;
  const t = given?.check(call, comm);
  const array = given ? undefined : context.bytes(data, call, comm, what);
  const bytes = given ? given.bytes : array!.bytes;
  const { space } = context.layer.memory.pin(bytes);
  b.spaces.push(space);
  if (given)
    return {
      place: { space, address: given.address, layout: t!.layout, count: given.count },
      element: given.datatype.element,
    };
  return { place: { space, address: 0, layout: contiguousLayout(bytes.length), count: 1 }, element: array!.type };
}

export const sent = (
  context: Context,
  b: bundles.Bundle,
  data: unknown,
  call: string,
  comm: number,
  what?: string,
): Buf => bundles.outgoing(context.layer, b, place(context, b, data, call, comm, what).place);
/** What is there is packed first: elements that nothing comes for stay as they are. */
export const received = (
  context: Context,
  b: bundles.Bundle,
  data: unknown,
  call: string,
  comm: number,
  what?: string,
): Buf => bundles.both(context.layer, b, place(context, b, data, call, comm, what).place);
