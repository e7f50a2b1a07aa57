/** Servers, one after the other, whose jobs, logs, checkpoints and output are in a real PostgreSQL. */
import { startHeadlessNode } from '@mayfly/node/headless';
import type { MayflyServer } from '@mayfly/server';
import type { JobView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { needPrograms, PostgresServer } from '@mayfly/storage/test-postgres';
import { TOKEN, api, freshDir, later, until } from './harness.ts';
import { startProcess, type ServerProcess } from './server-process.ts';

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
  'a job ends with its answer although its node is killed, PostgreSQL crashes, and one server after the other goes',
  async () => {
    const postgres = await PostgresServer.start(programs!);
    later(() => postgres.dispose());
    const begin = async (port = 0): Promise<ServerProcess> =>
      // Nothing of the server before is on this machine's disk.
      startProcess({ port, dataDir: await freshDir(), store: postgres.url(), leaseMs: 2000 });
    let first = await begin();
    await until('the first serves', () => first.output().includes('serves on'));
    const second = await begin();
    await until('the second stands by', () => second.output().includes(`stands by for 127.0.0.1:${first.port}`));
    // Which of them a client reaches makes no difference: it is one after the other here.
    let reached = second;
    type Asked = Parameters<typeof api> extends [unknown, ...infer Rest] ? Rest : never;
    const ask = (...of: Asked): ReturnType<typeof api> => api({ localUrl: reached.url } as MayflyServer, ...of);
    /** While nobody serves, a connection waits or breaks. */
    const asked = async (...of: Asked): Promise<unknown> => {
      const answer = await ask(...of).catch(() => undefined);
      return answer?.status === 200 ? answer.body : undefined;
    };
    const node = async (
      name: string,
      server: ServerProcess,
    ): Promise<Awaited<ReturnType<typeof startHeadlessNode>>> => {
      const n = await startHeadlessNode({ server: server.url, slots: 2, name });
      later(() => n.close());
      return n;
    };
    const owner = async (): Promise<number> => {
      const [row] = await postgres.asAdmin('SELECT who FROM mayfly.lease');
      return Number(/process (\d+) /.exec(row!.who as string)![1]);
    };
    const standBys = (of: ServerProcess): number => of.output().split('stands by for').length;
    const lone = await node('first', first);
    const { status, body } = await ask('POST', '/api/jobs', {
      program: { language: 'c', sources: { 'rounds.c': ROUNDS } },
      size: 2,
      options: { interactive: true },
    });
    expect(status, JSON.stringify(body)).toBe(201);
    const path = `/api/jobs/${(body as JobView).id}`;
    const stdout = async (rank: number): Promise<string> =>
      String((await asked('GET', `${path}/tasks/${rank}/stdout?from=0`)) ?? '');
    const view = async (): Promise<JobView | undefined> => (await asked('GET', path)) as JobView | undefined;
    const inRound = (n: number): Promise<unknown> =>
      until(`both are in round ${n}`, async () =>
        (await Promise.all([stdout(0), stdout(1)])).every((text) => text.includes(`round ${n}`)),
      );
    const type = (): Promise<unknown> =>
      until('a line is taken', async () =>
        ask('POST', `${path}/stdin`, new TextEncoder().encode('on\n')).then(
          (answer) => answer.status < 300,
          () => false,
        ),
      );

    await inRound(2);
    expect(await view()).toMatchObject({ durability: 'strict' }); // the default of servers that share a database
    lone.kill();
    await postgres.crash();
    await node('second', second);
    await until('storage works again', async () => (await asked('GET', '/api/info')) !== undefined);
    await type();
    await inRound(4);

    // Either of them, after the crash.
    if ((await owner()) === second.pid) reached = first;
    const serving = reached === second ? first : second;
    await serving.kill();
    await until('the other one serves', async () => (await owner()) === reached.pid);
    first = await begin(serving.port);
    await until('the first stands by', () => first.output().includes('stands by for'));
    await type();
    await until('the job has ended', async () => (await view())?.endedAt !== undefined);

    // It stands still, and is fenced when it goes on.
    reached.signal('SIGSTOP');
    const frozen = reached;
    reached = first;
    await until('the first serves', async () => (await owner()) === first.pid && (await view()) !== undefined);
    const stoodBy = standBys(frozen);
    frozen.signal('SIGCONT');
    await until('the other one stands by', () => standBys(frozen) > stoodBy);
    reached = frozen;
    // It has closed the connections that the client kept.
    await until('a new connection goes on', async () => (await view()) !== undefined);
    // It is drained, and does not take back what it gave up.
    const drained = await owner();
    expect((await ask('POST', '/api/server/drain')).status).toBe(202);
    await until('another one serves', async () => (await owner()) !== drained && (await view()) !== undefined);
    expect(await view()).toMatchObject({ state: 'done', outputs: [{ path: 'rounds.bin', bytes: written.length }] });
    expect([await stdout(0), await stdout(1)]).toEqual([printed, printed]);
    const file = await fetch(`${frozen.url}${path}/files/rounds.bin`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(Buffer.from(await file.arrayBuffer()).equals(written)).toBe(true);
    expect(await asked('GET', '/api/server')).toMatchObject({
      servers: [
        { owns: true, address: `127.0.0.1:${frozen.port}` },
        { owns: false, address: `127.0.0.1:${first.port}` },
      ],
    });
    // An upgrade: the next one serves before this one has ended.
    expect(await frozen.stop()).toBe(0);
    reached = first;
    await until('the other one serves', async () => (await owner()) === first.pid && (await view()) !== undefined);
    expect(((await asked('GET', '/api/server')) as { storage: { jobs: number } }).storage.jobs).toBeGreaterThan(
      written.length,
    );
    await ask('DELETE', path);
    await until('its rows are gone', async () => (await postgres.asAdmin('SELECT id FROM mayfly.job')).length === 0);
    expect(await first.stop()).toBe(0);
  },
);
