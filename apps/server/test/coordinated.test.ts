/** Jobs of the protocols `vcl` and `pcl`: what is refused at submission, and a C program on real headless nodes. */
import { startHeadlessNode } from '@mayfly/node/headless';
import type { JobReport, JobView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { api, later, sharedServer, until } from './harness.ts';

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
