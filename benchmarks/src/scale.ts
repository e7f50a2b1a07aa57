/**
 * Scale: what a volunteer and a message cost a server, and what several servers and their database add. One server with
 * a data directory; one over PostgreSQL; two over PostgreSQL, with all volunteers at the one that serves, and with all
 * of them at the one that stands by. In `behind` that one sends everything on; in `strict` it has the Channel Memories.
 * Costs are processor time, memory and bytes, which other load on the machine hardly touches; rates follow from them.
 *
 * No goals: the table says how far a server gets, and what ends first.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresServer, postgresPrograms } from '@mayfly/storage/test-postgres';
import type { NodeView } from '@mayfly/wire';
import { MayflySide, processorTimes } from './mayfly-side.ts';
import { ScriptedNode } from './scripted-node.ts';
import { usually } from './short.ts';
import { bytes, percent, print, us } from './table.ts';

const NODES = Number(process.env['MAYFLY_SCALE_NODES'] ?? usually(1000, 20));
const IDLE_MS = usually(20_000, 100);
const RANKS = 4;
const BURST = 10;
const SIZE = 1024;
/** Bursts that each rank sends: the difference between two jobs counts, without their start and end. */
const BURSTS: readonly [number, number] = usually([100, 1600], [10, 50]);
/** Pairs of ranks send bursts to one another. */
const exchange = (bursts: number): string => `
import { COMM_WORLD as comm } from 'mayfly';
const body = new Uint8Array(${SIZE});
const partner = comm.rank ^ 1;
for (let i = 0; i < ${bursts}; i++) {
  for (let n = 0; n < ${BURST}; n++) comm.send(body, partner, 0);
  for (let n = 0; n < ${BURST}; n++) comm.recv(body, partner, 0);
}
console.log('done');
`;
/** For the extrapolation. */
const CROWD = { nodes: 10_000, jobs: 100 };

/** A process that does the work of servers: one of them, or the database. */
interface Account {
  /** ms, with that of processes that it started and that have ended. */
  processor: number;
  resident: number;
  /** Through sockets and files. */
  moved: number;
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
const field = (text: string, name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]);

async function account(pid: number): Promise<Account> {
  const io = read(`/proc/${pid}/io`);
  const stat = read(`/proc/${pid}/stat`);
  // cutime and cstime in ticks of 10 ms: fields 16 and 17, counted behind the name in brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const waited = fields.length > 14 ? 10 * (Number(fields[13]) + Number(fields[14])) : 0;
  return {
    processor: [...(await processorTimes(pid)).values()].reduce((a, b) => a + b, waited),
    resident: field(read(`/proc/${pid}/status`), 'VmRSS') * 1024,
    moved: field(io, 'rchar') + field(io, 'wchar'),
  };
}

interface Database {
  pid: number;
  wal(): Promise<number>;
  commits(): Promise<number>;
}

async function databaseOf(postgres: PostgresServer): Promise<Database> {
  const ask = async (text: string): Promise<number> => Number((await postgres.asAdmin(`SELECT ${text} AS n`))[0]!.n);
  return {
    // A backend may have ended before its parent can be looked up.
    pid: await ask("split_part(pg_read_file('postmaster.pid'), chr(10), 1)"),
    wal: () => ask("pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"),
    commits: () => ask('(SELECT sum(xact_commit) FROM pg_stat_database)'),
  };
}

interface Setup {
  name: string;
  /** The first one serves. */
  servers: MayflySide[];
  /** Volunteers come here. */
  at: MayflySide;
  database?: Database;
}

interface Cost {
  /** Of the server that serves, of the one that stands by, of the database: processor time, us. */
  processor: [number, number, number];
  memory: number;
  moved: number;
}

interface Result {
  /** Of a volunteer without work; time and bytes in a second. */
  node: Cost;
  /** Of a message. */
  message: Cost;
  wal: number;
  commits: number;
}

/** What `work` costs each of so many. */
async function costs(setup: Setup, each: number, work: () => Promise<void>): Promise<Cost> {
  const pids = [setup.servers[0]!.pid, setup.servers[1]?.pid, setup.database?.pid];
  const look = (): Promise<(Account | undefined)[]> =>
    Promise.all(pids.map((pid) => (pid === undefined ? undefined : account(pid))));
  const before = await look();
  await work();
  const after = await look();
  const processor = pids.map((_, i) =>
    before[i] && after[i] ? (1000 * (after[i].processor - before[i].processor)) / each : 0,
  );
  return {
    processor: [processor[0]!, processor[1]!, processor[2]!],
    memory: (after[0]!.resident - before[0]!.resident) / each,
    moved: (after[0]!.moved - before[0]!.moved) / each,
  };
}

async function measure(setup: Setup): Promise<Result> {
  const nodes: ScriptedNode[] = [];
  const { memory } = await costs(setup, NODES, async () => {
    for (let n = 0; n < NODES; n++) nodes.push(new ScriptedNode(setup.at.url, 0, `idle${n}`, Math.random));
    while ((await setup.at.get<unknown[]>('/api/nodes')).length < NODES) await sleep(500);
  });
  const idle = await costs(setup, (NODES * IDLE_MS) / 1000, () => sleep(IDLE_MS));
  for (const node of nodes) node.close();
  while ((await setup.at.get<NodeView[]>('/api/nodes')).some((n) => n.state === 'here')) await sleep(500);
  await setup.at.headless(RANKS, 1);
  await setup.at.done(await setup.at.submitText('warm', exchange(BURSTS[0]), RANKS));
  const jobs = [];
  for (const bursts of BURSTS) {
    const before = [await setup.database?.wal(), await setup.database?.commits()].map((n) => n ?? 0);
    const cost = await costs(setup, RANKS * BURST * (BURSTS[1] - BURSTS[0]), async () => {
      await setup.at.done(await setup.at.submitText('exchange', exchange(bursts), RANKS));
    });
    const after = [await setup.database?.wal(), await setup.database?.commits()].map((n) => n ?? 0);
    jobs.push({ ...cost, written: after.map((n, i) => (n - before[i]!) / (RANKS * BURST * (BURSTS[1] - BURSTS[0]))) });
  }
  const [short, long] = [jobs[0]!, jobs[1]!];
  return {
    node: { ...idle, memory },
    message: {
      processor: long.processor.map((t, i) => Math.max(0, t - short.processor[i]!)) as Cost['processor'],
      memory: 0,
      moved: long.moved - short.moved,
    },
    wal: long.written[0]! - short.written[0]!,
    commits: long.written[1]! - short.written[1]!,
  };
}

/** What the servers carry, each with one core, and what a crowd of volunteers leaves for messages. */
function extrapolate(name: string, { node, message, wal }: Result): string {
  const nodes = 1e6 / node.processor[0];
  const idle = CROWD.nodes / nodes;
  /** Messages a second, where so many volunteers are there as well: the server that is busy first sets them. */
  const carried = (volunteers: number): number =>
    Math.min(
      ...[0, 1].map((server) => {
        const left = Math.max(0, 1e6 - volunteers * node.processor[server]!);
        return message.processor[server]! > 0 ? left / message.processor[server]! : Infinity;
      }),
    );
  const messages = carried(0);
  const each = carried(CROWD.nodes) / CROWD.jobs;
  const database =
    wal > 0 && message.processor[2] > 0
      ? ` A core of the database carries ${Math.round(1e6 / message.processor[2])} messages/s; ` +
        `${Math.round(messages)} are ${bytes(messages * wal)}/s of its log.`
      : '';
  return (
    `${name}: a core of the server that serves carries ${Math.round(nodes)} volunteers without work; without ` +
    `volunteers ${Math.round(messages)} messages/s pass. ${CROWD.nodes} volunteers take ${percent(idle, 0)} of the ` +
    `core, and ${bytes(CROWD.nodes * node.memory)}; what is left is ${Math.round(each)} messages/s for each of ${CROWD.jobs} jobs.${database}`
  );
}

export async function scale(): Promise<boolean> {
  const programs = postgresPrograms();
  if (programs === undefined) {
    console.log('scale: no PostgreSQL here (install the package postgresql, or name one in MAYFLY_POSTGRES)');
    return true;
  }
  const found = new Map<string, Result>();
  const lone = await MayflySide.start();
  try {
    found.set('data directory', await measure({ name: 'data directory', servers: [lone], at: lone }));
  } finally {
    await lone.stop();
  }
  for (const [name, durability, second, standby] of [
    ['PostgreSQL', 'behind', false, false],
    ['two servers, at the one that serves', 'behind', true, false],
    ['two servers, at the other one', 'behind', true, true],
    ['strict', 'strict', false, false],
    ['strict, two servers, at the one that serves', 'strict', true, false],
    ['strict, two servers, at the one with the Channel Memory', 'strict', true, true],
  ] as const) {
    const postgres = await PostgresServer.start(programs, { keeps: true });
    const servers: MayflySide[] = [];
    try {
      for (let n = 0; n < (second ? 2 : 1); n++)
        servers.push(await MayflySide.start(['--store', postgres.url(), '--durability', durability]));
      const at = servers[standby ? 1 : 0]!;
      found.set(name, await measure({ name, servers, at, database: await databaseOf(postgres) }));
    } finally {
      for (const side of servers) await side.stop();
      await postgres.dispose();
    }
  }
  console.log(
    `\nprocessor time of the server that serves / of the one that stands by / of the database; ${NODES} volunteers`,
  );
  const processor = (c: Cost): string => c.processor.map((t) => (t > 0 ? us(t) : '–')).join(' / ');
  print(
    ['', 'volunteer, a second', 'memory', 'bytes a second', `message of ${bytes(SIZE)}`, 'bytes', 'WAL', 'commits'],
    [...found].map(([name, r]) => [
      name,
      processor(r.node),
      bytes(r.node.memory),
      bytes(r.node.moved),
      processor(r.message),
      bytes(r.message.moved),
      r.wal > 0 ? bytes(r.wal) : '–',
      r.commits > 0 ? r.commits.toFixed(3) : '–',
    ]),
  );
  console.log();
  for (const [name, result] of found) console.log(extrapolate(name, result));
  console.log(
    '\nNot measured: several machines, tabs, checkpoints, dashboards, connections of ranks by the thousand. A ' +
      'volunteer\nhere has no slots and sends a heartbeat each second, as all do.',
  );
  return true;
}
