/**
 * The header against the standard's own list of values (MPI 5.0, appendix A.1, in values.txt; not made from our
 * tables), and through the compiler: as C and as C++, with the sizes that the ABI asks for.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildModule } from '@mayfly/toolchain/c';
import { constant, constantNames, entries } from '../../src/abi/constants.ts';
import { FUNCTIONS } from '../../src/abi/functions.ts';

const file = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const standard = file('values.txt')
  .trim()
  .split('\n')
  .flatMap((line) => entries(line));

test('the tables hold every value of the standard, and nothing under a name of its own', () => {
  expect(standard.length).toBeGreaterThan(350);
  const known = new Set(constantNames());
  for (const [name, value] of standard) if (known.has(name)) expect([name, constant(name)]).toEqual([name, value]);
  const listed = new Set(standard.map(([name]) => name));
  expect(constantNames().filter((n) => !listed.has(n))).toEqual([]);
});

test.each(['c', 'cc'])('the compiler agrees, and every function links (.%s)', (language) => {
  const say = language === 'c' ? '_Static_assert' : 'static_assert';
  // A cast to a pointer is no constant expression of the language: those are compared as the builtin evaluates them.
  const checks = standard
    .map(([name, value]) => `check((long long)(intptr_t)${name} == ${value}LL, "${name}");`)
    .join('\n');
  // Once is enough to see that all link; C++ sees that the header is C++.
  const used = language === 'c' ? FUNCTIONS.flatMap((f) => [f.name, `P${f.name}`]) : ['MPI_Init'];
  const uses = used.map((n) => `(void (*)(void))${n}`).join(', ');
  const source = `#include <mpi.h>
#include <stdio.h>
${say}(sizeof(MPI_Aint) == sizeof(void *) && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "integers");
${say}(sizeof(MPI_Status) == 32 && sizeof(MPI_Comm) == sizeof(void *) && sizeof(MPI_Datatype) == sizeof(void *), "objects");
${say}(MPI_DISPLACEMENT_CURRENT == (MPI_Offset)-1 && MPI_VERSION == 5 && MPI_SUBVERSION == 0 && MPI_ABI_VERSION == 1, "versions");
__attribute__((used)) void (*volatile functions[])(void) = { ${uses} };
static int bad;
static void check(int yes, const char *name) { if (!yes) { printf("%s\\n", name); bad++; } }
int main(void) { ${checks} return bad + (functions[0] == 0); }`;
  // The standard's ABI has one MPI_LONG; where long has 64 bits, ours has another number.
  const { wasm } = buildModule({ [`/main.${language}`]: source }, { flags: ['-mno-long64'] });
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>))
    .filter((i) => i.module === 'env')
    .map((i) => i.name);
  expect(new Set(imports)).toEqual(new Set(used));
  expect(run(wasm)).toEqual('');
});

/** Runs a program that calls nothing of MPI; its output. */
function run(wasm: Uint8Array): string {
  let said = '';
  const module = new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>);
  const imports: WebAssembly.Imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    (imports[from] ??= {})[name] =
      name === 'fd_write' ? write : name === 'proc_exit' ? (code: number) => void (said += `exit ${code}`) : () => 0;
  function write(_fd: number, at: number, n: number, out: number): number {
    const { buffer } = instance.exports['memory'] as WebAssembly.Memory;
    const v = new DataView(buffer);
    let total = 0;
    for (let i = 0; i < n; i++) {
      const length = v.getUint32(at + 8 * i + 4, true);
      said += new TextDecoder().decode(new Uint8Array(buffer, v.getUint32(at + 8 * i, true), length));
      total += length;
    }
    v.setUint32(out, total, true);
    return 0;
  }
  const instance = new WebAssembly.Instance(module, imports);
  (instance.exports['_start'] as () => void)();
  return said;
}
