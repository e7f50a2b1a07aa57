/** The tarball stands alone: packed, installed in an empty folder, it runs. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, run } from './built.ts';
import { importedBy, installPacked, root, tooNew } from './packed.ts';

const here = join(import.meta.dirname, '..');
const json = async (path: string): Promise<{ dependencies: Record<string, string> }> =>
  JSON.parse(await readFile(path, 'utf8')) as never;

it('no package of the repository asks for a newer Node than the README promises', async () => {
  expect(await tooNew(join(root, 'package-lock.json'))).toEqual([]);
});

it('the citation and the Python client name the version of the package', async () => {
  const { version } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8')) as { version: string };
  for (const file of ['CITATION.cff', 'clients/python/pyproject.toml'])
    expect(/^version\s*[:=]\s*"?([^"\s]+)/m.exec(await readFile(join(root, file), 'utf8'))?.[1], file).toBe(version);
});

describe('the package', () => {
  it('declares every package that the bundle imports, in the versions of the workspace', async () => {
    const { dependencies } = await json(join(here, 'package.json'));
    const imported = await importedBy(dirname(CLI));
    expect(imported.size).toBeGreaterThan(5);
    for (const name of imported) expect(Object.keys(dependencies)).toContain(name);
    for (const workspace of ['../server', '../../packages/storage', '../../packages/toolchain', '../../packages/node'])
      for (const [name, version] of Object.entries((await json(join(here, workspace, 'package.json'))).dependencies))
        if (dependencies[name]) expect([name, dependencies[name]]).toEqual([name, version]);
  });

  it('installs from its tarball in an empty folder, and runs there', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'mayfly-pack-'));
    try {
      await installPacked(here, dir);
      expect(await tooNew(join(dir, 'node_modules/.package-lock.json'))).toEqual([]);
      const bin = join(dir, 'node_modules/mayfly/dist/mayfly.js');
      expect(await readdir(join(dir, 'node_modules/.bin'))).toContain('mayfly');
      expect((await run(['--version'], { cwd: dir, bin })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
      expect((await run(['new', 'mine'], { cwd: dir, bin })).code).toBe(0);
      // In its own process: no server outlives this test.
      const c = { cwd: dir, bin, env: { MAYFLY_COMPILE_SERVER: 'off' } };
      expect((await run(['mpicc', '--version'], c)).stdout).toMatch(/^clang version/);
      await writeFile(
        join(dir, 'tiny.c'),
        '#include <mpi.h>\nint main(int argc, char **argv) {\n  MPI_Init(&argc, &argv);\n  return MPI_Finalize();\n}\n',
      );
      expect(await run(['mpicc', 'tiny.c', '-o', 'tiny'], c)).toEqual({ code: 0, stdout: '', stderr: '' });
      await writeFile(
        join(dir, 'tiny.ts'),
        "import { COMM_WORLD as comm, SUM } from 'mayfly';\nconsole.log(comm.allreduce(comm.rank + 1, SUM));\n",
      );
      const r = await run(['mpiexec', '-n', '2', 'tiny.ts'], { cwd: dir, bin });
      expect([r.stdout, r.code], r.stderr).toEqual(['3\n3\n', 0]);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
