/**
 * Arithmetic of `size_t` whose result has 64 bits gives what a machine with a `size_t` of 64 bits gives: the programs
 * of size-programs/, each with what gcc 12 for x86-64 prints, and what has no translation.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { MemoryFiles } from '../../files.ts';
import { TestHost } from '../../host-for-tests.ts';
import { instrument } from '../../instrument.ts';
import { CallStore } from '../cache/call-store.ts';
import { cc } from '../cc.ts';
import { nodesOf } from './ast-dump.ts';
import { sizesIn, withWraps } from './sizes.ts';

const folder = mkdtempSync(join(tmpdir(), 'mayfly-sizes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const store = new CallStore(folder);
const program = (name: string): string => readFileSync(new URL(`./size-programs/${name}`, import.meta.url), 'utf8');

function run(sources: Readonly<Record<string, string>>, argv: string): { out: string; err: string } {
  const files = new MemoryFiles(sources);
  const driver = argv.includes('.cc') ? 'mpicxx' : 'mpicc';
  const options = { files, cwd: '/w', driver, precompiled: { store, version: 'one' } } as const;
  const r = cc([...argv.split(' '), '-o', 'prog'], options);
  const err = new TextDecoder().decode(r.stderr);
  expect([r.exit, r.exit === 0 ? '' : err]).toEqual([0, '']);
  const { wasm, info } = instrument(files.read('/w/prog')!);
  const host = new TestHost(wasm, info, {});
  host.run();
  return { out: host.out, err };
}

test.each([
  ['arithmetic.c', '-O0'],
  ['arithmetic.c', '-O2 -std=c99 -Wall -pedantic'],
  ['containers.cc', '-O1 -std=c++17'],
])('%s %s prints what gcc prints', (name, options) => {
  const sources = { [`/w/${name}`]: program(name), '/w/sizes.h': program('sizes.h') };
  expect(run(sources, `${options} -w ${name}`).out).toBe(program(name.replace(/\..*/, '.out')));
});

test('C++98: other uses of a template and of a macro keep their types', () => {
  const source = `#include <stddef.h>
#include <stdio.h>
#include "sizes.h"
struct Pair { int v; }; static long operator-(Pair a, Pair b) { return a.v - b.v; }
template <class T> long apart(const T &a, const T &b) { return a - b; }
struct Of { static const int some = 4; };
template <class T> long of(T n) { return n - Of::some; }
int main() {
  size_t a = 3, b = 10; Pair p = {1}, q = {3};
  printf("%ld %ld %ld %ld %ld\\n", apart(a, b), apart(p, q), apart(1, 5), of(a), of(2));
  printf("%ld %ld\\n", SUBTRACT(a, b), SUBTRACT(p, q));
}
`;
  expect(run({ '/w/a.cc': source, '/w/sizes.h': program('sizes.h') }, '-std=c++98 -Wall -Wextra a.cc')).toEqual({
    out: '-7 -2 -4 -1 -2\n-7 -2\n',
    err: '',
  });
});

test('a difference that a macro puts together is a warning', () => {
  const source =
    '#include <stddef.h>\n#include <stdio.h>\n#define OF(v, i) v[i] - 5\n#define AS_LONG(x) (long)(x)\n' +
    'int main(void) { size_t v[] = {3}; long d = OF(v, 0); printf("%ld\\n", d); }\n';
  const { err } = run({ '/w/a.c': source }, 'a.c');
  expect(err).toMatch(/^a\.c:\d+:\d+: warning: a difference of sizes .*\[-mlong64\]\n$/);
  expect(run({ '/w/a.c': source }, '-w a.c').err).toBe('');
});

test('places of a dump: what a line does not name is that of the line before', () => {
  const dump = `TranslationUnitDecl 0x1 <<invalid sloc>> <invalid sloc>
|-FunctionDecl 0x2 prev 0x1 </w/a.c:2:1, line:4:1> line:2:5 main 'int ()'
| \`-CompoundStmt 0x3 <col:12, line:4:1>
\`-VarDecl 0x4 <b.h:1:1, col:9> col:6 d 'long long' cinit
`;
  expect(
    [...nodesOf(dump)].slice(1).map(({ from, to }) => [from, to].map((p) => `${p!.file}:${p!.line}:${p!.column}`)),
  ).toEqual([
    ['/w/a.c:2:1', '/w/a.c:4:1'],
    ['/w/a.c:2:12', '/w/a.c:4:1'],
    ['b.h:1:1', 'b.h:1:9'],
  ]);
});

test('operands get functions; what no longer stands there gets none', () => {
  const text = 'long long d = f(a) - (b);\n';
  const dump = `|-ImplicitCastExpr 0x1 <a.c:1:15, col:24> 'long long' <IntegralCast>
| \`-BinaryOperator 0x2 <col:15, col:24> 'size_t':'unsigned long' '-'
|   |-CallExpr 0x3 <col:15, col:18> 'size_t':'unsigned long'
|   \`-ParenExpr 0x4 <col:22, col:24> 'size_t':'unsigned long'
|     \`-ImplicitCastExpr 0x5 <col:23> 'size_t':'unsigned long' <LValueToRValue>
`;
  const { wraps } = sizesIn(dump, '/w', (path) => (path === '/w/a.c' ? text : undefined));
  const here = wraps.get('/w/a.c')!;
  expect(withWraps(text, here)).toBe('long long d = __mayfly_wide(f(a)) - (__mayfly_wide(b));\n');
  expect(withWraps('long long x = g(a) - (b);\n', here)).toBe('long long x = g(a) - (__mayfly_wide(b));\n');
});

test('the datatype of a buffer of sizes gets a function, by its type or by what a name stands for', () => {
  const text =
    'MPI_Bcast(n, f(1, 2), t, 0, c);\nMPI_Bcast((void *)v, 1,\n  MPI_LONG, 0, c); MPI_Bcast(x, 1, t, 0, c);\n';
  const call = (
    at: string,
    cast: string,
    kind: string,
    type: string,
  ): string => `|-CallExpr 0x1 <a.c:${at}, col:60> 'int'
| |-ImplicitCastExpr 0x2 <a.c:${at}> 'int (*)(void *, int, MPI_Datatype, int, MPI_Comm)' <FunctionToPointerDecay>
| | \`-DeclRefExpr 0x3 <a.c:${at}> 'int (void *)' Function 0x4 'MPI_Bcast' 'int (void *)'
| |-${cast} 0x5 <a.c:1:11> 'void *' <BitCast>
| | \`-${kind} 0x6 <a.c:1:11> '${type}' lvalue
| |-IntegerLiteral 0x7 <a.c:1:14> 'int' 1
| |-DeclRefExpr 0x8 <a.c:1:23> 'MPI_Datatype' lvalue
| |-IntegerLiteral 0x9 <a.c:1:26> 'int' 0
| \`-DeclRefExpr 0xa <a.c:1:29> 'MPI_Comm' lvalue
`;
  const dump =
    call('1:1', 'ImplicitCastExpr', 'ImplicitCastExpr', 'size_t *') +
    call('2:1', 'CStyleCastExpr', 'DeclRefExpr', 'value_type *') +
    call('3:20', 'ImplicitCastExpr', 'DeclRefExpr', 'double *');
  const { wraps } = sizesIn(dump, '/w', () => text);
  expect(withWraps(text, wraps.get('/w/a.c'))).toBe(
    'MPI_Bcast(n, f(1, 2), __mayfly_sent(1, t), 0, c);\n' +
      'MPI_Bcast((void *)v, 1,\n  __mayfly_sent(__mayfly_kind_of((v)), MPI_LONG), 0, c); MPI_Bcast(x, 1, t, 0, c);\n',
  );
});
