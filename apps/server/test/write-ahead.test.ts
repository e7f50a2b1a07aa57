/**
 * Durability `behind` over a real PostgreSQL: what only the write-ahead files of a killed server have. The database
 * takes no message meanwhile: another transaction has its table locked.
 */
import { startHeadlessNode } from '@mayfly/node/headless';
import type { MayflyServer } from '@mayfly/server';
import { needPrograms, PostgresServer } from '@mayfly/storage/test-postgres';
import type { JobView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { api, freshDir, later, until } from './harness.ts';
import { startProcess } from './server-process.ts';

const ROUNDS = 150;
/**
 * Rounds of a ring behind each line of standard input. The barrier: a rank that attached while the database is held
 * would wait for its answer, which waits for what was appended before.
 */
const RING = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, size;
  unsigned sum, in;
  char line[16];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sum = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int phase = 1; phase <= 3; phase++) {
    if (rank == 0) {
      printf("phase %d\\n", phase);
      fflush(stdout);
      if (!fgets(line, sizeof line, stdin)) return 1;
    }
    for (int round = 0; round < ${ROUNDS}; round++) {
      MPI_Sendrecv(&sum, 1, MPI_UNSIGNED, (rank + 1) % size, 0, &in, 1, MPI_UNSIGNED, (rank + size - 1) % size, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum = (sum ^ sum >> 7) * 2654435761u + in;
    }
  }
  printf("%u\\n", sum);
  MPI_Finalize();
}
`;
const answers = [0, 1];
for (let n = 0; n < 3 * ROUNDS; n++) {
  const [a, b] = answers as [number, number];
  const next = (sum: number, other: number): number => (Math.imul(sum ^ (sum >>> 7), 2654435761) + other) >>> 0;
  answers.splice(0, 2, next(a, b), next(b, a));
}

const programs = needPrograms();

it.skipIf(programs === undefined)(
  'a message goes on at once; a killed server loses none on its machine, and elsewhere the nodes send it again',
  async () => {
    const postgres = await PostgresServer.start(programs!);
    later(() => postgres.dispose());
    const mine = await freshDir();
    const options = { store: postgres.url(), dispatcher: { restartGraceMs: 3000 } };
    let server = await startProcess({ dataDir: mine, ...options });
    const port = server.port;
    type Asked = Parameters<typeof api> extends [unknown, ...infer Rest] ? Rest : never;
    const ask = (...of: Asked): ReturnType<typeof api> => api({ localUrl: server.url } as MayflyServer, ...of);
    let named = 0;
    const nodes: Awaited<ReturnType<typeof startHeadlessNode>>[] = [];
    const begin = async (): Promise<void> => {
      const node = await startHeadlessNode({ server: server.url, slots: 1, name: `node ${++named}` });
      later(() => node.close());
      nodes.push(node);
    };
    await begin();
    await begin();
    const { status, body } = await ask('POST', '/api/jobs', {
      program: { language: 'c', sources: { 'ring.c': RING } },
      size: 2,
      options: { durability: 'behind', interactive: true, team: 1 },
    });
    expect(status, JSON.stringify(body)).toBe(201);
    const path = `/api/jobs/${(body as JobView).id}`;
    const asked = async (...of: Asked): Promise<unknown> => {
      const answer = await ask(...of).catch(() => undefined);
      return answer?.status === 200 ? answer.body : undefined;
    };
    const stdout = async (rank: number): Promise<string> =>
      String((await asked('GET', `${path}/tasks/${rank}/stdout?from=0`)) ?? '');
    const type = async (phase: number): Promise<void> => {
      await until(`phase ${phase}`, async () => (await stdout(0)).includes(`phase ${phase}`));
      await until('a line is taken', async () =>
        ask('POST', `${path}/stdin`, new TextEncoder().encode('on\n')).then(
          (answer) => answer.status < 300,
          () => false,
        ),
      );
    };
    const appends = async (): Promise<number> => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return Number(/^mayfly_log_appends_total (\d+)/m.exec(text)![1]);
    };
    /**
     * A phase of which the database gets nothing; the server is killed, with a node perhaps, and comes again with this
     * directory.
     */
    const killedIn = async (phase: number, dataDir: string, node: boolean): Promise<void> => {
      await until(`phase ${phase}`, async () => (await stdout(0)).includes(`phase ${phase}`));
      const letGo = await postgres.hold('mayfly.log_batch');
      const before = await appends();
      await type(phase);
      await until('all messages of the phase went on', async () => (await appends()) >= before + 2 * ROUNDS);
      await server.kill();
      if (node) nodes.shift()!.kill();
      server = await startProcess({ port, dataDir, ...options });
      // It has ended what the connections of the killed one had under way.
      await until('the tables are taken', async () => {
        const [row] = await postgres.asAdmin('SELECT who FROM mayfly.lease');
        return String(row!.who).startsWith(`process ${server.pid} `);
      });
      await letGo();
      if (node) await begin();
    };
    // The rank that is lost begins again, and gets what it had got: its log has all of it.
    await killedIn(1, mine, true);
    await until('it repeats its work no more', async () => {
      const { tasks = [] } = ((await asked('GET', path)) ?? {}) as Partial<JobView>;
      return tasks.length === 2 && tasks.every((t) => t.state === 'running') && tasks.some((t) => t.incarnation > 0);
    });
    await killedIn(2, await freshDir(), false);
    await until('phase 3', async () => (await stdout(0)).includes('phase 3'));
    // Nobody has what the lost rank had got.
    await killedIn(3, await freshDir(), true);
    await until('the job has ended', async () => ((await asked('GET', path)) as JobView)?.endedAt !== undefined);
    const view = (await asked('GET', path)) as JobView;
    if (view.state === 'failed') expect(view.error).toMatchObject({ code: 'LOST_LOG' });
    else {
      expect(view.state).toBe('done');
      expect((await stdout(0)).trim().split('\n').at(-1)).toBe(String(answers[0]));
      expect((await stdout(1)).trim()).toBe(String(answers[1]));
    }
    expect(await server.stop()).toBe(0);
  },
);
