/**
 * Many ranks on many headless nodes, some of which are killed: a light program of neighbours and reductions, held at
 * its end until the kills are done. Says how long it took and what it needed.
 */
import { chance, below } from '../chance.ts';
import { Client, source, type Answer } from '../client.ts';
import { HeadlessProcess } from '../nodes/headless.ts';
import { ServerProcess } from '../server.ts';

export interface ManyRanks {
  ranks: number;
  slots: number;
  kills: number;
  seed: number;
  say: (line: string) => void;
}

/** Each step a message to the right and a sum over all; a checkpoint when one is due. */
const PROGRAM = `import { args, checkpoint, COMM_WORLD as comm, stdin, SUM } from 'mayfly';
const steps = Number(args[0]);
const state = { step: 0, sum: comm.rank + 1 };
checkpoint.register('state', state);
if (checkpoint.open().restarted) checkpoint.rollback('state');
const right = (comm.rank + 1) % comm.size, left = (comm.rank + comm.size - 1) % comm.size;
const mine = new Float64Array(1), other = new Float64Array(1);
for (; state.step < steps; state.step++) {
  checkpoint.here();
  mine[0] = state.sum;
  comm.sendrecv(mine, right, 1, other, left, 1);
  state.sum = (state.sum * 3 + other[0]! * 5 + state.step) % 1000003;
  if (state.step % 10 === 9) state.sum = (state.sum + comm.allreduce(state.sum, SUM)) % 1000003;
}
console.log(state.sum);
if (comm.rank === 0) stdin.readLine();
comm.barrier();
`;
const STEPS = 60;
const LIMIT_MS = 1_800_000;

/** The same in one process: what every rank must print. */
function expected(ranks: number): string[] {
  let sums = Array.from({ length: ranks }, (_, r) => r + 1);
  for (let step = 0; step < STEPS; step++) {
    sums = sums.map((s, r) => (s * 3 + sums[(r + ranks - 1) % ranks]! * 5 + step) % 1000003);
    if (step % 10 === 9) {
      const all = sums.reduce((a, b) => a + b, 0);
      sums = sums.map((s) => (s + all) % 1000003);
    }
  }
  return sums.map((s) => `${s}\n`);
}

export async function manyRanks({ ranks, slots, kills, seed, say }: ManyRanks): Promise<number> {
  const count = Math.ceil(ranks / slots);
  say(`${ranks} ranks on ${count} headless nodes of ${slots} slots and one to spare, ${kills} kills, seed ${seed}`);
  const draw = chance(seed, 'many ranks');
  const began = performance.now();
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  const server = await ServerProcess.start([
    '--grace',
    '0.4',
    '--silence',
    '120',
    '--restart-grace',
    '120',
    '--log',
    'warn',
  ]);
  const client = new Client(server);
  const nodes = new Map<string, HeadlessProcess>();
  let made = 0;
  const join = async (): Promise<void> => {
    const name = `node${++made}`;
    nodes.set(name, await HeadlessProcess.start(server.url, name, slots));
  };
  try {
    for (let i = 0; i <= count; i++) await join();
    say(`${seconds()}: all nodes are connected`);
    const { id } = await client.submit(source('many ranks', PROGRAM), ranks, [String(STEPS)], {
      checkpointMs: 2000,
      interactive: true,
      timeLimitMs: 7_200_000,
    });
    const lost = new Set<number>();
    for (let kill = 1; kill <= kills; kill++) {
      // Some share of the way, or the end: the program waits there.
      const task = below(draw, ranks);
      const wanted = Math.floor((kill / (kills + 1)) * STEPS);
      const job = await client.until(
        id,
        'whole again',
        (j) =>
          j.endedAt !== undefined ||
          (j.faults.every((f) => f.recoveredAfterMs !== undefined) &&
            j.tasks.every((t) => t.state === 'running') &&
            (j.tasks[task]!.messagesIn >= wanted || j.tasks[0]!.activity?.call === 'stdin')),
        LIMIT_MS,
      );
      if (job.endedAt !== undefined)
        throw new Error(`the job ended too early, ${job.state}: ${JSON.stringify(job.error)}`);
      const name = job.tasks[task]!.nodeName!;
      const victims = job.tasks.filter((t) => t.nodeName === name).map((t) => t.task);
      victims.forEach((t) => lost.add(t));
      await nodes.get(name)!.kill();
      nodes.delete(name);
      await join();
      const after = await client.until(
        id,
        'noticed',
        (j) => j.endedAt !== undefined || j.faults.length >= job.faults.length + victims.length,
        LIMIT_MS,
      );
      say(
        `${seconds()}: kill ${kill}, ${name} with ${victims.length} ranks, ` +
          `${job.tasks[0]!.activity?.call === 'stdin' ? 'at the end' : `at ${job.tasks[task]!.messagesIn} arrivals of rank ${task}`}; ` +
          `${after.faults.length} ranks lost so far`,
      );
    }
    await client.until(
      id,
      'whole again',
      (j) =>
        j.endedAt !== undefined ||
        (j.faults.every((f) => f.recoveredAfterMs !== undefined) && j.tasks.every((t) => t.state === 'running')),
      LIMIT_MS,
    );
    await client.input(id);
    const end = await client.ended(id, LIMIT_MS);
    const answer: Answer = await client.answer(end);
    const wrong: string[] = [];
    if (end.state !== 'done') wrong.push(`the job is ${end.state}: ${JSON.stringify(end.error)}`);
    expected(ranks).forEach(
      (text, t) =>
        answer.stdout[t] === text ||
        wrong.push(`rank ${t} printed ${JSON.stringify(answer.stdout[t])} instead of ${JSON.stringify(text)}`),
    );
    for (const f of end.faults)
      if (!lost.has(f.task))
        wrong.push(
          `rank ${f.task}, whose node was not killed, was lost: ${f.cause} of incarnation ${f.incarnation} ` +
            `after ${f.at - end.submittedAt} ms`,
        );
    const times = end.faults.map((f) => f.recoveredAfterMs ?? Number.NaN).sort((a, b) => a - b);
    say(
      `${seconds()}: ${end.state}; ${end.faults.length} ranks lost, recovered in ` +
        `${times[times.length >> 1] ?? '–'} ms (median), ${times.at(-1) ?? '–'} ms (worst)`,
    );
    say(wrong.length === 0 ? 'every rank printed the expected output' : `WRONG\n${wrong.slice(0, 20).join('\n')}`);
    return wrong.length === 0 ? 0 : 1;
  } catch (error) {
    say(`WRONG: ${String((error as Error).message)}\nlast lines of the server's log:\n${server.log.slice(-4000)}`);
    return 1;
  } finally {
    await Promise.all([...nodes.values()].map((n) => n.dispose()));
    await server.stop();
  }
}
