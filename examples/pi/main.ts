/**
 * π = ∫₀¹ 4 / (1 + x²) dx by the midpoint rule. The intervals are dealt out in rounds; in each, every rank sums its
 * share, and the shares are reduced to rank 0.
 *
 *   --intervals 100000000
 *   --rounds 100
 */
import { COMM_WORLD as comm, SUM, args, checkpoint, exit } from 'mayfly';

const option = (name: string, otherwise: number): number => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(args[at + 1]);
};
const intervals = option('intervals', 1e8);
const rounds = option('rounds', 100);

/** Sum of 4 / (1 + x²) over the midpoints of intervals from … to−1. */
function midpoints(from: number, to: number): number {
  const h = 1 / intervals;
  let sum = 0;
  for (let i = from; i < to; i++) {
    const x = h * (i + 0.5);
    sum += 4 / (1 + x * x);
  }
  return sum;
}

const { rank, size } = comm;
const shares = rounds * size;
const state = { round: 0, sum: 0 };
checkpoint.register('state', state);
if (checkpoint.open().restarted) checkpoint.rollback('state');

for (; state.round < rounds; state.round++) {
  checkpoint.here();
  comm.progress(state.round, rounds);
  const share = state.round * size + rank;
  const mine = midpoints(Math.floor((share * intervals) / shares), Math.floor(((share + 1) * intervals) / shares));
  const all = comm.reduce(mine, SUM, 0);
  if (all !== undefined) {
    state.sum += all;
    if ((state.round + 1) % Math.ceil(rounds / 10) === 0)
      console.log(`round ${state.round + 1} of ${rounds}: integral so far ${(state.sum / intervals).toFixed(12)}`);
  }
}

if (rank === 0) {
  const pi = state.sum / intervals;
  const error = Math.abs(pi - Math.PI);
  // The rule is off by h² / 12 · (f′(0) − f′(1)) / 2 = 1 / (12 n²); the rest is rounding.
  const allowed = 1 / (6 * intervals ** 2) + 1e-11;
  console.log(`pi is ${pi}, off by ${error.toExponential(3)}`);
  console.log(`${error <= allowed ? 'PASS' : 'FAIL'}: ${allowed.toExponential(3)} is allowed`);
  if (error > allowed) exit(1);
}
