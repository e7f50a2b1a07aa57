/**
 * The compiler drivers as build systems call them: real processes, a real warm server, real builds by make and CMake.
 */
import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '@mayfly/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLI, run, startService, type Ended, type Service } from './built.ts';

// One word each: build systems split CC at blanks.
const dist = dirname(CLI);
let dir: string;
let runtime: string;
let env: Record<string, string>;

beforeAll(async () => {
  // Short: the path of a socket may have a hundred letters.
  dir = await mkdtemp(join(tmpdir(), 'mfcc-'));
  runtime = join(dir, 'rt');
  env = { MAYFLY_RUNTIME_DIR: runtime, MAYFLY_COMPILE_CACHE: join(dir, 'rt', 'calls') };
  await writeFile(
    join(dir, 'one.c'),
    '#include <mpi.h>\n#include <stdio.h>\nint two(void);\nint main(int argc, char **argv) {\n  int rank;\n  ' +
      'MPI_Init(&argc, &argv);\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  printf("rank %d: %d %s\\n", rank, ' +
      'two(), argc > 1 ? argv[1] : "");\n  MPI_Finalize();\n  return 0;\n}\n',
  );
  await writeFile(join(dir, 'two.c'), '#include "two.h"\nint two(void) { return TWO; }\n');
  await writeFile(join(dir, 'two.h'), '#define TWO 2\n');
  await writeFile(join(dir, 'bad.c'), 'int main(void) {\n  return x;\n}\n');
});
afterAll(async () => {
  const server = await serverPid();
  if (server !== undefined) process.kill(server, 'SIGTERM');
  await rm(dir, { recursive: true, force: true });
});

const mayfly = (args: string[], more: Record<string, string> = {}): Promise<Ended> =>
  run(args, { cwd: dir, env: { ...env, ...more } });

/** The process id of the server that answers calls now. */
async function serverPid(): Promise<number | undefined> {
  const file = (await readdir(runtime).catch(() => [])).find((n) => n.endsWith('.pid'));
  return file === undefined ? undefined : Number(await readFile(join(runtime, file), 'utf8'));
}
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const gone = (pid: number): Promise<unknown> => until(`process ${pid} has ended`, () => !alive(pid));

describe('a driver', () => {
  it('compiles, archives, links; says what clang says; leaves nothing behind', async () => {
    for (const args of [
      ['mpicc', '-O1', '-c', 'one.c', '-o', 'one.o'],
      ['mpicc', '-c', 'two.c'],
      ['ar', 'rcs', 'libtwo.a', 'two.o'],
      ['ranlib', 'libtwo.a'],
    ])
      expect(await mayfly(args), args.join(' ')).toEqual({ code: 0, stdout: '', stderr: '' });
    const link = ['one.o', '-L.', '-ltwo', '-o', 'program'];
    const ofOneWord = { cwd: dir, bin: join(dist, 'mayfly-mpicc.js'), env };
    expect(await run(link, ofOneWord)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await stat(join(dir, 'program'))).mode & 0o111).toBe(0o111);
    expect((await mayfly(['nm', 'libtwo.a'])).stdout).toMatch(/ T two$/m);
    const bad = await mayfly(['mpicc', '-c', 'bad.c']);
    expect(bad).toMatchObject({ code: 1, stdout: '' });
    expect(bad.stderr).toContain('bad.c:2:10: error: ');
    const missing = await mayfly(['mpicc', 'one.o', '-o', 'no']);
    expect(missing.code).not.toBe(0);
    expect(missing.stderr).toContain('undefined symbol: two');
    expect((await mayfly(['mpicc', '-E', '-x', 'c', '-'], {})).code).toBe(0);
    expect((await readdir(dir)).sort()).toEqual([
      'bad.c',
      'libtwo.a',
      'one.c',
      'one.o',
      'program',
      'rt',
      'two.c',
      'two.h',
      'two.o',
    ]);
  });

  it('says that it cannot write its output, with a server and without; the server stays, and its worker', async () => {
    const server = await serverPid();
    for (const more of [{}, { MAYFLY_COMPILE_SERVER: 'off' }] as Record<string, string>[])
      expect(await mayfly(['mpicc', 'one.c', 'two.c', '-o', 'no/such/prog'], more)).toEqual({
        code: 1,
        stdout: '',
        stderr: `mpicc: error: ${join(dir, 'no/such/prog')}: No such file or directory\n`,
      });
    expect(await serverPid()).toBe(server);
  });

  it('answers --version, also through its alias of one word and without a server', async () => {
    const { stdout, code } = await mayfly(['mpicxx', '--version']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^clang version \d+/)]);
    expect(
      (
        await run(['--version'], {
          cwd: dir,
          bin: join(dist, 'mayfly-mpicxx.js'),
          env: { ...env, MAYFLY_COMPILE_SERVER: 'off' },
        })
      ).stdout,
    ).toBe(stdout);
  });

  it('has one server for calls at the same time', async () => {
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => writeFile(join(dir, `p${i}.c`), `int f${i}(int x) { return x + ${i}; }\n`)),
    );
    const ends = await Promise.all(
      Array.from({ length: 8 }, (_, i) => mayfly(['mpicc', '-c', `p${i}.c`, '-o', `p${i}.o`])),
    );
    for (const end of ends) expect(end).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(alive((await serverPid())!)).toBe(true);
    for (let i = 0; i < 8; i++) await Promise.all([rm(join(dir, `p${i}.c`)), rm(join(dir, `p${i}.o`))]);
  });

  it('finds another server when the one of before was killed, and its socket still lies there', async () => {
    const before = (await serverPid())!;
    process.kill(before, 'SIGKILL');
    await gone(before);
    expect((await readdir(runtime)).some((n) => n.endsWith('.sock'))).toBe(true);
    expect(await mayfly(['mpicc', '-c', 'two.c', '-o', 'again.o'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await serverPid()).not.toBe(before);
    await rm(join(dir, 'again.o'));
  });

  it('trusts no folder that others can enter', async () => {
    const open = join(dir, 'open');
    await mkdir(open);
    await chmod(open, 0o755);
    expect((await mayfly(['mpicc', '-c', 'two.c', '-o', 'own.o'], { MAYFLY_RUNTIME_DIR: open })).code).toBe(0);
    expect(await readdir(open)).toEqual([]);
    await rm(open, { recursive: true });
    await rm(join(dir, 'own.o'));
  });

  it('has a server that goes when nobody asks', async () => {
    const other = join(dir, 'r2');
    expect(
      (await mayfly(['mpicc', '--version'], { MAYFLY_RUNTIME_DIR: other, MAYFLY_COMPILE_SERVER_IDLE: '0' })).code,
    ).toBe(0);
    await until('the compile server has ended', async () => (await readdir(other)).length === 0);
    await rm(other, { recursive: true });
  });
});

let service: Service | undefined;
/** By one server, whose compiler is warm after the first. */
async function launch(args: string[], cwd = dir): Promise<Ended> {
  service ??= await startService(dir, env);
  return run(['mpiexec', ...args], { cwd, env: { ...env, ...service.env } });
}
afterAll(() => service?.stop());

describe('mpiexec runs', () => {
  it('what mpicc made, by a server and nodes of its own', async () => {
    const r = await mayfly(['mpiexec', '-n', '2', '-q', './program', 'x']);
    expect([r.code, r.stdout.split('\n').sort()], r.stderr).toEqual([0, ['', 'rank 0: 2 x', 'rank 1: 2 x']]);
  });

  it('what mpicc made, when it is started directly: one rank on this machine, whatever server is configured', async () => {
    const more = { ...env, MAYFLY_SERVER: 'http://127.0.0.1:1' };
    const r = await run(['a b'], { cwd: dir, command: join(dir, 'program'), env: more });
    expect(r).toEqual({ code: 0, stdout: 'rank 0: 2 a b\n', stderr: '' });
    expect((await mayfly(['nm', 'program'])).stdout).toMatch(/ t main$/m);
    expect((await readFile(join(dir, 'program'))).subarray(0, 2).toString()).toBe('#!');
    expect((await mayfly(['mpicc', 'one.o', 'two.o', '-o', 'plain.wasm'])).code).toBe(0);
    expect((await readFile(join(dir, 'plain.wasm'))).subarray(0, 4).toString()).toBe('\0asm');
    await rm(join(dir, 'plain.wasm'));
    const both = await mayfly(['mpiexec', '--local', '--server', 'http://127.0.0.1:1', '-n', '1', './program']);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('either --local or --server')]);
  });

  it('sources', async () => {
    const r = await launch(['-n', '2', '-q', '--cc-flags', '-O1 -Wall', 'one.c', 'two.c', 'x']);
    expect([r.code, r.stdout.split('\n').sort()], r.stderr).toEqual([0, ['', 'rank 0: 2 x', 'rank 1: 2 x']]);
  });

  it('a folder with a manifest', async () => {
    const folder = join(dir, 'folder');
    await mkdir(folder);
    for (const name of ['one.c', 'two.c', 'two.h', 'bad.c']) await cp(join(dir, name), join(folder, name));
    await writeFile(join(folder, 'mayfly.json'), JSON.stringify({ language: 'c', sources: ['one.c', 'two.c'] }));
    const r = await launch(['-n', '1', '-q', 'folder', 'y']);
    expect([r.code, r.stdout], r.stderr).toEqual([0, 'rank 0: 2 y\n']);
    await rm(folder, { recursive: true });
  });

  it('nothing that does not compile, and says where', async () => {
    const r = await launch(['-n', '1', '-q', 'bad.c']);
    expect(r.code).toBe(2);
    expect(r.stderr).toMatch(/bad\.c:2:10/);
  });
});

describe('a project of C and C++ with a library', () => {
  const has = (tool: string): boolean => spawnSync(tool, ['--version'], { stdio: 'ignore' }).status === 0;
  const tool = (name: string, args: string[], cwd: string): string => {
    const r = spawnSync(name, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env } });
    if (r.status !== 0) throw new Error(`${name} ${args.join(' ')}: ${r.stdout}${r.stderr}`);
    return r.stdout;
  };
  const expected = 'sum 4 of 8 cells on 2 ranks\n';

  it.skipIf(!has('make'))(
    'builds with its plain Makefile, four at a time, and runs (skipped: make is not installed)',
    async () => {
      const project = join(dir, 'make');
      await cp(join(import.meta.dirname, 'projects/stencil'), project, { recursive: true });
      const mayfly = `${process.execPath} ${CLI}`;
      const all = [`CC=${mayfly} mpicc`, `CXX=${mayfly} mpicxx`, `AR=${mayfly} ar`, `RANLIB=${mayfly} ranlib`];
      tool('make', [...all, '-j4'], project);
      const r = await launch(['-n', '2', '-q', './stencil', '4'], project);
      expect([r.code, r.stdout], r.stderr).toEqual([0, expected]);
      // From scratch again: the same program, and no call that is new.
      const program = await readFile(join(project, 'stencil'));
      const remembered = (): Promise<string[]> => readdir(join(env.MAYFLY_COMPILE_CACHE!, 'bytes'));
      const before = await remembered();
      await rm(project, { recursive: true });
      await cp(join(import.meta.dirname, 'projects/stencil'), project, { recursive: true });
      tool('make', [...all, '-j2'], project);
      expect(before.length).toBeGreaterThan(3);
      expect(await remembered()).toEqual(before);
      expect(await readFile(join(project, 'stencil'))).toEqual(program);
      // The dependencies that the driver wrote: a changed header makes its users new, and nothing else.
      expect(tool('make', ['-n', '-W', 'stats/stats.h'], project)).toMatch(/stats\.c[^]*main\.cc|main\.cc[^]*stats\.c/);
      expect(tool('make', ['-n', '-W', 'stats/stats.h'], project)).not.toContain('grid.c');
    },
  );

  it.skipIf(!has('cmake') || !has('make'))(
    'builds with CMake and the toolchain file, finds MPI, and runs (skipped: cmake or make is not installed)',
    async () => {
      const project = join(dir, 'cmake');
      await cp(join(import.meta.dirname, 'projects/stencil'), project, { recursive: true });
      const file = (await run(['cmake-toolchain'], { cwd: project, env })).stdout.trim();
      tool('cmake', ['-G', 'Unix Makefiles', '-S', '.', '-B', 'build', `-DCMAKE_TOOLCHAIN_FILE=${file}`], project);
      tool('cmake', ['--build', 'build', '-j2'], project);
      const r = await launch(['-n', '2', '-q', 'build/stencil', '4'], project);
      expect([r.code, r.stdout], r.stderr).toEqual([0, expected]);
    },
  );

  it.skipIf(!has('cmake') || !has('make'))(
    'CMake finds libraries below prefixes of the user alone, and no OpenMP (skipped: cmake or make is not installed)',
    async () => {
      const project = join(dir, 'cmake-find');
      const prefix = join(dir, 'prefix with space');
      for (const folder of ['include', 'lib']) await mkdir(join(prefix, folder), { recursive: true });
      await mkdir(project);
      await writeFile(join(prefix, 'include/zlib.h'), '#define ZLIB_VERSION "1.2.3"\nint own(void);\n');
      await writeFile(join(project, 'own.c'), 'int own(void) { return 0; }\n');
      await writeFile(join(project, 'main.c'), '#include <zlib.h>\nint main(void) { return own(); }\n');
      await writeFile(
        join(project, 'CMakeLists.txt'),
        'cmake_minimum_required(VERSION 3.16)\nproject(find LANGUAGES C)\nfind_package(ZLIB)\nfind_package(OpenMP)\n' +
          'message("zlib: ${ZLIB_FOUND} ${ZLIB_INCLUDE_DIRS}, OpenMP: ${OpenMP_FOUND}")\nif(ZLIB_FOUND)\n' +
          'add_executable(main main.c)\ntarget_link_libraries(main ZLIB::ZLIB)\nendif()\n',
      );
      const [cc, ar] = ['mayfly-mpicc.js', 'mayfly-ar.js'].map((name) => join(dist, name));
      tool(cc!, ['-c', 'own.c'], project);
      tool(ar!, ['rcs', join(prefix, 'lib/libz.a'), 'own.o'], project);
      const file = (await run(['cmake-toolchain'], { cwd: project, env })).stdout.trim();
      const configured = (build: string, options: string[], more: Record<string, string> = {}): string => {
        const r = spawnSync('cmake', ['-S', '.', '-B', build, `-DCMAKE_TOOLCHAIN_FILE=${file}`, ...options], {
          cwd: project,
          env: { ...process.env, ...env, ...more },
          encoding: 'utf8',
        });
        return /zlib: .*/.exec(r.stderr)?.[0] ?? r.stderr;
      };
      const found = `zlib: TRUE ${prefix}/include, OpenMP: FALSE`;
      expect(configured('prefix', [`-DCMAKE_PREFIX_PATH=${prefix}`])).toBe(found);
      tool('cmake', ['--build', 'prefix'], project);
      expect(configured('root', [`-DZLIB_ROOT=${prefix}`])).toBe(found);
      expect(configured('environment', [], { ZLIB_ROOT: prefix })).toBe(found);
      expect(configured('none', [])).toBe('zlib: FALSE , OpenMP: FALSE');
    },
  );
});
