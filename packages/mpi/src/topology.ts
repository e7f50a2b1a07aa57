/** Cartesian topologies (MPI 4.1 §8.5), row-major: the last coordinate runs fastest. */
import { intra } from './checks.ts';
import { PROC_NULL, UNDEFINED } from './constants.ts';
import { ERR, fail } from './errors.ts';
import { split } from './comm.ts';
import type { Layer } from './layer.ts';
import type { CartTopology, CommRecord } from './state.ts';

const product = (list: readonly number[]): number => list.reduce((a, b) => a * b, 1);

/** [MPI_Cart_create] Ranks are not reordered: all places are alike to us. */
export function createCart(layer: Layer, handle: number, dims: readonly number[], periods: readonly boolean[]): number {
  const call = 'MPI_Cart_create';
  const comm = intra(layer, handle, call);
  const text = `dims [${dims.join(', ')}]`;
  if (dims.some((d) => !Number.isInteger(d) || d <= 0))
    fail(ERR.DIMS, call, `${text}: every extent has to be a whole number > 0`, handle);
  if (periods.length !== dims.length)
    fail(ERR.ARG, call, `${dims.length} dimensions, but ${periods.length} periods`, handle);
  const n = product(dims);
  if (n > comm.group.length)
    fail(ERR.TOPOLOGY, call, `${text} need ${n} processes, ${comm.name} has ${comm.group.length}`, handle);
  return split(layer, handle, comm.rank < n ? 0 : UNDEFINED, comm.rank, call, `grid ${dims.join('×')}`, {
    kind: 'cart',
    dims: [...dims],
    periods: [...periods],
  });
}

/** @throws MPIError ERR_TOPOLOGY */
export function cartOf(comm: CommRecord, call: string): CartTopology {
  return comm.topology?.kind === 'cart'
    ? comm.topology
    : fail(ERR.TOPOLOGY, call, `${comm.name} has no Cartesian topology`, comm.handle);
}

/** [MPI_Cart_coords] */
export function coordsOf(comm: CommRecord, rank: number, call = 'MPI_Cart_coords'): number[] {
  const { dims } = cartOf(comm, call);
  if (!Number.isInteger(rank) || rank < 0 || rank >= comm.group.length)
    fail(
      ERR.RANK,
      call,
      `rank ${String(rank)} is not a rank: ${comm.name} has ranks 0 to ${comm.group.length - 1}`,
      comm.handle,
    );
  const out = new Array<number>(dims.length);
  let rest = rank;
  for (let i = dims.length - 1; i >= 0; i--) {
    out[i] = rest % dims[i]!;
    rest = Math.floor(rest / dims[i]!);
  }
  return out;
}

/** [MPI_Cart_rank] */
export function rankAt(comm: CommRecord, coords: ArrayLike<number>, call = 'MPI_Cart_rank'): number {
  const { dims, periods } = cartOf(comm, call);
  if (coords.length !== dims.length)
    fail(ERR.ARG, call, `${coords.length} coordinates for ${dims.length} dimensions`, comm.handle);
  let rank = 0;
  dims.forEach((extent, i) => {
    let c = coords[i]!;
    if (!Number.isInteger(c))
      fail(ERR.ARG, call, `coordinate ${String(c)} of dimension ${i} is not a whole number`, comm.handle);
    if (periods[i]) c = ((c % extent) + extent) % extent;
    else if (c < 0 || c >= extent)
      fail(
        ERR.ARG,
        call,
        `coordinate ${c} of dimension ${i}, which is not periodic, is not in 0 to ${extent - 1}`,
        comm.handle,
      );
    rank = rank * extent + c;
  });
  return rank;
}

/** [MPI_Cart_shift] */
export function shift(comm: CommRecord, direction: number, displacement: number): { source: number; dest: number } {
  const call = 'MPI_Cart_shift';
  const { dims, periods } = cartOf(comm, call);
  if (!Number.isInteger(direction) || direction < 0 || direction >= dims.length)
    fail(ERR.ARG, call, `direction ${String(direction)} is not in 0 to ${dims.length - 1}`, comm.handle);
  if (!Number.isInteger(displacement))
    fail(ERR.ARG, call, `displacement ${String(displacement)} is not a whole number`, comm.handle);
  const here = coordsOf(comm, comm.rank, call);
  const at = (d: number): number => {
    const c = here[direction]! + d;
    if (!periods[direction] && (c < 0 || c >= dims[direction]!)) return PROC_NULL;
    return rankAt(
      comm,
      here.map((x, i) => (i === direction ? c : x)),
      call,
    );
  };
  return { source: at(-displacement), dest: at(displacement) };
}

/** [MPI_Cart_sub] */
export function sub(layer: Layer, handle: number, keep: readonly boolean[]): number {
  const call = 'MPI_Cart_sub';
  const comm = intra(layer, handle, call);
  const { dims, periods } = cartOf(comm, call);
  if (keep.length !== dims.length) fail(ERR.ARG, call, `${keep.length} flags for ${dims.length} dimensions`, handle);
  const here = coordsOf(comm, comm.rank, call);
  let color = 0;
  let key = 0;
  dims.forEach((extent, i) => {
    if (keep[i]) key = key * extent + here[i]!;
    else color = color * extent + here[i]!;
  });
  const kept = <T>(list: readonly T[]): T[] => list.filter((_, i) => keep[i]);
  return split(layer, handle, color, key, call, `grid ${kept(dims).join('×')} of ${comm.name}`, {
    kind: 'cart',
    dims: kept(dims),
    periods: kept(periods),
  });
}

/** [MPI_Dims_create] Extents as close to each other as can be, in falling order; entries other than 0 are kept. */
export function dimsCreate(nnodes: number, given: readonly number[]): number[] {
  const call = 'MPI_Dims_create';
  if (!Number.isInteger(nnodes) || nnodes <= 0)
    fail(ERR.ARG, call, `nnodes ${String(nnodes)} is not a whole number > 0`);
  if (given.some((d) => !Number.isInteger(d) || d < 0))
    fail(ERR.DIMS, call, `dims [${given.join(', ')}]: entries are whole numbers ≥ 0`);
  const fixed = product(given.filter((d) => d > 0));
  const open = given.filter((d) => d === 0).length;
  if (nnodes % fixed !== 0)
    fail(ERR.DIMS, call, `${nnodes} processes are not a multiple of the requested extents [${given.join(', ')}]`);
  if (open === 0) {
    if (fixed !== nnodes)
      fail(ERR.DIMS, call, `the extents [${given.join(', ')}] make ${fixed} processes, not ${nnodes}`);
    return [...given];
  }
  const found = balanced(nnodes / fixed, open);
  let next = 0;
  return given.map((d) => (d === 0 ? found[next++]! : d));
}

/** Greatest whole number whose k-th power is at most x. */
function root(x: number, k: number): number {
  let r = Math.floor(x ** (1 / k));
  while ((r + 1) ** k <= x) r++;
  while (r > 1 && r ** k > x) r--;
  return r;
}

/**
 * n as `count` factors in falling order: those with the least spread, of these the ones with the greatest least factor,
 * of these the ones with the least sum. Branch and bound over the divisors: a thousand of them and twenty factors are
 * milliseconds.
 */
function balanced(n: number, count: number): number[] {
  const divisors: number[] = [];
  for (let d = 1; d * d <= n; d++) if (n % d === 0) divisors.push(...(d * d === n ? [d] : [d, n / d]));
  divisors.sort((a, b) => a - b);
  const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
  let best: number[] | undefined;
  let spread = Infinity;
  const chosen: number[] = [];
  const visit = (rest: number, left: number, most: number): void => {
    if (left === 1) {
      if (rest > most) return;
      const found = [...chosen, rest];
      const wide = found[0]! - rest;
      const least = best?.[count - 1] ?? 0;
      if (wide < spread || (wide === spread && (rest > least || (rest === least && sum(found) < sum(best!)))))
        [best, spread] = [found, wide];
      return;
    }
    for (let i = divisors.length - 1; i >= 0 && divisors[i]! ** left >= rest; i--) {
      const d = divisors[i]!;
      // What is left over cannot all be greater than its root.
      if (d > most || rest % d !== 0 || (chosen[0] ?? d) - root(rest / d, left - 1) > spread) continue;
      chosen.push(d);
      visit(rest / d, left - 1, d);
      chosen.pop();
    }
  };
  if (count === 1) return [n];
  // The greatest factor from small to great: good ones come first, and bound the rest.
  for (const d of divisors) {
    if (d ** count < n || d - root(n / d, count - 1) > spread) continue;
    chosen.push(d);
    visit(n / d, count - 1, d);
    chosen.pop();
  }
  return best!;
}
