/**
 * Reductions on elements that are no single machine number: complex numbers, pairs of value and index, long double,
 * logical values. Elements lie packed, at any alignment.
 */
import { addQuad, compareQuad, multiplyQuad, negateQuad, readQuad, writeQuad } from './quad.ts';
import type { ElementType } from './datatypes.ts';
import type { BuiltinOp } from './ops.ts';

const viewOf = (b: Uint8Array): DataView => new DataView(b.buffer, b.byteOffset, b.byteLength);

type Reader = (v: DataView, at: number) => number;
type Writer = (v: DataView, at: number, x: number) => void;

/** How one machine number of an array type is read and written. */
function access(array: { readonly name: string }): [Reader, Writer] {
  switch (array.name) {
    case 'Float32Array':
      return [(v, at) => v.getFloat32(at, true), (v, at, x) => v.setFloat32(at, x, true)];
    case 'Float64Array':
      return [(v, at) => v.getFloat64(at, true), (v, at, x) => v.setFloat64(at, x, true)];
    case 'Int16Array':
      return [(v, at) => v.getInt16(at, true), (v, at, x) => v.setInt16(at, x, true)];
    case 'Int32Array':
      return [(v, at) => v.getInt32(at, true), (v, at, x) => v.setInt32(at, x, true)];
    default:
      return [(v, at) => v.getUint8(at), (v, at, x) => v.setUint8(at, x)];
  }
}

function complex(op: BuiltinOp, type: ElementType, a: DataView, b: DataView): void {
  const [get, set] = access(type.array);
  const half = type.bytes / 2;
  for (let at = 0; at + type.bytes <= b.byteLength; at += type.bytes) {
    const [x, xi, y, yi] = [get(a, at), get(a, at + half), get(b, at), get(b, at + half)];
    set(b, at, op === 'MPI_SUM' ? x + y : x * y - xi * yi);
    set(b, at + half, op === 'MPI_SUM' ? xi + yi : x * yi + xi * y);
  }
}

function quads(op: BuiltinOp, a: DataView, b: DataView): void {
  for (let at = 0; at + 16 <= b.byteLength; at += 16) {
    const x = readQuad(a, at);
    const y = readQuad(b, at);
    if (op === 'MPI_SUM') writeQuad(b, at, addQuad(x, y));
    else if (op === 'MPI_PROD') writeQuad(b, at, multiplyQuad(x, y));
    else {
      const order = compareQuad(x, y);
      if (x.kind === 'nan' || (op === 'MPI_MIN' ? order < 0 : order > 0)) writeQuad(b, at, x);
    }
  }
}

function quadComplex(op: BuiltinOp, a: DataView, b: DataView): void {
  for (let at = 0; at + 32 <= b.byteLength; at += 32) {
    const [x, xi, y, yi] = [readQuad(a, at), readQuad(a, at + 16), readQuad(b, at), readQuad(b, at + 16)];
    if (op === 'MPI_SUM') {
      writeQuad(b, at, addQuad(x, y));
      writeQuad(b, at + 16, addQuad(xi, yi));
    } else {
      writeQuad(b, at, addQuad(multiplyQuad(x, y), negateQuad(multiplyQuad(xi, yi))));
      writeQuad(b, at + 16, addQuad(multiplyQuad(x, yi), multiplyQuad(xi, y)));
    }
  }
}

/**
 * "The operation that is used to compute a global minimum and also an index attached to the minimum value": of equal
 * values the lower index (§6.9.4).
 */
function pairs(op: BuiltinOp, type: ElementType, a: Uint8Array, b: Uint8Array): void {
  const [getIndex] = access(type.index!);
  const value = type.bytes - type.index!.BYTES_PER_ELEMENT;
  const [get] = access(type.array);
  const va = viewOf(a);
  const vb = viewOf(b);
  const compare = (at: number): number => {
    if (value === 16) return compareQuad(readQuad(va, at), readQuad(vb, at));
    if (type.array !== BigInt64Array)
      return get(va, at) - get(vb, at) || Number(get(va, at) > get(vb, at)) - Number(get(va, at) < get(vb, at));
    const [x, y] = [va.getBigInt64(at, true), vb.getBigInt64(at, true)];
    return Number(x > y) - Number(x < y);
  };
  const sign = op === 'MPI_MAXLOC' ? -1 : 1;
  for (let at = 0; at + type.bytes <= b.length; at += type.bytes) {
    const order = sign * compare(at);
    if (order < 0 || (order === 0 && getIndex(va, at + value) < getIndex(vb, at + value)))
      b.set(a.subarray(at, at + type.bytes), at);
  }
}

function logical(op: BuiltinOp, type: ElementType, a: Uint8Array, b: Uint8Array): void {
  const truth = (bytes: Uint8Array, at: number): boolean => {
    for (let i = 0; i < type.bytes; i++) if (bytes[at + i] !== 0) return true;
    return false;
  };
  for (let at = 0; at + type.bytes <= b.length; at += type.bytes) {
    const x = truth(a, at);
    const y = truth(b, at);
    const z = op === 'MPI_LAND' ? x && y : op === 'MPI_LOR' ? x || y : x !== y;
    b.fill(0, at, at + type.bytes);
    b[at] = z ? 1 : 0;
  }
}

/** inout[i] = input[i] ∘ inout[i] */
export function applyCompound(op: BuiltinOp, type: ElementType, input: Uint8Array, inout: Uint8Array): void {
  switch (type.kind) {
    case 'complex':
      return complex(op, type, viewOf(input), viewOf(inout));
    case 'quad':
      return quads(op, viewOf(input), viewOf(inout));
    case 'quadComplex':
      return quadComplex(op, viewOf(input), viewOf(inout));
    case 'pair':
      return pairs(op, type, input, inout);
    case 'logical':
      return logical(op, type, input, inout);
    default:
      throw new Error(`${op} on ${type.name}`);
  }
}
