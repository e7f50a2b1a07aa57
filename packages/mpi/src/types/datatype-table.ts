/**
 * Datatypes by handle: the predefined ones, which are the same everywhere, and those that the program has made, which
 * are in the state of the layer. Finds, commits and frees them.
 */
import { elementType } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import { trueBounds } from '../layout.ts';
import { PREDEFINED_TYPES } from '../predefined-types.ts';
import { Combiner, FIRST_DERIVED, type Signature, type TypeRecord } from './datatype-record.ts';
import type { Layer } from '../layer.ts';

/** MINLOC pairs count as two elements, complex numbers as one. */
function basic(element: number): Signature {
  const e = elementType(element);
  if (e.kind !== 'pair') return e.bytes;
  const index = e.index!.BYTES_PER_ELEMENT;
  return {
    elements: 2,
    bytes: e.bytes,
    parts: [
      [1, e.bytes - index],
      [1, index],
    ],
  };
}

const named = new Map<number, TypeRecord>(
  [...PREDEFINED_TYPES.values()].map((t) => [
    t.handle,
    {
      handle: t.handle,
      name: t.name,
      committed: true,
      layout: t.layout,
      alignment: t.alignment,
      explicitLb: false,
      explicitUb: false,
      signature: basic(t.element),
      contents: { combiner: Combiner.NAMED, ints: [], addresses: [], types: [] },
      element: t.element,
      attributes: new Map(),
    },
  ]),
);
/** MPI_LB and MPI_UB, which MPI 3.0 removed: no bytes, only a bound of what they are put into (MPI 1.1 §3.12.3). */
export const LB_MARKER = 0x2f8;
export const UB_MARKER = 0x2f9;
for (const [handle, name] of [
  [LB_MARKER, 'MPI_LB'],
  [UB_MARKER, 'MPI_UB'],
] as const)
  named.set(handle, {
    handle,
    name,
    committed: true,
    layout: { size: 0, lb: 0, extent: 0, segments: [] },
    alignment: 1,
    explicitLb: handle === LB_MARKER,
    explicitUb: handle === UB_MARKER,
    signature: { elements: 0, bytes: 0, parts: [] },
    contents: { combiner: Combiner.NAMED, ints: [], addresses: [], types: [] },
    element: 0,
    attributes: new Map(),
  });
export const DATATYPE_NULL = 0x200;
export const BYTE_TYPE = 0x247;

/** @throws MPIError ERR_TYPE */
export function typeOf(layer: Layer, handle: number, call: string, comm = 0): TypeRecord {
  const t = handle < FIRST_DERIVED ? named.get(handle) : layer.state.types.rows.get(handle);
  return (
    t ??
    fail(
      ERR.TYPE,
      call,
      handle === DATATYPE_NULL ? 'the datatype is MPI_DATATYPE_NULL' : `${handle} is not a datatype, or it was freed`,
      comm,
    )
  );
}

/** A datatype for communication. @throws MPIError ERR_TYPE when it is not committed */
export function committed(layer: Layer, handle: number, call: string, comm = 0): TypeRecord {
  const t = typeOf(layer, handle, call, comm);
  if (!t.committed)
    fail(
      ERR.TYPE,
      call,
      `the datatype ${t.name || 'of the program'} has not been committed: call MPI_Type_commit first`,
      comm,
    );
  return t;
}

/** [MPI_Type_commit] */
export function commit(layer: Layer, handle: number): void {
  typeOf(layer, handle, 'MPI_Type_commit').committed = true;
}

/**
 * [MPI_Type_free] Requests under way keep the layouts that they need. Reductions by a function of the program name the
 * type. @param keep something may still name it
 */
export function free(layer: Layer, handle: number, keep = false): void {
  const type = typeOf(layer, handle, 'MPI_Type_free');
  if (handle < FIRST_DERIVED || type.predefined !== undefined)
    fail(ERR.TYPE, 'MPI_Type_free', `${type.name || 'the type'} is predefined`);
  const pending = [...layer.state.requests.rows.values()].some((r) => r.kind === 'coll' && !r.done);
  // A pending reduction may still need the record; it is little, and stays then.
  if (!pending && !keep) layer.state.types.rows.delete(handle);
}

export const trueExtent = (t: TypeRecord): { lb: number; extent: number } => {
  const { lb, ub } = trueBounds(t.layout);
  return { lb, extent: ub - lb };
};
