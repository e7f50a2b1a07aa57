/**
 * NAS CG as a pattern: who sends how much to whom in one of its outer iterations. The matrix lies on a grid of ranks.
 *
 * Source: D. Bailey et al., The NAS Parallel Benchmarks 2.0, NAS-95-020, and the code of NPB 2.3, CG, `cg.f`:
 * `setup_proc_info` (the grid), `setup_submatrix_info` (partners and lengths of the sum along a row, and the exchange
 * with the transposed rank), `conj_grad` (25 inner iterations of a product and two sums of one number, then a product
 * and a sum), the main loop (a sum of two numbers). examples/nas-cg has the same structure.
 */
import { DOUBLE, type Act, type Pattern } from './pattern.ts';

/** Order of the matrix, parameter of its random rows, outer iterations. */
export const CG_CLASSES = {
  S: { order: 1400, nonzeros: 7, steps: 15 },
  W: { order: 7000, nonzeros: 8, steps: 15 },
  A: { order: 14000, nonzeros: 11, steps: 15 },
  B: { order: 75000, nonzeros: 13, steps: 75 },
  C: { order: 150000, nonzeros: 15, steps: 75 },
} as const;
export type CgClass = keyof typeof CG_CLASSES;

/** Inner iterations. */
const INNER = 25;

/** Operations of an outer iteration of the whole job (`cg.f`). */
export function cgOperations(order: number, nonzeros: number): number {
  const row = nonzeros * (nonzeros + 1);
  return 2 * order * (3 + row + INNER * (5 + row) + 3);
}

/** The grid, and the rank's partners: of each stage of a sum along its row, and transposed. */
export function cgGrid(ranks: number, rank: number) {
  let columns = 1;
  let rows = 1;
  while (rows * columns < ranks)
    if (columns === rows) columns *= 2;
    else rows *= 2;
  const [row, column] = [Math.floor(rank / columns), rank % columns];
  const along: number[] = [];
  for (let factor = columns; factor > 1; factor /= 2)
    along.push(row * columns + ((column + factor / 2) % factor) + Math.floor(column / factor) * factor);
  const per = columns / rows;
  const half = Math.floor(rank / per);
  const transposed = per * ((half % rows) * rows + Math.floor(half / rows)) + (rank % per);
  return { rows, columns, along, transposed };
}

export function nasCg(cls: CgClass, ranks: number): Pattern {
  if (ranks < 1 || (ranks & (ranks - 1)) !== 0)
    throw new RangeError(`CG runs on a power of two of ranks, not on ${ranks}`);
  const { order, nonzeros, steps } = CG_CLASSES[cls];
  const mine = cgOperations(order, nonzeros) / ranks;
  const step = (rank: number): Act[] => {
    const { rows, columns, along, transposed } = cgGrid(ranks, rank);
    const acts: Act[] = [];
    const exchange = (with_: number, bytes: number): void => {
      acts.push({ kind: 'send', to: with_, bytes }, { kind: 'receive', from: with_ });
    };
    const sum = (numbers: number): void => {
      for (const peer of along) exchange(peer, numbers * DOUBLE);
    };
    // Nearly all operations are those of the products.
    const products = INNER + 1;
    const length = Math.floor(order / rows);
    const product = (): void => {
      acts.push({ kind: 'compute', operations: mine / products });
      // Twice as many columns as rows: half of the segment is enough.
      const part = columns === rows ? length : Math.floor((length + 1) / 2);
      for (const peer of along) exchange(peer, part * DOUBLE);
      if (along.length > 0 && transposed !== rank) exchange(transposed, part * DOUBLE);
    };
    sum(1);
    for (let i = 0; i < INNER; i++) {
      product();
      sum(1);
      sum(1);
    }
    product();
    sum(1);
    sum(2);
    return acts;
  };
  return { name: `CG.${cls}`, ranks, steps, step };
}
