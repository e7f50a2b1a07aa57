/**
 * TypeScript ranks in teams under the log, on a real server with headless nodes (docs/teams.md): losses of a node and
 * of a rank change nothing in what a program computes. Rank 0 deals work out to whoever asks for it, so the choice of a
 * source decides who does what, and each rank's sums show whether it was repeated.
 */
import { patient } from '@mayfly/testing';
import type { JobOptions, JobView } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { HeadlessNode } from '../src/headless/index.ts';
import { Bench, PATIENCE } from './harness.ts';
import { losesNodeAndRank } from './team-losses.ts';

const bench = new Bench({ dispatcher: { ...PATIENCE, moveAfterMs: 1500, mergeAfterMs: 1500 } });
beforeAll(() => bench.start());
afterEach(() => bench.clear(0));
afterAll(() => bench.close());

const TOOLS = `
import { COMM_WORLD as comm, ANY_SOURCE, SUM, args, checkpoint, stdin } from 'mayfly';
const { rank, size } = comm;
const [units, work] = args.slice(0, 2).map(Number) as [number, number];
const mix = (h: number): number => {
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
};
const spin = (n: number): void => {
  let h = 1;
  for (let i = 0; i < n; i++) h = mix(h + i);
  if (h === 0.5) throw new Error('never');
};
const word = new Float64Array(1);
const block = new Float64Array(20000);
`;

/**
 * A worker answers each unit with a hash, and passes a copy to the next worker, which adds it to its own sum. All
 * together is the same in every run; each message that were lost or came twice would change it. With a third argument
 * the last units wait for a line of input, so that the job outlasts what is done to it.
 */
const DEAL = `${TOOLS}
let sum = 0, clock = 0;
const send = (x: number, to: number, tag: number): void => { word[0] = x; comm.send(word, to, tag); };
const add = (from: number): void => {
  const n = comm.recv(block, from, 3).count(Float64Array);
  for (let i = 0; i < n; i++) sum = (sum + mix(block[i]!)) % 2 ** 40;
};
if (rank === 0) {
  let dealt = 0, stopped = 0;
  while (stopped < size - 1) {
    if (dealt % 3 === 0) comm.iprobe(ANY_SOURCE, 1);
    const { source } = comm.recv(word, ANY_SOURCE, 1);
    if (args.length > 2 && dealt === units - 50) stdin.readLine();
    if (dealt % 5 === 0 && Date.now() < clock) throw new Error('the clock went back');
    if (dealt % 5 === 0) clock = Date.now();
    sum = (sum + word[0]!) % 2 ** 40;
    if (dealt < units) send(++dealt, source, 2);
    else { send(0, source, 2); stopped++; }
  }
} else {
  const next = (rank % (size - 1)) + 1;
  let left = 0, got = 0;
  send(0, 0, 1);
  for (;;) {
    comm.recv(word, 0, 2);
    if (word[0] === 0) break;
    spin(work);
    const answer = mix(word[0]!) | 1;
    const n = answer % 50 === 0 ? 20000 : Math.abs(answer) % 7;
    for (let i = 0; i < n; i++) block[i] = answer + i;
    comm.send(block.subarray(0, n), next, 3);
    left++;
    send(answer, 0, 1);
    for (let s = comm.iprobe(ANY_SOURCE, 3); s; s = comm.iprobe(ANY_SOURCE, 3)) { add(s.source); got++; }
  }
  send(left, next, 4);
  comm.recv(word, ANY_SOURCE, 4);
  for (const due = word[0]!; got < due; got++) add(ANY_SOURCE);
}
console.log('sum', comm.allreduce(sum, SUM) % 2 ** 40);
`;

/**
 * In each round everybody sends to everybody, and takes what comes first. The prologue exchanges messages too: long
 * ones, and one that is sent behind a rank's checkpoint.open and received before another's. Every ten rounds all that
 * was sent has to be received. It goes on until somebody ends it.
 */
const ROUNDS = `${TOOLS}
const own = (a: number, b: number): number => mix(rank * 1000003 + a * 1009 + b);
const hash = (n: number): number => {
  let h = n;
  for (let i = 0; i < n; i++) h = (h + mix(block[i]! + i)) % 2 ** 40;
  return h;
};
const state = { round: 0, sent: 0, got: 0, clock: Date.now() };
const kept = new Float64Array(5000);
const sends = (n: number, a: number, b: number, to: number, tag: number): void => {
  for (let i = 0; i < n; i++) block[i] = own(a, i + b);
  state.sent = (state.sent + hash(n)) % 2 ** 40;
  comm.send(block.subarray(0, n), to, tag);
};
const takes = (tag: number): void => {
  state.got = (state.got + hash(comm.recv(block, ANY_SOURCE, tag).count(Float64Array))) % 2 ** 40;
};
for (let k = 0; k < 3; k++) {
  for (let to = 0; to < size; to++) sends(k === 1 ? 20000 : 3, k, 0, to, 9);
  for (let from = 0; from < size; from++) takes(9);
  comm.iprobe(ANY_SOURCE, 10);
}
checkpoint.register('state', state);
checkpoint.register('kept', kept);
if (rank === 1) takes(11);
if (checkpoint.open().restarted) {
  checkpoint.rollback('state');
  checkpoint.rollback('kept');
} else if (rank === 0) sends(5, 11, 0, 1, 11);
for (; ; state.round++) {
  checkpoint.here();
  const r = state.round;
  for (let to = 0; to < size; to++)
    if (to !== rank) sends((r + to) % 40 === 0 ? 20000 : 1 + ((r + to) % 7), r, to, to, 1 + (r % 3));
  spin(work * (1 + (own(r, 5) % 3)));
  for (let k = 1; k < size; k++) takes(1 + (r % 3));
  kept[r % kept.length] = r;
  if (kept[(r + kept.length - 1) % kept.length] !== Math.max(0, r - 1)) throw new Error('an old array');
  if (Date.now() < state.clock) throw new Error('the clock went back');
  state.clock = Date.now();
  if (r % 10 > 0) continue;
  const [sent, got] = [state.sent, state.got].map((x) => comm.allreduce(x, SUM) % 2 ** 40) as [number, number];
  if (sent !== got) throw new Error('round ' + r + ': ' + sent + ' was sent and ' + got + ' received');
  if (rank === 0) console.log(r, sent);
}
`;

const submit = (program: string, team: number, units: number, work: number, options: JobOptions = {}) =>
  bench.submit(program, 4, {
    args: [String(units), String(work), ...(options.interactive ? ['waits'] : [])],
    options: { timeLimitMs: patient(300_000), checkpointMs: 300, team, mapBy: 'slot', ...options },
  });

async function answer(id: string): Promise<string[]> {
  const { job, stdout, stderr } = await bench.ended(id);
  expect([job.error, stderr.join('')]).toEqual([undefined, '']);
  return stdout;
}

/** Of ROUNDS: every line once, and those of an undisturbed run. */
async function asUndisturbed(stdout: string): Promise<void> {
  const lines = stdout.split('\n').slice(0, -1);
  expect(lines.map((line) => Number(line.split(' ')[0]))).toEqual(lines.map((_, i) => 10 * i));
  const alone = await submit(ROUNDS, 1, 0, 0);
  await bench.until(alone, (j) => j.tasks[0]!.messagesOut > 500);
  await bench.api(`jobs/${alone}/cancel`, { method: 'POST' });
  const right = (await bench.ended(alone)).stdout[0]!.split('\n').slice(0, -1);
  const both = Math.min(lines.length, right.length);
  expect(both).toBeGreaterThan(2);
  expect(lines.slice(0, both)).toEqual(right.slice(0, both));
}

/** Of DEAL, undisturbed and without teams. */
let right: string[] | undefined;

describe.each([4, 2])('teams of %i TypeScript ranks under the log', (team) => {
  it('without checkpoints: a node and a rank are lost, and the answer is that of an undisturbed run', async () => {
    for (const name of ['a', 'b', 'c']) await bench.node(4, name);
    right ??= await answer(await submit(DEAL, 1, 800, 0));
    expect(await answer(await submit(DEAL, team, 800, 0))).toEqual(right);

    const id = await submit(DEAL, team, 800, 300_000, { interactive: true });
    await losesNodeAndRank(bench, team, id, async () => expect(await answer(id)).toEqual(right));
  });

  it('with checkpoints: a node, a rank and a node that leaves are lost; the others go on from sets of images', async () => {
    const nodes = [await bench.node(4, 'a'), await bench.node(4, 'b'), await bench.node(4, 'c')];
    const id = await submit(ROUNDS, team, 0, 5000);
    const of = async (task: number): Promise<HeadlessNode> => {
      const { node } = (await bench.view(id)).tasks[task]!;
      return nodes.find((n) => n.node === node)!;
    };
    let images: number[] = [];
    const sets = async (more: number): Promise<void> => {
      const holds = (j: JobView): boolean => j.tasks.every((t, i) => t.images >= (images[i] ?? 0) + more);
      const job = await bench.until(id, (j) => j.endedAt !== undefined || holds(j));
      expect([job.error, job.state]).toEqual([undefined, 'running']);
      images = job.tasks.map((t) => t.images);
    };
    // Behind two sets the logs no longer reach back to the start.
    await sets(2);
    (await of(1)).kill();
    await bench.recovered(id, 1);
    await sets(1);
    await bench.api(`jobs/${id}/tasks/0/kill`, { method: 'POST' });
    await bench.recovered(id, team + 1);
    await sets(1);
    await (await of(3)).close(20_000);
    await bench.recovered(id, team + 2);
    await sets(1);
    await bench.api(`jobs/${id}/cancel`, { method: 'POST' });
    const { job, stdout, stderr } = await bench.ended(id);
    expect([job.state, stderr.join('')]).toEqual(['cancelled', '']);
    console.log(`team ${team}: images ${images.join(' ')}`);
    console.log(job.faults.map((f) => `rank ${f.task} ${f.cause} ${f.recoveredAfterMs} ms`).join(', '));
    expect(new Set(job.faults.map((f) => f.cause))).toEqual(new Set(['disconnected', 'team', 'killed', 'goodbye']));

    await asUndisturbed(stdout[0]!);
  });
});

/** Of a job of ROUNDS: each rank has one image more. */
async function imaged(id: string): Promise<void> {
  const before = (await bench.view(id)).tasks.map((t) => t.images);
  await bench.until(id, (j) => j.endedAt !== undefined || j.tasks.every((t, i) => t.images > before[i]!));
}

const inTeams = (id: string, teams: string): Promise<JobView> =>
  bench.until(id, (j) => String(j.tasks.map((t) => t.state === 'running' && (t.team ?? '-'))) === teams);

async function loses(id: string, task: number, faults: number): Promise<void> {
  await bench.api(`jobs/${id}/tasks/${task}/kill`, { method: 'POST' });
  await bench.recovered(id, faults);
}

/** @returns its team changes */
async function endsWell(id: string): Promise<JobView['teamChanges']> {
  await bench.api(`jobs/${id}/cancel`, { method: 'POST' });
  const { job, stdout, stderr } = await bench.ended(id);
  expect([job.state, stderr.join('')]).toEqual(['cancelled', '']);
  await asUndisturbed(stdout[0]!);
  return job.teamChanges;
}

const ALL = [0, 1, 2, 3];

it('T9: a node leaves with a team of scripts, which go on where there are slots, and become a team again', async () => {
  const first = await bench.node(4, 'a');
  const id = await submit(ROUNDS, 4, 0, 5000, { parity: { checksums: 1, wholeEvery: 3 } });
  await imaged(id);
  for (const [name, slots] of [['b', 2], ['c', 1], ['d', 1]] as const) await bench.node(slots, name); // prettier-ignore
  await first.close(20_000);
  const { tasks } = await inTeams(id, '0,0,-,-');
  expect(new Set(tasks.map((t) => t.node)).size).toBe(3);
  // Behind images of their own.
  await bench.recovered(id, 4);
  await imaged(id);
  await loses(id, 2, 5);
  await loses(id, 1, 7);
  await imaged(id);
  // They stop at the same call of checkpoint.here, and begin with these images on the node that has room for all.
  await bench.node(4, 'e');
  await inTeams(id, '0,0,0,0');
  await imaged(id);
  await loses(id, 2, 11);
  await imaged(id);
  expect(await endsWell(id)).toMatchObject([
    { what: 'dissolved', ranks: ALL, teams: [[0, 1]] },
    { what: 'merged', ranks: ALL, teams: [ALL] },
  ]);
});

it('T9: scripts that share too few slots go on in several nodes, once together they have enough', async () => {
  const first = await bench.node(4, 'a');
  const id = await submit(ROUNDS, 4, 0, 5000);
  await imaged(id);
  await bench.node(2, 'b');
  first.kill();
  await bench.recovered(id, 4);
  expect((await bench.view(id)).reason).toMatch('share 2 slots');
  await bench.node(2, 'c');
  await inTeams(id, '0,0,2,2');
  await imaged(id);
  await loses(id, 3, 6);
  const teams = [[0, 1], [2, 3]]; // prettier-ignore
  expect(await endsWell(id)).toMatchObject([{ what: 'dissolved', ranks: ALL, teams }]);
});
