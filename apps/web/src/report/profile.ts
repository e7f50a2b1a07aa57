/** Sums of a profile: of all ranks by kind, and by MPI call. Pure. */
import { LANE_KINDS, type LaneKind, type RankProfile } from '@mayfly/wire';
import { csvCell } from '../shared/downloads.ts';
import { duration } from '../shared/format.ts';

/** As the client of REST has it. */
export type RankTimes = Omit<RankProfile, 'rank'> & { rank: number };

export interface Shares {
  /** ms by kind. */
  ms: Partial<Record<string, number>>;
  all: number;
}

export const sharesOf = (ms: RankTimes['ms']): Shares => ({
  ms,
  all: LANE_KINDS.reduce((n, k) => n + (ms[k] ?? 0), 0),
});

export function sumOf(ranks: readonly RankTimes[]): Shares {
  const ms: Partial<Record<LaneKind, number>> = {};
  for (const r of ranks) for (const k of LANE_KINDS) if (r.ms[k]) ms[k] = (ms[k] ?? 0) + r.ms[k];
  return sharesOf(ms as RankTimes['ms']);
}

/** A part of the whole, in per cent. */
export const share = (ms: number, all: number): string =>
  ms === 0 || all === 0 ? '–' : ms / all < 0.01 ? '< 1 %' : `${Math.round((100 * ms) / all)} %`;

export const time = (ms: number): string => (ms < 1 ? '< 1 ms' : duration(ms));

export interface CallSum {
  call: string;
  ms: number;
  /** How often a rank had to wait in it. */
  times: number;
  /** The rank that waited longest in it, and how long. */
  rank: number;
  most: number;
}

/** Longest first. */
export function callsOf(ranks: readonly RankTimes[]): CallSum[] {
  const sums = new Map<string, CallSum>();
  for (const r of ranks)
    for (const c of r.calls) {
      let s = sums.get(c.call);
      if (!s) sums.set(c.call, (s = { call: c.call, ms: 0, times: 0, rank: r.rank, most: -1 }));
      s.ms += c.ms;
      s.times += c.times;
      if (c.ms > s.most) [s.rank, s.most] = [r.rank, c.ms];
    }
  return [...sums.values()].sort((a, b) => b.ms - a.ms || b.times - a.times);
}

export interface PlaceSum {
  place: string;
  call: string;
  ms: number;
  /** The rank that waited longest there, and how long. */
  rank: number;
  most: number;
}

/** From where in the program ranks waited; longest first. */
export function placesOf(ranks: readonly RankTimes[]): PlaceSum[] {
  const sums = new Map<string, PlaceSum>();
  for (const r of ranks)
    for (const { call, places } of r.calls)
      for (const { place, ms } of places) {
        const key = `${call} ${place}`;
        let s = sums.get(key);
        if (!s) sums.set(key, (s = { place, call, ms: 0, rank: r.rank, most: -1 }));
        s.ms += ms;
        if (ms > s.most) [s.rank, s.most] = [r.rank, ms];
      }
  return [...sums.values()].sort((a, b) => b.ms - a.ms);
}

/** The rank that computed longest, and how many times the mean that is; undefined where there is nothing to compare. */
export function busiest(ranks: readonly RankTimes[]): { rank: number; ms: number; ofMean: number } | undefined {
  if (ranks.length < 2) return undefined;
  const of = (r: RankTimes): number => r.ms['computing'] ?? 0;
  const mean = ranks.reduce((n, r) => n + of(r), 0) / ranks.length;
  const top = ranks.reduce((a, b) => (of(b) > of(a) ? b : a));
  return mean === 0 ? undefined : { rank: top.rank, ms: of(top), ofMean: of(top) / mean };
}

/** One row per rank and kind, per rank and call, and per rank, call and place (whose time is in that of the call). */
export function csvOf(ranks: readonly RankTimes[]): string {
  const rows = ranks.flatMap((r) => [
    ...LANE_KINDS.filter((k) => r.ms[k]).map((k) => `${r.rank},${k},,${r.ms[k]},,`),
    ...r.calls.map((c) => `${r.rank},waiting,${csvCell(c.call)},${c.ms},${c.times},`),
    ...r.calls.flatMap((c) =>
      c.places.map((p) => `${r.rank},waiting at,${csvCell(c.call)},${p.ms},,${csvCell(p.place)}`),
    ),
  ]);
  return ['rank,kind,call,ms,times,place', ...rows, ''].join('\n');
}
