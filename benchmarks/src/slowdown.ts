/**
 * What checkpoints cost a run without faults (paper: Figure 10, and the overheads of §4.4).
 *
 * `slowdown`: heat on 4 ranks with 0 … 8 checkpoints per process; each is asked for at a drawn share of the run. The
 * paper kept 94 % of the performance with four per process; goal 98 %.
 * `overhead`: `pessimistic` with checkpoints against `none`, heat and conjugate gradients with one every 5 s, NAS BT
 * (class A, MAYFLY_BT_CLASS) with one every 30 s (MAYFLY_BT_CHECKPOINT_MS); goal below 5 %, by the clock and by
 * processor time. MAYFLY_OVERHEAD=heat,cg,bt, MAYFLY_BT_ROUNDS and MAYFLY_BT_RANKS (4) choose.
 * MAYFLY_OVERHEAD_PROTOCOL=vcl measures another protocol, on BT alone: the other two are in TypeScript. Runs alternate,
 * medians are compared; the exit code allows twice the goal's loss.
 */
import { submitBt } from './bt-faults.ts';
import { draw, type BarChart } from './chart.ts';
import { MayflySide, spent } from './mayfly-side.ts';
import { quick, usually } from './short.ts';
import { median, ms, percent, print } from './table.ts';
import type { JobOptions, ProtocolName } from '@mayfly/wire';

const RANKS = 4;
const HEAT = ['--points', usually('1022', '126'), '--steps', usually('2500', '200'), '--pictures', '0'];
const CHECKPOINTS = usually([0, 1, 2, 4, 8], [0, 4]);
const ROUNDS = usually(3, 1);
const PROTOCOL = (process.env['MAYFLY_OVERHEAD_PROTOCOL'] ?? 'pessimistic') as ProtocolName;
const LOGGING = PROTOCOL === 'pessimistic';
const OVERHEAD = (process.env['MAYFLY_OVERHEAD'] ?? (LOGGING ? 'heat,cg,bt' : 'bt')).split(',');
const BT_RANKS = Number(process.env['MAYFLY_BT_RANKS'] ?? RANKS);
const BT_CLASS = process.env['MAYFLY_BT_CLASS'] ?? usually('A', 'S');
const BT_CHECKPOINT_MS = Number(process.env['MAYFLY_BT_CHECKPOINT_MS'] ?? 30_000);
const BT_ROUNDS = Number(process.env['MAYFLY_BT_ROUNDS'] ?? usually(2, 1));
const NEVER: JobOptions = { checkpointMs: 86_400_000 };

/** One run; `moments`: shares of `usualMs` at which each rank is asked for a checkpoint. Returns its time in ms. */
async function timed(
  side: MayflySide,
  name: string,
  args: string[],
  options: JobOptions,
  moments: number[][] = [],
  usualMs = 0,
): Promise<number> {
  const id = await side.submit(name, RANKS, args, options);
  const t0 = performance.now();
  const asked = moments
    .flatMap((m, task) => m.map((share) => ({ task, at: share * usualMs })))
    .sort((a, b) => a.at - b.at);
  for (const { task, at } of asked) {
    await new Promise((r) => setTimeout(r, Math.max(0, t0 + at - performance.now())));
    await side.post(`/api/jobs/${id}/tasks/${task}/checkpoint`);
  }
  const view = await side.done(id);
  const wanted = moments.reduce((n, m) => n + m.length, 0);
  const got = view.tasks.reduce((n, t) => n + t.images, 0);
  if (got < wanted) console.log(`  (${name}: ${got} of ${wanted} checkpoints happened during the run)`);
  return view.endedAt! - view.startedAt!;
}

/** A seeded draw, so that every run of the benchmark asks at the same shares. */
function draws(count: number, seed: number): number[] {
  let x = 1 + seed * 48271;
  return Array.from({ length: count }, () => 0.05 + (0.75 * (x = (x * 48271) % 2147483647)) / 2147483647);
}

export async function slowdown(): Promise<boolean> {
  const side = await MayflySide.start();
  try {
    await side.headless(RANKS, 1);
    const usual = await timed(side, 'heat', HEAT, NEVER);
    const runs = new Map<number, number[]>(CHECKPOINTS.map((n) => [n, []]));
    for (let round = 0; round < ROUNDS; round++)
      for (const n of CHECKPOINTS)
        runs.get(n)!.push(
          await timed(
            side,
            'heat',
            HEAT,
            NEVER,
            Array.from({ length: n === 0 ? 0 : RANKS }, (_, task) => draws(n, 10 * round + task)),
            usual,
          ),
        );
    const base = median(runs.get(0)!);
    const kept = CHECKPOINTS.map((n) => [n, base / median(runs.get(n)!)] as const);
    console.log(
      `\nheat on ${RANKS} headless nodes, 2 MB of registered data a rank, by checkpoints per process; median ` +
        `of ${ROUNDS}`,
    );
    print(
      ['checkpoints per process', 'time', 'performance kept'],
      kept.map(([n, k]) => [String(n), ms(median(runs.get(n)!)), percent(k)]),
    );
    await draw('slowdown', {
      title: 'Performance kept by checkpoints per process',
      x: { label: 'checkpoints per process' },
      y: { label: 'share of the undisturbed performance' },
      series: [{ name: 'heat, 4 ranks', points: kept }],
      goal: { y: 0.98, label: 'goal 98 %' },
    });
    console.log(
      '\nNot measured: several machines; nodes and server share two cores, so that hashing and storing an ' +
        'image takes time from the ranks.',
    );
    return quick(kept.find(([n]) => n === 4)![1] >= 0.96);
  } finally {
    await side.stop();
  }
}

interface Cost {
  took: number;
  server: number;
  nodes: number;
}

export async function overhead(): Promise<boolean> {
  const side = await MayflySide.start();
  try {
    await side.headless(Math.max(RANKS, BT_RANKS), 1);
    const rows: string[][] = [];
    const bars: BarChart['bars'] = [];
    let held = true;
    const script = (name: string, args: string[]) => ({
      name,
      checkpointMs: 5000,
      rounds: ROUNDS,
      run: (options: JobOptions, _warm: boolean) => timed(side, name, args, options),
    });
    const bt = async (options: JobOptions, warm = false): Promise<number> => {
      const done = await side.until(
        await submitBt(side, warm ? 'S' : BT_CLASS, BT_RANKS, options),
        'its end',
        (j) => j.state === 'done',
        100,
        1_800_000,
      );
      return done.endedAt! - done.startedAt!;
    };
    const programs = [
      script('heat', HEAT),
      script('cg', ['--matrix', usually('bcsstk26.mtx', '1138_bus.mtx'), '--repeat', usually('2', '1')]),
      { name: 'bt', checkpointMs: BT_CHECKPOINT_MS, rounds: BT_ROUNDS, run: bt },
    ];
    for (const { name, checkpointMs, rounds, run } of programs.filter((p) => OVERHEAD.includes(p.name))) {
      const title = name === 'bt' ? `BT ${BT_CLASS}` : name;
      const measured = async (options: JobOptions, warm: boolean): Promise<Cost> => {
        const before = await side.processor();
        const took = await run(options, warm);
        const after = await side.processor();
        const cost = { took, server: spent(before.server, after.server), nodes: spent(before.nodes, after.nodes) };
        process.stderr.write(
          `  ${title}${warm ? ', warming up' : ''}, ${options.protocol}: ${ms(took)}; processor: nodes ` +
            `${ms(cost.nodes)}, server ${ms(cost.server)}\n`,
        );
        return cost;
      };
      const [none, logged]: [Cost[], Cost[]] = [[], []];
      for (let round = 0; round <= rounds; round++) {
        const runs = [
          () => measured({ protocol: 'none' }, round === 0).then((c) => none.push(c)),
          () => measured({ protocol: PROTOCOL, checkpointMs }, round === 0).then((c) => logged.push(c)),
        ];
        // Who goes first changes: what grows from run to run would be counted against one of them.
        for (const go of round % 2 === 0 ? runs : runs.reverse()) await go();
        // Round 0 warms up.
        if (round === 0) none.length = logged.length = 0;
      }
      const middle = (of: (c: Cost) => number): [none: number, logged: number] => [
        median(none.map(of)),
        median(logged.map(of)),
      ];
      const [clock, nodes, server] = [middle((c) => c.took), middle((c) => c.nodes), middle((c) => c.server)];
      const all = middle((c) => c.nodes + c.server);
      const cost = clock[1] / clock[0] - 1;
      const pair = ([a, b]: [number, number]): string => `${ms(a)} → ${ms(b)}`;
      rows.push([
        title,
        `${checkpointMs / 1000} s`,
        pair(clock),
        `${percent(cost)}${cost > 0.05 ? ' over the goal' : ''}`,
        pair(nodes),
        pair(server),
        percent(all[1] / all[0] - 1),
      ]);
      bars.push({ name: `${title}, every ${checkpointMs / 1000} s`, values: [100 * Math.max(0, cost)] });
      if (cost > 0.1) held = false;
    }
    console.log(
      `\n'none' (a relay that keeps nothing) → '${PROTOCOL}' with checkpoints, ${RANKS} headless nodes (BT: ` +
        `${BT_RANKS}); median of ${ROUNDS}, of BT ${BT_ROUNDS}`,
    );
    print(
      [
        'program',
        'interval',
        'time',
        'overhead (goal 5 %)',
        'processor: nodes',
        'processor: server',
        'processor: overhead',
      ],
      rows,
    );
    await draw(LOGGING ? 'overhead' : `overhead-${PROTOCOL}`, {
      title: `What ${LOGGING ? 'logging and checkpoints cost' : `${PROTOCOL} costs`} a run without faults`,
      y: { label: '% of the time without them' },
      parts: [`${PROTOCOL} with checkpoints against none`],
      bars,
      goal: { y: 5, label: 'goal 5 %' },
    });
    console.log('\nNot measured: tabs, "strict", several machines.');
    return quick(held);
  } finally {
    await side.stop();
  }
}
