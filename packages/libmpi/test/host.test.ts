/** The program host by itself: C programs with a handful of MPI functions over an in-memory fabric, with and without a restore at every call. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildModule } from '@mayfly/toolchain/c';
import { CFabric, ok, type RunOptions } from './fabric/index.ts';
import { SCRATCH_HEADER, SCRATCH_SUSPENDING } from './fabric/scratch-binding.ts';

let fabric: CFabric;
beforeAll(() => {
  fabric = new CFabric();
});
afterAll(() => fabric.close());

const suspending = [...SCRATCH_SUSPENDING.map((n) => `env.${n}`), 'wasi_snapshot_preview1.fd_read', 'wasi_snapshot_preview1.poll_oneoff'];
const build = (source: string, flags: string[] = []): Uint8Array => buildModule({ '/main.c': source }, { includes: { 'mpi.h': SCRATCH_HEADER }, suspending, flags }).wasm;
const run = (wasm: Uint8Array, size: number, options: RunOptions = {}) => fabric.run(wasm, size, { scratch: true, ...options });

const RING = `#include <stdio.h>
#include <stdlib.h>
#include "mpi.h"
static double history[64];
typedef int (*step_t)(int, int, double *);
static int deeper(int n, int rank, double *x) {
  int size; double got;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (n > 0) return deeper(n - 1, rank, x) + 1;
  MPI_Send(x, 1, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *x = *x * 0.5 + got + rank;
  return 0;
}
int main(int argc, char **argv) {
  int rank, steps = argc > 1 ? atoi(argv[1]) : 5;
  step_t volatile through = deeper;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *x = malloc(sizeof *x); *x = rank;
  for (int i = 0; i < steps; i++) {
    int d = through(i % 4, rank, x);
    history[i % 64] = *x;
    MPI_Barrier(MPI_COMM_WORLD);
    if (i == steps - 1 || i % 4 == 0) printf("%d: step %d depth %d x %.17g\\n", rank, i, d, *x);
    x = realloc(x, sizeof *x * (i + 2));
  }
  double sum = 0; for (int i = 0; i < 64; i++) sum += history[i];
  printf("%d: %.17g\\n", rank, sum);
  MPI_Finalize();
  return 0;
}`;

describe('a C program', () => {
  it('runs, and gives the same output with an image and a restore in a fresh instance at every call', async () => {
    const wasm = build(RING, ['-O2']);
    const calm = ok(await run(wasm, 4, { args: ['12'] }));
    expect(calm[0]!.stdout).toContain('0: step 11 depth 3 x');
    const cycled = ok(await run(wasm, 4, { args: ['12'], cycle: 1 }));
    expect(cycled.map((r) => r.stdout)).toEqual(calm.map((r) => r.stdout));
    for (const r of cycled) expect(r.images).toBeGreaterThanOrEqual(3 * 12);
  });

  it('reads standard input, interrupted in the middle of stdio', async () => {
    const wasm = build(`#include <stdio.h>
#include "mpi.h"
      int main(void) { char line[100]; int n = 0, a, b; while (fgets(line, sizeof line, stdin)) { n++; printf("<%s", line); if (n == 2) break; }
        printf("%d\\n", scanf("%d %d", &a, &b)); printf("%d %d %d\\n", a, b, getchar()); getchar(); printf("%d\\n", getchar());
        int rank; MPI_Send(&n, 1, MPI_INT, 0, 1, MPI_COMM_WORLD); MPI_Recv(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); return rank; }`);
    const calm = await run(wasm, 1, { stdin: 'first\nsecond\n  12 34\nx' });
    expect(calm[0]).toMatchObject({ exit: { code: 2 }, stdout: '<first\n<second\n2\n12 34 10\n-1\n', died: undefined });
    const cycled = await run(wasm, 1, { stdin: 'first\nsecond\n  12 34\nx', cycle: 1 });
    expect(cycled[0]!.images).toBeGreaterThanOrEqual(2);
    expect({ ...cycled[0], images: 0 }).toEqual({ ...calm[0], images: 0 });
  });
});
