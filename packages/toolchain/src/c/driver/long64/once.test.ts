import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { MemoryFiles } from '../../files.ts';
import { CallStore } from '../cache/call-store.ts';
import { cc } from '../cc.ts';
import { DriverRun } from '../run.ts';
import { shown } from './diagnostics.ts';

const folder = mkdtempSync(join(tmpdir(), 'mayfly-once-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.restoreAllMocks());
const store = new CallStore(folder);
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

interface Made {
  readonly exit: number;
  readonly err: string;
  readonly object: Uint8Array | undefined;
  readonly runs: number;
  readonly precompiled: boolean;
}

function compile(sources: Record<string, string>, argv: string, driver: 'mpicc' | 'mpicxx' = 'mpicc'): Made {
  const files = new MemoryFiles(sources);
  const runs = vi.spyOn(DriverRun.prototype, 'llvmOver');
  const r = cc(argv.split(' '), { files, cwd: '/w', driver, precompiled: { store, version: 'one' } });
  // Without those that show the tree (sizes.ts).
  const calls = runs.mock.calls.filter(
    ([{ base }, ...args]) =>
      !args.includes('-ast-dump') && base.stat(`/w/${driver === 'mpicc' ? 'a.c' : 'a.cc'}`) !== undefined,
  );
  runs.mockRestore();
  return {
    exit: r.exit,
    err: text(r.stderr),
    object: files.read('/w/a.o'),
    runs: calls.length,
    precompiled: calls.some((args) => args.some((a) => typeof a === 'string' && a.endsWith('.pch'))),
  };
}
/** An option that has no effect here but two runs. */
const TWICE = '-fno-color-diagnostics';

const OF_C = `#include <mpi.h>
#include <stdio.h>
#include <stdarg.h>
static void say(const char *format, ...)
{ va_list ap; va_start(ap, format); vprintf(format, ap); va_end(ap); }
int main(int argc, char **argv) {
  int unused;
  long sum = 0, part = argc * 5000000000L;
  double *d = (double *)argv[0];
  MPI_Init(&argc, &argv);
  MPI_Reduce(&part, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (d != NULL)   say("%ld\\n", sum);
  return MPI_Finalize();
}
`;

test('C: one run makes the object and the messages of two, those that only the check asks for left out', () => {
  const made = compile({ '/w/a.c': OF_C }, '-mlong64 -Wall -g -O1 -c a.c');
  expect(made).toMatchObject({ exit: 0, runs: 1 });
  expect(compile({ '/w/a.c': `#include <mpi.h>\n${OF_C}` }, '-mlong64 -c a.c')).toMatchObject({
    exit: 0,
    err: '',
    runs: 1,
  });
  expect(made.err).toMatch(/^a\.c:7:7: warning: unused variable 'unused'[^]*\n1 warning generated\.\n$/);
  const twice = compile({ '/w/a.c': OF_C }, `-mlong64 ${TWICE} -Wall -g -O1 -c a.c`);
  expect(made).toEqual({ ...twice, runs: 1 });
  expect(twice.runs).toBe(2);
  expect(compile({ '/w/a.c': OF_C }, '-mlong64 -w -g -O1 -c a.c')).toEqual({ ...made, err: '' });
});

test('C: what one run finds is mended by a second one, or leaves no object', () => {
  const sources = { '/w/a.c': '#include <stdio.h>\nvoid f(__SIZE_TYPE__ n) { printf("%lu\\n", n); }\n' };
  const mended = compile(sources, '-mlong64 -c a.c');
  expect(mended).toMatchObject({ exit: 0, err: '', runs: 2 });
  expect(mended.object).toEqual(compile(sources, `-mlong64 ${TWICE} -c a.c`).object);
  const refused = compile({ '/w/a.c': 'void f(long *p);\nvoid g(__SIZE_TYPE__ *p) { f(p); }\n' }, '-mlong64 -c a.c');
  expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining('[-mlong64]'), object: undefined });
});

test('messages whose groups the user may have set come from a run of their own', () => {
  const sources = { '/w/a.c': '#include <stdio.h>\nvoid f(double d) { printf("%d\\n", d); }\n' };
  const made = compile(sources, '-mlong64 -c a.c');
  expect(made).toMatchObject({ exit: 0, err: expect.stringMatching(/\[-Wformat\][^]*\n1 warning generated\.\n$/) });
  expect(made.err).not.toContain('fix-it');
  expect(compile(sources, '-mlong64 -Werror -c a.c')).toMatchObject({
    exit: 1,
    err: expect.stringContaining('[-Werror,-Wformat]'),
    object: undefined,
  });
});

test('C++: one run with a precompiled header; one more for functions that pass a format on', () => {
  const source = (more: string): Record<string, string> => ({
    '/w/a.cc': `#include <string>
#include <vector>
${more}
int main(int argc, char **argv) {
  std::vector<long> v(argc, 1L << 40);
  for (long x : v) std::printf("%ld\\n", x);
}
`,
  });
  const argv = '-mlong64 -O1 -DN=1L -c a.cc';
  const made = compile(source(''), argv, 'mpicxx');
  expect(made).toMatchObject({ exit: 0, err: '', precompiled: true });
  const plain = source('void say(const char *format, ...);\ninline void f(long x) { say("%ld", x + N); }\n');
  expect(compile(plain, argv, 'mpicxx')).toMatchObject({ exit: 0, err: '', runs: 2, precompiled: true });
});

test('messages: a block with its notes goes, the sum follows, an include that was named for it leaves doubt', () => {
  const cast =
    'a.c:8:15: warning: cast from a to b [-Wcast-align]\n    8 |   x\n      |   ^\nb.h:1:1: note: here\n' +
    'fix-it:"a.c":{1:2-1:3}:"x"\n';
  const unused = "a.c:6:7: warning: unused variable 'x' [-Wunused-variable]\n    6 |   int x;\n";
  expect(shown(`${cast}1 warning generated.\n`)).toBe('');
  expect(shown(`${unused}${cast}${unused}3 warnings generated.\n`)).toBe(`${unused}${unused}2 warnings generated.\n`);
  const from = 'In file included from a.c:1:\n';
  expect(shown(`${from}${cast}1 warning generated.\n`)).toBe('');
  expect(shown(`${from}${unused}1 warning generated.\n`)).toBe(`${from}${unused}1 warning generated.\n`);
  expect(shown(`${from}${cast}${unused}2 warnings generated.\n`)).toBe(undefined);
});
