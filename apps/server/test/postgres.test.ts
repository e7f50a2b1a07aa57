/** A server whose jobs, logs, checkpoints and output are in a real PostgreSQL. */
import { startHeadlessNode } from '@mayfly/node/headless';
import type { MayflyServer } from '@mayfly/server';
import type { Storage } from '@mayfly/storage/ports';
import { openPostgresStorage } from '@mayfly/storage/postgres';
import type { JobView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { needPrograms, PostgresServer } from '@mayfly/storage/test-postgres';
import { TOKEN, api, freshDir, later, startServer, until } from './harness.ts';

/** Rounds of a ring; each prints, writes to a file, reads it back, and waits for a line of standard input. */
const ROUNDS = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, size, token = 0, read = 0;
  char line[16];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "rounds.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int round = 1; round <= 6; round++) {
    int mine = 100 * round + rank, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_File_write_at(file, 40000 * round + 4 * rank, &sum, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 40000 * round + 4 * rank, &read, 1, MPI_INT, MPI_STATUS_IGNORE);
    token += read;
    printf("round %d: %d\\n", round, token);
    fflush(stdout);
    if (rank == 0 && (round == 2 || round == 4) && !fgets(line, sizeof line, stdin)) return 1;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
  MPI_Finalize();
}
`;
const sums = [1, 2, 3, 4, 5, 6].map((round) => 200 * round + 1);
const printed = sums.map((_, k) => `round ${k + 1}: ${sums.slice(0, k + 1).reduce((a, b) => a + b)}\n`).join('');
const written = Buffer.alloc(240_008);
sums.forEach((sum, k) => [0, 1].forEach((rank) => written.writeInt32LE(sum, 40_000 * (k + 1) + 4 * rank)));

const programs = needPrograms();

it.skipIf(programs === undefined)(
  'a job ends with its answer although its node is killed, PostgreSQL crashes, and another machine goes on with it',
  async () => {
    const postgres = await PostgresServer.start(programs!);
    later(() => postgres.dispose());
    let storage: Storage | undefined;
    const begin = async (port = 0): Promise<MayflyServer> => {
      // Nothing of the server before is on this machine's disk.
      const dataDir = await freshDir();
      storage = await openPostgresStorage({ url: postgres.url(), dataDir });
      return startServer({ port, dataDir, storage });
    };
    let server = await begin();
    const port = Number(new URL(server.localUrl).port);
    const node = async (name: string): Promise<Awaited<ReturnType<typeof startHeadlessNode>>> => {
      const n = await startHeadlessNode({ server: server.localUrl, slots: 2, name });
      later(() => n.close());
      return n;
    };
    const first = await node('first');
    const { status, body } = await api(server, 'POST', '/api/jobs', {
      program: { language: 'c', sources: { 'rounds.c': ROUNDS } },
      size: 2,
      options: { durability: 'strict', interactive: true },
    });
    expect(status, JSON.stringify(body)).toBe(201);
    const path = `/api/jobs/${(body as JobView).id}`;
    const stdout = async (rank: number): Promise<string> =>
      (await api(server, 'GET', `${path}/tasks/${rank}/stdout?from=0`)).body as string;
    const view = async (): Promise<JobView> => (await api(server, 'GET', path)).body as JobView;
    const type = async (): Promise<void> => {
      const answer = await api(server, 'POST', `${path}/stdin`, new TextEncoder().encode('on\n'));
      expect(answer.status).toBeLessThan(300);
    };

    await until(
      'both are in round 2',
      async () => (await stdout(0)).includes('round 2') && (await stdout(1)).includes('round 2'),
    );
    first.kill();
    await postgres.crash();
    await node('second');
    await until('storage works again', async () => (await api(server, 'GET', '/api/info')).status === 200);
    await type();
    await until(
      'both are in round 4',
      async () => (await stdout(0)).includes('round 4') && (await stdout(1)).includes('round 4'),
    );
    await server.close();
    server = await begin(port);
    await type();
    await until('the job has ended', async () => (await view()).endedAt !== undefined);
    // A third machine has only what the database has.
    await server.close();
    server = await begin(port);
    expect(await view()).toMatchObject({ state: 'done', outputs: [{ path: 'rounds.bin', bytes: written.length }] });
    expect([await stdout(0), await stdout(1)]).toEqual([printed, printed]);
    const file = await fetch(`${server.localUrl}${path}/files/rounds.bin`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(Buffer.from(await file.arrayBuffer()).equals(written)).toBe(true);
    const { id } = await view();
    expect(await storage!.usageOf(id)).toBeGreaterThan(written.length);
    expect((await storage!.usage()).jobs).toBe(await storage!.usageOf(id));
    await api(server, 'DELETE', path);
    await until('its rows are gone', async () => (await postgres.asAdmin('SELECT id FROM mayfly.job')).length === 0);
    expect((await storage!.usage()).jobs).toBe(0);
  },
  400_000,
);
