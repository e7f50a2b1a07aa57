/**
 * A small share of `npm run faults -- --saboteurs`: anonymous nodes that run nothing of what they are given, among
 * honest ones.
 */
import { SABOTAGES, Saboteur, type Sabotage } from '@mayfly/playwright/saboteur';
import { expect, it } from 'vitest';
import type { JobView, NodeView } from '@mayfly/wire';
import { api, later, program, startServer, until } from './harness.ts';
import { Volunteer, type TestProgram } from './volunteer.ts';

const RANKS = 3;
const STEPS = 12;
/** Sums go round; the last one is printed. */
const ring: TestProgram = async (rank) => {
  let sum = rank.task + 1;
  for (let step = 0; step < STEPS; step++) {
    await rank.send((rank.task + 1) % rank.size, String(sum));
    sum += Number((await rank.recv()).text);
  }
  rank.print(String(sum));
  rank.exit();
};
function expected(): string[] {
  let sums = Array.from({ length: RANKS }, (_, r) => r + 1);
  for (let step = 0; step < STEPS; step++) sums = sums.map((s, r) => s + sums[(r + RANKS - 1) % RANKS]!);
  return sums.map(String);
}

it('jobs among saboteurs end with their answers; who reported crashes is in quarantine, and the job says why it waited', async () => {
  const server = await startServer({ dispatcher: { startAfterMs: 1500, quarantineMs: 2000 } });
  const strangers = Array.from(
    { length: 10 },
    (_, i) => new Saboteur(server.localUrl, `stranger ${i}`, SABOTAGES[i % SABOTAGES.length]!, 1),
  );
  later(async () => strangers.forEach((s) => s.close()));
  const nodes = async (): Promise<NodeView[]> => (await api(server, 'GET', '/api/nodes')).body;
  await until('the saboteurs are here', async () => (await nodes()).length === strangers.length);
  const submit = async (): Promise<string> =>
    (await api(server, 'POST', '/api/jobs', program('console.log(1);', RANKS, { options: { stuckAfterMs: 2000 } })))
      .body.id;
  const first = await submit();
  await until('strangers have failed it', async () =>
    ((await api(server, 'GET', `/api/jobs/${first}`)).body as JobView).faults.some(
      (f) => f.cause === 'crashed' && f.newcomer === true && f.quarantineMs === 2000,
    ),
  );
  // A quarantine is over after two seconds; until somebody honest comes, there is a next one.
  await until('one is in quarantine', async () => (await nodes()).some((n) => n.quarantinedUntil !== undefined));
  // With slots for all ranks of the three jobs: with fewer, jobs that start together may each have some of them, and
  // wait for ranks that only strangers have room for.
  const honest = Array.from(
    { length: 3 },
    (_, i) => new Volunteer(server.localUrl, RANKS, ring, { name: `honest ${i}` }),
  );
  for (const id of [first, await submit(), await submit()]) {
    const job = async (): Promise<JobView> => (await api(server, 'GET', `/api/jobs/${id}`)).body;
    await until(`job ${id} ends`, async () => ['done', 'failed'].includes((await job()).state));
    expect(await job()).toMatchObject({ state: 'done' });
    for (const [task, text] of expected().entries())
      expect(String((await api(server, 'GET', `/api/jobs/${id}/tasks/${task}/stdout`)).body)).toBe(text);
  }
  expect(strangers.reduce((n, s) => n + s.taken, 0)).toBeGreaterThan(5);
  const known = (await nodes()).filter((n) => n.name.startsWith('honest'));
  expect(known.filter((n) => n.quarantinedUntil !== undefined)).toEqual([]);
  const records = known.flatMap((n) => (n.record ? n.name : []));
  const worked = honest.flatMap(({ jobs }, i) =>
    [...jobs.values()].some(({ ranks }) => [...ranks.values()].some((r) => r.finished)) ? `honest ${i}` : [],
  );
  expect(records).not.toEqual([]);
  expect(records).toEqual(expect.arrayContaining(worked));
});

it('a node that only sends heartbeats loses its rank to another, and is blamed once that one gets further', async () => {
  const server = await startServer();
  const silent = new Saboteur(server.localUrl, 'silent', 'silence' satisfies Sabotage, 1);
  later(async () => silent.close());
  const { id } = (
    await api(server, 'POST', '/api/jobs', program('console.log(1);', 1, { options: { stuckAfterMs: 2000 } }))
  ).body as { id: string };
  await until('the silent node has it', () => silent.taken === 1);
  new Volunteer(server.localUrl, 1, ring);
  await until(
    'the job is done',
    async () => ((await api(server, 'GET', `/api/jobs/${id}`)).body as JobView).state === 'done',
  );
  expect(((await api(server, 'GET', `/api/jobs/${id}`)).body as JobView).faults).toMatchObject([{ cause: 'compared' }]);
  await until(
    'it is blamed',
    async () =>
      ((await api(server, 'GET', '/api/nodes')).body as NodeView[]).find((n) => n.name === 'silent')!
        .quarantinedUntil !== undefined,
  );
});
