/**
 * The constructors of parts of arrays: a block of one (MPI 4.1 §5.1.3), and what a process has of one that is
 * distributed (§5.1.4).
 */
import { ERR, fail } from '../errors.ts';
import { LayoutBuilder } from '../layout.ts';
import { add, kept } from './pieces.ts';
import { Combiner } from './datatype-record.ts';
import { typeOf } from './datatype-table.ts';
import type { Layer } from '../layer.ts';

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
