/** A job that asks for checkpoints more often than they can be stored has them further apart, and its view says so. */
import { spacingText } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Bench } from './harness.ts';

const bench = new Bench();
beforeAll(() => bench.start());
afterEach(() => bench.clear());
afterAll(() => bench.close());

const source = `
#include <mpi.h>
static int data[100000];
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int k = 0;; k++) {
    data[k % 100000] = k;
    MPI_Barrier(MPI_COMM_WORLD);
  }
}`;

it.each([
  ['ranks that are alone', 1],
  ['a team', 2],
])('%s', async (_, team) => {
  await bench.node(2);
  const body = JSON.stringify({
    program: { language: 'c', sources: { 'main.c': source } },
    size: 2,
    options: { checkpointMs: 1, timeLimitMs: 600_000, team },
  });
  const { id } = (await (await bench.api('jobs', { method: 'POST', body })).json()) as { id: string };
  const everyMs = (job: Awaited<ReturnType<typeof bench.view>>): number[] =>
    job.tasks.map((t) => t.activity?.imageEveryMs ?? 0);
  const job = await bench.until(id, (j) => j.endedAt !== undefined || everyMs(j).every((ms) => ms > 1));
  expect(spacingText(job)).toContain('further than the job asks');
});
