/** Jobs of the protocol `hc3i`: what is refused at submission, and a C program in two clusters on headless nodes. */
import { startHeadlessNode } from '@mayfly/node/headless';
import type { MayflyServer } from '@mayfly/server';
import type { JobView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { api, freshDir, later, sharedServer, startServer, until } from './harness.ts';
import { startProcess } from './server-process.ts';

/**
 * Two clusters of ranks pass a number on: within the cluster in each step, to the other cluster in each twentieth. What
 * comes is folded in, so that a message that is lost, comes twice, or is of another life changes all that follows. Rank
 * 0 reads a line before each of the two halves, which holds the job until the test has done something.
 */
const COUPLED = `
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, size;
  unsigned long long v, in;
  char line[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int half = size / 2, mine = rank / half, mate = mine * half + (rank % half + 1) % half, far = (rank + half) % size;
  v = rank + 1;
  for (int turn = 0; turn < 2; turn++) {
    if (rank == 0) {
      if (!fgets(line, sizeof line, stdin)) MPI_Abort(MPI_COMM_WORLD, 1);
      for (int r = 1; r < size; r++) MPI_Send(&turn, 1, MPI_INT, r, 9, MPI_COMM_WORLD);
    } else MPI_Recv(&in, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int step = 0; step < 100; step++) {
      MPI_Sendrecv(&v, 1, MPI_UNSIGNED_LONG_LONG, mate, 1, &in, 1, MPI_UNSIGNED_LONG_LONG,
                   mine * half + (rank % half + half - 1) % half, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      v = v * 6364136223846793005ULL + in + step;
      if (step % 20 == 19) {
        MPI_Sendrecv(&v, 1, MPI_UNSIGNED_LONG_LONG, far, 2, &in, 1, MPI_UNSIGNED_LONG_LONG, far, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        v = v * 1442695040888963407ULL + in;
      }
      usleep(5000);
    }
    printf("%d: %llx\\n", rank, v);
  }
  MPI_Finalize();
}
`;
const program = { language: 'c', sources: { 'coupled.c': COUPLED } };

/** What every rank prints. */
function expected(size: number): string[] {
  const half = size / 2;
  const wrap = (x: bigint): bigint => x & 0xffff_ffff_ffff_ffffn;
  let v = Array.from({ length: size }, (_, r) => BigInt(r + 1));
  const out = v.map(() => '');
  for (let turn = 0; turn < 2; turn++) {
    for (let step = 0; step < 100; step++) {
      v = v.map((x, r) => {
        const from = Math.floor(r / half) * half + (((r % half) + half - 1) % half);
        return wrap(x * 6364136223846793005n + v[from]! + BigInt(step));
      });
      if (step % 20 === 19) v = v.map((x, r) => wrap(x * 1442695040888963407n + v[(r + half) % size]!));
    }
    v.forEach((x, r) => (out[r] += `${r}: ${x.toString(16)}\n`));
  }
  return out;
}

const refuses = async (options: object, size: number, message: RegExp, more = {}): Promise<void> => {
  const server = await sharedServer();
  const answer = await api(server, 'POST', '/api/jobs', { program, size, options, ...more });
  expect(answer.status).toBe(400);
  expect(answer.body.message).toMatch(message);
};

const TIMERS = { protocol: 'hc3i', clusters: 2, clusterCheckpointMs: [500, null] };
it.each([
  [{ protocol: 'vcl', clusters: 2 }, /^The protocol "vcl" does not accept the option "clusters": .*choose "hc3i"\.$/],
  [{ protocol: 'hc3i' }, /^The protocol "hc3i" needs the option "clusters"/],
  [{ protocol: 'hc3i', clusters: 1 }, /^The job has 1 clusters: a job of "hc3i" has 2 to 16\.$/],
  [{ protocol: 'hc3i', clusters: 5 }, /^The job has 5 clusters and 4 ranks/],
  [{ protocol: 'hc3i', clusters: [[0, 1], [3]] }, /^Rank 2 is in no cluster/],
  [
    {
      protocol: 'hc3i',
      clusters: [
        [0, 1],
        [1, 2, 3],
      ],
    },
    /^Rank 1 is in cluster 0 and in cluster 1/,
  ],
  [{ protocol: 'hc3i', clusters: [[0, 1, 2, 3], []] }, /^Cluster 1 has no ranks/],
  [{ protocol: 'vcl', clusterCheckpointMs: [500, null] }, /, and a job of "vcl" has no clusters: give one time /],
  [{ ...TIMERS, checkpointMs: 500 }, /^The job has one time between checkpoints for all clusters, and one for each/],
  [{ ...TIMERS, clusters: 3 }, /^The job names 2 times between checkpoints and has 3 clusters: name one for each/],
  [{ ...TIMERS, clusterCheckpointMs: [500, 99] }, /^Cluster 1 is to take a checkpoint every 99 ms: at least 100 ms/],
  [
    {
      protocol: 'hc3i',
      clusters: [
        [0, 1],
        [2, 4],
      ],
    },
    /^Cluster 1 has rank 4: the job has the ranks 0 to 3/,
  ],
])('refuses %j', (options, message) => refuses(options, 4, message));

const TWO = { protocol: 'hc3i', clusters: 2 };
it.each([
  [{}, { rooms: ['ABCDEF', null] }, /^A job of the protocol "pessimistic" runs in one room/],
  [{ protocol: 'vcl' }, { rooms: [] }, /^A job of the protocol "vcl" runs in one room/],
  [TWO, { rooms: [null] }, /^The job names 1 room and has 2 clusters: name one room for each cluster\.$/],
  [TWO, { rooms: [null, null, null] }, /^The job names 3 rooms and has 2 clusters/],
  [TWO, { rooms: [null, 'NQSUCH'] }, /^There is no room with the code NQSUCH\.$/],
  [TWO, { room: 'NQSUCH', rooms: [null, null] }, /^Both "room" and "rooms" are there/],
])('refuses %j in %j', (options, where, message) => refuses(options, 4, message, where));

const viewOf = async (server: MayflyServer, path: string): Promise<JobView> =>
  (await api(server, 'GET', path)).body as JobView;
const type = (server: MayflyServer, path: string, line: string): Promise<unknown> =>
  api(server, 'POST', `${path}/stdin`, new TextEncoder().encode(line));
const printed = (server: MayflyServer, path: string, size: number): Promise<unknown[]> =>
  Promise.all(
    Array.from(
      { length: size },
      async (_, rank) => (await api(server, 'GET', `${path}/tasks/${rank}/stdout?from=0`)).body as unknown,
    ),
  );
const ended = async (server: MayflyServer, path: string): Promise<void> => {
  let view = await viewOf(server, path);
  const over = async (): Promise<boolean> => (view = await viewOf(server, path)).endedAt !== undefined;
  await until('the job has ended', over).catch((cause: unknown) => {
    throw new Error(`the job stands still: ${JSON.stringify(view)}`, { cause });
  });
};
const OPTIONS = { protocol: 'hc3i', clusters: 2, checkpointMs: 300, interactive: true };

it('runs to its answer without a loss', async () => {
  const server = await sharedServer();
  const node = await startHeadlessNode({ server: server.localUrl, slots: 4, name: 'one' });
  later(() => node.close());
  const { body } = await api(server, 'POST', '/api/jobs', { program, size: 4, options: OPTIONS });
  const path = `/api/jobs/${body.id as string}`;
  await type(server, path, 'a\nb\n');
  await ended(server, path);
  expect(await viewOf(server, path)).toMatchObject({ state: 'done', faults: [], waves: { rollbacks: 0 } });
  expect(await printed(server, path, 4)).toEqual(expected(4));
});

/**
 * A line shows once a checkpoint is behind it. With the first one of every rank, a loss undoes nothing that another
 * cluster has received.
 */
const halfKept = async (server: MayflyServer, path: string, size: number): Promise<boolean> =>
  (await printed(server, path, size)).every((text) => String(text).includes('\n'));

it('a cluster without a timer takes checkpoints only when messages or output ask for them', async () => {
  const server = await sharedServer();
  const node = await startHeadlessNode({ server: server.localUrl, slots: 4, name: 'one' });
  later(() => node.close());
  const { checkpointMs: _, ...options } = OPTIONS;
  const silent = { ...options, clusterCheckpointMs: [300, null] };
  const { body } = await api(server, 'POST', '/api/jobs', { program, size: 4, options: silent });
  const path = `/api/jobs/${body.id as string}`;
  await type(server, path, 'a\n');
  await until('all of the first half lies behind checkpoints', () => halfKept(server, path, 4));
  const clusters = async (): Promise<NonNullable<NonNullable<JobView['waves']>['clusters']>> =>
    (await viewOf(server, path)).waves!.clusters!;
  let before = await clusters();
  // More on a machine on which a checkpoint takes longer.
  expect(before[0]!.periodMs).toBeGreaterThanOrEqual(300);
  expect(before[1]!.periodMs).toBeUndefined();
  // Nothing is sent now. What output had asked for may still be under way, then only time asks.
  await until('the first cluster has gone on by three checkpoints, and the other by none', async () => {
    const now = await clusters();
    if (now[1]!.sn !== before[1]!.sn) before = now;
    return now[0]!.timed >= before[0]!.timed + 3;
  });
  await type(server, path, 'b\n');
  await ended(server, path);
  expect(await viewOf(server, path)).toMatchObject({ state: 'done', waves: { chosen: true } });
  expect(await printed(server, path, 4)).toEqual(expected(4));
  const report = (await api(server, 'GET', `${path}/report`)).body;
  expect(report).toMatchObject({ job: { options: { clusterCheckpointMs: [300, null] } } });
});

/** A connection that breaks is a loss at once. */
const AT_ONCE = { graceMs: 0, briefGraceMs: 0 };
const incarnations = (view: JobView): number[] => view.tasks.map((t) => t.incarnation);
const committed = (view: JobView, cluster: number): number =>
  view.waves!.recent.filter((w) => w.cluster === cluster && w.state === 'committed').length;
it('takes back the cluster of a lost rank, and no other that does not depend on it', async () => {
  const server = await startServer({ dispatcher: AT_ONCE });
  const node = await startHeadlessNode({ server: server.localUrl, slots: 4, name: 'one' });
  later(() => node.close());
  const { body } = await api(server, 'POST', '/api/jobs', { program, size: 4, options: OPTIONS });
  const path = `/api/jobs/${body.id as string}`;
  await type(server, path, 'a\n');
  await until('all of the first half lies behind checkpoints', () => halfKept(server, path, 4));
  const before = await viewOf(server, path);
  await api(server, 'POST', `${path}/tasks/3/kill`);
  await until('the cluster went back', async () => ((await viewOf(server, path)).waves?.rollbacks ?? 0) === 1);
  await type(server, path, 'b\n');
  await ended(server, path);
  const after = await viewOf(server, path);
  expect(after).toMatchObject({ state: 'done', waves: { rollbacks: 1 } });
  expect(after.waves!.rolledBack).toMatchObject([{ cluster: 1, cause: 'killed', ranks: [3] }]);
  const raised = incarnations(after).map((n, rank) => n - incarnations(before)[rank]!);
  expect(raised.slice(0, 2)).toEqual([0, 0]);
  expect(Math.min(...raised.slice(2))).toBeGreaterThan(0);
  expect(await printed(server, path, 4)).toEqual(expected(4));
});

it('gives the same answer when both clusters lose a rank at once, while they exchange messages', async () => {
  const server = await startServer({ dispatcher: AT_ONCE });
  const node = await startHeadlessNode({ server: server.localUrl, slots: 6, name: 'one' });
  later(() => node.close());
  const clusters = [
    [0, 1, 2],
    [3, 4, 5],
  ];
  const { body } = await api(server, 'POST', '/api/jobs', { program, size: 6, options: { ...OPTIONS, clusters } });
  const path = `/api/jobs/${body.id as string}`;
  await type(server, path, 'a\n');
  await until(
    'a checkpoint was forced',
    async () => (await viewOf(server, path)).waves?.recent.some((w) => w.forced && w.state === 'committed') ?? false,
  );
  await Promise.all([2, 3].map((rank) => api(server, 'POST', `${path}/tasks/${rank}/kill`)));
  await until('both went back', async () => {
    const back = (await viewOf(server, path)).waves!.rolledBack;
    return [0, 1].every((cluster) => back.some((b) => b.cluster === cluster));
  });
  await type(server, path, 'b\n');
  await ended(server, path);
  expect(await viewOf(server, path)).toMatchObject({ state: 'done' });
  expect(await printed(server, path, 6)).toEqual(expected(6));
});

it('rebuilds its clusters after kill -9 of the server, and numbers of checkpoints go on', async () => {
  const dataDir = await freshDir();
  const first = await startProcess({ dataDir });
  const one = { localUrl: first.url } as MayflyServer;
  const node = await startHeadlessNode({ server: first.url, slots: 4, name: 'one' });
  later(() => node.close());
  const { body } = await api(one, 'POST', '/api/jobs', { program, size: 4, options: OPTIONS });
  const path = `/api/jobs/${body.id as string}`;
  await type(one, path, 'a\n');
  await until(
    'both clusters have forced and timed checkpoints',
    async () =>
      ((await viewOf(one, path)).waves?.clusters ?? []).length === 2 &&
      (await viewOf(one, path)).waves!.clusters!.every((c) => c.forced >= 2 && c.timed >= 1),
  );
  const before = (await viewOf(one, path)).waves!.clusters!;
  await first.kill();

  const second = await startProcess({ dataDir, port: first.port });
  const two = { localUrl: second.url } as MayflyServer;
  await until('both clusters went back', async () => ((await viewOf(two, path)).waves?.rollbacks ?? 0) === 2);
  const after = (await viewOf(two, path)).waves!.clusters!;
  for (const [cluster, c] of after.entries()) expect(c.sn).toBeGreaterThan(before[cluster]!.sn);
  await type(two, path, 'b\n');
  await ended(two, path);
  expect(await viewOf(two, path)).toMatchObject({ state: 'done', faults: [] });
  expect(await printed(two, path, 4)).toEqual(expected(4));
});

it('is paused with a checkpoint of each cluster, and resumed', async () => {
  const server = await startServer({ dispatcher: AT_ONCE });
  const node = await startHeadlessNode({ server: server.localUrl, slots: 4, name: 'one' });
  later(() => node.close());
  const { body } = await api(server, 'POST', '/api/jobs', { program, size: 4, options: OPTIONS });
  const path = `/api/jobs/${body.id as string}`;
  await type(server, path, 'a\n');
  await until('both clusters have checkpoints', async () => {
    const view = await viewOf(server, path);
    return view.waves !== undefined && [0, 1].every((c) => committed(view, c) > 0);
  });
  expect((await api(server, 'POST', `${path}/pause`)).status).toBe(200);
  await until('it is paused', async () => (await viewOf(server, path)).state === 'paused');
  await api(server, 'POST', `${path}/resume`);
  await type(server, path, 'b\n');
  await ended(server, path);
  const view = await viewOf(server, path);
  expect(view).toMatchObject({ state: 'done', faults: [] });
  expect(new Set(view.waves!.rolledBack.map((r) => r.cause))).toEqual(new Set(['paused']));
  expect(await printed(server, path, 4)).toEqual(expected(4));
});

/** Ranks of both clusters write to one file, read what the other one wrote, and try to start a process. */
const OUTSIDE = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, mine, theirs = -1, class, error;
  MPI_File file;
  MPI_Comm children;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, "out.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  mine = 100 + rank;
  MPI_File_write_at(file, 4 * rank, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at(file, 4 * (1 - rank), &theirs, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  error = MPI_Comm_spawn("self", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
  MPI_Error_class(error, &class);
  printf("%d read %d; spawn %s\\n", rank, theirs, class == MPI_ERR_SPAWN ? "refused" : "?");
  MPI_Finalize();
}
`;

it('performs requests to the file service once they cannot be undone, also after a loss, and starts no processes', async () => {
  const server = await startServer({ dispatcher: AT_ONCE });
  const node = await startHeadlessNode({ server: server.localUrl, slots: 3, name: 'one' });
  later(() => node.close());
  const outside = { language: 'c', sources: { 'outside.c': OUTSIDE } };
  const options = { protocol: 'hc3i', clusters: 2, checkpointMs: 300 };
  const { body } = await api(server, 'POST', '/api/jobs', { program: outside, size: 2, options });
  const path = `/api/jobs/${body.id as string}`;
  await until('a rank waits for the file service', async () =>
    (await viewOf(server, path)).tasks.some((t) => t.activity?.call?.startsWith('MPI_File') ?? false),
  );
  await api(server, 'POST', `${path}/tasks/1/kill`);
  await ended(server, path);
  expect(await viewOf(server, path)).toMatchObject({ state: 'done' });
  expect(await printed(server, path, 2)).toEqual(['0 read 101; spawn refused\n', '1 read 100; spawn refused\n']);
});

it('runs each cluster in its own room: one room’s nodes all leave, and the other cluster keeps its ranks', async () => {
  const server = await startServer({ dispatcher: AT_ONCE });
  const open = async (name: string): Promise<string> =>
    (await api(server, 'POST', '/api/rooms', { name })).body.code as string;
  const [blue, red] = [await open('Blue'), await open('Red')];
  const node = (name: string, room: string, slots: number) =>
    startHeadlessNode({ server: server.localUrl, slots, name, room });
  const nodes = [await node('blue', blue, 4), await node('red', red, 2), await node('red 2', red, 2)];
  later(() => nodes[0]!.close());
  const submission = { program, size: 4, options: OPTIONS, rooms: [blue, red] };
  const { body } = await api(server, 'POST', '/api/jobs', submission);
  const path = `/api/jobs/${body.id as string}`;
  await type(server, path, 'a\n');
  await until('all of the first half lies behind checkpoints', () => halfKept(server, path, 4));
  const before = await viewOf(server, path);
  const names = (view: JobView): string[] => view.tasks.map((t) => t.nodeName?.split(' ')[0] ?? '');
  expect(names(before)).toEqual(['blue', 'blue', 'red', 'red']);
  expect(before).toMatchObject({
    rooms: [
      { code: blue, ranks: [0, 1] },
      { code: red, ranks: [2, 3] },
    ],
  });
  expect((await api(server, 'GET', '/api/rooms')).body).toMatchObject([
    { code: red, jobs: 1 },
    { code: blue, jobs: 1 },
  ]);
  for (const code of [blue, red]) expect((await api(server, 'DELETE', `/api/rooms/${code}`)).status).toBe(409);
  await Promise.all(nodes.slice(1).map((n) => n.close()));
  await until('its ranks wait for slots of their room', async () =>
    ((await viewOf(server, path)).reason ?? '').startsWith('ranks 2, 3 wait for slots'),
  );
  expect((await viewOf(server, path)).reason).toBe(`ranks 2, 3 wait for slots; no node is connected in room ${red}`);
  const again = await node('red again', red, 2);
  later(() => again.close());
  await type(server, path, 'b\n');
  await ended(server, path);
  const after = await viewOf(server, path);
  expect(after).toMatchObject({ state: 'done' });
  expect(new Set(after.waves!.rolledBack.map((r) => r.cluster))).toEqual(new Set([1]));
  expect(incarnations(after).slice(0, 2)).toEqual(incarnations(before).slice(0, 2));
  expect(await printed(server, path, 4)).toEqual(expected(4));
  // The second run is in the same rooms, unless others are named.
  const second = await api(server, 'POST', `${path}/again`, {});
  expect(await viewOf(server, `/api/jobs/${second.body.id as string}`)).toMatchObject({ rooms: after.rooms });
  const third = await api(server, 'POST', `${path}/again`, { rooms: [null, blue] });
  expect((await viewOf(server, `/api/jobs/${third.body.id as string}`)).rooms!.map((r) => r.code)).toEqual([
    undefined,
    blue,
  ]);
  const fourth = await viewOf(
    server,
    `/api/jobs/${(await api(server, 'POST', `${path}/again`, { room: blue })).body.id as string}`,
  );
  expect([fourth.room, fourth.rooms]).toEqual([blue, undefined]);
});
