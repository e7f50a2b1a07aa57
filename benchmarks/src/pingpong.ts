/**
 * Round trip by message size between two tabs and between two headless nodes, through the logging Channel Memory,
 * against a bare `ws` relay in the same run (paper: Figure 5, MPICH-V paid a factor of 2).
 *
 * Goals: at most 1.3× in round trip up to 16 KB, at least 0.95× in bandwidth from 256 KB on. The exit code says whether
 * the run stayed within twice those (the machine is noisy; a real regression is larger), the table says where it is.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openFileMessageLog } from '@mayfly/storage';
import { draw } from './chart.ts';
import { launchBrowser, lineOf, MayflySide } from './mayfly-side.ts';
import { END_SOURCE, type Series } from './relay-peer.ts';
import { ringRoundTrips } from './ring-stage.ts';
import { SHORT, quick, usually } from './short.ts';
import { bytes, median, us } from './table.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const PLAN = [64, 1024, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20].map((size) => ({
  size,
  reps: SHORT ? 2 : size <= 16 << 10 ? 100 : size <= 256 << 10 ? 20 : 4,
  batches: 5,
}));
const ROUNDS = usually(3, 1);
const ROUND_TRIP_GOAL = 1.3;
const BANDWIDTH_GOAL = 0.95;
const SLACK = 2;

interface Peer {
  measure(): Promise<Series[]>;
  stop(): Promise<void>;
}

async function relayPort(): Promise<{ port: number; stop: () => void }> {
  const child = spawn(process.execPath, [join(HERE, 'relay-server.js')], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const port = Number(await lineOf(child, (l) => l));
  return { port, stop: () => void child.kill() };
}

async function nodePeer(): Promise<Peer> {
  const relay = await relayPort();
  let pair = 0;
  const end = (url: string, leads: boolean): ReturnType<typeof spawn> =>
    spawn(process.execPath, [join(HERE, 'relay-end.js'), url, leads ? '1' : '0', JSON.stringify(PLAN)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  return {
    async measure() {
      const url = `ws://127.0.0.1:${relay.port}/?pair=${pair++}`;
      end(url, false);
      return JSON.parse(await lineOf(end(url, true), (l) => l, 120_000)) as Series[];
    },
    stop: async () => relay.stop(),
  };
}

async function tabPeer(): Promise<Peer> {
  const relay = await relayPort();
  const browser = await launchBrowser();
  const pages = await Promise.all([0, 1].map(async () => (await browser.newContext()).newPage()));
  for (const p of pages) await p.goto(`http://127.0.0.1:${relay.port}/`);
  let pair = 0;
  return {
    async measure() {
      const url = `ws://127.0.0.1:${relay.port}/?pair=${pair++}`;
      // In a dedicated worker, as Mayfly's comm worker is: a page's own thread would be throttled when hidden.
      const run = (i: number): Promise<Series[]> =>
        pages[i]!.evaluate(
          ([source, to, leads, plan]) =>
            new Promise<Series[]>((resolve, reject) => {
              const code =
                `${source}; relayEnd(WebSocket, ${JSON.stringify(to)}, ${leads}, ${plan}, () => ` +
                'performance.now()).then((s) => postMessage(s));';
              const w = new Worker(URL.createObjectURL(new Blob([code])));
              w.onmessage = (e) => resolve(e.data as Series[]);
              w.onerror = (e) => reject(new Error(e.message));
            }),
          [END_SOURCE, url, i === 0, JSON.stringify(PLAN)] as const,
        );
      const [lead] = await Promise.all([run(0), run(1)]);
      return lead!;
    },
    async stop() {
      await browser.close();
      relay.stop();
    },
  };
}

/** Merges rounds: the median of all batches by size. */
function medians(rounds: Series[][]): Map<number, number> {
  return new Map(
    PLAN.map(({ size }) => [size, median(rounds.flatMap((r) => r.find((s) => s.size === size)?.usPerRoundTrip ?? []))]),
  );
}

/** Microseconds that one append of a frame of this size takes in the log, two of which lie on a round trip. */
async function appendCost(): Promise<Map<number, number>> {
  const dir = await mkdtemp(join(tmpdir(), 'mayfly-append-'));
  const log = await openFileMessageLog(dir);
  const out = new Map<number, number>();
  for (const { size } of PLAN) {
    const stream = await log.open(`bench/${size}`);
    const chunk = new Uint8Array(Math.min(size, 64 << 10) + 64);
    const chunks = Math.ceil(size / (64 << 10));
    const reps = Math.max(8, Math.floor((32 << 20) / (chunk.length * chunks * 8)));
    const t0 = performance.now();
    for (let i = 0; i < reps * chunks; i++) stream.append(chunk);
    out.set(size, ((performance.now() - t0) * 1000) / reps);
    await stream.close();
  }
  await log.close();
  await rm(dir, { recursive: true, force: true });
  return out;
}

const share = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`.padStart(5);

/** Round trips by size as multiples of the relay's. */
type Ratios = (readonly [size: number, ratio: number])[];

async function between(ends: 'tabs' | 'headless nodes'): Promise<{ held: boolean; ratios: Ratios }> {
  const peer = await (ends === 'tabs' ? tabPeer() : nodePeer());
  const side = await MayflySide.start();
  try {
    await (ends === 'tabs' ? side.tabs(2, 1) : side.headless(2, 1));
    const ours: Series[][] = [];
    const theirs: Series[][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await peer.measure());
      ours.push(JSON.parse(await side.run('pingpong', 2, [JSON.stringify(PLAN)], 'series.json')) as Series[]);
    }
    const [a, b, ring, log] = [
      medians(ours),
      medians(theirs),
      await ringRoundTrips(PLAN.map((p) => p.size)),
      await appendCost(),
    ];
    console.log(`\nping-pong between two ${ends}, median of ${ROUNDS} × ${PLAN[0]!.batches} batches`);
    console.log(
      '  size     mayfly      bare relay   round trip  bandwidth   share: socket  rings   log  protocol, wake-ups',
    );
    let held = true;
    const ratios: Ratios = [];
    for (const { size } of PLAN) {
      const [m, r] = [a.get(size)!, b.get(size)!];
      const ratio = m / r;
      ratios.push([size, ratio]);
      const [rings, appends] = [2 * ring.get(size)!, 2 * log.get(size)!];
      const rest = Math.max(0, m - r - rings - appends);
      const verdict =
        size <= 16 << 10
          ? ratio <= ROUND_TRIP_GOAL
            ? ''
            : '  over the goal of 1.3×'
          : size >= 256 << 10 && 1 / ratio < BANDWIDTH_GOAL
            ? '  under the goal of 0.95×'
            : '';
      console.log(
        `  ${bytes(size).padEnd(7)} ${us(m).padStart(9)} ${us(r).padStart(12)}   ` +
          `${`${ratio.toFixed(2)}×`.padStart(9)} ${`${(1 / ratio).toFixed(2)}×`.padStart(9)}           ` +
          `${share(Math.min(r, m), m)}  ${share(rings, m)} ${share(appends, m)}   ${share(rest, m)}${verdict}`,
      );
      if (size <= 16 << 10 && ratio > ROUND_TRIP_GOAL * SLACK) held = false;
      if (size >= 256 << 10 && 1 / ratio < BANDWIDTH_GOAL / SLACK) held = false;
    }
    return { held, ratios };
  } finally {
    await peer.stop();
    await side.stop();
  }
}

export async function pingpong(): Promise<boolean> {
  const [nodes, tabs] = [await between('headless nodes'), await between('tabs')];
  await draw('pingpong', {
    title: 'Round trip through the Channel Memory against a bare relay',
    x: { label: 'message size', log: true, format: bytes },
    y: { label: 'times the relay' },
    series: [
      { name: 'headless nodes', points: nodes.ratios },
      { name: 'tabs', points: tabs.ratios },
    ],
    goal: { y: ROUND_TRIP_GOAL, label: 'goal up to 16 KB' },
  });
  console.log(
    '\nNot measured: wide-area networks, TLS, several ranks per node, durability "strict", contention. Rings ' +
      'and log are timed\n' +
      ('separately in this process, the relay gives the share of the socket; the rest is the protocol, the ' +
        'hand-over between threads and noise.'),
  );
  return quick(nodes.held && tabs.held);
}
