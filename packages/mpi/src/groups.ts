/** Groups (MPI 4.1 §7.3): ordered sets of tasks. Pure functions on the lists; handles are the table's. */
import { PROC_NULL, UNDEFINED } from './constants.ts';
import { ERR, fail } from './errors.ts';

export type Comparison = 'IDENT' | 'CONGRUENT' | 'SIMILAR' | 'UNEQUAL';
export type Range = readonly [first: number, last: number, stride: number];

function check(group: readonly number[], rank: number, call: string): void {
  if (!Number.isInteger(rank) || rank < 0 || rank >= group.length)
    fail(
      ERR.RANK,
      call,
      group.length
        ? `rank ${String(rank)} is not in the group, which has ranks 0 to ${group.length - 1}`
        : `rank ${String(rank)}: the group is empty`,
    );
}

function checkAll(group: readonly number[], ranks: ArrayLike<number>, call: string): number[] {
  const list = Array.from(ranks);
  const seen = new Set<number>();
  for (const r of list) {
    check(group, r, call);
    if (seen.has(r)) fail(ERR.RANK, call, `rank ${r} is listed twice`);
    seen.add(r);
  }
  return list;
}

export const incl = (group: readonly number[], ranks: ArrayLike<number>, call = 'MPI_Group_incl'): number[] =>
  checkAll(group, ranks, call).map((r) => group[r]!);

export function excl(group: readonly number[], ranks: ArrayLike<number>, call = 'MPI_Group_excl'): number[] {
  const out = new Set(checkAll(group, ranks, call));
  return group.filter((_, i) => !out.has(i));
}

/** The ranks of triplets: first, first+stride … not beyond last. */
export function expandRanges(group: readonly number[], ranges: readonly Range[], call: string): number[] {
  const out: number[] = [];
  for (const [first, last, stride] of ranges) {
    check(group, first, call);
    check(group, last, call);
    if (!Number.isInteger(stride) || stride === 0)
      fail(ERR.ARG, call, `stride ${String(stride)} is not a whole number other than 0`);
    for (let r = first; stride > 0 ? r <= last : r >= last; r += stride) out.push(r);
  }
  return out;
}

export const union = (a: readonly number[], b: readonly number[]): number[] => [...a, ...difference(b, a)];

export function intersection(a: readonly number[], b: readonly number[]): number[] {
  const other = new Set(b);
  return a.filter((t) => other.has(t));
}

export function difference(a: readonly number[], b: readonly number[]): number[] {
  const other = new Set(b);
  return a.filter((t) => !other.has(t));
}

export function translateRanks(a: readonly number[], ranks: ArrayLike<number>, b: readonly number[]): number[] {
  return Array.from(ranks, (r) => {
    if (r === PROC_NULL) return PROC_NULL; // stays itself (§7.3.1)
    check(a, r, 'MPI_Group_translate_ranks');
    const at = b.indexOf(a[r]!);
    return at < 0 ? UNDEFINED : at;
  });
}

export function compareGroups(a: readonly number[], b: readonly number[]): Comparison {
  if (a.length !== b.length) return 'UNEQUAL';
  if (a.every((t, i) => t === b[i])) return 'IDENT';
  const other = new Set(b);
  return a.every((t) => other.has(t)) ? 'SIMILAR' : 'UNEQUAL';
}
