/**
 * How lost members' images are made again: which image of each, from which holders, and the terms that each node adds
 * while partial sums go from node to node. Pure; O(choices of holders × members).
 *
 * Z4 For each lost member one version, which every holder used can show: it is in the checksum, or prepared and added
 *    now, or prepared and left out. For a survivor each holder may have another version, since the survivor has the
 *    bytes of both (Z3).
 * Z8 Only what a holder has reported since its hello counts. The result is checked page by page against the manifest:
 *    what fails the check comes from level 2.
 */
import { cauchy, invert, multiply, type Matrix } from '../codes/index.ts';
import type { HolderState } from './holder.ts';

/** One summand of a partial sum: coefficient · the bytes of an image, a checksum, or a prepared change. */
export interface Term {
  /** Which of the lost members this is part of, as an index of `lost`. */
  readonly sum: number;
  readonly coefficient: number;
  readonly of:
    | { readonly kind: 'image'; readonly version: number }
    | { readonly kind: 'checksum' }
    | { readonly kind: 'prepared'; readonly member: number; readonly version: number };
}

/** A node adds its terms to the partial sums and passes them on, page by page. */
export interface Station {
  readonly at: { readonly kind: 'member' | 'holder'; readonly index: number };
  readonly terms: readonly Term[];
}

export interface DecodePlan {
  readonly lost: readonly { readonly member: number; readonly version: number }[];
  /** In the order of the pipeline; the last one's sums are the images, and go to the new nodes. */
  readonly stations: readonly Station[];
}

export interface DecodeQuestion {
  readonly members: number;
  readonly checksums: number;
  /** What living holders have; undefined: lost, or not heard of since their hello (Z8). */
  readonly holders: readonly (HolderState | undefined)[];
  /** Images that living members have (Z3); undefined: lost. */
  readonly images: readonly (readonly number[] | undefined)[];
  /** By member: the only version of it that will do, if it is lost. Under waves, that of the wave for all. */
  readonly versions?: readonly (number | undefined)[];
  /** The code's matrix. */
  readonly matrix?: Matrix;
}

/** All sets of k of these. */
function choices<T>(of: readonly T[], k: number): T[][] {
  if (k === 0) return [[]];
  return of.flatMap((x, i) => choices(of.slice(i + 1), k - 1).map((rest) => [x, ...rest]));
}

/** The versions of a member that a holder can show. */
const shows = (h: HolderState, member: number): number[] =>
  [h.applied[member], h.prepared[member]].filter((v): v is number => v !== undefined);

/** The newest version of each of these members that all these holders can show; undefined if one has none. */
function common(
  holders: readonly HolderState[],
  lost: readonly number[],
  only: DecodeQuestion['versions'] = [],
): number[] | undefined {
  const out = lost.map((j) => {
    const all = shows(holders[0]!, j).filter((v) => holders.every((h) => shows(h, j).includes(v)));
    return Math.max(...all.filter((v) => only[j] === undefined || v === only[j]));
  });
  return out.every(Number.isFinite) ? out : undefined;
}

/**
 * The state to make again, or undefined: then level 2. If possible, of each lost member the newest image that *all*
 * holders can show: a newer one that only some have prepared would make the others useless for the next loss. Else the
 * newest that enough holders can show.
 */
export function decodePlan(q: DecodeQuestion): DecodePlan | undefined {
  const members = Array.from({ length: q.members }, (_, j) => j);
  const lost = members.filter((j) => q.images[j] === undefined);
  // A new holder that lacks an image is of no use yet.
  const alive = q.holders.flatMap((state, index) =>
    state && members.every((j) => shows(state, j).length > 0) ? [{ state, index }] : [],
  );
  if (lost.length > alive.length) return undefined;
  const states = (of: typeof alive): HolderState[] => of.map((h) => h.state);
  const everywhere = alive.length > 0 ? common(states(alive), lost, q.versions) : [];
  let best: { versions: number[]; holders: typeof alive; shown: Map<number, number>[] } | undefined;
  const total = (versions: readonly number[]): number => versions.reduce((x, y) => x + y, 0);
  for (const holders of choices(alive, lost.length)) {
    const versions = everywhere ?? common(states(holders), lost, q.versions);
    if (!versions) continue;
    // For a survivor: a version that the holder shows and the survivor has.
    const shown = holders.map(
      (h) =>
        new Map(
          members.flatMap((j): [number, number][] => {
            const v = shows(h.state, j).find((x) => q.images[j]?.includes(x));
            return v === undefined ? [] : [[j, v]];
          }),
        ),
    );
    if (shown.some((s) => s.size < q.members - lost.length)) continue;
    if (!best || total(versions) > total(best.versions)) best = { versions, holders, shown };
  }
  return best && build(q, lost, best.versions, best.holders, best.shown);
}

function build(
  q: DecodeQuestion,
  lost: readonly number[],
  versions: readonly number[],
  holders: readonly { state: HolderState; index: number }[],
  shown: readonly ReadonlyMap<number, number>[],
): DecodePlan | undefined {
  const matrix = q.matrix ?? cauchy(q.checksums, q.members);
  const inverse = invert(holders.map((h) => lost.map((j) => matrix[h.index]![j]!)));
  if (!inverse) return undefined;
  const stations: Station[] = [];
  for (const j of Array.from({ length: q.members }, (_, x) => x).filter((x) => !lost.includes(x))) {
    const terms = lost.flatMap((_, sum): Term[] => {
      const byVersion = new Map<number, number>();
      for (const [k, h] of holders.entries()) {
        const version = shown[k]!.get(j)!;
        const part = multiply(inverse[sum]![k]!, matrix[h.index]![j]!);
        byVersion.set(version, (byVersion.get(version) ?? 0) ^ part);
      }
      return [...byVersion].map(([version, coefficient]) => ({ sum, coefficient, of: { kind: 'image', version } }));
    });
    stations.push({ at: { kind: 'member', index: j }, terms: terms.filter((t) => t.coefficient !== 0) });
  }
  for (const [k, h] of holders.entries()) {
    const prepared = h.state.prepared.flatMap((version, member): { member: number; version: number }[] => {
      const at = lost.indexOf(member);
      const wanted = at < 0 ? shown[k]!.get(member) : versions[at];
      return version !== undefined && wanted === version ? [{ member, version }] : [];
    });
    const terms = lost.flatMap((_, sum): Term[] => {
      const coefficient = inverse[sum]![k]!;
      return [
        { sum, coefficient, of: { kind: 'checksum' } },
        ...prepared.map((p): Term => ({ sum, coefficient, of: { kind: 'prepared', ...p } })),
      ];
    });
    stations.push({ at: { kind: 'holder', index: h.index }, terms });
  }
  return { lost: lost.map((member, i) => ({ member, version: versions[i]! })), stations };
}
