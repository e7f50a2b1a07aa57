/**
 * TypeScript ranks in teams under the log, on a real server with headless nodes (docs/teams.md): losses of a node and
 * of a rank change nothing in what a program computes. Rank 0 deals work out to whoever asks for it, so the choice of a
 * source decides who does what, and each rank's sums show whether it was repeated.
 */
import type { JobOptions } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Bench, sleep } from './harness.ts';

const bench = new Bench();
beforeAll(() => bench.start());
afterEach(async () => {
  await Promise.all(bench.nodes.splice(0).map((n) => n.close(0)));
  bench.notes.length = 0;
});
afterAll(() => bench.close());

const TOOLS = `
import { COMM_WORLD as comm, ANY_SOURCE, SUM, args, checkpoint } from 'mayfly';
const { rank, size } = comm;
const [units, work] = args.map(Number) as [number, number];
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
 * together is the same in every run; each message that were lost or came twice would change it.
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

const submit = (program: string, team: number, units: number, work: number, options: JobOptions = {}) =>
  bench.submit(program, 4, {
    args: [String(units), String(work)],
    options: { timeLimitMs: 300_000, checkpointMs: 300, team, mapBy: 'slot', ...options },
  });

async function answer(id: string): Promise<string[]> {
  const { job, stdout, stderr } = await bench.ended(id);
  expect([job.error, stderr.join('')]).toEqual([undefined, '']);
  return stdout;
}

describe.each([4, 2])('teams of %i TypeScript ranks under the log', (team) => {
  it('without checkpoints: a node and a rank are lost, and the answer is that of an undisturbed run', async () => {
    const nodes = [await bench.node(4, 'a'), await bench.node(4, 'b'), await bench.node(4, 'c')];
    const right = await answer(await submit(DEAL, 1, 800, 0));
    expect(await answer(await submit(DEAL, team, 800, 0))).toEqual(right);

    const id = await submit(DEAL, team, 800, 300_000);
    await bench.until(id, (j) => j.tasks.every((t) => t.state === 'running'));
    await sleep(1200);
    const at = (await bench.view(id)).tasks[1]!.node;
    nodes.find((n) => n.node === at)!.kill();
    await bench.recovered(id, 1);
    await sleep(500);
    await bench.api(`jobs/${id}/tasks/0/kill`, { method: 'POST' });
    expect(await answer(id)).toEqual(right);
    const { tasks, faults } = await bench.view(id);
    // Messages took rings, and the losses were noticed.
    expect(tasks.every((t) => (t.localIn ?? 0) > 0)).toBe(true);
    expect(faults.length).toBeGreaterThanOrEqual(2);
    console.log(
      `team ${team}: ${faults.map((f) => `rank ${f.task} recovered after ${f.recoveredAfterMs} ms`).join(', ')}`,
    );
  });
});
