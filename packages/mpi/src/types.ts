/**
 * Derived datatypes (MPI 4.1 chapter 5) as a table of plain records: what the constructor was given (envelope and
 * contents), the layout in memory, and the signature that MPI_Get_elements counts with. Handles of predefined types are
 * their ABI values, derived ones begin at {@link FIRST_DERIVED}.
 */
import { DERIVED, elementType } from './datatypes.ts';
import { ERR, fail } from './errors.ts';
import { LayoutBuilder, trueBounds, type Layout } from './layout.ts';
import { PREDEFINED_TYPES } from './predefined-types.ts';
import type { Layer } from './layer.ts';

/** The constructor that made a type, by its ABI value (MPI_COMBINER_…). */
export const Combiner = {
  NAMED: 101,
  DUP: 102,
  CONTIGUOUS: 103,
  VECTOR: 104,
  HVECTOR: 105,
  INDEXED: 106,
  HINDEXED: 107,
  INDEXED_BLOCK: 108,
  HINDEXED_BLOCK: 109,
  STRUCT: 110,
  SUBARRAY: 111,
  DARRAY: 112,
  F90_REAL: 113,
  F90_COMPLEX: 114,
  F90_INTEGER: 115,
  RESIZED: 116,
} as const;

/** Basic elements in the order of the type map: bytes of one, or a repeated list. */
export type Signature = number | { elements: number; bytes: number; parts: [repeat: number, of: Signature][] };

/** What the constructor was given, in the order of MPI_Type_get_contents. */
export interface Contents {
  combiner: number;
  ints: number[];
  addresses: number[];
  /** Predefined ones by handle; of derived ones what they were, since the program may free them. */
  types: (number | TypeRecord)[];
}

export interface TypeRecord {
  handle: number;
  name: string;
  committed: boolean;
  layout: Layout;
  alignment: number;
  /** Bounds set by resized, here or below: then they are what the bounds are made of (§5.1.6). */
  explicitLb: boolean;
  explicitUb: boolean;
  signature: Signature;
  contents: Contents;
  /** Id for reductions: the element type of a predefined type and its duplicates, else handle + DERIVED. */
  element: number;
  /** An unnamed predefined type of Fortran (f90-types.ts): the named one that it is. */
  predefined?: number;
  attributes: Map<number, unknown>;
}

export const FIRST_DERIVED = 0x1000;

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

/** `repeat` elements of a type, `stride` apart, the first `at` bytes behind the address. */
interface Piece {
  type: TypeRecord;
  at: number;
  repeat: number;
  stride: number;
}

function add(
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

const kept = (t: TypeRecord): number | TypeRecord => (t.handle < FIRST_DERIVED ? t.handle : t);

const counted = (n: number, what: string, call: string): void =>
  void (n < 0 && fail(ERR.COUNT, call, `${what} ${n} is negative`));

/** [MPI_Type_contiguous] */
export function contiguous(layer: Layer, count: number, old: number): number {
  const call = 'MPI_Type_contiguous';
  const type = typeOf(layer, old, call);
  counted(count, 'count', call);
  return add(layer, { combiner: Combiner.CONTIGUOUS, ints: [count], addresses: [], types: [kept(type)] }, [
    { type, at: 0, repeat: count, stride: type.layout.extent },
  ]);
}

/** [MPI_Type_vector, MPI_Type_create_hvector] @param stride in elements, or in bytes when `bytes` */
export function vector(
  layer: Layer,
  count: number,
  length: number,
  stride: number,
  old: number,
  bytes: boolean,
): number {
  const call = bytes ? 'MPI_Type_create_hvector' : 'MPI_Type_vector';
  const type = typeOf(layer, old, call);
  counted(count, 'count', call);
  counted(length, 'blocklength', call);
  const step = bytes ? stride : stride * type.layout.extent;
  const pieces: Piece[] = [{ type: blocks(type, length), at: 0, repeat: length === 0 ? 0 : count, stride: step }];
  const contents: Contents = bytes
    ? { combiner: Combiner.HVECTOR, ints: [count, length], addresses: [stride], types: [kept(type)] }
    : { combiner: Combiner.VECTOR, ints: [count, length, stride], addresses: [], types: [kept(type)] };
  return add(layer, contents, pieces);
}

/** `length` elements behind one another as one element, for pieces; not in the table. */
function blocks(type: TypeRecord, length: number): TypeRecord {
  if (length === 1) return type;
  const builder = new LayoutBuilder();
  const { layout, signature } = type;
  builder.repeat(layout, 0, length, layout.extent);
  const span = (length - 1) * layout.extent;
  const lb = Math.min(layout.lb, layout.lb + span);
  const ub = Math.max(layout.lb, layout.lb + span) + layout.extent;
  return {
    ...type,
    layout: { size: layout.size * length, lb, extent: ub - lb, segments: builder.segments },
    signature: {
      elements: length * (typeof signature === 'number' ? 1 : signature.elements),
      bytes: layout.size * length,
      parts: [[length, signature]],
    },
  };
}

/** [MPI_Type_indexed, MPI_Type_create_hindexed] and the forms with one length for all blocks */
export function indexed(
  layer: Layer,
  lengths: readonly number[],
  displs: readonly number[],
  old: number,
  bytes: boolean,
  sameLength = false,
): number {
  const call = `MPI_Type_${bytes ? 'create_h' : sameLength ? 'create_' : ''}indexed${sameLength ? '_block' : ''}`;
  const type = typeOf(layer, old, call);
  lengths.forEach((n, i) => counted(n, `blocklength [${i}] =`, call));
  const { extent } = type.layout;
  const at = bytes ? displs : displs.map((d) => d * extent);
  const n = displs.length;
  const head = sameLength ? [n, lengths[0] ?? 0] : [n, ...lengths];
  const combiner = sameLength
    ? bytes
      ? Combiner.HINDEXED_BLOCK
      : Combiner.INDEXED_BLOCK
    : bytes
      ? Combiner.HINDEXED
      : Combiner.INDEXED;
  return add(
    layer,
    { combiner, ints: bytes ? head : [...head, ...displs], addresses: bytes ? [...displs] : [], types: [kept(type)] },
    at.map((d, i) => ({ type, at: d, repeat: lengths[i]!, stride: extent })),
  );
}

/** [MPI_Type_create_struct] */
export function struct(
  layer: Layer,
  lengths: readonly number[],
  displs: readonly number[],
  olds: readonly number[],
): number {
  const call = 'MPI_Type_create_struct';
  lengths.forEach((n, i) => counted(n, `blocklength [${i}] =`, call));
  const pieces = olds.map((h, i): Piece => {
    const type = typeOf(layer, h, call);
    return { type, at: displs[i]!, repeat: lengths[i]!, stride: type.layout.extent };
  });
  return add(
    layer,
    {
      combiner: Combiner.STRUCT,
      ints: [olds.length, ...lengths],
      addresses: [...displs],
      types: pieces.map((p) => kept(p.type)),
    },
    pieces,
  );
}

/** [MPI_Type_create_resized] */
export function resized(layer: Layer, old: number, lb: number, extent: number): number {
  const type = typeOf(layer, old, 'MPI_Type_create_resized');
  return add(
    layer,
    { combiner: Combiner.RESIZED, ints: [], addresses: [lb, extent], types: [kept(type)] },
    [{ type, at: 0, repeat: 1, stride: 0 }],
    { lb, extent },
  );
}

/** [MPI_Type_dup] Committed as the old one is. */
export function dup(layer: Layer, old: number): number {
  const type = typeOf(layer, old, 'MPI_Type_dup');
  const { types } = layer.state;
  const handle = types.next++;
  const { predefined: _, ...rest } = type;
  types.rows.set(handle, {
    ...rest,
    handle,
    name: '',
    contents: { combiner: Combiner.DUP, ints: [], addresses: [], types: [kept(type)] },
    element: type.element >= DERIVED ? handle + DERIVED : type.element,
    attributes: new Map(),
  });
  return handle;
}

/** [MPI_Type_create_subarray] @param fortran the first dimension runs fastest */
export function subarray(
  layer: Layer,
  sizes: readonly number[],
  subsizes: readonly number[],
  starts: readonly number[],
  order: number,
  fortran: boolean,
  old: number,
): number {
  const call = 'MPI_Type_create_subarray';
  const type = typeOf(layer, old, call);
  if (sizes.length === 0) fail(ERR.ARG, call, 'there are no dimensions');
  sizes.forEach((size, i) => {
    if (size < 1 || subsizes[i]! < 1 || subsizes[i]! > size)
      fail(ERR.ARG, call, `dimension ${i}: a part of ${subsizes[i]} of ${size} elements`);
    if (starts[i]! < 0 || starts[i]! > size - subsizes[i]!)
      fail(ERR.ARG, call, `dimension ${i}: start ${starts[i]} with ${subsizes[i]} of ${size} elements`);
  });
  const dims = sizes.map((_, i) => i);
  if (!fortran) dims.reverse();
  // From the fastest dimension outwards: a run of runs.
  let part = type;
  let stride = type.layout.extent;
  let at = 0;
  for (const d of dims) {
    const builder = new LayoutBuilder();
    builder.repeat(part.layout, 0, subsizes[d]!, stride);
    const { signature } = part;
    const n = subsizes[d]!;
    part = {
      ...part,
      layout: { size: part.layout.size * n, lb: 0, extent: 0, segments: builder.segments },
      signature: {
        elements: n * (typeof signature === 'number' ? 1 : signature.elements),
        bytes: part.layout.size * n,
        parts: [[n, signature]],
      },
    };
    at += starts[d]! * stride;
    stride *= sizes[d]!;
  }
  return add(
    layer,
    {
      combiner: Combiner.SUBARRAY,
      ints: [sizes.length, ...sizes, ...subsizes, ...starts, order],
      addresses: [],
      types: [kept(type)],
    },
    [{ type: part, at, repeat: 1, stride: 0 }],
    { lb: 0, extent: stride },
  );
}

/** Distributions of MPI_Type_create_darray by their ABI values. */
const Distribute = { NONE: 16, BLOCK: 17, CYCLIC: 18, DEFAULT: 19 } as const;

export interface Darray {
  size: number;
  rank: number;
  gsizes: readonly number[];
  distribs: readonly number[];
  dargs: readonly number[];
  psizes: readonly number[];
  order: number;
  fortran: boolean;
}

/** Indices of one dimension that a process has: [first, length]. */
function share(
  g: number,
  p: number,
  here: number,
  distribution: number,
  arg: number,
  dimension: number,
  call: string,
): [number, number][] {
  if (distribution === Distribute.NONE) {
    if (p !== 1) fail(ERR.ARG, call, `dimension ${dimension} is not distributed, over ${p} processes`);
    return [[0, g]];
  }
  if (distribution === Distribute.BLOCK) {
    const b = arg === Distribute.DEFAULT ? Math.ceil(g / p) : arg;
    if (b <= 0 || b * p < g)
      fail(ERR.ARG, call, `dimension ${dimension}: ${p} blocks of ${b} do not hold ${g} elements`);
    const length = Math.min(b, g - here * b);
    return length > 0 ? [[here * b, length]] : [];
  }
  if (distribution !== Distribute.CYCLIC)
    fail(ERR.ARG, call, `dimension ${dimension}: distribution ${distribution} is none of MPI_DISTRIBUTE_…`);
  const b = arg === Distribute.DEFAULT ? 1 : arg;
  if (b <= 0) fail(ERR.ARG, call, `dimension ${dimension}: blocks of ${b}`);
  const out: [number, number][] = [];
  for (let at = here * b; at < g; at += p * b) out.push([at, Math.min(b, g - at)]);
  return out;
}

/** [MPI_Type_create_darray] Processes lie row-major in their grid, whatever the order of the array (§5.1.4). */
export function darray(layer: Layer, a: Darray, old: number): number {
  const call = 'MPI_Type_create_darray';
  const type = typeOf(layer, old, call);
  const n = a.gsizes.length;
  if (n === 0) fail(ERR.ARG, call, 'there are no dimensions');
  if (a.psizes.reduce((x, y) => x * y, 1) !== a.size || a.psizes.some((p) => p <= 0))
    fail(ERR.ARG, call, `psizes [${a.psizes.join(', ')}] do not make ${a.size} processes`);
  if (a.rank < 0 || a.rank >= a.size) fail(ERR.ARG, call, `rank ${a.rank} is not in 0 to ${a.size - 1}`);
  if (a.gsizes.some((g) => g <= 0)) fail(ERR.ARG, call, `gsizes [${a.gsizes.join(', ')}]: every extent has to be > 0`);
  const here = new Array<number>(n);
  let rest = a.rank;
  for (let d = n - 1; d >= 0; d--) {
    here[d] = rest % a.psizes[d]!;
    rest = Math.floor(rest / a.psizes[d]!);
  }
  const dims = a.gsizes.map((_, i) => i);
  if (!a.fortran) dims.reverse();
  let part = type;
  let stride = type.layout.extent;
  for (const d of dims) {
    const builder = new LayoutBuilder();
    let count = 0;
    for (const [first, length] of share(a.gsizes[d]!, a.psizes[d]!, here[d]!, a.distribs[d]!, a.dargs[d]!, d, call)) {
      builder.repeat(part.layout, first * stride, length, stride);
      count += length;
    }
    const { signature } = part;
    part = {
      ...part,
      layout: { size: part.layout.size * count, lb: 0, extent: 0, segments: builder.segments },
      signature: {
        elements: count * (typeof signature === 'number' ? 1 : signature.elements),
        bytes: part.layout.size * count,
        parts: [[count, signature]],
      },
    };
    stride *= a.gsizes[d]!;
  }
  return add(
    layer,
    {
      combiner: Combiner.DARRAY,
      ints: [a.size, a.rank, n, ...a.gsizes, ...a.distribs, ...a.dargs, ...a.psizes, a.order],
      addresses: [],
      types: [kept(type)],
    },
    [{ type: part, at: 0, repeat: 1, stride: 0 }],
    { lb: 0, extent: stride },
  );
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

/**
 * Basic elements in the first `bytes` bytes of a message of this type (a byte too many counts for nothing). Exact for
 * what a program may put into a status.
 */
export function elementsIn(s: Signature, bytes: bigint): bigint {
  if (typeof s === 'number') return s === 0 ? 0n : bytes / BigInt(s);
  if (s.bytes === 0) return 0n;
  const whole = bytes / BigInt(s.bytes);
  let count = whole * BigInt(s.elements);
  let rest = bytes - whole * BigInt(s.bytes);
  for (const [repeat, of] of s.parts) {
    if (rest <= 0n) break;
    const all = BigInt(repeat) * BigInt(typeof of === 'number' ? of : of.bytes);
    const part = rest < all ? rest : all;
    count += elementsIn(of, part);
    rest -= part;
  }
  return count;
}

/** Bytes of every basic element; 1 where they are not alike, or not seen to be at once. */
export function unitOf(s: Signature): number {
  while (typeof s !== 'number') {
    if (s.parts.length !== 1) return 1;
    s = s.parts[0]![1];
  }
  return Math.max(s, 1);
}

/** Bytes of the first `elements` basic elements: MPI_Status_set_elements. */
export function bytesOf(s: Signature, elements: bigint): bigint {
  if (typeof s === 'number') return BigInt(s) * elements;
  if (s.elements === 0) return 0n;
  const whole = elements / BigInt(s.elements);
  let bytes = whole * BigInt(s.bytes);
  let rest = elements - whole * BigInt(s.elements);
  for (const [repeat, of] of s.parts) {
    if (rest <= 0n) break;
    const all = BigInt(repeat) * BigInt(typeof of === 'number' ? 1 : of.elements);
    const part = rest < all ? rest : all;
    bytes += bytesOf(of, part);
    rest -= part;
  }
  return bytes;
}

export const trueExtent = (t: TypeRecord): { lb: number; extent: number } => {
  const { lb, ub } = trueBounds(t.layout);
  return { lb, extent: ub - lb };
};
