/**
 * Element types: the predefined datatypes that reductions compute with. Messages themselves are bytes. Derived datatypes come in
 * as another table whose records say how to pack into, and unpack from, a contiguous scratch buffer; schedules then gain a step for it.
 */
export type ElementArray =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array
  | Float32Array | Float64Array | BigInt64Array | BigUint64Array;

interface ElementArrayConstructor {
  readonly BYTES_PER_ELEMENT: number;
  readonly name: string;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): ElementArray;
}

export interface ElementType {
  readonly id: number;
  /** Standard name. */
  readonly name: string;
  readonly bytes: number;
  readonly kind: 'integer' | 'float' | 'bigint';
  readonly array: ElementArrayConstructor;
}

const define = (id: number, name: string, kind: ElementType['kind'], array: ElementArrayConstructor): ElementType => ({ id, name, bytes: array.BYTES_PER_ELEMENT, kind, array });

/** By id. Ids stand in images and must not change. */
export const ELEMENT_TYPES: readonly ElementType[] = [
  define(0, 'MPI_BYTE', 'integer', Uint8Array),
  define(1, 'MPI_INT8_T', 'integer', Int8Array),
  define(2, 'MPI_UINT8_T', 'integer', Uint8Array),
  define(3, 'MPI_INT16_T', 'integer', Int16Array),
  define(4, 'MPI_UINT16_T', 'integer', Uint16Array),
  define(5, 'MPI_INT32_T', 'integer', Int32Array),
  define(6, 'MPI_UINT32_T', 'integer', Uint32Array),
  define(7, 'MPI_FLOAT', 'float', Float32Array),
  define(8, 'MPI_DOUBLE', 'float', Float64Array),
  define(9, 'MPI_INT64_T', 'bigint', BigInt64Array),
  define(10, 'MPI_UINT64_T', 'bigint', BigUint64Array),
  define(11, 'Uint8ClampedArray', 'integer', Uint8ClampedArray),
];
export const BYTE = 0;
export const DOUBLE = 8;
export const UINT32 = 6;

const BY_ARRAY = new Map<string, ElementType>(ELEMENT_TYPES.slice(1).map((t) => [t.array.name, t]));

export const elementType = (id: number): ElementType => ELEMENT_TYPES[id]!;
/** The element type of a typed array; undefined for everything else (DataView, Float16Array …). */
export const typeOfArray = (a: unknown): ElementType | undefined =>
  ArrayBuffer.isView(a) ? BY_ARRAY.get((a as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] ?? '') : undefined;

/** The bytes as elements: a view where the alignment allows it, else a copy (`copied`), to be written back by the caller. */
export function elements(type: ElementType, bytes: Uint8Array): { array: ElementArray; copied: boolean } {
  const aligned = bytes.byteOffset % type.bytes === 0;
  const from = aligned ? bytes : bytes.slice();
  return { array: new type.array(from.buffer, from.byteOffset, Math.floor(bytes.length / type.bytes)), copied: !aligned };
}
