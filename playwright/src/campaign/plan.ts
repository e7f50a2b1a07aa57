/** Which faults meet which job, drawn from a seed: a pure function, so a seed repeats them. */
import { below, chance, shuffled, type Chance } from '../chance.ts';
import { kindOf, KINDS, type Kind } from './kinds.ts';
import type { Workload } from './workloads.ts';

export interface PlannedFault {
  kind: string;
  /** Whom it meets: the node of the first of these ranks that sits where the kind can strike. */
  victims: number[];
  /**
   * In a wave, how it follows the fault before it: as soon as that one has cost a rank (so into its recovery), or so
   * many ms later.
   */
  after: 'loss' | number;
}
/** Faults that overlap: only behind the last of them everybody must be back. */
export interface PlannedWave {
  /** The moment: when `task` has received and sent such a share of its messages in an undisturbed run. */
  task: number;
  share: number;
  faults: PlannedFault[];
}
export interface PlannedJob {
  /** Its place in the campaign. */
  index: number;
  workload: Workload;
  waves: PlannedWave[];
}

export interface PlanOptions {
  seed: number;
  kills: number;
  workloads: readonly Workload[];
  /** Faults per job. */
  perJob?: number;
  /** Waves of several faults; else each fault is a wave. */
  overlap?: boolean;
  /** Only these kinds. */
  kinds?: readonly string[];
  /** Several servers share a database: what hits them or it is drawn, too. */
  shared?: boolean;
}

/** `n` kinds in proportion to their weights; each at least once where there is room. */
export function kindsFor(n: number, only?: readonly string[], shared = false): string[] {
  const kinds = KINDS.filter((k) => (shared || !k.shared) && (only === undefined || only.includes(k.name)));
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

export const faultsOf = (job: PlannedJob): PlannedFault[] => job.waves.flatMap((w) => w.faults);

export function plan({
  seed,
  kills,
  workloads,
  perJob = 4,
  overlap = false,
  kinds,
  shared,
}: PlanOptions): PlannedJob[] {
  const queue = shuffled(kindsFor(kills, kinds, shared), chance(seed, 'kinds'));
  const jobs: PlannedJob[] = [];
  while (queue.length > 0) {
    const index = jobs.length;
    const workload = workloads[index % workloads.length]!;
    const draw = chance(seed, `job ${index}`);
    const grouped: string[][] = [];
    for (let left = Math.min(queue.length, perJob); left > 0; left -= grouped.at(-1)!.length)
      grouped.push(takeWave(queue, overlap ? left : 1, draw));
    const shares = grouped.map(() => 0.02 + 0.8 * draw()).sort((a, b) => a - b);
    const ranks = Array.from({ length: workload.size }, (_, t) => t);
    const waves = grouped.map((names, i) => ({
      task: below(draw, workload.size),
      share: shares[i]!,
      faults: names.map((kind) => ({
        kind,
        victims: shuffled(ranks, draw),
        after: draw() < 0.5 ? ('loss' as const) : Math.floor(draw() * draw() * 2000),
      })),
    }));
    jobs.push({ index, workload, waves });
  }
  return jobs;
}

const SIZES = [1, 2, 2, 3, 3, 4];

/**
 * The first kind of the queue, and others of it that can overlap with it: behind one that takes long more than behind
 * one that is over at once.
 */
function takeWave(queue: string[], most: number, draw: Chance): string[] {
  const wave = [queue.shift()!];
  const size = Math.min(most, kindOf(wave[0]!).lasts === 'long' ? 4 : SIZES[below(draw, SIZES.length)]!);
  while (wave.length < size) {
    const next = queue.findIndex((k) => overlaps(wave, k));
    if (next < 0) break;
    wave.push(...queue.splice(next, 1));
  }
  return wave;
}

/**
 * Whether a kind may follow these. What it would leave without meaning, or waiting for what cannot come, stays apart.
 */
function overlaps(wave: readonly string[], name: string): boolean {
  const all = [...wave, name].map(kindOf);
  const some = (holds: (k: Kind) => boolean): boolean => all.some(holds);
  // A server that is away answers nobody, and loads no page.
  if (
    some((k) => k.gone === 'server') &&
    (some((k) => k.asks === true) || all.filter((k) => k.gone === 'server').length > 1)
  )
    return false;
  // All nodes are killed: also those that were to come back.
  if (some((k) => k.gone === 'all') && (some((k) => k.lasts !== undefined) || name === 'everybody')) return false;
  // Two at a time that the server has to miss leave too few nodes for the others.
  return all.filter((k) => k.lasts === 'long').length <= 1;
}
