import { expect, test } from 'vitest';
import { buildModule } from './build-module.ts';
import { TestHost } from './host-for-tests.ts';
import { symbolise } from './lines.ts';

test(
  'the stack of a trap names functions, files and lines, in functions that Asyncify has rewritten and in those ' +
    'it has not',
  () => {
    const { wasm, info } = buildModule(
      {
        '/main.c': `#include <mpi.h>
int divide(int, int);
__attribute__((noinline)) static int inner(int *p, int n) {
  MPI_Barrier(MPI_COMM_WORLD);
  int q = divide(n, p[0]);

  return q + MPI_Barrier(MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
  int zero[1] = {argc - 1};
  return
      inner(zero, 7);
}
`,
        '/lib/divide.c': `

__attribute__((noinline)) int divide(int a, int b) {
  int unused = a * 3;
  return (unused - 2 * a) / b;
}
`,
      },
      { flags: ['-g', '-O0'] },
    );
    let stack = '';
    try {
      new TestHost(wasm, info, {}).run();
    } catch (error) {
      stack = (error as Error).stack!;
    }
    const lines = symbolise(stack, wasm).split('\n');
    expect(lines[0]).toContain('divide by zero');
    expect(lines[1]).toMatch(/at (\S*\.)?divide \(lib\/divide\.c:5\)/);
    expect(lines[2]).toMatch(/at (\S*\.)?inner \(main\.c:5\)/);
    expect(lines[3]).toMatch(/main\.c:12\)/);
    // Without -g, and with what is no module, the stack stays.
    const without = buildModule({ '/a.c': 'int main(void) { return 0; }' });
    expect(symbolise(stack, without.wasm)).toBe(stack);
    expect(symbolise(stack, new Uint8Array(3))).toBe(stack);
  },
);
