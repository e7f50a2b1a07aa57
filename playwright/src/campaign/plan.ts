/** Which faults meet which job, drawn from a seed: a pure function, so a seed repeats them. */
import { below, chance, shuffled } from '../chance.ts';
import { KINDS } from './kinds.ts';
import type { Workload } from './workloads.ts';

export interface PlannedFault {
  kind: string;
  /** The moment: when `task` has received and sent such a share of its messages in an undisturbed run. */
  task: number;
  share: number;
  /** Whom it meets: the node of the first of these ranks that sits where the kind can strike. */
  victims: number[];
}
export interface PlannedJob {
  /** Its place in the campaign. */
  index: number;
  workload: Workload;
  faults: PlannedFault[];
}

export interface PlanOptions {
  seed: number;
  kills: number;
  workloads: readonly Workload[];
  /** Faults per job. */
  perJob?: number;
  /** Only these kinds. */
  kinds?: readonly string[];
}

/** `n` kinds in proportion to their weights; each at least once where there is room. */
export function kindsFor(n: number, only?: readonly string[]): string[] {
  const kinds = only ? KINDS.filter((k) => only.includes(k.name)) : KINDS;
  const all = kinds.reduce((sum, k) => sum + k.weight, 0);
  const out: string[] = [];
  const debt = new Map(kinds.map((k) => [k, n >= kinds.length ? 1 : 0.5]));
  while (out.length < n) {
    // The one that is owed most. Once taken it owes a whole fault.
    for (const k of kinds) debt.set(k, debt.get(k)! + k.weight / all);
    const next = kinds.reduce((a, b) => (debt.get(b)! > debt.get(a)! ? b : a));
    debt.set(next, debt.get(next)! - 1);
    out.push(next.name);
  }
  return out;
}

/** `each` faults for every workload by itself, in jobs of its own. */
export function planEach({ kills: each, workloads, seed, ...rest }: PlanOptions): PlannedJob[] {
  const all = workloads.flatMap((w, i) => plan({ ...rest, seed: seed + 1000 * i, kills: each, workloads: [w] }));
  return all.map((job, index) => ({ ...job, index }));
}

export function plan({ seed, kills, workloads, perJob = 4, kinds }: PlanOptions): PlannedJob[] {
  const queue = shuffled(kindsFor(kills, kinds), chance(seed, 'kinds'));
  const jobs: PlannedJob[] = [];
  while (queue.length > 0) {
    const index = jobs.length;
    const workload = workloads[index % workloads.length]!;
    const draw = chance(seed, `job ${index}`);
    const count = Math.min(queue.length, perJob);
    const shares = Array.from({ length: count }, () => 0.02 + 0.8 * draw()).sort((a, b) => a - b);
    const ranks = Array.from({ length: workload.size }, (_, t) => t);
    jobs.push({ index, workload, faults: shares.map((share) => ({ kind: queue.shift()!, task: below(draw, workload.size), share, victims: shuffled(ranks, draw) })) });
  }
  return jobs;
}
