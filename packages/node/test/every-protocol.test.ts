/**
 * Each V-protocol once on real nodes: a node is killed in the middle of a program, and what the protocol promises then
 * happens. `npm test` runs this file; the files of each protocol say much more, in `npm run verify`.
 */
import type { JobOptions, JobView } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Bench, PATIENCE } from './harness.ts';

const bench = new Bench({ dispatcher: { ...PATIENCE, graceMs: 0, briefGraceMs: 0 } });
beforeAll(() => bench.start());
afterEach(() => bench.clear(0));
afterAll(() => bench.close());

const SIZE = 4;
const STEPS = 40;

/**
 * Numbers go around a ring and are folded in, so that a message that is lost, comes twice, or is of another life
 * changes all that follows. Rank 0 reads a line before the second half, which holds the job until a node is gone.
 */
const RING = `
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, size;
  unsigned long long v, in;
  char line[8];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  v = rank + 1;
  for (int step = 0; step < ${STEPS}; step++) {
    if (step == ${STEPS / 2} && rank == 0 && !fgets(line, sizeof line, stdin)) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Sendrecv(&v, 1, MPI_UNSIGNED_LONG_LONG, (rank + 1) % size, 1, &in, 1, MPI_UNSIGNED_LONG_LONG,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    v = v * 6364136223846793005ULL + in + step;
    usleep(2000);
  }
  printf("%d: %llx\\n", rank, v);
  MPI_Finalize();
}`;

/** What every rank prints. */
function expected(): string[] {
  let v = Array.from({ length: SIZE }, (_, r) => BigInt(r + 1));
  for (let step = 0; step < STEPS; step++)
    v = v.map((x, r) => BigInt.asUintN(64, x * 6364136223846793005n + v[(r + SIZE - 1) % SIZE]! + BigInt(step)));
  return v.map((x, r) => `${r}: ${x.toString(16)}\n`);
}

async function submit(source: string, options: JobOptions): Promise<string> {
  const body = JSON.stringify({
    program: { language: 'c', sources: { 'main.c': source } },
    size: SIZE,
    options: { interactive: true, team: 1, ...options },
  });
  return ((await (await bench.api('jobs', { method: 'POST', body })).json()) as { id: string }).id;
}

/** Two nodes run the job, and a third one waits; the one that has rank 1 is killed. */
async function strike(source: string, options: JobOptions, ready: (job: JobView) => boolean): Promise<string> {
  await bench.node(2, 'a');
  await bench.node(2, 'b');
  const id = await submit(source, options);
  await bench.until(id, (j) => j.endedAt !== undefined || (j.tasks.every((t) => t.state === 'running') && ready(j)));
  await bench.node(2, 'c');
  const at = (await bench.view(id)).tasks[1]!.node;
  bench.nodes.find((n) => n.node === at)!.kill();
  return id;
}

const committed = (j: JobView): boolean => (j.waves?.recent ?? []).some((w) => w.state === 'committed');
const imaged = (j: JobView): boolean => j.tasks.every((t) => (t.images ?? 0) > 0);
const exchanged = (j: JobView): boolean => j.tasks.some((t) => (t.localIn ?? 0) > 0);

const OFTEN = { checkpointMs: 200 };
it.each<[string, JobOptions, (job: JobView) => boolean]>([
  ['pessimistic', { ...OFTEN }, imaged],
  ['pessimistic in teams', { ...OFTEN, team: 2 }, exchanged],
  ['vcl', { ...OFTEN, protocol: 'vcl' }, committed],
  ['pcl', { ...OFTEN, protocol: 'pcl' }, committed],
  ['hc3i', { ...OFTEN, protocol: 'hc3i', clusters: 2 }, committed],
])('%s: the answer of an undisturbed run', async (_name, options, ready) => {
  const id = await strike(RING, options, ready);
  await bench.until(id, (j) => j.endedAt !== undefined || j.faults.length > 0);
  await bench.input(id);
  const { job, stdout } = await bench.ended(id);
  expect(job).toMatchObject({ state: 'done' });
  expect(job.faults.length).toBeGreaterThan(0);
  expect(stdout).toEqual(expected());
});

it('none: the job ends with the error that names the loss', async () => {
  const id = await strike(RING, { protocol: 'none' }, (j) => j.tasks.every((t) => t.messagesIn > 10));
  const { job } = await bench.ended(id);
  expect([job.state, job.error?.code]).toEqual(['failed', 'LOST_NODES']);
});

const SHRINKS = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, one = 1, left, code;
  MPI_Comm shrunk;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  do code = MPI_Barrier(MPI_COMM_WORLD); while (code == MPI_SUCCESS);
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk);
  MPI_Allreduce(&one, &left, 1, MPI_INT, MPI_SUM, shrunk);
  printf("%d of %d are left\\n", left, ${SIZE});
  MPI_Finalize();
}`;

it('app: the program hears of the loss, and goes on with those that are left', async () => {
  const id = await strike(SHRINKS, { protocol: 'app' }, (j) => j.tasks.every((t) => t.messagesIn > 3));
  const { job, stdout } = await bench.ended(id);
  expect(job).toMatchObject({ state: 'done' });
  expect(stdout.filter((text) => text !== '')).toEqual(['2 of 4 are left\n', '2 of 4 are left\n']);
});
