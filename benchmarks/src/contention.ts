/**
 * Many nodes on one Channel Memory (paper: Figures 6 and 7): an asynchronous token ring over n nodes, one rank each,
 * against the same ring over a bare `ws` relay without a log in the same run. Mean time of a step per rank, the spread
 * of those means over the ranks (the paper reports a standard deviation below 3 % and calls the protocol fair), and
 * messages per second.
 *
 * Goals: at least 0.5× of the relay's messages per second; spread below 3 %. Figure 6 varies the threads inside a
 * Channel Memory; ours is one event loop, so there is nothing to vary.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { draw } from './chart.ts';
import { lineOf, MayflySide } from './mayfly-side.ts';
import { quick, usually } from './short.ts';
import { bytes, deviation, mean, median, percent, print, times, us } from './table.ts';

export interface RingPlan {
  size: number;
  /** Messages in flight per rank. */
  window: number;
  reps: number;
  batches: number;
}

const HERE = dirname(fileURLToPath(import.meta.url));
const PLAN: RingPlan[] = [
  { size: 64, window: 1, reps: 100, batches: 3 },
  { size: 64, window: 32, reps: 30, batches: 3 },
  { size: 64 << 10, window: 1, reps: 30, batches: 3 },
  { size: 64 << 10, window: 8, reps: 8, batches: 3 },
];
const NODES = usually([2, 4, 8, 12], [2]);
const RATE_GOAL = 0.5;
const SPREAD_GOAL = 0.03;
const ROUNDS = usually(3, 1);

/** Microseconds per step: by plan entry, by rank. */
type Steps = number[][];
const stepsOf = (ranks: number[][][]): Steps => PLAN.map((_, p) => ranks.map((r) => mean(r[p]!)));

async function relayRing(nodes: number): Promise<Steps> {
  const self = join(HERE, 'relay-ring.js');
  const server = spawn(process.execPath, [self, 'serve'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  try {
    const port = await lineOf(server, (l) => l);
    const ends = Array.from({ length: nodes }, (_, i) =>
      spawn(
        process.execPath,
        [self, 'end', `ws://127.0.0.1:${port}/?ring=0&of=${nodes}&end=${i}`, JSON.stringify(PLAN)],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      ),
    );
    return stepsOf(
      await Promise.all(ends.map(async (e) => JSON.parse(await lineOf(e, (l) => l, 300_000)) as number[][])),
    );
  } finally {
    server.kill();
  }
}

async function mayflyRing(nodes: number): Promise<Steps> {
  const side = await MayflySide.start();
  try {
    await side.headless(nodes, 1);
    const id = await side.submit('token-ring', nodes, [JSON.stringify(PLAN)]);
    await side.done(id);
    return stepsOf(
      await Promise.all(
        Array.from(
          { length: nodes },
          async (_, i) => JSON.parse(await side.text(`/api/jobs/${id}/files/ring-${i}.json`)) as number[][],
        ),
      ),
    );
  } finally {
    await side.stop();
  }
}

export async function contention(): Promise<boolean> {
  const rows: string[][] = [];
  const curve: Record<'ours' | 'relay', Map<string, [number, number][]>> = { ours: new Map(), relay: new Map() };
  let held = true;
  for (const nodes of NODES) {
    const rounds: { ours: Steps; relay: Steps }[] = [];
    for (let r = 0; r < ROUNDS; r++) rounds.push({ relay: await relayRing(nodes), ours: await mayflyRing(nodes) });
    PLAN.forEach((p, i) => {
      const step = (who: 'ours' | 'relay'): number => median(rounds.map((r) => mean(r[who][i]!)));
      const [m, b] = [step('ours'), step('relay')];
      const spread = median(rounds.map((r) => deviation(r.ours[i]!)));
      const rate = (stepUs: number): number => (nodes * p.window * 1e6) / stepUs;
      rows.push([
        `${nodes} nodes, ${bytes(p.size)} × ${p.window}`,
        us(m),
        us(b),
        `${Math.round(rate(m))}/s`,
        `${Math.round(rate(b))}/s`,
        `${times(b / m)}${b / m < RATE_GOAL ? ' under the goal' : ''}`,
        `${percent(spread)}${spread > SPREAD_GOAL ? ' over the goal' : ''}`,
      ]);
      if (b / m < RATE_GOAL / 2) held = false;
      for (const [who, v] of [
        ['ours', m],
        ['relay', b],
      ] as const) {
        const name = `${bytes(p.size)} × ${p.window}`;
        curve[who].set(name, [...(curve[who].get(name) ?? []), [nodes, v / 1000]]);
      }
    });
  }
  console.log(
    `\ntoken ring over n headless nodes and one Channel Memory, against a bare relay; median of ${ROUNDS} rounds`,
  );
  print(
    [
      '',
      'step, mayfly',
      'step, relay',
      'messages, mayfly',
      'messages, relay',
      'ratio (goal 0.5×)',
      'spread over ranks (goal 3 %)',
    ],
    rows,
  );
  const shown = ['64 B × 1', '64 KB × 1'];
  await draw('contention', {
    title: 'Token ring: time of a step by number of nodes on one Channel Memory',
    x: { label: 'nodes' },
    y: { label: 'ms per step' },
    series: shown.flatMap((name) => [
      { name: `mayfly, ${name}`, points: curve.ours.get(name)! },
      { name: `bare relay, ${name}`, points: curve.relay.get(name)! },
    ]),
  });
  console.log(
    '\nNot measured: several machines (all nodes share two cores with the server, so the time of a step ' +
      'rises with their number), tabs, TLS, "strict".',
  );
  return quick(held);
}
