/**
 * Operation-level checkpoints: who holds whose copies, and what a team does about losses before anybody goes on. Pure
 * functions of what all members know, so all come to the same.
 *
 * After Tang, Fagg, Dongarra, "Proposal of MPI operation level checkpoint/rollback" (§5.2, imem-m-rep). The ring of the
 * paper is one of processes; here it is one of nodes, because all processes of a node are lost with it.
 */

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
    };

const NOTHING: Plan = { round: 0, disk: false, stable: 0, folder: '', slot: 1, transfers: [] };

/** @param m copies of each rank's data */
export function planOf(records: readonly Share[], m: number, holders = holdersOf): Plan {
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
  const give = (from: number, to: number, of: number): void => {
    if (!has[to]!.has(of)) transfers.push({ from, to, of });
  };
  for (const [of, r] of records.entries()) {
    const from = r.team !== '' ? of : nearest(has, of);
    if (from === undefined) {
      if (stable === 0) return { error: 'lost' };
      return { round: stable, disk: true, stable, folder, slot, transfers: replicas(nodes, m, holders) };
    }
    give(from, of, of);
    for (const h of holders(nodes, of, m)) if (h !== of) give(from, h, of); // C3
  }
  return { round, disk: false, stable, folder, slot, transfers };
}

/** "Its nearest NEXT neighbour" that has a rank's data. */
function nearest(has: readonly ReadonlySet<number>[], of: number): number | undefined {
  for (let d = 1; d < has.length; d++) if (has[(of + d) % has.length]!.has(of)) return (of + d) % has.length;
  return undefined;
}

/** All copies are made again, each by its own rank. */
const replicas = (nodes: readonly string[], m: number, holders: typeof holdersOf): Transfer[] =>
  nodes.flatMap((_, of) => holders(nodes, of, m).map((to) => ({ from: of, to, of })));
