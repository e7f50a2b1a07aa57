/**
 * The experiment of the MPICH-V paper's Figure 12: NAS BT on 9 ranks, each on a node of its own, with 0 … 10 nodes
 * killed at random moments that are spread over the run. The k-th of n faults falls at a drawn place of the k-th n-th
 * of all messages that the ranks receive; a fresh node takes the place of the dead one. The paper's time with 10 faults
 * was 1.8 times that without; goal 1.25.
 *
 * MAYFLY_BT_CLASS=S|W|A (default W), MAYFLY_BT_FAULTS=0,2,5,10, MAYFLY_BT_CALM=3 (runs without faults),
 * MAYFLY_BT_CHECKPOINT_MS and MAYFLY_BT_SEED choose. Does not measure tabs, or machines of their own: all nodes share
 * this one's processors, so a node that starts, compiles and replays takes time from those that compute.
 */
import { join } from 'node:path';
import { startHeadlessNode, type HeadlessNode } from '@mayfly/node/headless';
import type { JobOptions, JobView } from '@mayfly/wire';
import { draw } from './chart.ts';
import { MayflySide, ROOT } from './mayfly-side.ts';
import { quick, usually } from './short.ts';
import { median, ms, print, times } from './table.ts';

const RANKS = 9;
const CLASS = process.env['MAYFLY_BT_CLASS'] ?? usually('W', 'S');
const FAULTS = (process.env['MAYFLY_BT_FAULTS'] ?? usually('0,1,2,3,4,5,6,7,8,9,10', '0,1')).split(',').map(Number);
const SEED = Number(process.env['MAYFLY_BT_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const CHECKPOINT_MS = Number(process.env['MAYFLY_BT_CHECKPOINT_MS'] ?? 1000);
const GOAL = 1.25;
const FAULTFREE_RUNS = Number(process.env['MAYFLY_BT_CALM'] ?? usually(3, 1));

/** mulberry32 */
function random(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Submits NAS BT. Returns the job's id. */
export const submitBt = (side: MayflySide, nasClass: string, ranks: number, options: JobOptions): Promise<string> =>
  side.submitExample('nas-bt', ranks, [nasClass], { timeLimitMs: 3_600_000, ...options });

const arrivals = (j: JobView): number => j.tasks.reduce((n, t) => n + (t.activity?.arrivals ?? 0), 0);

class Experiment {
  private readonly nodes = new Map<string, HeadlessNode>();
  private count = 0;
  private constructor(private readonly side: MayflySide) {}

  static async start(): Promise<Experiment> {
    const e = new Experiment(await MayflySide.start());
    for (let i = 0; i < RANKS; i++) await e.join();
    return e;
  }
  private async join(): Promise<void> {
    const name = `bt${++this.count}`;
    this.nodes.set(
      name,
      await startHeadlessNode({
        server: this.side.url,
        slots: 1,
        name,
        workers: join(ROOT, 'packages/node/dist/headless'),
      }),
    );
  }
  async stop(): Promise<void> {
    await Promise.all([...this.nodes.values()].map((n) => n.close(0)));
    await this.side.stop();
  }

  /** Class A may take its time; the job's own limit of an hour ends what hangs. */
  private async until(id: string, holds: (j: JobView) => boolean): Promise<JobView> {
    for (;;) {
      const j = await this.side.job(id);
      if (holds(j)) return j;
      if (j.endedAt !== undefined) throw new Error(`${j.name} ended too early: ${JSON.stringify(j.error ?? j.state)}`);
      await new Promise((r) => setTimeout(r, 20));
    }
  }

  /** One run with faults after these numbers of arrivals. */
  async run(
    at: number[],
    next: () => number,
  ): Promise<{ took: number; arrivals: number; recoveries: number[]; stdout: string }> {
    const id = await submitBt(this.side, CLASS, RANKS, { checkpointMs: CHECKPOINT_MS });
    for (const wanted of at) {
      const job = await this.until(id, (j) => arrivals(j) >= wanted && j.tasks.every((t) => t.state === 'running'));
      const lost = job.tasks[Math.floor(next() * RANKS)]!.nodeName!;
      this.nodes.get(lost)!.kill();
      this.nodes.delete(lost);
      await this.join();
    }
    const job = await this.until(id, (j) => j.state === 'done');
    process.stderr.write(`  ${at.length} faults: ${ms(job.endedAt! - job.startedAt!)}\n`);
    if (job.faults.length !== at.length) throw new Error(`${job.faults.length} faults instead of ${at.length}`);
    return {
      took: job.endedAt! - job.startedAt!,
      arrivals: job.tasks.reduce((n, t) => n + t.messagesIn, 0),
      recoveries: job.faults.map((f) => f.recoveredAfterMs ?? Number.NaN),
      stdout: await this.side.text(`/api/jobs/${id}/tasks/0/stdout?from=0`),
    };
  }
}

export async function btFaults(): Promise<boolean> {
  console.log(
    `bt-faults: NAS BT class ${CLASS} on ${RANKS} nodes of one rank, images every ${CHECKPOINT_MS} ms, seed ${SEED}`,
  );
  const next = random(SEED);
  const experiment = await Experiment.start();
  try {
    // The first run also warms the compiler and the nodes' caches of the program.
    const warm = await experiment.run([], next);
    const calm: number[] = [];
    for (let i = 0; i < FAULTFREE_RUNS; i++) calm.push((await experiment.run([], next)).took);
    const base = median(calm);
    const points: [number, number][] = [];
    const rows: string[][] = [];
    let right = warm.stdout.includes('Verification SUCCESSFUL');
    for (const faults of FAULTS) {
      const at = Array.from({ length: faults }, (_, k) =>
        Math.floor(((k + 0.1 + 0.8 * next()) / faults) * 0.95 * warm.arrivals),
      );
      const run = faults === 0 ? { ...warm, took: base } : await experiment.run(at, next);
      right &&= run.stdout === warm.stdout;
      points.push([faults, run.took / base]);
      rows.push([
        String(faults),
        ms(run.took),
        times(run.took / base),
        faults === 0 ? '–' : ms(median(run.recoveries)),
        run.stdout === warm.stdout ? 'same' : 'DIFFERENT',
      ]);
    }
    print(['faults', 'time', 'slowdown', 'recovery, median', 'output'], rows);
    await draw('bt-faults', {
      title: `NAS BT class ${CLASS} on ${RANKS} nodes: slowdown by faults`,
      x: { label: 'faults during the run' },
      y: { label: 'time / time without faults' },
      series: [{ name: 'Mayfly', points }],
      goal: { y: GOAL, label: `goal with 10 faults: ${GOAL}` },
    });
    const worst = Math.max(...points.map(([, s]) => s));
    console.log(`  MPICH-V with 10 faults: 1.8; goal ${times(GOAL)}. All nodes share one machine.`);
    return right && quick(worst <= 2 * GOAL - 1);
  } finally {
    await experiment.stop();
  }
}
