/**
 * One experiment of the paper: PCG with checkpoints, losses and recovery, with the real codes. Processes are blocks of
 * one thread, so times are those of one thread for all of them, by the clock, without a network.
 */
import { ErasureCode, RealCode, gaussian } from '@mayfly/checkpoint/codes';
import { Pcg, poisson, type Matrix } from './pcg.ts';

/** A problem of the paper's Table 1. */
export interface Problem {
  readonly name: string;
  readonly unknowns: number;
  readonly processes: number;
}

/** "We ran PCG for 2000 iterations and checkpoint every 100 iterations", a loss "at the 1000-th" (section 5). */
export interface Plan {
  readonly iterations: number;
  readonly every: number;
  readonly lossAt: number;
}
export const PAPER_PLAN: Plan = { iterations: 2000, every: 100, lossAt: 1000 };

export const CODES = ['gf', 'real'] as const;
export type CodeName = (typeof CODES)[number];

export interface Recovered {
  readonly code: CodeName;
  readonly losses: number;
  /** ‖b − A x‖ at the end. */
  readonly residual: number;
  /** Whether all bits of the answer are those without losses. */
  readonly identical: boolean;
  /** Time of encoding once and decoding, ms. */
  readonly decodeMs: number;
}

export interface Result {
  readonly problem: Problem;
  readonly residual: number;
  /** Time of all iterations without checkpoints, ms. */
  readonly pcgMs: number;
  /** Time of all checkpoints with 1, 2, … checksums, ms: copies, then encoding. */
  readonly checkpointMs: Record<CodeName, readonly number[]>;
  readonly recovered: readonly Recovered[];
}

const bytesOf = (a: Float64Array): Uint8Array => new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
const numbersOf = (a: Uint8Array): Float64Array => new Float64Array(a.buffer, a.byteOffset, a.byteLength / 8);
const same = (a: Float64Array, b: Float64Array): boolean => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

/** Which k of all n + k processes are lost, holders of checksums included; by a seed. */
export function lostOf(n: number, k: number, seed: number): number[] {
  const lost = new Set<number>();
  for (let state = seed * 7919 + k; lost.size < k;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    lost.add((state >>> 8) % (n + k));
  }
  return [...lost].sort((a, b) => a - b);
}

/** Loses processes and makes their checkpoints again; the other checkpoints stay as they are. */
export function recover(
  code: CodeName,
  checkpoints: readonly Float64Array[],
  lost: readonly number[],
  c: number,
  seed: number,
): Float64Array[] {
  const n = checkpoints.length;
  const sums = Array.from({ length: c }, () => new Float64Array(checkpoints[0]!.length));
  const out: Float64Array[] = checkpoints.map((a) => a.slice());
  const lostMembers = lost.filter((s) => s < n);
  for (const s of lostMembers) out[s]!.fill(Number.NaN);
  if (code === 'real') {
    const by = new RealCode(gaussian(c, n, seed));
    by.encode(checkpoints, sums);
    const left = <T>(all: readonly T[], from: number): Map<number, T> =>
      new Map([...all.entries()].filter(([i]) => !lost.includes(from + i)));
    for (const [s, numbers] of by.decode(left(checkpoints, 0), left(sums, n))) out[s] = numbers;
    return out;
  }
  const by = new ErasureCode(n, c);
  by.encode(checkpoints.map(bytesOf), sums.map(bytesOf));
  const shares = new Map(
    [...checkpoints, ...sums].map((a, s) => [s, bytesOf(a)] as const).filter(([s]) => !lost.includes(s)),
  );
  const made = lostMembers.map((s) => bytesOf(out[s]!));
  by.decode(by.recovery([...shares.keys()], lostMembers), shares, made);
  for (const [i, s] of lostMembers.entries()) out[s] = numbersOf(made[i]!);
  return out;
}

/** Median of three. */
function clocked(run: () => void): number {
  const took = [0, 1, 2].map(() => {
    const began = performance.now();
    run();
    return performance.now() - began;
  });
  return took.sort((a, b) => a - b)[1]!;
}

/** The time of encoding alone, with c checksums, for one checkpoint. */
function encodeMs(code: CodeName, pcg: Pcg, c: number): number {
  const checkpoints = pcg.checkpoint();
  const sums = Array.from({ length: c }, () => new Float64Array(checkpoints[0]!.length));
  const n = checkpoints.length;
  const encode =
    code === 'real'
      ? (
          (by) => () =>
            by.encode(pcg.checkpoint(), sums)
        )(new RealCode(gaussian(c, n, 1)))
      : (
          (by) => () =>
            by.encode(pcg.checkpoint().map(bytesOf), sums.map(bytesOf))
        )(new ErasureCode(n, c));
  encode();
  return clocked(encode);
}

/** @param most losses: 1 … most, with as many checksums */
export function experiment(
  problem: Problem,
  plan: Plan,
  most: number,
  seed: number,
  matrix: Matrix = matrixOf(problem),
): Result {
  const undisturbed = new Pcg(matrix, problem.processes);
  const began = performance.now();
  undisturbed.until(plan.lossAt - plan.every);
  // A loss in iteration `lossAt`, before its checkpoint: back to the one before.
  const checkpoints = undisturbed.checkpoint();
  undisturbed.until(plan.iterations);
  const pcgMs = performance.now() - began;
  const answer = undisturbed.solution();
  const losses = Array.from({ length: most }, (_, k) => k + 1);
  const recovered = CODES.flatMap((code) =>
    losses.map((k): Recovered => {
      const lost = lostOf(problem.processes, k, seed);
      const survivor = checkpoints.findIndex((_, s) => !lost.includes(s));
      const start = performance.now();
      const back = recover(code, checkpoints, lost, k, seed);
      const decodeMs = performance.now() - start;
      const pcg = new Pcg(matrix, problem.processes);
      pcg.restore(back, survivor);
      // The same data lead to the same bits: the rest of the run is a function of them.
      if (back.every((a, s) => same(a, checkpoints[s]!)) && code === 'gf' && problem.unknowns > WHOLE)
        return { code, losses: k, residual: undisturbed.residual(), identical: true, decodeMs };
      pcg.until(plan.iterations);
      return { code, losses: k, residual: pcg.residual(), identical: same(pcg.solution(), answer), decodeMs };
    }),
  );
  const times = plan.iterations / plan.every;
  const checkpointMs = Object.fromEntries(
    CODES.map((code) => [code, losses.map((c) => times * encodeMs(code, undisturbed, c))]),
  ) as Record<CodeName, number[]>;
  return { problem, residual: undisturbed.residual(), pcgMs, checkpointMs, recovered };
}

/** Up to so many unknowns, the rest of the run is computed again also where all checkpoints came back bit by bit. */
const WHOLE = 25_000;

/** A strip so long that 2000 iterations leave a residual between 10⁻⁸ and 10⁻³, as the paper's problems do. */
export const matrixOf = (p: Problem): Matrix => poisson(p.unknowns, Math.max(2, Math.round(p.unknowns / LENGTH)));
const LENGTH = 1300;
