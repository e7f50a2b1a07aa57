/**
 * Operation-level checkpoints: who holds whose copies, and what a team does about losses before anybody goes on. Pure
 * functions of what all members know, so all come to the same.
 *
 * After Tang, Fagg, Dongarra, "Proposal of MPI operation level checkpoint/rollback" (§5.2, imem-m-rep). The ring of the
 * paper is one of processes; here it is one of nodes, because all processes of a node are lost with it.
 */

import { keyOf, type Code, type Codes, type Recovery, type SumName } from './codes.ts';

/** Ranks that hold copies of a rank's data: one on each of the next `m` nodes. */
export function holdersOf(nodes: readonly string[], rank: number, m: number): number[] {
  const ring = [...new Set(nodes)];
  const at = ring.indexOf(nodes[rank]!);
  const place = nodes.slice(0, rank).filter((n) => n === nodes[rank]).length;
  return Array.from({ length: Math.min(m, ring.length - 1) }, (_, d) => {
    const there = nodes.flatMap((n, r) => (n === ring[(at + d + 1) % ring.length] ? [r] : []));
    return there[place % there.length]!;
  });
}

/** Pairs: the nodes are an even number, and two of them hold copies for each other. */
export function partnerOf(nodes: readonly string[], rank: number): number[] {
  const ring = [...new Set(nodes)];
  const other = ring[ring.indexOf(nodes[rank]!) ^ 1];
  const place = nodes.slice(0, rank).filter((n) => n === nodes[rank]).length;
  const there = nodes.flatMap((n, r) => (n === other ? [r] : []));
  return there.length > 0 ? [there[place % there.length]!] : [];
}

/** A checksum and the rank that holds it. */
export interface Held {
  readonly name: SumName;
  readonly by: number;
}

/** All checksums of a team, those of a node dealt to its ranks in turn. */
export function checksumsOf(nodes: readonly string[], code: Code, checksums: number, most: number, by: Codes): Held[] {
  const turn = new Map<string, number>();
  return by.groups(nodes, checksums, most).flatMap(({ members, holders }) =>
    holders.map((node, index) => {
      const there = nodes.flatMap((n, r) => (n === node ? [r] : []));
      const at = turn.get(node) ?? 0;
      turn.set(node, at + 1);
      return {
        name: { code, ranks: members, members: members.length, checksums, index },
        by: there[at % there.length]!,
      };
    }),
  );
}

/** What a member brings into a new team. */
export interface Share {
  node: string;
  /** The team that it was in; '' for a new process. */
  team: string;
  /** Its rank there, and how many they were. */
  rank: number;
  size: number;
  /** Newest round that it knows to be whole, 0 for none; a later one that it has all of (0: none is under way). */
  round: number;
  done: number;
  /** Newest whole round on disk, the folder of its files, and which of two files of each rank has it. */
  stable: number;
  folder: string;
  slot: number;
  /** Ranks of the old team whose data of a round it holds, by round; its own are not among them. */
  held: [round: number, ranks: number[]][];
  /** Checksums that it holds, by round. Absent: its node is older than checksums are. */
  sums?: [round: number, names: SumName[]][];
}

/** What a new process brings. */
export const newcomer = (node: string): Share => ({
  node,
  team: '',
  rank: -1,
  size: 0,
  round: 0,
  done: 0,
  stable: 0,
  folder: '',
  slot: 1,
  held: [],
  sums: [],
});

export interface Transfer {
  from: number;
  to: number;
  /** The rank whose data it is. */
  of: number;
}

export type Plan =
  | { error: 'teams' | 'ranks' | 'lost' }
  | {
      error?: undefined;
      round: number;
      /** Everybody reads its data of the round from the disk. */
      disk: boolean;
      /** What is on the disk stays good: the newest round there, in this folder. */
      stable: number;
      folder: string;
      slot: number;
      transfers: Transfer[];
      /** Who makes its data again from checksums. */
      recoveries: Recovery[];
      /** Checksums that are made again, from the data of all their members. */
      sums: Held[];
    };

const NOTHING: Plan = {
  round: 0,
  disk: false,
  stable: 0,
  folder: '',
  slot: 1,
  transfers: [],
  recoveries: [],
  sums: [],
};

export interface Protection {
  holders: (nodes: readonly string[], rank: number, m: number) => number[];
  /** Checksums of the new team. */
  sums: readonly Held[];
  /** Absent: no checksum can be read. */
  codes: Codes | undefined;
}

/** @param m copies of each rank's data */
export function planOf(
  records: readonly Share[],
  m: number,
  { holders = holdersOf, sums = [], codes }: Partial<Protection> = {},
): Plan {
  const old = records.filter((r) => r.team !== '');
  if (old.length === 0) return NOTHING;
  const { team, size } = old[0]!;
  if (old.some((r) => r.team !== team)) return { error: 'teams' };
  const fresh = old.length < records.length;
  // Replacements have the ranks of those that they replace. Without any, ranks may be others than before.
  if (fresh && (records.length !== size || records.some((r, i) => r.team !== '' && r.rank !== i)))
    return { error: 'ranks' };
  // C1: one number. Who has all of a round that others know to be whole takes part in it.
  const round = Math.max(...old.map((r) => r.round));
  if (old.some((r) => r.round !== round && r.done !== round)) return { error: 'teams' };
  if (round === 0) return NOTHING;
  const now = new Map(old.map((r) => [r.rank, records.indexOf(r)]));
  const has = records.map(() => new Set<number>());
  records.forEach((r, i) => {
    if (r.team === '') return;
    has[i]!.add(i);
    for (const [n, ranks] of r.held)
      for (const was of n === round ? ranks : []) {
        const rank = fresh ? was : now.get(was);
        if (rank !== undefined) has[i]!.add(rank);
      }
  });
  const nodes = records.map((r) => r.node);
  // Files are named by rank.
  const same = records.length === size && records.every((r, i) => r.team === '' || r.rank === i);
  const stored = old.reduce((a, b) => (b.stable > a.stable ? b : a));
  const { stable, folder, slot } = same && stored.stable > 0 ? stored : { stable: 0, folder: '', slot: 1 };
  const transfers: Transfer[] = [];
  const recoveries: Recovery[] = [];
  const give = (from: number, to: number, of: number): void => {
    if (from !== to && !has[to]!.has(of)) transfers.push({ from, to, of });
  };
  for (const [of, r] of records.entries()) {
    let from = r.team !== '' ? of : nearest(has, of);
    const again = from === undefined && codes ? recoveryOf(records, round, of, codes) : undefined;
    if (again) {
      recoveries.push(again);
      from = of;
    }
    if (from === undefined) {
      if (stable === 0) return { error: 'lost' };
      const copies = replicas(nodes, m, holders);
      return { round: stable, disk: true, stable, folder, slot, transfers: copies, recoveries: [], sums: [...sums] };
    }
    give(from, of, of);
    for (const h of holders(nodes, of, m)) give(from, h, of); // C3
  }
  // Names of checksums have ranks: where these are others than before, all are made again.
  const kept = (h: Held): boolean => same && sumsOf(records[h.by]!, round).some((n) => keyOf(n) === keyOf(h.name));
  return { round, disk: false, stable, folder, slot, transfers, recoveries, sums: sums.filter((h) => !kept(h)) };
}

const sumsOf = (r: Share, round: number): SumName[] =>
  (r.sums ?? []).flatMap(([n, names]) => (n === round ? names : []));

/** Lost data, from checksums of one group and the data of its members that are left. */
function recoveryOf(records: readonly Share[], round: number, of: number, codes: Codes): Recovery | undefined {
  const groups = new Map<string, { name: SumName; left: Map<number, number> }>();
  for (const [by, r] of records.entries())
    for (const name of sumsOf(r, round)) {
      if (!name.ranks.includes(of)) continue;
      const key = keyOf({ ...name, index: 0 });
      const group = groups.get(key) ?? { name, left: new Map<number, number>() };
      groups.set(key, group);
      group.left.set(name.members + name.index, by);
    }
  for (const { name, left } of groups.values()) {
    for (const [share, rank] of name.ranks.entries()) if (records[rank]!.team !== '') left.set(share, rank);
    const needed = codes.needed(name.code, name, [...left.keys()]);
    if (needed) return { of, name, from: needed.map((share) => [share, left.get(share)!] as const) };
  }
  return undefined;
}

/** "Its nearest NEXT neighbour" that has a rank's data. */
function nearest(has: readonly ReadonlySet<number>[], of: number): number | undefined {
  for (let d = 1; d < has.length; d++) if (has[(of + d) % has.length]!.has(of)) return (of + d) % has.length;
  return undefined;
}

/** All copies are made again, each by its own rank. */
const replicas = (nodes: readonly string[], m: number, holders: typeof holdersOf): Transfer[] =>
  nodes.flatMap((_, of) => holders(nodes, of, m).map((to) => ({ from: of, to, of })));
