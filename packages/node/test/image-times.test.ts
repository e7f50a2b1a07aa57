/**
 * Under `app` no rank restarts from an image: none begins, and so none comes between the steps of a write of MPI_Ckpt
 * to the disk. The time between images is cut down to nothing here, so that one would be due in every wait.
 */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Bench } from './harness.ts';

vi.mock(import('../../../apps/server/src/checkpoint-advice.ts'), async (original) => ({
  ...(await original()),
  DEFAULT_CHECKPOINT_MS: 0 as 30_000,
}));

const bench = new Bench();
beforeAll(async () => {
  await bench.start();
  await bench.node(2);
});
afterAll(() => bench.close());

async function lines(source: string): Promise<(string | undefined)[]> {
  const body = JSON.stringify({
    program: { language: 'c', sources: { 'main.c': source } },
    size: 2,
    options: { protocol: 'app', timeLimitMs: 600_000 },
  });
  const { id } = (await (await bench.api('jobs', { method: 'POST', body })).json()) as { id: string };
  const { job, stdout } = await bench.ended(id);
  expect(job.error).toBeUndefined();
  return stdout.map((text) => text.split('\n')[0]);
}

const ROUNDS = 10;

it('every write of MPI_Ckpt to the disk succeeds', async () => {
  const disk = `
#include <mpi.h>
#include <stdio.h>
static int data[10000], left[10000];
int main(int argc, char **argv) {
  int rank, code = 0;
  MPI_Ckpt_options options = {.algorithm = MPI_CKPT_STABLE_DISK};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (MPI_Ckpt_open(&options)) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Ckpt(data, 10000, MPI_INT, 1);
  for (int k = 1; k <= ${ROUNDS} && !code; k++) {
    for (int i = 0; i < 10000; i++) data[i] = i * k + rank;
    code = MPI_Ckpt_here();
    if (!code) code = MPI_Barrier(MPI_COMM_WORLD);
  }
  int last = MPI_Rollback(left, 10000, MPI_INT, 1);
  printf("code %d %d, last %d\\n", code, last, left[9999] == 9999 * ${ROUNDS} + rank);
  MPI_Ckpt_close();
  MPI_Finalize();
}`;
  expect(await lines(disk)).toEqual(Array(2).fill('code 0 0, last 1'));
});
