/**
 * What the sandbox of a headless node costs: round trips between two nodes and the time from submission to the end of a
 * job of one barrier, by `--sandbox`, in turn on one server. `none`: worker threads in the volunteer's own process.
 *
 * Goal: no round trip over 1.15× of that without. The exit code says whether the run stayed within twice the surplus
 * (the machine is noisy).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MayflySide } from './mayfly-side.ts';
import { SHORT, quick, usually } from './short.ts';
import { bytes, median, ms, print, times, us } from './table.ts';

const KINDS = ['none', 'process', 'bwrap'] as const;
const PLAN = [64, 1024, 64 << 10, 1 << 20].map((size) => ({
  size,
  reps: SHORT ? 2 : size <= 1024 ? 200 : size <= 64 << 10 ? 60 : 10,
  batches: 5,
}));
const ROUNDS = usually(5, 1);
const SLACK = 1.3;
/** The spare process is there by then. */
const WARM_MS = 1000;

interface Measured {
  trips: Map<number, number[]>;
  starts: number[];
}

export async function sandbox(): Promise<boolean> {
  const side = await MayflySide.start();
  const all = new Map<string, Measured>(
    KINDS.map((kind) => [kind, { trips: new Map(PLAN.map(({ size }) => [size, []])), starts: [] }]),
  );
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const kind of KINDS) {
        const { trips, starts } = all.get(kind)!;
        const nodes = await side.headless(2, 1, ['--sandbox', kind]);
        await sleep(WARM_MS);
        const began = performance.now();
        const id = await side.submitText('barrier', "import { COMM_WORLD as comm } from 'mayfly'; comm.barrier();", 2);
        await side.until(id, 'its end', (j) => j.state === 'done', 5);
        starts.push(performance.now() - began);
        const series = JSON.parse(await side.run('pingpong', 2, [JSON.stringify(PLAN)], 'series.json')) as {
          size: number;
          usPerRoundTrip: number[];
        }[];
        for (const s of series) trips.get(s.size)!.push(...s.usPerRoundTrip);
        await side.leave(nodes);
      }
  } finally {
    await side.stop();
  }
  const base = all.get('none')!;
  console.log(
    `\nround trips between two headless nodes by --sandbox, median of ${ROUNDS} × ${PLAN[0]!.batches} batches in turn`,
  );
  let held = true;
  const rows = PLAN.map(({ size }) => {
    const plain = median(base.trips.get(size)!);
    return [
      bytes(size),
      ...KINDS.map((kind) => {
        const ratio = median(all.get(kind)!.trips.get(size)!) / plain;
        if (ratio > SLACK) held = false;
        return kind === 'none' ? us(plain) : times(ratio);
      }),
    ];
  });
  print(
    ['size', ...KINDS],
    [...rows, ['a job of one barrier', ...KINDS.map((kind) => ms(median(all.get(kind)!.starts)))]],
  );
  console.log('  not measured: several ranks per node, memory (a spare process: docs/sandbox.md), other machines');
  return quick(held);
}
