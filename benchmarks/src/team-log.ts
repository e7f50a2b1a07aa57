/**
 * Teams under the message log (docs/teams.md): what the log of the order in which a master takes results costs against
 * protocol `none`; how many messages of eight ranks on two nodes pass through the server; and the recovery of a team of
 * four with 4 MB each, of which the node is lost.
 *
 * Goals: 10 % more time at most; no messages but those between the nodes; 0.6 s.
 */
import type { JobOptions, JobView } from '@mayfly/wire';
import { MayflySide } from './mayfly-side.ts';
import { quick, usually } from './short.ts';
import { median, ms, times } from './table.ts';

const TEAM: JobOptions = { protocol: 'pessimistic', team: 32 };
const TASKS = usually(['20000', '5000'], ['200', '50']);
const GOAL_MORE = 1.1;
const STEPS = usually(500, 50);
/** Ranks 0 to 3 are on the first node: each has one neighbour on the second. */
const CROSSING = 8;
const HALO_BYTES = 8192;
const GOAL_RECOVERY_MS = 600;
const MEGABYTES = 4;

/** Seconds of a master with three workers. */
async function master(side: MayflySide, options: JobOptions): Promise<number> {
  const id = await side.submitC('team-master', 4, TASKS, options);
  await side.done(id);
  return Number((await side.text(`/api/jobs/${id}/tasks/0/stdout?from=0`)).split(' ')[0]);
}

/** From the death of the node to the end of the replay, by the server's clock. */
async function recovery(): Promise<number> {
  const side = await MayflySide.start();
  try {
    const [node] = await side.headless(1, 4);
    const id = await side.submit('image', 4, [String(MEGABYTES)], {
      ...TEAM,
      interactive: true,
      checkpointMs: 86_400_000,
    });
    await side.until(id, 'running', (j) => j.tasks.every((t) => t.state === 'running'));
    await side.headless(1, 4);
    await side.post(`/api/jobs/${id}/stdin`, new TextEncoder().encode('take 4\n'));
    await side.until(id, 'images', (j) => j.tasks.every((t) => t.images >= 1));
    const at = Date.now();
    node!.kill('SIGKILL');
    side.left();
    const recovered = (j: JobView): boolean =>
      j.faults.length === 4 && j.faults.every((f) => f.recoveredAfterMs !== undefined);
    const { faults } = await side.until(id, 'the recovery', recovered);
    await side.post(`/api/jobs/${id}/stdin?end=1`);
    await side.done(id);
    return Math.max(...faults.map((f) => f.at + f.recoveredAfterMs!)) - at;
  } finally {
    await side.stop();
  }
}

/** False: a figure is worse than twice its goal. `side` has one node with four slots. */
export async function teamUnderLog(side: MayflySide, rounds: number): Promise<boolean> {
  const logged: number[] = [];
  const plain: number[] = [];
  for (let i = 0; i < rounds; i++) {
    plain.push(await master(side, { ...TEAM, protocol: 'none' }));
    logged.push(await master(side, TEAM));
  }
  const more = median(logged) / median(plain);

  await side.headless(1, 4);
  const halo = await side.submitC('team-halo', 8, [String(STEPS), String(HALO_BYTES)], { ...TEAM, mapBy: 'slot' });
  const { tasks } = await side.done(halo);
  const sum = (of: (t: (typeof tasks)[number]) => number): number => tasks.reduce((n, t) => n + of(t), 0);
  const out = sum((t) => t.messagesOut);
  const remote = out - sum((t) => t.localOut ?? 0);

  const lost: number[] = [];
  for (let i = 0; i < rounds; i++) lost.push(await recovery());
  const recovered = median(lost);

  console.log('\nteams under the message log');
  console.log(
    `  a master that takes from anybody, three workers of the same node: ${median(logged).toFixed(2)} s, ` +
      `${times(more)} of protocol none (goal ${GOAL_MORE}×)`,
  );
  console.log(
    `  eight ranks on two nodes, ${STEPS} exchanges with three neighbours: ${remote} of ${out} messages passed through ` +
      `the server; ${CROSSING * STEPS} are between the nodes, the others are those of the start and the end`,
  );
  console.log(
    `  a team of four with ${MEGABYTES} MB each, its node killed: all ranks have recovered after ${ms(recovered)} ` +
      `(goal ${ms(GOAL_RECOVERY_MS)})`,
  );
  return (
    quick(more <= 1 + 2 * (GOAL_MORE - 1)) &&
    remote <= CROSSING * STEPS + 10 * tasks.length &&
    quick(recovered <= 2 * GOAL_RECOVERY_MS)
  );
}
