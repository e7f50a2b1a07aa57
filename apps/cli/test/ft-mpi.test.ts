/** FT-MPI's modes by the command line, on real nodes: a rank that is lost is started again (docs/ft-mpi.md). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from './built.ts';

const FOLDER = join(import.meta.dirname, '../../../packages/libmpi/conformance/ft-mpi');

it.each([
  ['rebuild', 5, 'two_at_once'],
  ['blank', 6, 'collectives'],
])('mpiexec --ft-comm %s', async (mode, ranks, test) => {
  const flags = `-I${FOLDER} -I${join(FOLDER, '..')}`;
  const options = ['--protocol', 'app', '--ft-comm', mode, '--ft-msg', 'cont', '--cc-flags', flags];
  const words = ['messages=cont', 'style=handler', 'how=trap'];
  const cwd = await mkdtemp(join(tmpdir(), 'mayfly-ft-mpi-'));
  const command = ['mpiexec', '-q', '--local', '-n', String(ranks), ...options, join(FOLDER, `${mode}.c`), ...words];
  const r = await run(command, { cwd });
  await rm(cwd, { recursive: true });
  expect(r.code).toBe(0);
  const lines = r.stdout.split('\n').filter(Boolean);
  expect(lines.filter((line) => !/^\d \w+: ok $/.test(line))).toEqual([]);
  expect(lines).toContain(`0 ${test}: ok `);
});

const EXAMPLES = join(import.meta.dirname, '../../../examples');
const SOURCES = ['c-pcg-ft/main.c', 'c-pcg-ft/codes.c', 'c-pcg/distributed.c', 'c-pcg/matrix.c', 'c-common/options.c'];

it('examples/c-pcg-ft makes lost states again, bit by bit, and with the code of real numbers nearly', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'mayfly-pcg-ft-'));
  const built = await run(['mpicc', '-std=c17', '-O3', '-o', 'pcg', ...SOURCES.map((f) => join(EXAMPLES, f)), '-lm'], {
    cwd,
  });
  expect(built.code).toBe(0);
  const solve = (checksums: number, ...words: string[]) => {
    const job = ['mpiexec', '-q', '--local', '-n', String(4 + checksums), '--protocol', 'app', '--ft-comm', 'rebuild'];
    return run([...job, 'pcg', '--checksums', String(checksums), ...words], { cwd });
  };
  const whole = await solve(2);
  expect(whole.stdout).toContain('PASS');
  for (const [errors, kills] of [
    ['return', '1@50,2@50'],
    ['handler', '5@20,0@70'],
  ] as const) {
    const r = await solve(2, '--errors', errors, '--kill', kills);
    expect(r.stderr).toMatch(/[12] of 4 states made again from checksums/);
    // Rank 0 may be another task by now. It prints behind the last barrier, so once.
    expect(r.stdout).toBe(whole.stdout);
  }
  const real = await solve(2, '--code', 'real', '--kill', '1@50,2@50');
  expect(real.stderr).toMatch(/[12] of 4 states made again/);
  expect(real.stdout).toContain('PASS');
  const tooMany = await solve(0, '--kill', '1@50');
  expect(tooMany.stdout).toContain('FAIL: 1 states are lost, and 0 checksums are left');
  expect(tooMany.code).not.toBe(0);
  await rm(cwd, { recursive: true });
});

const LATE = `#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>
static void handler(MPI_Comm *, int *, ...) { throw std::runtime_error("a loss"); }
int main(int argc, char **argv) {
  if (argc > 1) sleep(2);
  const bool restarted = MPI_Init(&argc, &argv) == MPI_INIT_RESTARTED_NODE;
  MPI_Errhandler h;
  MPI_Comm_create_errhandler(handler, &h);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
  int rank, sum = 0, one = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!restarted && rank == 1) std::abort();
  if (!restarted)
    try {
      for (;;) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } catch (const std::exception &e) {
      std::printf("%d caught %s\\n", rank, e.what());
      MPI_Comm world;
      MPIX_Comm_recover(&world);
    }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  std::printf("%d has %d, %s\\n", rank, sum, argc > 1 ? argv[1] : "");
  MPI_Finalize();
}
`;

it('C++: a handler may throw; a rank whose MPI_Init comes behind a loss learns of it by its next call', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'mayfly-ft-late-'));
  await writeFile(join(cwd, 'late.cc'), LATE);
  expect((await run(['mpicxx', '-O1', '-o', 'late', 'late.cc'], { cwd })).code).toBe(0);
  const options = ['-q', '--local', '--protocol', 'app', '--ft-comm', 'rebuild'];
  const r = await run(['mpiexec', ...options, '-n', '2', 'late', ':', '-n', '1', 'late', 'behind'], { cwd });
  await rm(cwd, { recursive: true });
  expect(r.stdout.split('\n').filter(Boolean).sort()).toEqual([
    '0 caught a loss',
    '0 has 3, ',
    '1 has 3, ',
    '2 caught a loss',
    '2 has 3, behind',
  ]);
  expect(r.code).toBe(0);
});

const SCRIPT = `import { COMM_WORLD as world, ERRORS_RETURN, ERR_OTHER, MPIError, SUM, ft } from 'mayfly';
world.setErrhandler(ERRORS_RETURN);
const class_ = (call: () => unknown): number => {
  try {
    call();
  } catch (e) {
    if (e instanceof MPIError) return e.errorClass;
    throw e;
  }
  return 0;
};
if (!ft.restarted) {
  const nothing = new Int32Array(1);
  if (world.rank === 1) {
    for (const ready of [0, 2]) world.recv(nothing, ready);
    throw new Error('fails');
  }
  const request = world.rank === 0 ? world.irecv(new Int32Array(1), 2) : undefined;
  world.send(nothing, 1);
  while (class_(() => world.allreduce(1, SUM)) === 0);
  const refused = class_(() => world.send(new Int32Array(1), 0)) === ERR_OTHER;
  ft.recover();
  const dropped = request ? class_(() => request.wait()) === ERR_OTHER : true;
  console.log('refused ' + String(refused && dropped));
}
ft.recover();
const sum = world.allreduce(1, SUM);
console.log('rank ' + world.rank + ' of ' + world.size + ', sum ' + sum + ', lost ' + ft.failed.join() + ', ' + ft.restarted);
`;

it.each([
  ['rebuild', ['0 of 3, sum 3, lost 1, false', '1 of 3, sum 3, lost 1, true', '2 of 3, sum 3, lost 1, false']],
  ['shrink', ['0 of 2, sum 2, lost 1, false', '1 of 2, sum 2, lost 1, false']],
  ['blank', ['0 of 3, sum 2, lost 1, false', '2 of 3, sum 2, lost 1, false']],
])('a script under %s', async (mode, expected) => {
  const cwd = await mkdtemp(join(tmpdir(), 'mayfly-ft-mpi-'));
  await writeFile(join(cwd, 'ft.ts'), SCRIPT);
  const r = await run(['mpiexec', '-q', '--local', '-n', '3', '--protocol', 'app', '--ft-comm', mode, 'ft.ts'], {
    cwd,
  });
  await rm(cwd, { recursive: true });
  expect(r.stdout.split('\n').filter(Boolean).sort()).toEqual(
    [...expected.map((line) => `rank ${line}`), 'refused true', 'refused true'].sort(),
  );
  expect(r.code).toBe(0);
});
