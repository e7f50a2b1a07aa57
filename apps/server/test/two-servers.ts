/**
 * Servers of one PostgreSQL, real processes, and a ring of ranks that goes on line by line: for tests of Channel
 * Memories at a server that stands by.
 */
import { startHeadlessNode } from '@mayfly/node/headless';
import { PostgresServer, type needPrograms } from '@mayfly/storage/test-postgres';
import type { MayflyServer } from '@mayfly/server';
import type { JobOptions, JobView, ServerView } from '@mayfly/wire';
import { expect } from 'vitest';
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
export const RANKS = 4;
/** What each rank prints. */
export const answer = ((): string[] => {
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

type Asked = Parameters<typeof api> extends [unknown, ...infer Rest] ? Rest : never;

export class TwoServers {
  /** Which of them is asked. */
  reached!: ServerProcess;

  private constructor(private readonly postgres: PostgresServer) {}

  /** Nobody serves yet. */
  static async start(programs: NonNullable<ReturnType<typeof needPrograms>>): Promise<TwoServers> {
    const postgres = await PostgresServer.start(programs);
    later(() => postgres.dispose());
    return new TwoServers(postgres);
  }

  begin = async (port = 0): Promise<ServerProcess> =>
    startProcess({
      port,
      dataDir: await freshDir(),
      store: this.postgres.url(),
      leaseMs: 2000,
      log: 'info',
      channelMemories: 2,
      limits: { requestsPerMinute: 1e6 },
    });

  /** One that serves, and one that has seats for it. */
  async both(): Promise<[first: ServerProcess, second: ServerProcess]> {
    const first = await this.begin();
    await until('the first serves', () => first.output().includes('serves on'));
    const second = await this.begin();
    await until('the second has seats', () => first.output().includes('has seats for'));
    this.reached = first;
    return [first, second];
  }

  ask = (...of: Asked): ReturnType<typeof api> => api({ localUrl: this.reached.url } as MayflyServer, ...of);

  /** Its server may just be going. */
  asked = async <T>(path: string): Promise<T | undefined> => {
    const got = await this.ask('GET', path).catch(() => undefined);
    return got?.status === 200 ? (got.body as T) : undefined;
  };

  node = async (name: string, server: string, slots: number, room?: string): Promise<{ kill(): void }> => {
    const n = await startHeadlessNode({ server, slots, name, ...(room !== undefined && { room }) });
    later(() => n.close());
    return n;
  };

  /** The one that serves first. */
  servers = async (): Promise<NonNullable<ServerView['servers']>> =>
    (await this.asked<ServerView>('/api/server'))?.servers ?? [];
  memories = async (): Promise<number[]> => (await this.servers()).map((s) => s.memories);

  /** @returns its path */
  submit = async (more: { room?: string; options?: JobOptions } = {}): Promise<string> => {
    const { options, ...rest } = more;
    const { status, body } = await this.ask('POST', '/api/jobs', {
      program: { language: 'c', sources: { 'ring.c': RING } },
      size: RANKS,
      options: { interactive: true, mapBy: 'node', ...(options ?? { team: 1 }) },
      ...rest,
    });
    expect(status, JSON.stringify(body)).toBe(201);
    return `/api/jobs/${(body as JobView).id}`;
  };

  stdout = async (path: string): Promise<string[]> =>
    Promise.all(
      [0, 1, 2, 3].map(async (rank) => String((await this.asked(`${path}/tasks/${rank}/stdout?from=0`)) ?? '')),
    );

  inRound = (path: string, n: number): Promise<unknown> =>
    until(`all are in round ${n}`, async () => (await this.stdout(path)).every((text) => text.includes(`round ${n}`)));

  type = (path: string): Promise<unknown> =>
    until('a line is taken', async () =>
      this.ask('POST', `${path}/stdin`, new TextEncoder().encode('on\n')).then(
        (taken) => taken.status < 300,
        () => false,
      ),
    );

  /** From a round to the end. */
  rest = async (path: string, round: number): Promise<void> => {
    for (; round <= 4; round++) {
      await this.inRound(path, round);
      await this.type(path);
    }
    await until('the job has ended', async () => (await this.asked<JobView>(path))?.endedAt !== undefined);
    expect(await this.asked<JobView>(path)).toMatchObject({ state: 'done' });
    expect(await this.stdout(path)).toEqual(answer);
  };
}
