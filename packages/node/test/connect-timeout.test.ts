/**
 * MPI_Comm_connect to a port where nobody accepts, on headless nodes against a real server: MPI 4.1 §11.9.3, "In the
 * case of a time out, MPI_COMM_CONNECT raises an error of class MPI_ERR_PORT". The job is not taken for a deadlock
 * meanwhile, and a rank that is lost in the wait goes on with it.
 */
import { TIMED } from '@mayfly/protocols';
import type { JobView } from '@mayfly/wire';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Bench } from './harness.ts';

const bench = new Bench();
beforeAll(() => bench.start());
afterAll(() => bench.close());

/**
 * Ranks 1 and 2 connect to rank 0, which waits for their word at first, and for a line of input before it accepts the
 * second time. argv: seconds of the first time-out.
 */
const KNOCKING = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, class = 0, code, x, sum; char port[MPI_MAX_PORT_NAME] = "", line[8]; MPI_Comm group, met; MPI_Info info;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &group);
  MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN);
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&class, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts("asks"); fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return 3;
    code = MPI_Comm_accept(port, MPI_INFO_NULL, 0, group, &met);
  } else {
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", argv[1]);
    MPI_Error_class(MPI_Comm_connect(port, info, 0, group, &met), &class);
    if (rank == 1) MPI_Send(&class, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Info_set(info, "timeout", "86400");
    code = MPI_Comm_connect(port, info, 0, group, &met);
  }
  x = rank + 1;
  MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, met);
  printf("%s, then %s %d\\n", class == MPI_ERR_PORT ? "MPI_ERR_PORT" : "?", code == MPI_SUCCESS ? "met" : "?", sum);
  MPI_Finalize();
  return 0;
}`;

const knocks = (j: JobView): boolean =>
  j.endedAt !== undefined || j.tasks[1]?.activity?.call === `MPI_Comm_connect${TIMED}`;
const kill = (id: string, task: number): Promise<unknown> =>
  bench.api(`jobs/${id}/tasks/${task}/kill`, { method: 'POST' });

it('answers MPI_ERR_PORT, then connects; ranks on both sides are lost in the wait', async () => {
  await bench.node(2);
  await bench.node(2);
  const answer = await bench.api('jobs', {
    method: 'POST',
    body: JSON.stringify({
      program: { language: 'c', flags: ['-O1'], sources: { 'main.c': KNOCKING } },
      size: 3,
      args: ['20'],
      // Each alone: one that is lost leaves the others where they are.
      options: { timeLimitMs: 600_000, interactive: true, team: 1 },
    }),
  });
  const { id } = (await answer.json()) as { id: string };
  await bench.until(id, knocks);
  await kill(id, 1);
  await bench.recovered(id, 1);
  // All wait: rank 0 for rank 1, rank 2 for rank 1, which waits for rank 0 until its time-out.
  const asks = async (): Promise<boolean> =>
    (await bench.view(id)).endedAt !== undefined ||
    (await (await bench.api(`jobs/${id}/tasks/0/stdout?from=0`)).text()).includes('asks');
  await expect.poll(asks).toBe(true);
  await bench.until(id, knocks);
  await kill(id, 1);
  await kill(id, 0);
  await bench.recovered(id, 3);
  await bench.input(id);
  const { job, stdout } = await bench.ended(id);
  expect(job).toMatchObject({ state: 'done', exitCode: 0 });
  expect(stdout).toEqual([
    'asks\nMPI_ERR_PORT, then met 5\n',
    'MPI_ERR_PORT, then met 1\n',
    'MPI_ERR_PORT, then met 1\n',
  ]);
});
