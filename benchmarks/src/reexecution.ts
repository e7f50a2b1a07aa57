/**
 * Replay against first execution (paper: Figure 8): an asynchronous token ring on 8 nodes; at its end 1 … 8 ranks are
 * taken down at once and repeat it from the beginning out of the Channel Memory's log. "The re-execution is faster than
 * the original execution even when all nodes of the application restart." Goal: that sentence.
 */
import { draw } from './chart.ts';
import { MayflySide } from './mayfly-side.ts';
import { quick, usually } from './short.ts';
import { bytes, mean, ms, print, times } from './table.ts';
import type { RingPlan } from './contention.ts';

const RANKS = usually(8, 2);
const RESTARTS = usually([1, 2, 4, 8], [1, 2]);
const ALL_SIZES: RingPlan[] = [
  { size: 64, window: 1, reps: 600, batches: 1 },
  { size: 16 << 10, window: 1, reps: 300, batches: 1 },
  { size: 64 << 10, window: 1, reps: 150, batches: 1 },
];
const SIZES = usually(ALL_SIZES, ALL_SIZES.slice(0, 1));

async function one(plan: RingPlan): Promise<{ firstMs: number; replayMs: Map<number, number> }> {
  const side = await MayflySide.start();
  try {
    await side.headless(RANKS, 1);
    const id = await side.submit('token-ring', RANKS, [JSON.stringify([plan]), '--hold'], { interactive: true });
    const last = `ring-${RANKS - 1}.json`;
    await side.until(
      id,
      'the end of the ring',
      (j) => j.outputs.length === RANKS && j.outputs.some((o) => o.path === last),
    );
    const runs = await Promise.all(
      Array.from(
        { length: RANKS },
        async (_, r) => JSON.parse(await side.text(`/api/jobs/${id}/files/ring-${r}.json`)) as number[][],
      ),
    );
    // The warm-up batch is replayed as well.
    const firstMs = (mean(runs.map((r) => r[0]![0]!)) * plan.reps * (plan.batches + 1)) / 1000;
    const replayMs = new Map<number, number>();
    for (const restarts of RESTARTS) {
      const before = (await side.job(id)).faults.length;
      await Promise.all(Array.from({ length: restarts }, (_, task) => side.post(`/api/jobs/${id}/tasks/${task}/kill`)));
      const view = await side.until(
        id,
        'the replay',
        (j) => j.faults.length >= before + restarts && j.faults.every((f) => f.recoveredAfterMs !== undefined),
      );
      // From its rank's start to its first new step: without detection, fencing, fetching the program and starting a
      // thread.
      replayMs.set(restarts, mean(view.faults.slice(before).map((f) => f.recoveredAfterMs! - f.startedAfterMs!)));
    }
    await side.post(`/api/jobs/${id}/stdin?end=1`);
    await side.done(id);
    return { firstMs, replayMs };
  } finally {
    await side.stop();
  }
}

export async function reexecution(): Promise<boolean> {
  const results: { plan: RingPlan; firstMs: number; replayMs: Map<number, number> }[] = [];
  for (const plan of SIZES) results.push({ plan, ...(await one(plan)) });
  console.log(`\nreplay of a token ring by 1 … ${RANKS} of its ${RANKS} ranks, against its first execution`);
  print(
    ['message', 'first execution', ...RESTARTS.map((n) => `${n} restarted`)],
    results.map((r) => [
      `${bytes(r.plan.size)} × ${r.plan.reps * (r.plan.batches + 1)}`,
      ms(r.firstMs),
      ...RESTARTS.map((n) => `${ms(r.replayMs.get(n)!)} (${times(r.replayMs.get(n)! / r.firstMs)})`),
    ]),
  );
  await draw('reexecution', {
    title: 'Replay of a token ring on 8 nodes, as a share of its first execution',
    x: { label: 'ranks restarted at once' },
    y: { label: 'replay / first execution' },
    series: results.map((r) => ({
      name: bytes(r.plan.size),
      points: RESTARTS.map((n) => [n, r.replayMs.get(n)! / r.firstMs] as const),
    })),
    goal: { y: 1, label: 'first execution' },
  });
  console.log(
    '\nNot measured: several machines (all ranks share two cores with the server), tabs. The benchmark ' +
      '`recovery` measures the time before the replay.',
  );
  return quick(results.every((r) => [...r.replayMs.values()].every((v) => v < r.firstMs)));
}
