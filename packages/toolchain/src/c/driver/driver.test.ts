import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DiskFiles, MemoryFiles } from '../files.ts';
import { TestHost } from '../host-for-tests.ts';
import { instrument } from '../instrument.ts';
import { cc, llvmTool } from './cc.ts';
import type { DriverOptions } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'mayfly-cc-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function drive(
  files: MemoryFiles,
  argv: string,
  more: Partial<DriverOptions> = {},
): { exit: number; out: string; err: string } {
  const r = cc(argv.split(' '), { files, cwd: '/home/me', driver: 'mpicc', ...more });
  return { exit: r.exit, out: text(r.stdout), err: text(r.stderr) };
}

const sources = (): MemoryFiles =>
  new MemoryFiles({
    '/home/me/main.c':
      '#include <stdio.h>\n#include "inc/shared.h"\nint main(int argc, char **argv) { count = twice(SIZE); ' +
      'printf("%d %g\\n", count, table[1]); return 0; }\n',
    '/home/me/inc/shared.h': '#include <mpi.h>\nint count;\ndouble table[4];\nint twice(int);\n',
    '/home/me/lib/twice.c':
      '#include "../inc/shared.h"\ndouble table[4] = {1, 2.5};\nint twice(int x) { return 2 * x; }\n',
    '/home/me/flags.rsp': '-DSIZE="(20 + 1)" -O1\n -Wall',
  });

test('several sources, a response file, and the same tentative definitions in two of them become one program', () => {
  const files = sources();
  expect(
    drive(
      files,
      '@flags.rsp -march=native -fopenmp -fPIC -Wl,-rpath,/usr/lib -Wl,--as-needed -Wl,-z,now ' +
        '-zstack-size=131072 main.c lib/twice.c -o prog -lm',
    ),
  ).toEqual({ exit: 0, out: '', err: '' });
  const { wasm, info } = instrument(files.read('/home/me/prog')!);
  const host = new TestHost(wasm, info, {});
  host.run();
  expect(host.out).toBe('42 2.5\n');
  // A stack of 128 KB in place of 4 MB, below everything else.
  expect(info.unwind.start).toBeLessThan(1 << 20);
});

test('as in a Makefile: -c, ar, ranlib, nm, -L and -l, on the disk, by relative and absolute paths', () => {
  const memory = sources();
  for (const [path, bytes] of memory.files) {
    const at = join(folder, path.replace('/home/me/', ''));
    mkdirSync(join(at, '..'), { recursive: true });
    writeFileSync(at, bytes);
  }
  const files = new DiskFiles();
  const run = (...argv: string[]): { exit: number; err: string } => {
    const r = cc(argv, { files, cwd: folder, driver: 'mpicc' });
    return { exit: r.exit, err: text(r.stderr) };
  };
  const tool = (name: 'ar' | 'ranlib' | 'nm', ...argv: string[]): string => {
    const r = llvmTool(name, argv, { files, cwd: folder });
    expect([r.exit, text(r.stderr)]).toEqual([0, '']);
    return text(r.stdout);
  };
  expect(run('-MMD', '-c', join(folder, 'lib/twice.c'), '-o', 'lib/twice.o')).toEqual({ exit: 0, err: '' });
  expect(readFileSync(join(folder, 'lib/twice.d'), 'utf8')).toContain('inc/shared.h');
  tool('ar', 'rcs', 'lib/libtwice.a', 'lib/twice.o');
  tool('ranlib', 'lib/libtwice.a');
  expect(tool('nm', 'lib/libtwice.a')).toMatch(/T twice/);
  expect(run('-DSIZE=4', '-c', 'main.c')).toEqual({ exit: 0, err: '' });
  expect(run('main.o', '-Llib', '-ltwice', '-o', join(folder, 'out'))).toEqual({ exit: 0, err: '' });
  expect(statSync(join(folder, 'out')).mode & 0o777).toBe(0o755);
  const { wasm, info } = instrument(new Uint8Array(readFileSync(join(folder, 'out'))));
  const host = new TestHost(wasm, info, {});
  host.run();
  expect(host.out).toBe('8 2.5\n');
});

test('diagnostics and exit codes as clang has them', () => {
  const files = new MemoryFiles({
    '/home/me/bad.c': 'int main(void) {\n  return nothing;\n}\n',
    '/home/me/old.c': 'main() { return helper(3); }\nint helper(x) int x; { return x - 3; }\n',
  });
  const bad = drive(files, '-c bad.c');
  expect(bad.exit).toBe(1);
  expect(bad.err).toMatch(/^bad\.c:2:10: error: use of undeclared identifier 'nothing'\n/);
  expect(bad.err).toMatch(/1 error generated\.\n$/);
  expect(drive(files, '-c missing.c')).toMatchObject({
    exit: 1,
    err: expect.stringContaining("no such file or directory: 'missing.c'"),
  });
  expect(drive(files, '-c nothing.o -o x')).toMatchObject({ exit: 0, err: expect.stringContaining('linker') });
  expect(drive(files, '-O2')).toMatchObject({ exit: 1, err: 'mpicc: error: no input files\n' });
  expect(drive(files, '-c bad.c old.c -o both.o')).toMatchObject({
    exit: 1,
    err: 'mpicc: error: cannot specify -o when generating multiple output files\n',
  });
  // gcc takes this with warnings, and so do old codes for granted.
  const old = drive(files, '-c old.c -std=gnu89');
  expect([old.exit, files.read('/home/me/old.o')?.length]).toEqual([0, expect.any(Number)]);
});

test('an output that cannot be written, or is an input, is an error of the call', () => {
  const files = sources();
  files.makeDirectory('/home/me/out');
  const main = 'int main(void) { return 0; }\n';
  for (const name of ['ok.c', 'out/file']) files.write(`/home/me/${name}`, new TextEncoder().encode(main));
  for (const [argv, reason] of [
    ['ok.c -o out', '/home/me/out: Is a directory'],
    ['ok.c -o out/file/prog', 'out/file: Not a directory'],
  ] as const)
    expect(drive(files, argv), argv).toMatchObject({ exit: 1, err: expect.stringContaining(reason) });
  for (const argv of ['ok.c -o ok.c', '-c ok.c -o ./ok.c', '-E ok.c -o out/../ok.c', 'ok.c lib/twice.c -o lib/twice.c'])
    expect(drive(files, argv), argv).toEqual({
      exit: 1,
      out: '',
      err: expect.stringMatching(/^mpicc: error: input file '\S+' is the same as output file\n$/),
    });
  expect(text(files.read('/home/me/ok.c')!)).toBe(main);
  const disk = new DiskFiles();
  const onDisk = (...argv: string[]): string => text(cc(argv, { files: disk, cwd: folder, driver: 'mpicc' }).stderr);
  writeFileSync(join(folder, 'ok.c'), main);
  expect(onDisk('ok.c', '-o', 'no/such/prog')).toBe(
    `mpicc: error: ${join(folder, 'no/such/prog')}: No such file or directory\n`,
  );
  expect(onDisk('ok.c', '-o', folder)).toBe(`mpicc: error: ${folder}: Is a directory\n`);
  // Of the rules for make, too.
  for (const line of ['-M -MF lib ok.c', '-MD -MF lib -c ok.c', '-M -o lib ok.c', '-E ok.c -o lib'])
    expect([line, onDisk(...line.split(' '))]).toEqual([
      line,
      expect.stringMatching(/^error: .*'lib'.*\bIs a directory/),
    ]);
});

test('OpenMP stays off by whatever option, or CMake would find it', () => {
  const files = new MemoryFiles({ '/omp.c': '#ifdef _OPENMP\n#error on\n#endif\n' });
  for (const options of ['-fopenmp', '-Xclang -fopenmp', '-Xpreprocessor -fopenmp'])
    expect([options, drive(files, `${options} -c /omp.c -o /omp.o`)]).toMatchObject([options, { exit: 0, err: '' }]);
});

test('a device is read as a file, written through, and stays, whoever calls', () => {
  const files = new DiskFiles();
  // Behind a link, so that a mistake replaces or removes the link, and not the device.
  const device = join(folder, 'device');
  symlinkSync('/dev/null', device);
  writeFileSync(join(folder, 'fine.c'), 'int main(void) { return 0; }');
  writeFileSync(join(folder, 'broken.c'), 'int main(void) { return }');
  const exit = (line: string): number => cc(line.split(' '), { files, cwd: folder, driver: 'mpicc' }).exit;
  expect(exit('-c fine.c -o device')).toBe(0);
  expect(exit('-E fine.c -o device')).toBe(0);
  expect(exit('-MM -MF device fine.c')).toBe(0);
  expect(exit('fine.c -o device')).toBe(0);
  expect(exit('-c broken.c -o device')).toBe(1);
  expect(exit('-x c -c device -o empty.o')).toBe(0);
  expect(exit('-x c -c /dev/null -o empty.o')).toBe(0);
  expect(readlinkSync(device)).toBe('/dev/null');
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

test('what cannot be is refused by name', () => {
  const files = new MemoryFiles({
    '/home/me/x.c':
      'int fork(void); int socket(int, int, int); int mine(void); int MPI_Nonsense(int); int shm_open(int, ' +
      'int);\nint main(void) { return socket(1, 2, 3) + mine() + MPI_Nonsense(1) + shm_open(1, 2); }',
  });
  for (const option of ['-shared', '-mrelaxed-simd', '-fplugin=evil.so', '-fsanitize=address'])
    expect(drive(files, `${option} x.c`)).toMatchObject({
      exit: 1,
      err: expect.stringContaining(`unsupported option '${option}'`),
    });
  expect(drive(files, 'x.c libfoo.so')).toMatchObject({
    exit: 1,
    err: expect.stringContaining('libfoo.so: a shared library cannot be linked'),
  });
  const { exit, err } = drive(files, 'x.c -o x');
  expect(exit).toBe(1);
  for (const line of [
    'undefined symbol: mine',
    'mpicc: note: socket: a rank has no network but MPI',
    'mpicc: note: shm_open: a rank has no other process to talk to but through MPI',
    'mpicc: note: MPI_Nonsense: mpi.h does not declare it',
  ])
    expect(err).toContain(line);
  expect(files.read('/home/me/x')).toBeUndefined();
});

test("the linker's --wrap reaches functions of the program, of libc and of MPI; libstdc++'s parts are accepted", () => {
  const files = new MemoryFiles({
    '/home/me/main.c': `#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>
void *__real_malloc(size_t);
int __real_helper(int), __real_MPI_Comm_rank(MPI_Comm, int *), helper(int), calls;
void *__wrap_malloc(size_t n) { calls++; return __real_malloc(n); }
int __wrap_helper(int n) { return __real_helper(n) + 1; }
int __wrap_MPI_Comm_rank(MPI_Comm c, int *r) { int e = __real_MPI_Comm_rank(c, r); *r += 40; return e; }
int main(void) {
  int r = 0; void *volatile p = malloc(3);
  MPI_Comm_rank(MPI_COMM_WORLD, &r); printf("%d %d %d %d\\n", calls, r, helper(5), p != 0); return 0;
}`,
    '/home/me/helper.c': 'int helper(int n) { return 2 * n; }\n',
  });
  const wraps = '-Wl,--wrap=malloc -Wl,--wrap,helper -Wl,--wrap=MPI_Comm_rank';
  expect(drive(files, `main.c helper.c ${wraps} -lstdc++fs -lstdc++exp -o prog`)).toEqual({
    exit: 0,
    out: '',
    err: '',
  });
  const { wasm, info } = instrument(files.read('/home/me/prog')!);
  const host = new TestHost(wasm, info, {});
  host.run();
  expect(host.out).toBe('1 40 11 1\n');
});

test('checks of undefined behaviour need no run-time library: the place where one fails traps', () => {
  const files = new MemoryFiles({
    '/home/me/null.c': 'int main(int argc, char **argv) { int *p = argc == 1 ? 0 : &argc; *p = 7; return argc; }',
  });
  expect(drive(files, '-fsanitize=null,signed-integer-overflow null.c -o prog')).toEqual({ exit: 0, out: '', err: '' });
  const { wasm, info } = instrument(files.read('/home/me/prog')!);
  expect(() => new TestHost(wasm, info, {}).run()).toThrow('unreachable');
});

test(
  'options that gcc takes pass silently, those of other compilers with a warning; an unknown one is refused as ' +
    'clang does',
  () => {
    const files = sources();
    const ofGcc =
      '-ftree-vectorizer-verbose=0 -fopt-info-vec-missed -fno-ipa-cp-clone -mveclibabi=svml ' +
      '-fno-tree-vectorize -fsched-pressure -floop-interchange -funroll-all-loops -fprefetch-loop-arrays';
    expect(drive(files, `${ofGcc} -DSIZE=1 -c main.c`)).toEqual({ exit: 0, out: '', err: '' });
    const foreign = '-xHost -qopt-report=5 -no-prec-div -ipo'.split(' ');
    const { exit, err } = drive(files, `${foreign.join(' ')} -fp-model precise -DSIZE=1 -c main.c`);
    expect(exit).toBe(0);
    expect(
      [...err.matchAll(/^clang: warning: optimization flag '(\S+)' is not supported \[/gm)]
        .map((m) => m[1])
        .slice(0, 5),
    ).toEqual([...foreign, '-fp-model']);
    expect(drive(files, '-fnonsense -DSIZE=1 -c main.c')).toMatchObject({
      exit: 1,
      err: expect.stringContaining("unknown argument: '-fnonsense'"),
    });
  },
);

test('what gcc only warns about in C++ is a warning here', () => {
  const files = new MemoryFiles({
    '/home/me/a.cc': (
      '#include <cinttypes>\nint twice(register int n) { int64_t one[1] = {n}; char c[1] = {n}; return ' +
      'printf("%"PRIi64"%d", one[0], c[0]); }\n'
    ).replace('#include', '#include <cstdio>\n#include'),
  });
  const { exit, err } = drive(files, '-c a.cc', { driver: 'mpicxx' });
  expect([exit, err.match(/\[-W[\w+-]+\]/g)]).toEqual([
    0,
    ['[-Wregister]', '[-Wc++11-narrowing]', '[-Wreserved-user-defined-literal]'],
  ]);
});

test('main may lie in a library; a program without main does not link', () => {
  for (const [main, printed] of [
    ['int main(int argc, char **argv) { return puts("with arguments") < 0; }', 'with arguments\n'],
    ['int main(void) { return puts("without") < 0; }', 'without\n'],
    ['int main(int argc) { return printf("%d\\n", argc) < 0; }', '1\n'],
    ['int main(int argc, char **argv, char **envp) { return printf("%d\\n", envp != 0) < 0; }', '1\n'],
  ] as const) {
    const files = new MemoryFiles({
      '/home/me/main.c': `#include <stdio.h>\n${main}\n`,
      '/home/me/other.c': 'int other(void) { return 1; }\n',
    });
    expect(drive(files, '-c main.c other.c').exit).toBe(0);
    llvmTool('ar', ['rcs', 'libmain.a', 'main.o'], { files, cwd: '/home/me' });
    expect(drive(files, 'other.o -L. -lmain -o prog')).toEqual({ exit: 0, out: '', err: '' });
    const { wasm, info } = instrument(files.read('/home/me/prog')!);
    const host = new TestHost(wasm, info, {});
    host.run();
    expect(host.out).toBe(printed);
    expect(drive(files, 'other.o -o nothing')).toEqual({
      exit: 1,
      out: '',
      err: expect.stringMatching(/undefined symbol: main\n.*no object and no library of this command defines it/),
    });
    expect(files.stat('/home/me/nothing')).toBeUndefined();
  }
});

test('rules for make name no file that only the driver sees', () => {
  const files = sources();
  files.write('/home/me/sp ace.h', new Uint8Array(0));
  files.write(
    '/home/me/dep.c',
    new TextEncoder().encode('#include <stdio.h>\n#include "inc/shared.h"\n#include "sp ace.h"\n'),
  );
  const rule = (path: string): string => text(files.read(path) ?? new Uint8Array(0));
  expect(drive(files, '-MD -MP -c dep.c -o out/dep.o').exit).toBe(0);
  expect(rule('/home/me/out/dep.d')).toBe('out/dep.o: dep.c inc/shared.h sp\\ ace.h\ninc/shared.h:\nsp\\ ace.h:\n');
  expect(drive(files, '-MD -MF named.d -MT x.o -c dep.c').exit).toBe(0);
  expect(rule('/home/me/named.d')).toMatch(/^x\.o: dep\.c inc\/shared\.h/);
  expect(drive(files, '-M dep.c').out).toBe('dep.o: dep.c inc/shared.h sp\\ ace.h\n');
  expect(drive(files, '-M dep.c -o listed').exit).toBe(0);
  expect(rule('/home/me/listed')).not.toContain('.mayfly');
});

test('a call without a declaration does what a machine does, where integers differ; the rest stays a trap', () => {
  const files = new MemoryFiles({
    '/home/me/main.c': `#include <stdio.h>
int main(void) {
  long now = (long)wide(-3), few = sum(1, 2), shorter = low(1LL << 32 | 7);
  printf("%ld %ld %ld %d\\n", now, few, shorter, nothing());
  fflush(stdout);
  return half(3);
}`,
    '/home/me/other.c':
      'long long wide(long long a) { return a - (1LL << 40); }\nint sum(int a, int b, int c) { return a + b ' +
      '+ c; }\nint low(int a) { return a; }\nvoid nothing(void) {}\ndouble half(double x) { return x / 2; }\n',
  });
  expect(drive(files, '-std=gnu89 -w main.c other.c -o prog').exit).toBe(0);
  const { wasm, info } = instrument(files.read('/home/me/prog')!);
  const host = new TestHost(wasm, info, {});
  let stack: string | undefined;
  try {
    host.run();
  } catch (error) {
    stack = (error as Error).stack;
  }
  expect(stack).toMatch(/signature_mismatch:half/);
  expect(host.out).toBe('-3 3 7 0\n');
});

test('questions that build systems ask', () => {
  const files = sources();
  expect(drive(files, '--version').out).toMatch(/^clang version \d+\./);
  expect(drive(files, '-Wl,--version')).toMatchObject({ exit: 0, out: expect.stringMatching(/^LLD \d+\./) });
  expect(drive(files, '-show -c main.c').out).toMatch(
    /^clang --target=wasm32-wasip1 -mlong64 -I\S+include -c main\.c -lmpi\n$/,
  );
  expect(drive(files, '-show -mno-long64 a.c').out).not.toContain(' -mlong64');
  expect(drive(files, '--help').out).toMatch(/^mpicc: [^]*\n {2}-mno-long64 [^]*\nOVERVIEW: clang/);
  expect(drive(files, '--showme:compile').out).toMatch(/^-I\S+include\n$/);
  expect([drive(files, '-link_info').out, drive(files, '--showme:link').out]).toEqual(['-lmpi\n', '-lmpi\n']);
  expect(drive(files, '--showme:version').out).toBe('mpicc: Mayfly dev (MPI 4.1)\n');
  expect(drive(files, '-E -DSIZE=7 -P main.c').out).toContain('count = twice(7)');
  expect(drive(files, '-E -', { stdin: new TextEncoder().encode('#ifdef __wasm__\nyes\n#endif\n') }).out).toMatch(
    /\nyes\n/,
  );
  expect(drive(files, '-MM main.c').out).toMatch(/^main\.o: main\.c inc\/shared\.h/);
  expect(drive(files, '-S -DSIZE=1 -O1 main.c').exit).toBe(0);
  expect(text(files.read('/home/me/main.s')!)).toContain('.functype');
  expect(drive(files, '-v -c -DSIZE=1 main.c').err).toContain('-cc1');
});

test('48 MB of static arrays cost no more than their bytes', () => {
  // The object holds them as zeros; a host that copies the file at each 4 KB written never gets to its end.
  const files = new MemoryFiles({
    '/home/me/big.c':
      'static double a[6000000];\nint main(int argc, char **argv) { a[argc] = 1; return (int)a[argc + 1]; }',
  });
  expect(drive(files, '-O1 -c big.c')).toEqual({ exit: 0, out: '', err: '' });
  expect(files.read('/home/me/big.o')!.length).toBeGreaterThan(48_000_000);
});
