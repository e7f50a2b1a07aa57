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
    8, 11, 12, 13,
  ]);
  expect(files.read('/w/a.o')).toBeUndefined();
});

test.each(['c89', 'c99', 'gnu17'])('buffers of sizes bring no message in a strict mode: -std=%s', (mode) => {
  const source = `#include <mpi.h>
#include <stddef.h>
typedef size_t idx_t;
#define B(p, t) MPI_Bcast((p), 1, (t), 0, MPI_COMM_WORLD)
int f(void *any, double *r, idx_t *i, size_t (*m)[4], const size_t *c, size_t *out);
int f(void *any, double *r, idx_t *i, size_t (*m)[4], const size_t *c, size_t *out)
{
  MPI_Bcast(any, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(i, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(m, 4, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  MPI_Allreduce(c, out, 1,
    MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  return B(i, MPI_UNSIGNED_LONG) + B(r, MPI_DOUBLE);
}
`;
  const files = new MemoryFiles({ '/w/a.c': source });
  expect(drive(files, `-std=${mode} -Wall -Wextra -pedantic -c a.c`)).toEqual({ exit: 0, err: '' });
});

test('with -mno-long64, a datatype of 64 bits for a buffer of 32 is an error', () => {
  const files = new MemoryFiles({
    '/w/a.c': `#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
int main(void) {
  size_t n = 1; long m[2] = {1, 2}; long long w = 1; uint64_t u = 1; int i = 1; struct { long a, b; } s = {1, 2};
  MPI_Bcast(&n, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(&n, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(m, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  MPI_Bcast(&w, 1, MPI_LONG_LONG_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(&u, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  MPI_Bcast(&s, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  return i;
}
`,
  });
  const { exit, err } = drive(files, '-mno-long64 -w -c a.c');
  expect(exit).toBe(1);
  expect([...err.matchAll(/^a\.c:(\d+):\d+: error: .* \[-mno-long64\]$/gm)].map((m) => Number(m[1]))).toEqual([7, 8]);
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

test('of what stands there for long and for long long, the second is left out, with a warning', () => {
  const traits = `#ifndef TRAITS
#define TRAITS
template <class T> struct Traits;
template <> struct Traits<long int> { static const char *name() { return "long"; } };
#ifndef NO_LONG_LONG
// The wide one.
template <>
struct Traits<long long> {
#ifdef NEVER
  typedef int type;
#endif
  static const char *name() { return "long long"; }
};
#endif
#define TRAIT(T) template <> struct Traits<unsigned T> { static const char *name() { return "unsigned"; } };
TRAIT(long)
TRAIT(long long);
template <> struct Traits<int> { static const char *name() { return "int"; } };
#endif
`;
  const source = `#include "traits.h"
#include <cstdio>
static int f(long x) { return 1; } static int f(long long) { return 2; }
struct S {
  long v;
  S(long x) : v(x) {}
  S(long long x) : v{x} { v++; }
  virtual int g(long) { return 3; }
  virtual int g(long long);
};
int S::g(long long) { return 4; }
template <class T> T same(T t) { return t; }
template long same(long);
template long long same(long long);
int main() { printf("%s %s %s %d %d %ld\\n", Traits<long>::name(), Traits<unsigned long>::name(), Traits<int>::name(), f(1L), f(1LL), S(7LL).v); }
`;
  const files = new MemoryFiles({ '/w/inc/traits.h': traits, '/w/a.cc': source });
  const { exit, err } = drive(files, '-mlong64 -Iinc a.cc -o prog', 'mpicxx');
  expect([exit, ...err.matchAll(/^(\S+?):(\d+):\d+: (\w+): .* -mno-long64 keeps both/gm)].slice(1)).toHaveLength(7);
  expect(err.match(/warning|error/g)).toHaveLength(7);
  const { wasm, info } = instrument(files.read('/w/prog')!);
  const host = new TestHost(wasm, info, {});
  host.run();
  expect(host.out).toBe('long unsigned int 1 1 7\n');
});

test('C: of _Generic, the second of two associations for one type is left out', () => {
  const source = `#include <stdio.h>
#define NAME(x) _Generic((x), int: "int", \\
  long: "long", long long: "long long", \\
  unsigned long: "u", default: "other", unsigned long long: "uu")
int main(void) { printf("%s %s %s %s\\n", NAME(1), NAME(1L), NAME(1LL), _Generic(1UL, unsigned long: "u", unsigned long long: "uu")); }
`;
  const files = new MemoryFiles({ '/w/a.c': source });
  const { exit, err } = drive(files, '-mlong64 a.c -o prog');
  expect([exit, err.match(/-mno-long64 keeps both/g)?.length]).toEqual([0, 3]);
  const { wasm, info } = instrument(files.read('/w/prog')!);
  const host = new TestHost(wasm, info, {});
  host.run();
  expect(host.out).toBe('int long long u\n');
});

test('macros that paste or quote a type find the word long; what gcc prints', () => {
  const files = {
    '/w/pair.h': `#define PAIR(type) struct type##_pair { type a; int b; }
#define SET(type, v) { struct type##_pair *p = q; p->a = (type)v; type x = p->a * 2; printf(#type " %zu %lld\\n", sizeof x, (long long)x); }
#define NAME(type) sum_##type
`,
    '/w/a.c': `#include "pair.h"
#include <stdio.h>
PAIR(int);
PAIR(long);
PAIR(double);
static unsigned long NAME(long)(unsigned long a, long b) { return a + b; }
int main(void) {
  union { struct long_pair l; struct int_pair i; struct double_pair d; } u, *q = (void *)&u;
  SET(long, (1UL << 40)) SET(int, 7)
  long after = sum_long(1UL << 41, 1L);
  printf("%ld %zu\\n", after, sizeof(unsigned long));
}
`,
  };
  expect(output(files, '-w a.c')).toBe('long 8 2199023255552\nint 4 14\n2199023255553 8\n');
});

test('a true redefinition stays an error; what only 64 bits refuse has a note', () => {
  const files = new MemoryFiles({
    '/w/a.cc': 'int f(long) { return 1; }\nint f(long) { return 2; }\n',
    '/w/b.cc':
      '#include <cstddef>\nint f(int) { return 1; }\nint f(unsigned long) { return 2; }\n' +
      'int g(std::size_t n) { return f(n); }\n',
    '/w/c.cc': '#include <cstddef>\nunsigned long g();\nint f(int x) { return x(); }\n',
  });
  const a = drive(files, '-mlong64 -c a.cc', 'mpicxx');
  expect([a.exit, a.err]).toEqual([
    1,
    expect.stringMatching(/^a\.cc:2:5: error: redefinition of 'f'[^]*generated\.\n$/),
  ]);
  const b = drive(files, '-mlong64 -c b.cc', 'mpicxx');
  expect([b.exit, b.err]).toEqual([1, expect.stringMatching(/b\.cc:4:31: error: .*ambiguous[^]*-mno-long64\n$/)]);
  expect(drive(files, '-mno-long64 -c b.cc', 'mpicxx')).toEqual({ exit: 0, err: '' });
  expect(drive(files, '-mlong64 -c c.cc', 'mpicxx').err).not.toContain('-mno-long64');
});

test('C++: std::min and std::max take an unsigned long and a size_t', () => {
  const source = `#include <algorithm>
#include <cstdio>
#include <vector>
int main() {
  std::vector<int> v(3);
  unsigned long n = 1UL << 40;
  long d = -5;
  std::printf("%lu %lu %ld %zu\\n", std::min(n, v.size()), std::max(v.size(), n), std::min(d, v.end() - v.begin()), std::max<size_t>(v.size(), 2));
}
`;
  expect(output({ '/w/a.cc': source }, '-mlong64 a.cc', 'mpicxx')).toBe('3 1099511627776 -5 3\n');
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
      'return MPI_Bcast(x, 1, MPI_AINT, 0, MPI_COMM_WORLD); }\n',
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
