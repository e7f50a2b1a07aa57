/** Jobs of the protocols `vcl` and `pcl`: what is refused at submission, and a C program on real headless nodes. */
import { startHeadlessNode } from '@mayfly/node/headless';
import { createServer, type MayflyServer } from '@mayfly/server';
import type { JobReport, JobView, TimelineView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { TOKEN, api, freshDir, later, sharedServer, startServer, until } from './harness.ts';

const script = { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': 'console.log(1);' } };
/** Every rank tells its number to the next one around a ring, and prints the sum of all. */
const RING = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, size, from, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &from, 1, MPI_INT, (rank + size - 1) % size, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&from, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d after %d, sum %d\\n", rank, from, sum);
  MPI_Finalize();
}
`;

it.each(['vcl', 'pcl'])('refuses TypeScript, which has no image wherever it is (%s)', async (protocol) => {
  const server = await sharedServer();
  const answer = await api(server, 'POST', '/api/jobs', { program: script, size: 2, options: { protocol } });
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringMatching(
      /^The protocol "[vp]cl" takes checkpoints of all ranks together.* main\.ts is TypeScript.* Choose "pessimistic"\.$/,
    ) as string,
  });
});

it.each([0, 50])('refuses %d ms between checkpoints of all ranks', async (checkpointMs) => {
  const server = await sharedServer();
  const options = { protocol: 'vcl', checkpointMs };
  const answer = await api(server, 'POST', '/api/jobs', { program: script, size: 2, options });
  expect(answer.status).toBe(400);
  expect(answer.body.message).toMatch(new RegExp(`^checkpointMs is ${checkpointMs}: .* at least 100 ms`));
});

it('refuses a protocol that does not exist', async () => {
  const server = await sharedServer();
  const answer = await api(server, 'POST', '/api/jobs', { program: script, size: 2, options: { protocol: 'xyz' } });
  expect(answer.status).toBe(400);
  expect(answer.body.code).toBe('BAD_REQUEST');
  expect(answer.body.message).toContain('protocol');
});

it.each(['vcl', 'pcl'])(
  'runs a C program to its answer; without an interval its scheduler finds one (%s)',
  async (protocol) => {
    const server = await sharedServer();
    const node = await startHeadlessNode({ server: server.localUrl, slots: 3, name: 'one' });
    later(() => node.close());
    const program = { language: 'c', sources: { 'ring.c': RING } };
    const { status, body } = await api(server, 'POST', '/api/jobs', { program, size: 3, options: { protocol } });
    expect(status).toBe(201);
    const path = `/api/jobs/${body.id as string}`;
    const view = async (): Promise<JobView> => (await api(server, 'GET', path)).body as JobView;
    await until('the job has ended', async () => (await view()).endedAt !== undefined);
    expect(await view()).toMatchObject({ state: 'done', protocol, faults: [] });
    const outputs = await Promise.all(
      [0, 1, 2].map(async (rank) => (await api(server, 'GET', `${path}/tasks/${rank}/stdout?from=0`)).body as unknown),
    );
    expect(outputs).toEqual(['0 after 2, sum 3\n', '1 after 0, sum 3\n', '2 after 1, sum 3\n']);
    const report = (await api(server, 'GET', `${path}/report`)).body as JobReport;
    expect(report.job.options).toMatchObject({ protocol, checkpointMs: 0 });
  },
);

/** Ranks meet, work, and wait until somebody types a line; then they meet again. */
const HELD = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, size, sum = 0, one = 1;
  char line[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int turn = 0; turn < 2; turn++) {
    if (rank == 0 && !fgets(line, sizeof line, stdin)) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(line, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d: %s", sum, line);
  }
  MPI_Finalize();
}
`;

it('shows waves and rollbacks; a server that stops loses nobody, and counts what going back costs', async () => {
  const dataDir = await freshDir();
  // A connection that breaks is a loss at once.
  const dispatcher = { graceMs: 0, briefGraceMs: 0 };
  const first = await createServer({ dataDir, port: 0, token: TOKEN, log: 'silent', dispatcher });
  let closed = false;
  later(async () => void (closed || (await first.close())));
  const node = await startHeadlessNode({ server: first.localUrl, slots: 3, name: 'one' });
  later(() => node.close());
  const program = { language: 'c', sources: { 'held.c': HELD } };
  const options = { protocol: 'vcl', checkpointMs: 200, interactive: true };
  const { body } = await api(first, 'POST', '/api/jobs', { program, size: 3, options });
  const path = `/api/jobs/${body.id as string}`;
  const viewOf = async (server: MayflyServer): Promise<JobView> => (await api(server, 'GET', path)).body as JobView;
  const type = (server: MayflyServer, line: string): Promise<unknown> =>
    api(server, 'POST', `${path}/stdin`, new TextEncoder().encode(line));
  await until('two waves are committed', async () => ((await viewOf(first)).waves?.committed ?? 0) >= 2);
  const begun = await viewOf(first);
  expect(begun.waves).toMatchObject({ periodMs: 200, chosen: true, rollbacks: 0, lostMs: 0 });
  const wave = begun.waves!.recent.find((w) => w.state === 'committed')!;
  expect(wave).toMatchObject({ images: 3, heldBytes: 0 });
  expect(wave.imageBytes).toBeGreaterThan(0);

  await api(first, 'POST', `${path}/tasks/1/kill`);
  await until('all ranks went back', async () => ((await viewOf(first)).waves?.rollbacks ?? 0) === 1);
  const back = (await viewOf(first)).waves!.rolledBack[0]!;
  expect(back).toMatchObject({ epoch: 1, cause: 'killed', ranks: [1] });
  expect(back.wave).toBeGreaterThanOrEqual(wave.wave);
  await type(first, 'first\n');
  await until('a wave after it', async () =>
    (await viewOf(first)).waves!.recent.some((w) => w.state === 'committed' && w.at > back.at),
  );
  await first.close();
  closed = true;

  const second = await startServer({ dataDir, port: first.port });
  await until('all ranks went back', async () => ((await viewOf(second)).waves?.rollbacks ?? 0) >= 2);
  const after = await viewOf(second);
  expect(after.faults.map((f) => f.cause)).toEqual(['killed']);
  expect(after.waves!.rolledBack.map((r) => r.cause)).toEqual(['killed', 'server']);
  expect(after.waves!.committed).toBeGreaterThanOrEqual(begun.waves!.committed);
  await type(second, 'second\n');
  await until('the job has ended', async () => (await viewOf(second)).endedAt !== undefined);
  const ended = await viewOf(second);
  expect(ended).toMatchObject({ state: 'done', waves: { rollbacks: 2 } });
  const printed = (await api(second, 'GET', `${path}/tasks/2/stdout?from=0`)).body as unknown;
  expect(printed).toBe('3: first\n3: second\n');

  const report = (await api(second, 'GET', `${path}/report`)).body as JobReport;
  expect(report.waves).toEqual(ended.waves);
  expect(report.faults).toMatchObject([{ cause: 'killed', replayMs: back.mostMs }]);
  const { events } = (await api(second, 'GET', `${path}/timeline?columns=8`)).body as TimelineView;
  expect(events.filter((e) => e.kind === 'rollback')).toMatchObject([
    { wave: back.wave, cause: 'killed' },
    { cause: 'server' },
  ]);
  expect(events.some((e) => e.kind === 'wave' && e.wave === wave.wave)).toBe(true);
});
