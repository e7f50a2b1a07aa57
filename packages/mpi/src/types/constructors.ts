/** The constructors that put elements behind one another, at strides or at displacements (MPI 4.1 §5.1.2, §5.1.7). */
import { DERIVED } from '../datatypes.ts';
import { ERR, fail } from '../errors.ts';
import { LayoutBuilder } from '../layout.ts';
import { add, kept, type Piece } from './pieces.ts';
import { Combiner, type Contents, type TypeRecord } from './datatype-record.ts';
import { typeOf } from './datatype-table.ts';
import type { Layer } from '../layer.ts';

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

/** `long` and `unsigned long` of 64 bits (predefined-types.ts). */
const LONGS = [0x2f0, 0x2f1];

/**
 * A `size_t` has 32 bits, so as an `unsigned long` it overlaps the next member, and a receive would write over that.
 * Members of real longs never lie so.
 */
function sizeMember(pieces: readonly Piece[], { type, at, repeat }: Piece, i: number, call: string): void {
  if (!LONGS.includes(type.handle)) return;
  const { size } = type.layout;
  const into = (p: Piece): boolean => p.repeat > 0 && p.at > at && p.at < at + size * repeat;
  const next = pieces.findIndex((p) => into(p) && (p.at - at) % size === size / 2);
  if (next !== -1)
    fail(
      ERR.ARG,
      call,
      `member [${i}], ${type.name} with ${size} bytes at ${at}, overlaps member [${next}] at ${pieces[next]!.at}: a ` +
        `size_t or ptrdiff_t has 32 bits, use MPI_UINT32_T or MPI_INT32_T for it`,
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
  pieces.forEach((p, i) => sizeMember(pieces, p, i, call));
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
