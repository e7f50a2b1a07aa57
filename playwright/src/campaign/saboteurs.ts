/**
 * Strangers against honest nodes: anonymous saboteurs, who were there first, among a few headless nodes, and one job
 * after the other. Each must end with its answer; what it cost is the difference to the same jobs without saboteurs.
 */
import { Client, source } from '../client.ts';
import { HeadlessProcess } from '../nodes/headless.ts';
import { Saboteur, type Sabotage } from '../nodes/saboteur.ts';
import { ServerProcess } from '../server.ts';

export interface Saboteurs {
  saboteurs: number;
  jobs: number;
  kinds: readonly Sabotage[];
  say: (line: string) => void;
}

const HONEST = 4;
const SLOTS = 2;
const RANKS = 4;
const STEPS = 200;
/** A job may be patient for so long with a rank of which nothing comes, s: the programs here never pause. */
const STUCK_AFTER_MS = 5000;
const LIMIT_MS = 1_800_000;

/** Each step a message to the right, now and then a sum over all, and a little work in between. */
const PROGRAM = `import { args, COMM_WORLD as comm, SUM } from 'mayfly';
const steps = Number(args[0]);
let sum = comm.rank + 1;
const right = (comm.rank + 1) % comm.size, left = (comm.rank + comm.size - 1) % comm.size;
const mine = new Float64Array(1), other = new Float64Array(1);
for (let step = 0; step < steps; step++) {
  mine[0] = sum;
  comm.sendrecv(mine, right, 1, other, left, 1);
  sum = (sum * 3 + other[0]! * 5 + step) % 1000003;
  if (step % 10 === 9) sum = (sum + comm.allreduce(sum, SUM)) % 1000003;
}
console.log(sum);
`;

/** The same in one process. */
function expected(): string[] {
  let sums = Array.from({ length: RANKS }, (_, r) => r + 1);
  for (let step = 0; step < STEPS; step++) {
    sums = sums.map((s, r) => (s * 3 + sums[(r + RANKS - 1) % RANKS]! * 5 + step) % 1000003);
    if (step % 10 === 9) {
      const all = sums.reduce((a, b) => a + b, 0);
      sums = sums.map((s) => (s + all) % 1000003);
    }
  }
  return sums.map((s) => `${s}\n`);
}

interface Series {
  /** Of each job, ms. */
  times: number[];
  lost: number;
  wrong: string[];
}

async function series(o: Saboteurs, saboteurs: number): Promise<Series> {
  const server = await ServerProcess.start(['--log', 'warn']);
  const client = new Client(server);
  const hostile: Saboteur[] = [];
  const honest: HeadlessProcess[] = [];
  const out: Series = { times: [], lost: 0, wrong: [] };
  try {
    for (let i = 0; i < saboteurs; i++)
      hostile.push(new Saboteur(server.url, `stranger ${i + 1}`, o.kinds[i % o.kinds.length]!, SLOTS));
    while ((await client.nodes()).length < saboteurs) await new Promise((r) => setTimeout(r, 100));
    for (let i = 0; i < HONEST; i++) honest.push(await HeadlessProcess.start(server.url, `honest ${i + 1}`, SLOTS));
    for (let n = 1; n <= o.jobs; n++) {
      const began = performance.now();
      const { id } = await client.submit(source('among strangers', PROGRAM), RANKS, [String(STEPS)], {
        stuckAfterMs: STUCK_AFTER_MS,
      });
      const end = await client.ended(id, LIMIT_MS);
      const ms = performance.now() - began;
      out.times.push(ms);
      out.lost += end.faults.length;
      const { stdout } = await client.answer(end);
      const right = end.state === 'done' && expected().every((text, t) => stdout[t] === text);
      if (!right) out.wrong.push(`job ${n} is ${end.state}: ${JSON.stringify(end.error ?? stdout)}`);
      o.say(
        `  job ${n}: ${right ? 'the right answer' : 'WRONG'} after ${(ms / 1000).toFixed(1)} s, ` +
          `${end.faults.length} ranks lost${end.faults.length === 0 ? '' : ` (${causes(end.faults)})`}`,
      );
    }
    return out;
  } catch (error) {
    out.wrong.push(`${(error as Error).message}\nlast lines of the server's log:\n${server.log.slice(-4000)}`);
    return out;
  } finally {
    for (const s of hostile) s.close();
    await Promise.all(honest.map((n) => n.dispose()));
    await server.stop();
  }
}

function causes(faults: readonly { cause: string }[]): string {
  const counts = new Map<string, number>();
  for (const f of faults) counts.set(f.cause, (counts.get(f.cause) ?? 0) + 1);
  return [...counts].map(([cause, n]) => `${cause} ${n}`).join(', ');
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0;
const sum = (times: readonly number[]): number => times.reduce((a, b) => a + b, 0);

export async function amongSaboteurs(o: Saboteurs): Promise<number> {
  o.say(`${o.jobs} jobs of ${RANKS} ranks on ${HONEST} honest nodes of ${SLOTS} slots, undisturbed`);
  const calm = await series(o, 0);
  o.say(`the same among ${o.saboteurs} saboteurs, which joined first (${o.kinds.join(', ')})`);
  const among = await series(o, o.saboteurs);
  const right = o.jobs - among.wrong.length;
  o.say(`
| | jobs right | ranks lost | first job | median of the others | all |
|---|---:|---:|---:|---:|---:|
${(
  [
    ['undisturbed', calm],
    [`among ${o.saboteurs} saboteurs`, among],
  ] as const
)
  .map(
    ([name, s]) =>
      `| ${name} | ${s.times.length - s.wrong.length} of ${o.jobs} | ${s.lost} | ${seconds(s.times[0] ?? 0)} ` +
      `| ${seconds(median(s.times.slice(1)))} | ${seconds(sum(s.times))} |`,
  )
  .join('\n')}
`);
  for (const w of [...calm.wrong, ...among.wrong]) o.say(`WRONG: ${w}`);
  o.say(
    `${right} of ${o.jobs} jobs gave the right answer among ${o.saboteurs} saboteurs, which cost ` +
      `${seconds(sum(among.times) - sum(calm.times))}`,
  );
  return calm.wrong.length + among.wrong.length === 0 ? 0 : 1;
}
