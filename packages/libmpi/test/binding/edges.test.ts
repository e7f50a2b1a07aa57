/**
 * What a program meets at the edges: the profiling interface, errors under the default handler, MPI_Abort, memory that
 * grows under a pending receive.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildModule } from '@mayfly/toolchain/c';
import { CFabric, ok } from '../fabric/index.ts';

let fabric: CFabric;
beforeAll(() => void (fabric = new CFabric()));
afterAll(() => fabric.close());

const program = (body: string): string => `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, size; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
  ${body}
  MPI_Finalize(); return 0;
}`;
const build = (sources: Record<string, string>): Uint8Array => buildModule(sources).wasm;

test('§15.2 a library that defines MPI_Send and calls PMPI_Send sees the sends', async () => {
  const wasm = build({
    '/main.c': program(
      'int x = rank, y; for (int i = 0; i < 5; i++) { MPI_Send(&x, 1, MPI_INT, (rank + 1) % size, 0, ' +
        'MPI_COMM_WORLD); MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }',
    ),
    '/profile.c': `#include <mpi.h>
#include <stdio.h>
static int sends; static long bytes;
int MPI_Send(const void *b, int n, MPI_Datatype t, int d, int tag, MPI_Comm c) { int s; PMPI_Type_size(t, &s);
  sends++; bytes += (long)s * n; return PMPI_Send(b, n, t, d, tag, c); }
int MPI_Finalize(void) { int r; PMPI_Comm_rank(MPI_COMM_WORLD, &r);
  printf("%d: %d sends, %ld bytes\\n", r, sends, bytes); return PMPI_Finalize(); }`,
  });
  const want = [0, 1].map((r) => `${r}: 5 sends, 20 bytes\n`);
  expect(ok(await fabric.run(wasm, 2)).map((r) => r.stdout)).toEqual(want);
  expect(ok(await fabric.run(wasm, 2, { cycle: 1 })).map((r) => r.stdout)).toEqual(want);
});

test('§9.3 MPI_ERRORS_ARE_FATAL is the default: the job ends with a text that names call, argument and range', async () => {
  const [r] = await fabric.run(
    build({ '/main.c': program('MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD); printf("never\\n");') }),
    1,
  );
  expect(r!.exit).toEqual({
    code: 6,
    abort: {
      code: 'MPI_ERROR',
      message:
        'MPI_Send: destination 99 is not a rank: MPI_COMM_WORLD has ranks 0 to 0 (or MPI_PROC_NULL) [MPI_ERR_RANK]',
    },
  });
  expect(r!.stdout).toBe('');
});

test('§9.5 MPI_Abort ends the job with its code', async () => {
  const [r] = await fabric.run(build({ '/main.c': program('MPI_Abort(MPI_COMM_WORLD, 7);') }), 1);
  expect(r!.exit).toEqual({ code: 7, abort: { code: 'ABORTED', message: 'MPI_Abort(MPI_COMM_WORLD, 7)' } });
});

test('the memory grows while receives and a reduction of the program are under way', async () => {
  const wasm = build({
    '/main.c': `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void grow(void *a, void *b, int *n, MPI_Datatype *t) { (void)t; char *p = malloc(3000000);
  memset(p, 1, 3000000); for (int i = 0; i < *n; i++) ((double *)b)[i] += ((double *)a)[i] * p[i]; }
int main(int argc, char **argv) {
  int rank, size; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
  double in[3] = {0, 0, 0}, out[3] = {rank, rank + 1, rank + 2}, sum[3]; MPI_Request q[2]; MPI_Op op;
  MPI_Datatype column; double grid[6] = {0};
  MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &column); MPI_Type_commit(&column);
  MPI_Irecv(in, 3, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &q[0]);
  MPI_Irecv(grid + 1, 1, column, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &q[1]);
  char *p = malloc(5000000); memset(p, 1, 5000000);
  MPI_Op_create(grow, 1, &op);
  MPI_Allreduce(out, sum, 3, MPI_DOUBLE, op, MPI_COMM_WORLD);
  MPI_Send(out, 3, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD);
  MPI_Send(out, 3, MPI_DOUBLE, (rank + 1) % size, 2, MPI_COMM_WORLD);
  MPI_Type_free(&column);
  MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  printf("%g %g %g %g %g %g\\n", in[0], in[2], grid[1], grid[5], sum[0], sum[2]);
  MPI_Finalize(); return 0;
}`,
  });
  const want = [0, 1, 2].map((r) => `${(r + 2) % 3} ${((r + 2) % 3) + 2} ${(r + 2) % 3} ${((r + 2) % 3) + 2} 3 9\n`);
  expect(ok(await fabric.run(wasm, 3)).map((r) => r.stdout)).toEqual(want);
  expect(ok(await fabric.run(wasm, 3, { cycle: 2 })).map((r) => r.stdout)).toEqual(want);
});
