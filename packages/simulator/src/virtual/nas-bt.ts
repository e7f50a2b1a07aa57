/**
 * NAS BT as a pattern: who sends how much to whom in a time step. The domain is cut into q³ cells for q² ranks; each
 * has q of them, on a diagonal.
 *
 * Source: D. Bailey et al., The NAS Parallel Benchmarks 2.0, NAS-95-020, and the code of NPB 2.3, BT: `make_set.f`
 * (neighbours), `copy_faces.f` (6 messages: two planes of 5 values of each cell that has a neighbour there),
 * `x_solve.f`, `y_solve.f`, `z_solve.f` (per direction q − 1 messages forth of 5 × 5 + 5 values, and q − 1 back of
 * 5 values, for MAX_CELL_DIM² lines), `set_constants.f` and `bt.f` (classes). examples/nas-bt has the same structure.
 */
import { DOUBLE, type Act, type Pattern } from './pattern.ts';

/** Points along a side, and time steps. */
export const BT_CLASSES = {
  S: { points: 12, steps: 60 },
  W: { points: 24, steps: 200 },
  A: { points: 64, steps: 200 },
  B: { points: 102, steps: 200 },
  C: { points: 162, steps: 200 },
} as const;
export type BtClass = keyof typeof BT_CLASSES;

/** Values at a point. */
const VALUES = 5;
/** Planes that neighbours see of each other. */
const GHOST = 2;
/**
 * Shares of a step's operations, of the loops of NPB's BT: right-hand side, three directions (of each nearly all
 * forth), addition. Guesses: only the length of the longest stretch without an MPI call depends on them.
 */
export const BT_SHARES = { rhs: 0.22, forth: 0.23, back: 0.02, add: 0.03 };

/** Operations of a step of the whole job (`bt.f`). */
export const btOperations = (points: number): number => 3478.8 * points ** 3 - 17655.7 * points ** 2 + 28023.7 * points;

/** Bytes of the messages of one rank: borders, by direction and side (0 = towards lower coordinates); sweeps. */
export function btBytes(points: number, q: number, rank: number): { borders: number[][]; forth: number; back: number } {
  const size = (i: number): number => Math.floor(points / q) + (i < points % q ? 1 : 0);
  const wrap = (i: number): number => ((i % q) + q) % q;
  const cells = Array.from({ length: q }, (_, k) => [wrap((rank % q) + k), wrap(Math.floor(rank / q) - k), k]);
  const borders = [0, 1, 2].map((d) =>
    [0, 1].map((upper) => {
      let bytes = 0;
      for (const c of cells) {
        if (c[d] === (upper ? q - 1 : 0)) continue;
        const [a, b] = [0, 1, 2].filter((o) => o !== d) as [number, number];
        bytes += GHOST * size(c[a]!) * size(c[b]!) * VALUES * DOUBLE;
      }
      return bytes;
    }),
  );
  const lines = (Math.floor(points / q) + 1) ** 2;
  return { borders, forth: lines * VALUES * (VALUES + 1) * DOUBLE, back: lines * VALUES * DOUBLE };
}

/** Neighbours of a rank, by direction: before and after it (`make_set.f`). */
export function btNeighbours(q: number, rank: number): { before: number; after: number }[] {
  const [i, j] = [rank % q, Math.floor(rank / q)];
  const at = (x: number, y: number): number => ((x + q) % q) + q * ((y + q) % q);
  return [
    { before: at(i - 1, j), after: at(i + 1, j) },
    { before: at(i, j - 1), after: at(i, j + 1) },
    { before: at(i + 1, j - 1), after: at(i - 1, j + 1) },
  ];
}

export function nasBt(cls: BtClass, ranks: number): Pattern {
  const q = Math.round(Math.sqrt(ranks));
  if (q * q !== ranks) throw new RangeError(`BT runs on a square number of ranks, not on ${ranks}`);
  const { points, steps } = BT_CLASSES[cls];
  const mine = btOperations(points) / ranks;
  const compute = (share: number): Act => ({ kind: 'compute', operations: mine * share });
  const step = (rank: number): Act[] => {
    if (q === 1) return [compute(1)];
    const acts: Act[] = [];
    const { borders, forth, back } = btBytes(points, q, rank);
    const neighbours = btNeighbours(q, rank);
    neighbours.forEach(({ before, after }, d) => {
      acts.push({ kind: 'send', to: before, bytes: borders[d]![0]! });
      acts.push({ kind: 'send', to: after, bytes: borders[d]![1]! });
    });
    for (const { before, after } of neighbours)
      acts.push({ kind: 'receive', from: before }, { kind: 'receive', from: after });
    acts.push(compute(BT_SHARES.rhs));
    for (const { before, after } of neighbours) {
      for (let stage = 0; stage < q; stage++) {
        if (stage > 0) acts.push({ kind: 'receive', from: before });
        acts.push(compute(BT_SHARES.forth / q));
        if (stage < q - 1) acts.push({ kind: 'send', to: after, bytes: forth });
      }
      for (let stage = q - 1; stage >= 0; stage--) {
        if (stage < q - 1) acts.push({ kind: 'receive', from: after });
        acts.push(compute(BT_SHARES.back / q));
        if (stage > 0) acts.push({ kind: 'send', to: before, bytes: back });
      }
    }
    acts.push(compute(BT_SHARES.add));
    return acts;
  };
  return { name: `BT.${cls}`, ranks, steps, step };
}
