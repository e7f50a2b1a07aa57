/**
 * Storage: appends per second, and how long one append takes until it is durable, in the log of a data directory and in
 * the log over PostgreSQL, against what PostgreSQL itself does with the same records in the same run: COPY, and a
 * commit of one row. Then ping-pong between two headless nodes through a server with a data directory and through two
 * servers over PostgreSQL, in `behind` and in `strict`.
 *
 * Goals: appends at least 0.5× of COPY; ping-pong over PostgreSQL in `behind` at most 1.2× of the data directory, in
 * `strict` at most two commits more (a round trip is two messages). The exit code says whether the run stayed within
 * twice those.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileMessageLog } from '@mayfly/storage';
import { openPostgresStorage } from '@mayfly/storage/postgres';
import type { MessageLog } from '@mayfly/storage/ports';
import { PostgresServer, postgresPrograms } from '@mayfly/storage/test-postgres';
import { MayflySide } from './mayfly-side.ts';
import { PostgresPeer } from './postgres-peer.ts';
import type { Series } from './relay-peer.ts';
import { quick, usually } from './short.ts';
import { bytes, median, ms, print, times, us } from './table.ts';

const STREAMS = 8;
const BULK = [
  { size: 64, each: 8000 },
  { size: 1024, each: 4000 },
  { size: 64 << 10, each: 100 },
];
const ROUNDS = usually(4, 1);
const COMMITS = usually(100, 5);
const LATENCY_BYTES = 1024;
const PLAN = [64, 16 << 10].map((size) => ({ size, reps: 30, batches: 6 }));
const BULK_GOAL = 0.5;
const BEHIND_GOAL = 1.2;
const SLACK = 2;

let count = 0;

/** ms until all records are durable. */
async function bulk(log: MessageLog, each: number, record: Uint8Array): Promise<number> {
  const names = Array.from({ length: STREAMS }, () => `bulk ${++count}`);
  const streams = await Promise.all(names.map((name) => log.open(name)));
  const began = performance.now();
  for (let i = 0; i < each; i++) for (const s of streams) s.append(record);
  await Promise.all(streams.map((s) => s.sync()));
  const took = performance.now() - began;
  for (const name of names) await log.remove(name);
  return took;
}

/** ms of each of so many appends, until it is durable. */
async function single(log: MessageLog, record: Uint8Array): Promise<number[]> {
  const stream = await log.open(`single ${++count}`);
  const out: number[] = [];
  for (let i = 0; i < COMMITS; i++) {
    const began = performance.now();
    stream.append(record);
    await stream.sync();
    out.push(performance.now() - began);
  }
  await log.remove(stream.name);
  return out;
}

async function appends(url: string, folder: string): Promise<boolean> {
  const embedded = await openFileMessageLog(join(folder, 'log'));
  const storage = await openPostgresStorage({ url, schema: 'bench', dataDir: folder });
  const peer = await PostgresPeer.connect(url);
  let held = true;
  try {
    const rows = [];
    for (const { size, each } of BULK) {
      const record = Buffer.alloc(size, 7);
      const took: { embedded: number; postgres: number; copy: number }[] = [];
      for (let round = 0; round < ROUNDS; round++)
        took.push({
          copy: await peer.copy(STREAMS, each, record),
          embedded: await bulk(embedded, each, record),
          postgres: await bulk(storage.log, each, record),
        });
      const best = (of: keyof (typeof took)[number]): number => Math.min(...took.map((t) => t[of]));
      const rate = (of: keyof (typeof took)[number]): string =>
        `${Math.round((STREAMS * each * 1000) / best(of)).toLocaleString('en')}/s`;
      const ratio = best('copy') / best('postgres');
      if (ratio < BULK_GOAL / SLACK) held = false;
      rows.push([
        bytes(size),
        rate('copy'),
        rate('embedded'),
        times(best('copy') / best('embedded')),
        rate('postgres'),
        times(ratio),
      ]);
    }
    console.log(
      `\nappends to ${STREAMS} streams until all are durable, best of ${ROUNDS} (goal: ${BULK_GOAL}× of COPY)`,
    );
    print(['record', 'COPY', 'data directory', '', 'PostgreSQL', ''], rows);
    const record = Buffer.alloc(LATENCY_BYTES, 7);
    const [commits, files, tables] = [
      await peer.commits(COMMITS, record),
      await single(embedded, record),
      await single(storage.log, record),
    ];
    console.log(`\none append of ${bytes(LATENCY_BYTES)} until it is durable, median of ${COMMITS}`);
    print(
      ['commit of one row', 'data directory', '', 'PostgreSQL', ''],
      [
        [
          ms(median(commits)),
          ms(median(files)),
          times(median(files) / median(commits)),
          ms(median(tables)),
          times(median(tables) / median(commits)),
        ],
      ],
    );
  } finally {
    await peer.close();
    await embedded.close();
    await storage.close();
  }
  return held;
}

async function pingpongs(url: string): Promise<boolean> {
  const peer = await PostgresPeer.connect(url);
  const sides: MayflySide[] = [];
  const begin = async (args: string[] = []): Promise<MayflySide> => {
    const side = await MayflySide.start(args);
    sides.push(side);
    return side;
  };
  try {
    const [lone, serving] = [await begin(), await begin(['--store', url])];
    // It stands by.
    await begin(['--store', url]);
    for (const side of [lone, serving]) await side.headless(2, 1);
    const measure = async (side: MayflySide, durability: 'behind' | 'strict'): Promise<Series[]> =>
      JSON.parse(await side.run('pingpong', 2, [JSON.stringify(PLAN)], 'series.json', { durability })) as Series[];
    const kinds = {
      'data directory, behind': () => measure(lone, 'behind'),
      'PostgreSQL, behind': () => measure(serving, 'behind'),
      'data directory, strict': () => measure(lone, 'strict'),
      'PostgreSQL, strict': () => measure(serving, 'strict'),
    };
    const found = new Map<string, Series[]>();
    const commits: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      commits.push(...(await peer.commits(COMMITS, Buffer.alloc(LATENCY_BYTES, 7))));
      for (const [kind, run] of Object.entries(kinds)) found.set(kind, [...(found.get(kind) ?? []), ...(await run())]);
    }
    const of = (kind: string, size: number): number =>
      Math.min(...found.get(kind)!.flatMap((s) => (s.size === size ? s.usPerRoundTrip : [])));
    const commit = 1000 * median(commits);
    let held = true;
    console.log(
      `\nround trip between two headless nodes, fastest batch of 30, against the data directory in behind (goal of PostgreSQL in behind: ` +
        `${BEHIND_GOAL}×);\nin strict, how much longer than that, in commits of one row (${us(commit)}; goal: 2)`,
    );
    print(
      ['', ...PLAN.flatMap(({ size }) => [bytes(size), '', 'commits'])],
      Object.keys(kinds).map((kind) => [
        kind,
        ...PLAN.flatMap(({ size }) => {
          const [mine, base] = [of(kind, size), of('data directory, behind', size)];
          if (kind === 'PostgreSQL, behind' && mine / base > BEHIND_GOAL * SLACK) held = false;
          return [us(mine), times(mine / base), kind.endsWith('strict') ? ((mine - base) / commit).toFixed(1) : ''];
        }),
      ]),
    );
    return held;
  } finally {
    await peer.close();
    for (const side of sides) await side.stop();
  }
}

export async function store(): Promise<boolean> {
  const programs = postgresPrograms();
  if (programs === undefined) {
    console.log('store: no PostgreSQL here (install the package postgresql, or name one in MAYFLY_POSTGRES)');
    return true;
  }
  const postgres = await PostgresServer.start(programs, { keeps: true });
  const folder = await mkdtemp(join(tmpdir(), 'mayfly-store-'));
  try {
    const appended = await appends(postgres.url(), folder);
    const held = (await pingpongs(postgres.url())) && appended;
    console.log(
      '\nNot measured: a database on another machine, several jobs at once, checkpoints, reads. PostgreSQL and the ' +
        'data directory\nlie on the same disk, with the settings of a new PostgreSQL.',
    );
    return quick(held);
  } finally {
    await postgres.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}
