/**
 * Conjugate gradients with Jacobi's preconditioner, on a real matrix (Hestenes and Stiefel 1952; Saad, "Iterative
 * Methods for Sparse Linear Systems", algorithm 9.1). The rows are shared out in blocks; a step takes one product with
 * the matrix and two sums over all ranks.
 *
 *   --matrix 1138_bus.mtx   Matrix Market file of a symmetric positive definite matrix
 *   --poisson k             instead of a file: the 5-point Laplacian on k × k points
 *   --tolerance 1e-8        stops when ‖r‖ ≤ tolerance · ‖b‖
 *   --repeat 1              solves this many systems, one after the other (b = 1 first)
 *   --limit 20000           most steps for one system
 */
import { COMM_WORLD as comm, SUM, args, checkpoint, exit, files, wtime } from 'mayfly';
import { DistributedMatrix } from './distributed.ts';
import { parseMatrixMarket, poisson } from './matrix.ts';

const option = (name: string, otherwise: string): string => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? otherwise : args[at + 1]!;
};
const side = Number(option('poisson', '0'));
const file = option('matrix', '1138_bus.mtx');
const tolerance = Number(option('tolerance', '1e-8'));
const repeat = Number(option('repeat', '1'));
const limit = Number(option('limit', '20000'));

const a = new DistributedMatrix(comm, side > 0 ? poisson(side) : parseMatrixMarket(files.readText(file)));
const { rows, first, diagonal } = a;

// ── Vectors: every rank holds its block ──

const x = new Float64Array(rows); // the solution
const r = new Float64Array(rows); // the residual b − A x
const p = new Float64Array(rows); // the direction of search
const z = new Float64Array(rows); // the preconditioned residual
const q = new Float64Array(rows); // A p

/** Scalar product over all ranks. The reduction's order is fixed, so its bits are too. */
function dot(u: Float64Array, v: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < u.length; i++) sum += u[i]! * v[i]!;
  return comm.allreduce(sum, SUM);
}

/** Right-hand side of system k: ones for the first, then ones with a pattern on top. */
const rightHandSide = (k: number, i: number): number => 1 + (k === 0 ? 0 : ((i * (k + 2)) % 11) / 11);

// ── The state that a checkpoint keeps; z and q are computed anew in every step ──

const state = { system: 0, step: -1, rz: 0, residual: 0, norm: 0, failures: 0 };
checkpoint.register('x', x);
checkpoint.register('r', r);
checkpoint.register('p', p);
checkpoint.register('state', state);

if (comm.rank === 0)
  console.log(`${side > 0 ? `Poisson ${side} × ${side}` : file}: ${a.n} unknowns on ${comm.size} ranks`);
if (checkpoint.open().restarted) for (const tag of ['x', 'r', 'p', 'state']) checkpoint.rollback(tag);

for (; state.system < repeat; state.system++) {
  if (state.step < 0) begin();
  const started = wtime();
  while (state.residual > tolerance * state.norm && state.step < limit) {
    checkpoint.here();
    comm.progress(state.system + solved(), repeat);
    step();
  }
  finish();
  if (comm.rank === 0)
    console.error(`system ${state.system + 1}: ${(wtime() - started).toFixed(2)} s since its start or restart`);
  state.step = -1;
}

if (comm.rank === 0) {
  console.log(
    state.failures === 0
      ? `PASS: ${repeat} of ${repeat} systems solved to ‖b − A x‖ ≤ ${10 * tolerance} ‖b‖`
      : `FAIL: ${state.failures} of ${repeat} systems not solved`,
  );
  if (state.failures > 0) exit(1);
}

/** From x = 0: r = b, z = r / diag A, p = z. */
function begin(): void {
  x.fill(0);
  for (let i = 0; i < rows; i++) r[i] = rightHandSide(state.system, first + i);
  precondition();
  p.set(z);
  state.rz = dot(r, z);
  state.norm = state.residual = Math.sqrt(dot(r, r));
  state.step = 0;
}

/** The residual falls by orders of magnitude, not steadily: the share of those that it has to. */
function solved(): number {
  const orders = Math.log(state.norm / state.residual) / Math.log(1 / tolerance);
  return Math.min(1, Math.max(0, orders));
}

function precondition(): void {
  for (let i = 0; i < rows; i++) z[i] = r[i]! / diagonal[i]!;
}

function step(): void {
  a.multiply(p, q);
  const alpha = state.rz / dot(p, q);
  for (let i = 0; i < rows; i++) {
    x[i]! += alpha * p[i]!;
    r[i]! -= alpha * q[i]!;
  }
  precondition();
  // Both sums in one message.
  const sums = new Float64Array(2);
  for (let i = 0; i < rows; i++) {
    sums[0]! += r[i]! * z[i]!;
    sums[1]! += r[i]! * r[i]!;
  }
  const all = new Float64Array(2);
  comm.allreduce(sums, all, SUM);
  const beta = all[0]! / state.rz;
  for (let i = 0; i < rows; i++) p[i] = z[i]! + beta * p[i]!;
  state.rz = all[0]!;
  state.residual = Math.sqrt(all[1]!);
  state.step++;
}

/** Computes the residual from scratch, writes the solution, and prints what came out. */
function finish(): void {
  a.multiply(x, q);
  let sum = 0;
  for (let i = 0; i < rows; i++) sum += (rightHandSide(state.system, first + i) - q[i]!) ** 2;
  const residual = Math.sqrt(comm.allreduce(sum, SUM)) / state.norm;
  // Each rank writes its block of the result.
  files.writeAt(`x${state.system + 1}.bin`, first * 8, new Uint8Array(x.buffer));
  const whole = comm.rank === 0 ? new Float64Array(a.n) : null;
  const counts = a.bounds.slice(1).map((end, k) => end - a.bounds[k]!);
  comm.gatherv(x, whole === null ? null : { data: whole, counts });
  if (residual > 10 * tolerance) state.failures++;
  if (whole !== null)
    console.log(
      `system ${state.system + 1}: ${state.step} iterations, residual ${residual.toExponential(6)}, solution ` +
        `${hashOf(whole)}`,
    );
}

/** FNV-1a over the bits of the numbers, 2 × 32 bits. */
function hashOf(numbers: Float64Array): string {
  const words = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length * 2);
  let a = 0x811c9dc5;
  let b = 0x050c5d1f;
  for (let i = 0; i < words.length; i += 2) {
    a = Math.imul(a ^ words[i]!, 0x01000193);
    b = Math.imul(b ^ words[i + 1]! ^ (a >>> 15), 0x01000193);
  }
  return [a, b].map((h) => (h >>> 0).toString(16).padStart(8, '0')).join('');
}
