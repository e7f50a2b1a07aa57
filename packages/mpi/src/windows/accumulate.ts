/**
 * target ∘= data, elementwise, with the predefined operations (MPI 4.1 §12.3.4), MPI_REPLACE and MPI_NO_OP among them.
 */
import { elementType, elements } from '../datatypes.ts';
import { isContiguous, start } from '../layout.ts';
import { applyCompound } from '../ops-compound.ts';
import { applyBuiltin, type BuiltinOp } from '../ops.ts';
import type { Layer } from '../layer.ts';
import type { Place } from './state.ts';

function fold(op: BuiltinOp, typeId: number, data: Uint8Array, target: Uint8Array): void {
  if (op === 'MPI_REPLACE') return target.set(data);
  const type = elementType(typeId);
  if (type.kind !== 'integer' && type.kind !== 'float' && type.kind !== 'bigint')
    return applyCompound(op, type, data, target);
  const a = elements(type, data);
  const b = elements(type, target);
  applyBuiltin(op, type, a.array, b.array);
  if (b.copied) target.set(new Uint8Array(b.array.buffer, b.array.byteOffset, b.array.byteLength));
}

/** `data` may be shorter than the elements at the place: then only so many are combined. */
export function accumulate(layer: Layer, p: Place, op: BuiltinOp, typeId: number, data: Uint8Array): void {
  if (op === 'MPI_NO_OP' || data.length === 0) return;
  const whole = p.layout.size * p.count;
  const given = data.length > whole ? data.subarray(0, whole) : data;
  const memory = layer.memory.space(p.space);
  if (isContiguous(p.layout, p.count)) {
    const at = p.address + start(p.layout);
    return fold(op, typeId, given, memory.subarray(at, at + given.length));
  }
  const packed = new Uint8Array(whole);
  layer.memory.pack(p.layout, p.count, p.space, p.address, packed);
  fold(op, typeId, given, packed.subarray(0, given.length));
  layer.memory.unpack(p.layout, p.count, packed, p.space, p.address);
}
