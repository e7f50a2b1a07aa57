/**
 * Directories of C programs on real headless nodes: what one rank makes, the others find, and ranks that begin again
 * hear the same answers as in their first life; what ranks append to one file is there, once (shared-names.ts).
 */
import { startHeadlessNode, type HeadlessNode } from '@mayfly/node/headless';
import type { JobView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { api, later, startServer, until } from './harness.ts';

const STEPS = 6;
const size = 3;
/**
 * In each step another rank makes a directory, all others must find it, one fails to make it again, and all leave a
 * file there. In the first half each removes its file, the maker the directory, and another rank a directory that it
 * has not seen before. Rank 0 reads a line before each half.
 */
const PROGRAM = `
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int rank;
static void must(int is, const char *what) {
  if (is) return;
  printf("%d: %s: %s\\n", rank, what, strerror(errno));
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
static void append(const char *path, int step, int sync) {
  FILE *f = fopen(path, "a");
  must(f != NULL, "append");
  fprintf(f, "%d %d\\n", step, rank);
  fflush(f);
  if (sync) must(fsync(fileno(f)) == 0, "fsync");
  fclose(f);
}
int main(int argc, char **argv) {
  int size;
  char name[40], file[60], line[8];
  struct stat st;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < ${STEPS}; i++) {
    if (i % ${STEPS / 2} == 0) {
      if (rank == 0) { printf("half %d\\n", i); fflush(stdout); must(fgets(line, sizeof line, stdin) != NULL, "input"); }
      MPI_Barrier(MPI_COMM_WORLD);
    }
    sprintf(name, "step%d", i);
    must(stat(name, &st) != 0 && errno == ENOENT, "not yet");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == i % size) must(mkdir(name, 0777) == 0, "mkdir");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == (i + 1) % size) must(mkdir(name, 0777) != 0 && errno == EEXIST, "mkdir again");
    else must(stat(name, &st) == 0 && S_ISDIR(st.st_mode), "stat");
    sprintf(file, "%s/part.%d", name, rank);
    FILE *f = fopen(file, "w");
    must(f != NULL, "fopen");
    fprintf(f, "%d of %d\\n", i, rank);
    fclose(f);
    append("loose.txt", i, 0);
    for (int r = size - 1; r >= 0 && i % ${STEPS / 2} == 1; r--) {
      if (r == rank) append("turns.txt", i, 1);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (i >= ${STEPS / 2}) continue;
    must(unlink(file) == 0, "unlink");
    sprintf(file, "unseen%d", i);
    if (rank == i % size) must(mkdir(file, 0777) == 0, "mkdir unseen");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == (i + 1) % size) must(rmdir(file) == 0, "rmdir unseen");
    if (rank == i % size) must(rmdir(name) == 0, "rmdir");
  }
  printf("%d is through\\n", rank);
  MPI_Finalize();
  return 0;
}
`;

it.each([
  ['pessimistic', { checkpointMs: 300, team: 1 }],
  ['pessimistic, in teams', { checkpointMs: 300, team: 2 }],
  ['vcl', { protocol: 'vcl', checkpointMs: 100 }],
])('are the job’s, although a node is lost in the middle (%s)', async (_, options) => {
  // A closed socket is a loss at once.
  const server = await startServer({ dispatcher: { graceMs: 0, briefGraceMs: 0 } });
  const node = async (name: string): Promise<HeadlessNode> => {
    const n = await startHeadlessNode({ server: server.localUrl, slots: 2, name });
    later(() => n.close());
    return n;
  };
  const first = await node('first');
  await node('second');
  const program = { language: 'c', sources: { 'main.c': PROGRAM } };
  const { body } = await api(server, 'POST', '/api/jobs', {
    program,
    size,
    options: { ...options, interactive: true },
  });
  const path = `/api/jobs/${body.id as string}`;
  const view = async (): Promise<JobView> => (await api(server, 'GET', path)).body as JobView;
  const printed = (rank: number): Promise<string> =>
    api(server, 'GET', `${path}/tasks/${rank}/stdout?from=0`).then((a) => a.body as unknown as string);
  const type = (): Promise<unknown> => api(server, 'POST', `${path}/stdin`, new TextEncoder().encode('\n'));
  await until('the first half', async () => (await printed(0)).includes('half 0\n'));
  await type();
  await until('the second half', async () => (await printed(0)).includes(`half ${STEPS / 2}\n`));
  const there = first.close(0);
  await until('ranks are lost', async () => (await view()).faults.length > 0);
  await there;
  await node('third');
  await type();
  await until('the job has ended', async () => (await view()).endedAt !== undefined);
  const v = await view();
  expect(v.error ?? v.state).toBe('done');
  expect(v.tasks.some((t) => t.incarnation > 0)).toBe(true);
  for (let rank = 0; rank < size; rank++) expect(await printed(rank)).toContain(`${rank} is through\n`);
  // Of the first half nothing is left.
  for (let i = 0; i < STEPS; i++)
    for (let rank = 0; rank < size; rank++)
      expect((await api(server, 'GET', `${path}/files/step${i}/part.${rank}`)).status).toBe(i < STEPS / 2 ? 404 : 200);
  const lines = async (name: string): Promise<string[]> =>
    ((await api(server, 'GET', `${path}/files/${name}`)).body as unknown as string).split('\n').slice(0, -1);
  expect(await lines('turns.txt')).toEqual([1, 1 + STEPS / 2].flatMap((i) => [2, 1, 0].map((rank) => `${i} ${rank}`)));
  const loose = await lines('loose.txt');
  expect(loose).toHaveLength(STEPS * size);
  for (let rank = 0; rank < size; rank++)
    expect(loose.filter((l) => l.endsWith(` ${rank}`))).toEqual(
      Array.from({ length: STEPS }, (_, i) => `${i} ${rank}`),
    );
});
