import { expect, test } from 'vitest';
import { MemoryFiles } from '../../files.ts';
import { TestHost } from '../../host-for-tests.ts';
import { instrument } from '../../instrument.ts';
import { resources } from '../../resources.ts';
import { cc, llvmTool } from '../cc.ts';

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

function drive(files: MemoryFiles, argv: string, driver: 'mpicc' | 'mpicxx' = 'mpicc'): { exit: number; err: string } {
  const r = cc(argv.split(' '), { files, cwd: '/w', driver });
  return { exit: r.exit, err: text(r.stderr) };
}

function output(sources: Record<string, string>, argv: string, driver: 'mpicc' | 'mpicxx' = 'mpicc'): string {
  const files = new MemoryFiles(sources);
  expect(drive(files, `${argv} -o prog`, driver)).toEqual({ exit: 0, err: '' });
  const { wasm, info } = instrument(files.read('/w/prog')!);
  const host = new TestHost(wasm, info, {});
  host.run();
  return host.out;
}

/** What gcc 12 for x86-64 prints is below each. */
const OF_C = `#include "word.h"
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#if LONG_MAX == 2147483647L
#error long has 32 bits
#endif
#define W(x) x##UL
#define FMT "ld"
static void say(const char *format, ...) { va_list ap; va_start(ap, format); vprintf(format, ap); va_end(ap); }
static long sum(int n, ...) { va_list ap; va_start(ap, n); long s = 0; while (n--) s += va_arg(ap, long); va_end(ap); return s; }
int main(int argc, char **argv) {
  word w = BIT(40 + argc); size_t n = sizeof(int); long i = LONG_MAX; unsigned long int u = ULONG_MAX;
  printf("%lu %zu %lu %ld %lx %5lu|\\n", w, n, n, i, u, sizeof(long));
  printf("%" FMT " %ld %d\\n", MACRO, n - 1, argc);
  say("%lu %lu %ld\\n", n, w, -i);
  printf("%ld %ld %ld\\n", strtol("-9007199254740993", NULL, 10), labs(-5000000000L), lrint(4e15));
  printf("%lu %d\\n", W(12345678901) * 2654435761UL, __builtin_expect(1L << 40, 0) ? 1 : 0);
  char f[20]; sprintf(f, "%%%dld|%%d\\n", 14); printf(f, 77L << 33, 5);
  long a, b; unsigned long c; sscanf("123456789012 -5 0xffffffffff", "%ld %ld %lx", &a, &b, &c);
  printf("%ld %ld %lx %ld\\n", a, b, c, argv + 3 - argv);
  ldiv_t q = ldiv(10000000000L, 7L); printf("%ld %ld %ld\\n", q.quot, q.rem, sum(2, 1L << 40, 3L));
  struct timespec ts = {1, 500L}; printf("%ld.%09ld\\n", ts.tv_sec, ts.tv_nsec);
  printf("%d %d %Lg\\n", __builtin_clzl(1UL), __builtin_popcountl(~0UL), 1.5L);
  return 0;
}
`;
const GCC_OF_C = `2199023255552 4 4 9223372036854775807 ffffffffffffffff     8|
1099511627776 3 1
4 2199023255552 -9223372036854775807
-9007199254740993 5000000000 4000000000000000
14324067494928027045 1
  661424963584|5
123456789012 -5 ffffffffff 3
1428571428 4 1099511627779
1.000000500
63 64 1.5
`;

test('C: values, constants, functions, formats and macros of the command line, as gcc has them', () => {
  expect(
    output(
      { '/w/a.c': OF_C, '/w/inc/word.h': 'typedef unsigned long word;\n#define BIT(x) (1UL << ((x) & 63))\n' },
      '-mlong64 -Iinc -DMACRO=(1L<<40) a.c',
    ),
  ).toBe(GCC_OF_C);
});

test('C++: streams, limits, templates, conversions and casts, as gcc has them', () => {
  const source = `#include <cstdarg>
#include <cstdio>
#include <iostream>
#include <limits>
#include <numeric>
#include <string>
#include <vector>
struct Log { void say(const char *format, ...); };
void Log::say(const char *format, ...) { va_list ap; va_start(ap, format); std::vprintf(format, ap); va_end(ap); }
struct Big { long v; operator long() const { return v; } };
template <long N> struct Times { static constexpr long value = N * 1'000'000L; };
int main() {
  std::vector<long> v = {1L << 40, 3, -7};
  std::cout << std::accumulate(v.begin(), v.end(), 0L) << ' ' << std::numeric_limits<unsigned long>::digits << '\\n';
  auto p = new long(77L << 33);
  std::cout << long(2.5e15) << ' ' << std::stol("123456789012") << ' ' << Times<5000>::value << ' ' << *p << '\\n';
  Big b{5000000000L}; long x = b; std::cout << x << ' ' << R"(long %ld 1L)" << std::endl;
  std::printf("%ld %lu\\n", x, v.size());
  Log().say("%lu %ld %lu\\n", v.size(), x, v.size());
}
`;
  expect(output({ '/w/a.cc': source }, '-mlong64 -std=c++17 a.cc', 'mpicxx')).toBe(
    '1099511627772 64\n2500000000000000 123456789012 5000000000 661424963584\n5000000000 long %ld 1L\n5000000000 3\n' +
      '3 5000000000 3\n',
  );
});

test('what cannot be translated is an error with its place', () => {
  const files = new MemoryFiles({
    '/w/a.c': `#include <mpi.h>
#include <stdio.h>
#include <stddef.h>
void fill(unsigned long *p) { *p = 1; }
#define TOLD "%lu\\n"
int main(void) {
  size_t n; long x;
  fill(&n);
  MPI_Bcast(&n, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(&x, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Get_address(&n, &x);
  printf(TOLD, n);
  *(unsigned long *)&n = 1;
  return 0;
}
`,
  });
  const { exit, err } = drive(files, '-mlong64 -w -c a.c');
  expect(exit).toBe(1);
  expect([...err.matchAll(/^a\.c:(\d+):\d+: error: .* \[-mlong64\]$/gm)].map((m) => Number(m[1]))).toEqual([
    8, 9, 11, 12, 13,
  ]);
  expect(files.read('/w/a.o')).toBeUndefined();
});

test('MPI_LONG, MPI_UNSIGNED_LONG and MPI_LONG_INT are types of their own', () => {
  const files = new MemoryFiles({
    '/w/a.c':
      '#include <mpi.h>\nMPI_Datatype types[] = {MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_INT};\n' +
      '_Static_assert(sizeof(long) == 8, "");\n',
  });
  expect(drive(files, '-mlong64 -S a.c')).toEqual({ exit: 0, err: '' });
  expect(text(files.read('/w/a.s'))).toMatch(/\.int32\s+752\b[^]*\.int32\s+753\b[^]*\.int32\s+754\b/);
  expect(drive(files, '-mno-long64 -S a.c').err).toContain('static assertion');
});

test('C++ that tells long from long long, or takes size_t for unsigned long, gets a note', () => {
  const files = new MemoryFiles({
    '/w/a.cc': 'void f(long) {}\nvoid f(long long) {}\n',
    '/w/c.cc': 'template <class T> struct S {};\ntemplate struct S<long>;\ntemplate struct S<long long>;\n',
    '/w/b.cc':
      '#include <algorithm>\nunsigned long f(unsigned long a, decltype(sizeof 1) b) { return std::max(a, b); }\n',
  });
  const a = drive(files, '-mlong64 -c a.cc', 'mpicxx');
  expect([a.exit, a.err]).toEqual([
    1,
    expect.stringMatching(/a\.cc:2:6: error: redefinition of 'f'[^]*-mno-long64\n$/),
  ]);
  expect(drive(files, '-mlong64 -c c.cc', 'mpicxx').err).toMatch(
    /c\.cc:3:17: error: .*'S<long long>'[^]*-mno-long64\n$/,
  );
  const b = drive(files, '-mlong64 -c b.cc', 'mpicxx');
  expect([b.exit, b.err]).toEqual([1, expect.stringMatching(/std::max<size_t>\(a, b\)\n$/)]);
  expect(drive(files, '-mlong64 -mno-long64 -c a.cc', 'mpicxx')).toEqual({ exit: 0, err: '' });
});

test('objects of both kinds are not linked; the error names one of each', () => {
  const files = new MemoryFiles({
    '/w/main.c': 'long twice(long);\nint main(void) { return (int)twice(1L << 40); }\n',
    '/w/twice.c': 'long twice(long x) { return 2 * x; }\n',
  });
  expect(drive(files, '-mlong64 -c main.c').exit).toBe(0);
  expect(drive(files, '-mno-long64 -c twice.c').exit).toBe(0);
  llvmTool('ar', ['rcs', 'libtwice.a', 'twice.o'], { files, cwd: '/w' });
  const mixed = (argv: string, names: readonly string[]): void => {
    const { exit, err } = drive(files, argv);
    expect(exit).toBe(1);
    for (const name of names) expect(err).toContain(name);
  };
  mixed('main.o twice.o -o prog', ['64 bits in main.o', '32 bits in twice.o']);
  mixed('main.o -L. -ltwice -o prog', ['64 bits in main.o', '32 bits in twice']);
  mixed('-mlong64 twice.o main.c -o prog', ['64 bits in main.c', '32 bits in twice.o']);
  expect(drive(files, '-mlong64 -c twice.c').exit).toBe(0);
  expect(drive(files, 'main.o twice.o -o prog')).toEqual({ exit: 0, err: '' });
});

test('the standard input, -E and its output are widened, once', () => {
  const run = (argv: string, files: MemoryFiles, stdin: string): string => {
    const r = cc(argv.split(' '), { files, cwd: '/w', driver: 'mpicc', stdin: new TextEncoder().encode(stdin) });
    expect([r.exit, text(r.stderr)]).toEqual([0, '']);
    return text(r.stdout);
  };
  const files = new MemoryFiles();
  const preprocessed = run('-mlong64 -E -x c -', files, '#include <stdlib.h>\nlong x = LONG_LONG;\n');
  expect(preprocessed).toContain('\nlong long x = LONG_LONG;\n');
  expect(preprocessed).toMatch(/\blong strtol ?\(/);
  files.write('/w/x.i', new TextEncoder().encode(preprocessed.replace('LONG_LONG', 'sizeof(long)')));
  run('-mlong64 -c x.i -o x.o', files, '');
  run('-mlong64 -c -x c - -o y.o', files, '_Static_assert(sizeof(long) == 8, "");\n');
});

test('with 32 bits, a shift that reaches 63 is a warning, also in a header and by a macro; -w silences it', () => {
  const files = new MemoryFiles({
    '/w/a.c': '#include "bits.h"\nint f(unsigned long *v, int n) { return (v[0] & BIT(n)) != 0; }\n',
    '/w/bits.h':
      '#define mask &63\n#define BIT(n) (1UL << ((n) mask))\n#define SAFE(n) (1ULL << ((n) mask))\n' +
      '/* 1UL << (n & 63) */\nstatic inline long g(int n) { return 1L << (n % 64); }\n',
  });
  const { exit, err } = drive(files, '-mno-long64 -c a.c');
  expect(exit).toBe(0);
  expect([...err.matchAll(/^(\S+): warning: this shift can reach 63/gm)].map((m) => m[1])).toEqual([
    'bits.h:2:17',
    'bits.h:5:38',
  ]);
  expect(drive(files, '-mno-long64 -w -c a.c')).toEqual({ exit: 0, err: '' });
  expect(drive(files, '-mlong64 -c a.c')).toEqual({ exit: 0, err: '' });
});

test('our mpi.h is the same when the program names its folder', () => {
  const files = new MemoryFiles({
    '/w/a.c':
      '#include "inc/mpi.h"\nint f(__SIZE_TYPE__ *n, long *x) {\n' +
      'MPI_Bcast(x, 1, MPI_LONG, 0, MPI_COMM_WORLD);\n' +
      'return MPI_Bcast(n, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD); }\n',
    '/w/b.c':
      '#include "inc/mpi.h"\nMPI_Aint a; MPI_Datatype t[] = {MPI_LONG};\n' + '_Static_assert(sizeof a == 4, "");\n',
  });
  files.write('/w/inc/mpi.h', resources().files.read('/include/mpi.h')!);
  expect(drive(files, '-mlong64 -c a.c')).toEqual({
    exit: 1,
    err: expect.stringMatching(/^a\.c:4:18: error: .*MPI_UINT32_T/),
  });
  expect(drive(files, '-mlong64 -S b.c')).toEqual({ exit: 0, err: '' });
  expect(text(files.read('/w/b.s'))).toMatch(/\.int32\s+752\b/);
});
