/**
 * Channel Memories at a server that stands by, over a real PostgreSQL: messages pass both servers, and the answer is
 * right whichever of them is lost.
 */
import { startHeadlessNode } from '@mayfly/node/headless';
import { needPrograms, PostgresServer } from '@mayfly/storage/test-postgres';
import type { MayflyServer } from '@mayfly/server';
import type { JobView, RoomView, ServerView } from '@mayfly/wire';
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { api, freshDir, later, until } from './harness.ts';
import { startProcess, type ServerProcess } from './server-process.ts';

/** Each line of standard input lets a ring go on; long messages go in parts. */
const RING = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, size, *long_one = calloc(100000, sizeof(int));
  long sum = 0;
  char line[16];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 1; round <= 4; round++) {
    for (int i = 0; i < 100; i++) {
      int mine = 1000 * round + 10 * i + rank, got;
      MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, i, &got, 1, MPI_INT, (rank + size - 1) % size, i,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += got;
    }
    long_one[99999] = (int)sum;
    MPI_Sendrecv_replace(long_one, 100000, MPI_INT, (rank + 1) % size, 7, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    sum += long_one[99999] % 1000;
    printf("round %d: %ld\\n", round, sum);
    fflush(stdout);
    if (rank == 0 && !fgets(line, sizeof line, stdin)) return 1;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
`;
const RANKS = 4;
/** What each rank prints. */
const answer = ((): string[] => {
  const sums = Array<number>(RANKS).fill(0);
  const out = Array<string>(RANKS).fill('');
  const before = (r: number): number => (r + RANKS - 1) % RANKS;
  for (let round = 1; round <= 4; round++) {
    for (let i = 0; i < 100; i++) for (let r = 0; r < RANKS; r++) sums[r]! += 1000 * round + 10 * i + before(r);
    const sent = [...sums];
    for (let r = 0; r < RANKS; r++) {
      sums[r]! += sent[before(r)]! % 1000;
      out[r] += `round ${round}: ${sums[r]}\n`;
    }
  }
  return out;
})();

/** A balancer with a way of its own for data links. @returns its address */
async function balancer(to: { control: ServerProcess; data: ServerProcess }): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (first) => {
      const { port } = first.toString('latin1').startsWith('GET /data/cm/') ? to.data : to.control;
      const upstream = connect(port, '127.0.0.1');
      for (const [one, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const)
        one.on('error', () => undefined).on('close', () => other.destroy());
      upstream.write(first);
      socket.pipe(upstream).pipe(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  later(() => new Promise((closed) => server.close(closed)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const programs = needPrograms();

it.skipIf(programs === undefined)(
  'of a job are at both servers; one is killed, one stands still, and jobs end with their answer',
  async () => {
    const postgres = await PostgresServer.start(programs!);
    later(() => postgres.dispose());
    const begin = async (port = 0): Promise<ServerProcess> =>
      startProcess({
        port,
        dataDir: await freshDir(),
        store: postgres.url(),
        leaseMs: 2000,
        log: 'info',
        channelMemories: 2,
        limits: { requestsPerMinute: 1e6 },
      });
    let first = await begin();
    await until('the first serves', () => first.output().includes('serves on'));
    const second = await begin();
    await until('the second has seats', () => first.output().includes('has seats for'));
    let reached = first;
    const ask = (
      ...of: Parameters<typeof api> extends [unknown, ...infer Rest] ? Rest : never
    ): ReturnType<typeof api> => api({ localUrl: reached.url } as MayflyServer, ...of);
    /** Its server may just be going. */
    const asked = async <T>(path: string): Promise<T | undefined> => {
      const got = await ask('GET', path).catch(() => undefined);
      return got?.status === 200 ? (got.body as T) : undefined;
    };
    const node = async (name: string, server: string, slots: number): Promise<void> => {
      const n = await startHeadlessNode({ server, slots, name });
      later(() => n.close());
    };
    /** The one that serves first. */
    const servers = async (): Promise<NonNullable<ServerView['servers']>> =>
      (await asked<ServerView>('/api/server'))?.servers ?? [];
    const memories = async (): Promise<number[]> => (await servers()).map((s) => s.memories);
    /** @returns its path */
    const submit = async (more: { room?: string } = {}): Promise<string> => {
      const { status, body } = await ask('POST', '/api/jobs', {
        program: { language: 'c', sources: { 'ring.c': RING } },
        size: RANKS,
        options: { interactive: true, team: 1, mapBy: 'node' },
        ...more,
      });
      expect(status, JSON.stringify(body)).toBe(201);
      return `/api/jobs/${(body as JobView).id}`;
    };
    const stdout = async (path: string): Promise<string[]> =>
      Promise.all([0, 1, 2, 3].map(async (rank) => String((await asked(`${path}/tasks/${rank}/stdout?from=0`)) ?? '')));
    const inRound = (path: string, n: number): Promise<unknown> =>
      until(`all are in round ${n}`, async () => (await stdout(path)).every((text) => text.includes(`round ${n}`)));
    const type = (path: string): Promise<unknown> =>
      until('a line is taken', async () =>
        ask('POST', `${path}/stdin`, new TextEncoder().encode('on\n')).then(
          (taken) => taken.status < 300,
          () => false,
        ),
      );
    /** From a round to the end. */
    const rest = async (path: string, round: number): Promise<void> => {
      for (; round <= 4; round++) {
        await inRound(path, round);
        await type(path);
      }
      await until('the job has ended', async () => (await asked<JobView>(path))?.endedAt !== undefined);
      expect(await asked<JobView>(path)).toMatchObject({ state: 'done' });
      expect(await stdout(path)).toEqual(answer);
    };

    const to = { control: first, data: second };
    // A room whose messages pass the first server, although it has the dispatcher.
    const opened = await ask('POST', '/api/rooms', { name: 'Physics', server: `127.0.0.1:${first.port}` });
    expect(opened.status, JSON.stringify(opened.body)).toBe(201);
    const { code: room } = opened.body as RoomView;
    expect((await ask('POST', '/api/rooms', { name: 'Nowhere', server: 'not an address' })).status).toBe(400);
    const inRoom = await startHeadlessNode({ server: first.url, slots: RANKS, name: 'in the room', room });
    later(() => inRoom.close());
    const pinned = await submit({ room });
    await inRound(pinned, 1);
    expect(await memories()).toEqual([2, 0]);
    await rest(pinned, 1);
    await until('nothing is sent', async () => (await servers()).every((s) => s.messagesPerSecond === 0));
    await node('balanced', await balancer(to), 4);
    await node('at the second', second.url, 8);
    const job = await submit();
    await inRound(job, 1);
    expect(await memories()).toEqual([1, 1]);
    await until('what passes the other server is counted', async () =>
      (await asked<JobView>(job))!.tasks.every((t) => t.messagesOut > 100),
    );
    // Of 2 × 2 links two do not pass the owner: those to the Channel Memory of the second server.
    expect((await asked<ServerView>('/api/server'))!.dataLinks).toBe(2);
    // The owner goes; the other one serves from then on.
    await first.kill();
    reached = to.control = second;
    await until('the second serves', () => second.output().includes('serves on'));
    await type(job);
    await inRound(job, 2);
    // A server comes, has a part of what begins then, and stands still. Links to it do not close by themselves.
    first = await begin(first.port);
    await until('the first has seats', () => second.output().includes('has seats for'));
    to.data = first;
    const next = await submit();
    await inRound(next, 1);
    expect(await memories()).toEqual([2, 2]);
    to.data = second;
    first.signal('SIGSTOP');
    await type(next);
    await inRound(next, 2);
    expect((await memories())[0]).toBe(4);
    expect(second.output()).toContain('Channel Memory recovers here');
    first.signal('SIGCONT');
    await rest(job, 2);
    await rest(next, 2);
  },
);
