/**
 * Element types: what reductions compute with. Messages themselves are bytes, and a reduction sees its operands packed.
 * Derived datatypes describe how bytes lie in memory (layout.ts and the folder types). A user-defined operation may be
 * applied to those too, by their handle + {@link DERIVED}.
 */
export type ElementArray =
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

interface ElementArrayConstructor {
  readonly BYTES_PER_ELEMENT: number;
  readonly name: string;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): ElementArray;
}

/**
 * What reductions can do with the elements. 'pair': value and index behind one another without a gap (MINLOC, MAXLOC);
 * 'complex': real and imaginary part; 'quad': long double, 128 bits; 'logical': true unless zero; 'bytes': nothing but
 * a copy.
 */
export type ElementKind =
  'integer' | 'float' | 'bigint' | 'complex' | 'pair' | 'quad' | 'quadComplex' | 'logical' | 'bytes';

export interface ElementType {
  readonly id: number;
  /** Standard name. */
  readonly name: string;
  /** Packed length. */
  readonly bytes: number;
  readonly kind: ElementKind;
  /** Of the elements; of the parts for complex numbers; of the value for pairs. */
  readonly array: ElementArrayConstructor;
  /** Pairs: the element type of the index, and whether the value is a long double. */
  readonly index?: ElementArrayConstructor;
}

const define = (
  id: number,
  name: string,
  kind: ElementKind,
  array: ElementArrayConstructor,
  bytes = array.BYTES_PER_ELEMENT,
  index?: ElementArrayConstructor,
): ElementType => (index ? { id, name, bytes, kind, array, index } : { id, name, bytes, kind, array });

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
  define(12, 'MPI_C_FLOAT_COMPLEX', 'complex', Float32Array, 8),
  define(13, 'MPI_C_DOUBLE_COMPLEX', 'complex', Float64Array, 16),
  define(14, 'MPI_LONG_DOUBLE', 'quad', Uint8Array, 16),
  define(15, 'MPI_C_LONG_DOUBLE_COMPLEX', 'quadComplex', Uint8Array, 32),
  define(16, 'MPI_FLOAT_INT', 'pair', Float32Array, 8, Int32Array),
  define(17, 'MPI_DOUBLE_INT', 'pair', Float64Array, 12, Int32Array),
  define(18, 'MPI_2INT', 'pair', Int32Array, 8, Int32Array),
  define(19, 'MPI_SHORT_INT', 'pair', Int16Array, 6, Int32Array),
  define(20, 'MPI_LONG_DOUBLE_INT', 'pair', Uint8Array, 20, Int32Array),
  define(21, 'MPI_2REAL', 'pair', Float32Array, 8, Float32Array),
  define(22, 'MPI_2DOUBLE_PRECISION', 'pair', Float64Array, 16, Float64Array),
  define(23, 'MPI_C_BOOL', 'logical', Uint8Array),
  define(24, 'MPI_LOGICAL', 'logical', Int32Array),
  define(25, 'MPI_LOGICAL2', 'logical', Int16Array),
  define(26, 'MPI_LOGICAL8', 'logical', BigInt64Array),
  define(27, 'MPI_LOGICAL16', 'bytes', Uint8Array, 16),
  define(28, 'MPI_PACKED', 'bytes', Uint8Array),
  define(29, 'MPI_REAL2', 'bytes', Uint8Array, 2),
  define(30, 'MPI_COMPLEX4', 'bytes', Uint8Array, 4),
  define(31, 'MPI_INTEGER16', 'bytes', Uint8Array, 16),
  define(32, 'MPI_CHARACTER', 'bytes', Uint8Array, 1),
  define(33, 'MPI_LONG_INT', 'pair', BigInt64Array, 12, Int32Array),
];
export const BYTE = 0;
export const DOUBLE = 8;
export const UINT32 = 6;

const BY_ARRAY = new Map<string, ElementType>(ELEMENT_TYPES.slice(1, 12).map((t) => [t.array.name, t]));

/** Type ids from here on are handles of derived datatypes. */
export const DERIVED = 1 << 20;
export const elementType = (id: number): ElementType => ELEMENT_TYPES[id]!;
/** The element type of a typed array; undefined for everything else (DataView, Float16Array …). */
export const typeOfArray = (a: unknown): ElementType | undefined =>
  ArrayBuffer.isView(a) ? BY_ARRAY.get((a as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] ?? '') : undefined;

/**
 * The bytes as elements: a view where the alignment allows it, else a copy (`copied`), to be written back by the
 * caller.
 */
export function elements(type: ElementType, bytes: Uint8Array): { array: ElementArray; copied: boolean } {
  const aligned = bytes.byteOffset % type.bytes === 0;
  const from = aligned ? bytes : bytes.slice();
  return {
    array: new type.array(from.buffer, from.byteOffset, Math.floor(bytes.length / type.bytes)),
    copied: !aligned,
  };
}
