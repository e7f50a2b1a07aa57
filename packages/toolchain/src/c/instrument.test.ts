import binaryen from 'binaryen';
import { expect, test } from 'vitest';
import { buildModule } from './build-module.ts';
import { engine } from './engine.ts';
import { type Image, TestHost } from './host-for-tests.ts';
import { instrument, SECTION } from './instrument.ts';
import { untouchedParts } from './library-parts.ts';
import { withCustomSection } from './wasm-edit.ts';
import { ModuleError } from './wasm-module.ts';

const PROGRAM = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int four __attribute__((vector_size(16)));
static double g = 1.5;
static int compares;
static int compare(const void *a, const void *b) {
  compares++;
  MPI_Barrier(MPI_COMM_WORLD);
  return *(const int *)a - *(const int *)b;
}
static int down(int n, int (*leaf)(MPI_Comm)) {
  int here[64];
  for (int i = 0; i < 64; i++) here[i] = n * 64 + i;
  if (n == 0) return leaf(MPI_COMM_WORLD);
  four v = {n, 2 * n, here[n], 1};
  int below = down(n - 1, leaf);
  v *= v;
  int sum = below + (v[0] + v[1] + v[2] + v[3]) % 5;
  for (int i = 0; i < 64; i++) sum += here[i] % 7;
  return sum;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  char *heap = malloc(40 << 20);
  memset(heap, 3, 40 << 20);
  int v[] = {5, 3, 9, 1, 7};
  qsort(v, 5, sizeof *v, compare);
  g *= down(20, MPI_Barrier);
  printf("%s %d %d%d%d%d%d %g %d\\n", argv[1], compares > 4, v[0], v[1], v[2], v[3], v[4], g, heap[39 << 20]);
  free(heap);
  MPI_Finalize();
  return 0;
}`;

test(
  'a program is carried from instance to instance at every MPI call: recursion, function pointers, a ' +
    'comparator inside qsort, a grown heap',
  () => {
    const { wasm, info } = buildModule({ '/main.c': PROGRAM });
    const plain = new TestHost(wasm, info, { MPI_Barrier: () => 0 }, ['a.out', 'word']);
    expect(plain.run()).toBeUndefined();
    expect(plain.out).toMatch(/^word 1 13579 [\d.e+]+ 3\n$/);
    expect(plain.grown).toBeGreaterThan(600);

    let image: Image | undefined;
    let out = '';
    let moves = 0;
    for (;;) {
      const move = (): number => {
        if (!host.arrived()) host.leave();
        return 0;
      };
      const host: TestHost = new TestHost(wasm, info, { MPI_Barrier: move, MPI_Init: move, MPI_Finalize: move }, [
        'a.out',
        'word',
      ]);
      image = host.run(image);
      out += host.out;
      if (image === undefined) break;
      moves++;
    }
    expect(out).toBe(plain.out);
    // Init, Finalize, the leaf of the recursion, and each comparison.
    expect(moves).toBeGreaterThan(3 + 4);
  },
);

test(
  "in C++ too: from a wide stream into a buffer of the program's own; what no object names of the library " +
    'stays out',
  () => {
    const source = `#include <mpi.h>
#include <ostream>
#include <streambuf>
#include <cstdio>
struct Sender : std::wstreambuf {
  int_type overflow(int_type c) override { MPI_Barrier(MPI_COMM_WORLD); std::putchar(int(c)); return c; }
};
int main() { MPI_Init(nullptr, nullptr); Sender b; std::wostream out(&b); out << 4021; std::putchar('\\n'); MPI_Finalize(); }`;
    const { wasm, info } = buildModule({ '/main.cc': source });
    let image: Image | undefined;
    let out = '';
    let moves = 0;
    do {
      const move = (): number => {
        if (!host.arrived()) host.leave();
        return 0;
      };
      const host: TestHost = new TestHost(wasm, info, { MPI_Barrier: move, MPI_Init: () => 0, MPI_Finalize: () => 0 }, [
        'a.out',
      ]);
      image = host.run(image);
      out += host.out;
      if (image !== undefined) moves++;
    } while (image !== undefined);
    expect([out, moves]).toEqual(['4021\n', 4]);

    const wide = (patterns: string[]): boolean => patterns.some((p) => p.includes('wchar_t'));
    const object = (symbol: string): Uint8Array => Buffer.from(`\0asm ${symbol} `);
    expect(wide(untouchedParts([object('_ZNSt3__24coutE')]))).toBe(true);
    for (const symbol of [
      '_ZNSt3__213basic_ostreamIwNS_11char_traitsIwEEElsEi',
      '_ZNSt3__24wcinE',
      '_ZNSt3__25ctypeIwE2idE',
    ])
      expect(wide(untouchedParts([object('main'), object(symbol)]))).toBe(false);
    expect(untouchedParts([object('_ZNSt3__29money_putIc')])).not.toContainEqual(expect.stringContaining('money_put'));
  },
);

test('the section says what a host has to know, and the same sources give the same bytes', () => {
  const source = {
    '/a.c':
      '#include <mpi.h>\nint main(void) { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); return ' +
      'MPI_Barrier(MPI_COMM_WORLD) + r; }',
  };
  const { wasm, info } = buildModule(source);
  expect(buildModule(source).wasm).toEqual(wasm);
  const module = new engine.Module(wasm);
  expect(JSON.parse(new TextDecoder().decode(engine.Module.customSections(module, SECTION)[0]))).toEqual(info);
  expect(info).toMatchObject({
    version: 1,
    language: 'c',
    globals: [{ name: 'mayfly.global.0', type: 'i32' }],
    suspending: ['env.MPI_Barrier'],
    memory: { maximum: 32768 },
  });
  expect(info.unwind.end - info.unwind.start).toBe(4 << 20);
  // What is instrumented already is checked, and left as it is.
  expect(instrument(wasm)).toEqual({ wasm, info });
  expect(() => instrument(wasm, { maxPages: 10 })).toThrow(expect.objectContaining({ problem: 'MEMORY_LIMIT' }));
});

/** A command in text, with more declarations and another body. */
const command = (declarations: string, body = '', memory = '(memory (export "memory") 1 4)'): Uint8Array => {
  const m = binaryen.parseText(`(module ${declarations} ${memory} (func (export "_start") ${body}))`);
  m.setFeatures(binaryen.Features.All);
  const wasm = m.emitBinary();
  m.dispose();
  return wasm;
};
const problemOf = (wasm: Uint8Array, maxPages?: number): string => {
  try {
    instrument(wasm, maxPages === undefined ? {} : { maxPages });
    return 'accepted';
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    return error.problem;
  }
};

test.each([
  ['UNKNOWN_IMPORT', command('(import "env" "fork" (func (result i32)))')],
  ['UNKNOWN_IMPORT', command('(import "wasi_snapshot_preview1" "sock_send" (func))')],
  ['UNKNOWN_IMPORT', command('(import "wasi_unstable" "fd_write" (func))')],
  ['IMPORTED_STATE', command('(import "env" "MPI_state" (global i32))')],
  ['IMPORTED_STATE', command('', '', '(import "env" "memory" (memory 1 4)) (export "memory" (memory 0))')],
  ['THREADS', command('', '', '(memory (export "memory") 1 4 shared)')],
  ['THREADS', command('', '(drop (i32.atomic.rmw.add (i32.const 0) (i32.const 1)))')],
  [
    'RELAXED_SIMD',
    command(
      '',
      '(drop (f32x4.relaxed_madd (v128.const i32x4 0 0 0 0) (v128.const i32x4 0 0 0 0) (v128.const i32x4 0 0 0 0)))',
    ),
  ],
  ['TABLE_CHANGES', command('(table $t 2 2 funcref)', '(table.set $t (i32.const 0) (ref.null func))')],
  ['TABLE_CHANGES', command('(table $t 2 9 funcref)', '(drop (table.grow $t (ref.null func) (i32.const 1)))')],
  ['EXCEPTIONS', command('(tag $e)', '(throw $e)')],
  ['UNSUPPORTED_FEATURE', command('(func $f) ', '(return_call $f)')],
  ['UNSUPPORTED_FEATURE', command('', '', '(memory (export "memory") i64 1 4)')],
  ['UNSUPPORTED_FEATURE', command('(global (mut v128) (v128.const i32x4 0 0 0 0))')],
  ['START_FUNCTION', command('(func $s) (start $s)')],
  ['NO_MEMORY', command('', '', '')],
  ['NO_MEMORY', command('', '', '(memory 1 4)')],
  ['NOT_WASM', new TextEncoder().encode('#include <stdio.h>')],
  ['NOT_WASM', new Uint8Array(0)],
  ['NOT_WASM', Uint8Array.of(0, 0x61, 0x73, 0x6d, 13, 0, 1, 0)],
  ['NO_MEMORY', Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)],
  ['DAMAGED_SECTION', withCustomSection(command(''), SECTION, new TextEncoder().encode('{"version":1}'))],
  ['DAMAGED_SECTION', withCustomSection(command(''), SECTION, new TextEncoder().encode('null'))],
])('refused by name: %s', (problem, wasm) => {
  expect(problemOf(wasm)).toBe(problem);
});

test('the memory obeys the job: too much at the start is refused, a larger maximum is lowered', () => {
  const wasm = command('', '', '(memory (export "memory") 100 4000)');
  expect(problemOf(wasm, 50)).toBe('MEMORY_LIMIT');
  expect(instrument(wasm, { maxPages: 1000 }).info.memory).toEqual({ initial: 164, maximum: 1000 });
  expect(instrument(command('', '', '(memory (export "memory") 1)')).info.memory.maximum).toBe(65536);
});

test('a foreign module: room for its stack lies behind its memory, which it does not see', () => {
  const wasm = command(
    '(import "env" "MPI_Barrier" (func $b (param i32) (result i32))) (import "wasi_snapshot_preview1" ' +
      '"proc_exit" (func $exit (param i32))) (global $g (mut i64) (i64.const 7))',
    `(global.set $g (i64.const 9)) (drop (call $b (i32.const 0)))
     (call $exit (i32.add (i32.mul (memory.size) (i32.const 100)) (i32.add (i32.mul (memory.grow (i32.const 1)) (i32.const 1000)) (i32.wrap_i64 (global.get $g)))))`,
    '(memory (export "memory") 2 10)',
  );
  const { wasm: made, info } = instrument(wasm);
  expect(info).toMatchObject({
    language: 'wasm',
    unwind: { start: 2 * 65536, end: 66 * 65536 },
    memory: { initial: 66, maximum: 74 },
    globals: [{ type: 'i64' }],
  });
  const first: TestHost = new TestHost(made, info, { MPI_Barrier: () => first.leave() });
  const image = first.run()!;
  const second: TestHost = new TestHost(made, info, { MPI_Barrier: () => Number(second.arrived()) });
  expect(second.run(image)).toBeUndefined();
  // memory.size as the program knows it: 2; memory.grow answers where the new page is: 66.
  expect(second.exit).toBe(200 + 66000 + 9);
});

test('whatever bytes come in, the answer is a module or a named error', () => {
  const seed = command(
    '(import "env" "MPI_Send" (func $s (param i32 i32) (result i32))) (table 3 funcref) (global $g (mut i32) ' +
      '(i32.const 1)) (elem (i32.const 0) $f) (data (i32.const 8) "hello") (func $f (param i32) (result i32) ' +
      '(call $s (local.get 0) (i32.const 3)))',
    '(global.set $g (call_indirect (param i32) (result i32) (i32.const 5) (i32.const 0))) (drop (memory.grow ' +
      '(i32.const 1)))',
  );
  expect(problemOf(seed)).toBe('accepted');
  let state = 12345;
  const random = (n: number): number => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % n;
  const seen = new Map<string, number>();
  const tryOne = (bytes: Uint8Array): void => {
    const problem = problemOf(bytes);
    seen.set(problem, (seen.get(problem) ?? 0) + 1);
  };
  for (let length = 0; length < seed.length; length++) tryOne(seed.subarray(0, length));
  for (let i = 0; i < 3000; i++) {
    const bytes = seed.slice();
    for (let n = random(3); n >= 0; n--) bytes[random(bytes.length)] = random(2) === 0 ? random(256) : 0xff;
    tryOne(bytes);
  }
  for (let i = 0; i < 300; i++)
    tryOne(
      Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...Array.from({ length: random(200) }, () => random(256))]),
    );
  expect([...seen.keys()]).toEqual(expect.arrayContaining(['INVALID', 'NOT_WASM', 'UNKNOWN_IMPORT', 'accepted']));
  expect(problemOf(seed)).toBe('accepted');
});
