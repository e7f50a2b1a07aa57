/**
 * What every constructor of a datatype ends in: elements of other types are put at their places, and the layout, the
 * bounds and the signature of the whole go into the table.
 */
import { DERIVED } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import { LayoutBuilder } from '../layout.ts';
import { Combiner, FIRST_DERIVED, type Contents, type Signature, type TypeRecord } from './datatype-record.ts';
import { LB_MARKER, UB_MARKER } from './datatype-table.ts';
import type { Layer } from '../layer.ts';

/** `repeat` elements of a type, `stride` apart, the first `at` bytes behind the address. */
export interface Piece {
  type: TypeRecord;
  at: number;
  repeat: number;
  stride: number;
}

export function add(
  layer: Layer,
  contents: Contents,
  pieces: readonly Piece[],
  bounds?: { lb: number; extent: number },
): number {
  const builder = new LayoutBuilder();
  let size = 0;
  let elements = 0;
  const parts: [number, Signature][] = [];
  let alignment = 1;
  const natural = { lb: Infinity, ub: -Infinity };
  const explicit = { lb: Infinity, ub: -Infinity };
  for (const { type, at, repeat, stride } of pieces) {
    if (repeat === 0) continue;
    const { layout } = type;
    if (layout.narrow !== undefined)
      fail(
        ERR.TYPE,
        'MPI_Type',
        'a datatype of elements with 32 bits in memory and 64 in messages is for messages only',
      );
    builder.repeat(layout, at, repeat, stride);
    size += layout.size * repeat;
    const last = at + (repeat - 1) * stride;
    const lb = Math.min(at, last) + layout.lb;
    const ub = Math.max(at, last) + layout.lb + layout.extent;
    if (type.handle !== LB_MARKER && type.handle !== UB_MARKER) {
      natural.lb = Math.min(natural.lb, lb);
      natural.ub = Math.max(natural.ub, ub);
    }
    if (type.explicitLb) explicit.lb = Math.min(explicit.lb, lb);
    if (type.explicitUb) explicit.ub = Math.max(explicit.ub, ub);
    alignment = Math.max(alignment, type.alignment);
    elements += repeat * (typeof type.signature === 'number' ? 1 : type.signature.elements);
    const before = parts[parts.length - 1];
    if (before && before[1] === type.signature) before[0] += repeat;
    else if (layout.size > 0) parts.push([repeat, type.signature]);
  }
  const empty = natural.lb === Infinity && explicit.lb === Infinity && explicit.ub === -Infinity;
  // One marker and nothing else: the other bound is where the marker is.
  if (natural.lb === Infinity && !empty) natural.lb = natural.ub = explicit.lb === Infinity ? explicit.ub : explicit.lb;
  const explicitLb = bounds !== undefined || explicit.lb !== Infinity;
  const explicitUb = bounds !== undefined || explicit.ub !== -Infinity;
  const lb = bounds ? bounds.lb : empty ? 0 : explicitLb ? explicit.lb : natural.lb;
  let extent = bounds ? bounds.extent : empty ? 0 : (explicitUb ? explicit.ub : natural.ub) - lb;
  // Bytes behind the last element up to the alignment, as a C compiler has them (§5.1.6); only a struct can need them.
  if (!explicitUb && contents.combiner === Combiner.STRUCT) extent = Math.ceil(extent / alignment) * alignment;
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(extent) || !Number.isSafeInteger(lb))
    fail(
      ERR.COUNT,
      'MPI_Type',
      `the type would have ${size} bytes from ${lb} to ${lb + extent}: more than 2^53 is not supported`,
    );
  const { types } = layer.state;
  const handle = types.next++;
  types.rows.set(handle, {
    handle,
    name: '',
    committed: false,
    layout: { size, lb, extent, segments: builder.segments },
    alignment,
    explicitLb,
    explicitUb,
    signature: parts.length === 1 && parts[0]![0] === 1 ? parts[0]![1] : { elements, bytes: size, parts },
    contents,
    element: handle + DERIVED,
    attributes: new Map(),
  });
  return handle;
}

export const kept = (t: TypeRecord): number | TypeRecord => (t.handle < FIRST_DERIVED ? t.handle : t);
