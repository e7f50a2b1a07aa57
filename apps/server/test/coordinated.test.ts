/** Jobs of the protocols `vcl` and `pcl`: what is refused at submission, and a C program on real headless nodes. */
import { startHeadlessNode } from '@mayfly/node/headless';
import { createServer, type MayflyServer } from '@mayfly/server';
import { sharedCompiler } from '@mayfly/toolchain/shared-compiler-for-tests';
import type { DashboardEvents, DashboardRequests, JobReport, JobView, TimelineView } from '@mayfly/wire';
import { io, type Socket } from 'socket.io-client';
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
      /^The protocol "[vp]cl" does not allow this: .*TypeScript rank.* Choose "pessimistic", "app" or "none"\.$/,
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
  const first = await createServer({ dataDir, port: 0, token: TOKEN, log: 'silent', dispatcher, ...sharedCompiler() });
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
  expect(begun.waves).toMatchObject({ chosen: true, rollbacks: 0, lostMs: 0 });
  // More on a machine on which a wave takes longer.
  expect(begun.waves!.periodMs).toBeGreaterThanOrEqual(200);
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

/** Ranks print a line, wait until rank 0 has read one, and print another. */
const PRINTS = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank;
  char line[8];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("%d begins\\n", rank);
  if (rank == 0 && !fgets(line, sizeof line, stdin)) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d ends\\n", rank);
  MPI_Finalize();
}
`;

it('shows output before it is final to who asks for it, takes it back at a loss, and REST has it once', async () => {
  const server = await sharedServer();
  const node = await startHeadlessNode({ server: server.localUrl, slots: 3, name: 'one' });
  later(() => node.close());
  const program = { language: 'c', sources: { 'prints.c': PRINTS } };
  // No wave while it is held: it would make final what is printed.
  const options = { protocol: 'pcl', checkpointMs: 600_000, interactive: true };
  const { body } = await api(server, 'POST', '/api/jobs', { program, size: 2, options });
  const job = body.id as string;
  const stdout = async (rank: number): Promise<unknown> =>
    (await api(server, 'GET', `/api/jobs/${job}/tasks/${rank}/stdout?from=0`)).body as unknown;
  const watch = async (provisional: boolean): Promise<{ pictures: string[]; output: string[] }> => {
    const socket: Socket<DashboardEvents, DashboardRequests> = io(`${server.localUrl}/dashboard`, {
      auth: { token: TOKEN },
    });
    later(async () => void socket.disconnect());
    const seen = { pictures: [] as string[], output: ['', ''] };
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    socket.on('provisional', ({ streams }) => {
      expect(streams.every((s) => s.stream === 'stdout' && s.omitted === 0)).toBe(true);
      seen.pictures.push(streams.map((s) => `${s.task}: ${text(s.bytes)}`).join(''));
    });
    socket.on('output', (o) => void (seen.output[o.task] += text(o.bytes)));
    expect(await socket.emitWithAck('watch', { job, provisional })).toEqual({ ok: true });
    return seen;
  };
  const [seen, unasked] = [await watch(true), await watch(false)];

  const both = '0: 0 begins\n1: 1 begins\n';
  await until('both lines are shown', () => seen.pictures.at(-1) === both);
  expect(await Promise.all([stdout(0), stdout(1)])).toEqual(['', '']);
  expect(seen.output).toEqual(['', '']);

  const shown = seen.pictures.length;
  await api(server, 'POST', `/api/jobs/${job}/tasks/1/kill`);
  await until('both lines are there again', () => seen.pictures.slice(shown).at(-1) === both);
  await api(server, 'POST', `/api/jobs/${job}/stdin`, new TextEncoder().encode('go\n'));
  await until('the job has ended', async () => {
    const view = (await api(server, 'GET', `/api/jobs/${job}`)).body as JobView;
    return view.endedAt !== undefined;
  });
  const final = [0, 1].map((rank) => `${rank} begins\n${rank} ends\n`);
  await until('everything has come', () => [seen, unasked].every((s) => s.output.join() === final.join()));
  await until('nothing is provisional', () => seen.pictures.at(-1) === '');
  expect(await Promise.all([stdout(0), stdout(1)])).toEqual(final);
  expect(unasked.pictures).toEqual([]);
});

/** Rounds of a ring, and an end after so many and a line of standard input; nothing is printed before. */
const WORKS = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, size, on = 0, line = 0, rounds = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; !on; i++) {
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, &line, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank == 0 && i == rounds) getchar();
    MPI_Allreduce(MPI_IN_PLACE, &i, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    on = i == rounds;
  }
  printf("%d ends\\n", rank);
  MPI_Finalize();
}
`;

it.each([
  ['vcl', 2000, {}],
  ['pcl', 2000, {}],
  // Each round between its clusters forces checkpoints.
  ['hc3i', 100, { clusters: 2 }],
] as const)(
  'a node that may soon be lost asks for a checkpoint of all whom its ranks take along (%s)',
  async (protocol, rounds, more) => {
    const server = await sharedServer();
    const nodes = await Promise.all(
      [0, 1].map((n) => startHeadlessNode({ server: server.localUrl, slots: 2, name: `node ${n}` })),
    );
    for (const n of nodes) later(() => n.close());
    const program = { language: 'c', sources: { 'works.c': WORKS } };
    const options = { protocol, checkpointMs: 600_000, interactive: true, mapBy: 'node', ...more };
    const { body } = await api(server, 'POST', '/api/jobs', { program, args: [String(rounds)], size: 4, options });
    const path = `/api/jobs/${body.id as string}`;
    const view = async (): Promise<JobView> => (await api(server, 'GET', path)).body as JobView;
    await until('all run', async () => (await view()).tasks.every((t) => t.messagesOut > 10));
    nodes[0]!.foresee();
    await until('they have a checkpoint', async () => (await view()).waves!.committed > 0);
    nodes[0]!.kill();
    const spare = await startHeadlessNode({ server: server.localUrl, slots: 2, name: 'spare' });
    later(() => spare.close());
    await until('they go on', async () => (await view()).waves!.rollbacks > 0);
    expect((await view()).waves!.rolledBack.every((r) => r.wave > 0)).toBe(true);
    await api(server, 'POST', `${path}/stdin`, new TextEncoder().encode('on\n'));
    await until('the job has ended', async () => (await view()).endedAt !== undefined);
    expect(await view()).toMatchObject({ state: 'done' });
  },
);
