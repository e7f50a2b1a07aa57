/** @mayfly/volunteer: small, without compilers, and a whole volunteer. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run, said, start, type Running } from './built.ts';
import { importedBy, installPacked, root, tooNew } from './packed.ts';

const workspace = join(root, 'apps/volunteer');
const TOKEN = 'a-token-for-tests';
let dir: string;
let bin: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mayfly-volunteer-package-'));
  await installPacked(workspace, dir);
  bin = join(dir, 'node_modules/@mayfly/volunteer/dist/volunteer.js');
});
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

it('installs in less than 40 MB, without compilers and without what wants a newer Node', async () => {
  const modules = join(dir, 'node_modules');
  let bytes = 0;
  for (const entry of await readdir(modules, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  expect(bytes).toBeGreaterThan(1e6);
  expect(bytes).toBeLessThan(40e6);
  const names = await readdir(modules);
  for (const name of ['@yowasp', 'binaryen', 'esbuild', 'typescript', 'fastify']) expect(names).not.toContain(name);
  expect(await tooNew(join(modules, '.package-lock.json'))).toEqual([]);
});

it('declares every package that it imports, in the versions of the command line', async () => {
  const dependenciesOf = async (folder: string): Promise<Record<string, string>> =>
    (JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { dependencies: Record<string, string> })
      .dependencies;
  const own = await dependenciesOf(workspace);
  expect([...(await importedBy(join(workspace, 'dist')))].sort()).toEqual(Object.keys(own));
  expect(await dependenciesOf(join(root, 'apps/cli'))).toMatchObject(own);
});

it('tells its options, its version and what is missing', async () => {
  expect(await readdir(join(dir, 'node_modules/.bin'))).toContain('mayfly-volunteer');
  const help = await run(['--help'], { cwd: dir, bin });
  expect([help.code, help.stdout]).toEqual([0, expect.stringMatching(/^Usage: mayfly-volunteer \[options\] \[url\]/)]);
  expect((await run(['--version'], { cwd: dir, bin })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await run([], { cwd: dir, bin })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'mayfly: the URL of the server is missing (mayfly-volunteer --help)\n',
  });
  expect(await run(['--slots', 'many', 'http://localhost'], { cwd: dir, bin })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('(mayfly-volunteer --help lists the options)') as string,
  });
});

it('runs the ranks of a job in C', async () => {
  await writeFile(
    join(dir, 'sum.c'),
    `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rank++;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d\\n", sum);
  return MPI_Finalize();
}
`,
  );
  const server = start(['server', '--port', '0', '--data-dir', join(dir, 'data'), '--token', TOKEN, '--log', 'warn'], {
    cwd: dir,
    input: '',
  });
  let volunteer: Running | undefined;
  try {
    const url = await said(server, /listening on (\S+)/);
    volunteer = start([url, '--slots', '2', '--name', 'small'], { cwd: dir, input: '', bin });
    await said(volunteer, /"small" offers 2 slots/);
    const env = { MAYFLY_SERVER: url, MAYFLY_TOKEN: TOKEN };
    const job = await run(['mpiexec', '-n', '2', 'sum.c'], { cwd: dir, env });
    expect([job.stdout, job.code], job.stderr).toEqual(['3\n3\n', 0]);
    volunteer.child.kill('SIGTERM');
    expect((await volunteer.ended).code).toBe(0);
  } finally {
    volunteer?.child.kill('SIGTERM');
    server.child.kill('SIGTERM');
    await volunteer?.ended;
    await server.ended;
  }
});
