import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCompiler } from '../compiler.ts';
import type { Compiler, ModuleResult } from '../compile-request.ts';

let compiler: Compiler;
const folder = mkdtempSync(join(tmpdir(), 'mayfly-secret-'));
beforeAll(() => {
  compiler = createCompiler({ timeLimitMs: 280_000 });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await compiler.close();
});

const compile = (
  main: string,
  flags: string[] = ['-O0'],
  name = 'main.c',
  c: Compiler = compiler,
): Promise<ModuleResult> =>
  c.compileModule({ language: name.endsWith('.c') ? 'c' : 'c++', sources: { [name]: main }, flags });
const errorsOf = (r: ModuleResult): string => {
  expect(r.ok).toBe(false);
  return r.ok ? '' : r.diagnostics.map((d) => `${d.file}:${d.line}:${d.column} ${d.message}`).join('\n');
};

test('nothing but the submission and the C library can be read', async () => {
  const path = join(folder, 'secret');
  writeFileSync(path, 'moonstone');
  for (const source of [
    `#include "${path}"\nint main(void) { return 0; }`,
    `#include "../../../../../..${path}"\nint main(void) { return 0; }`,
    '#include </proc/self/environ>\nint main(void) { return 0; }',
    `__asm__(".incbin \\"${path}\\"");\nint main(void) { return 0; }`,
    `const char x[] = {\n#embed "${path}"\n};\nint main(void) { return 0; }`,
    '#include __FILE__\nint main(void) { return 0; }',
  ]) {
    const errors = errorsOf(await compile(source));
    expect(errors).toMatch(/main\.c:\d+|incbin|not found/);
    expect(errors).not.toContain('moonstone');
  }
});

test('what asks for too much ends with an answer, and the next is served', async () => {
  expect(errorsOf(await compile('char a[2000000000] = {1};\nint main(void) { return a[5]; }'))).not.toBe('');
  expect(
    errorsOf(
      await compile(
        'template <int N> struct T { static constexpr int v = T<N + 1>::v; };\nint main() { return T<0>::v; }',
        ['-O0'],
        'main.cc',
      ),
    ),
  ).toMatch(/recursive template instantiation|compiler crashed/);
  expect(
    errorsOf(
      await compile(
        'constexpr int f(int n) { int s = 0; for (;;) s += n; return s; }\nint main() { constexpr int x = ' +
          'f(1); return x; }',
        ['-O0'],
        'main.cc',
      ),
    ),
  ).toContain('constant expression');
  expect(errorsOf(await compile(`int main(void) { return ${'('.repeat(100_000)}1${')'.repeat(100_000)}; }`))).toMatch(
    /nesting level|compiler crashed/,
  );
  expect((await compile('int main(void) { return 0; }')).ok).toBe(true);
});

test('a compilation without an end is ended', async () => {
  // Long before the macros fill the memory of the compiler, which would be another error.
  const hurried = createCompiler({ timeLimitMs: 1500 });
  try {
    const bomb =
      `${Array.from({ length: 40 }, (_, i) => `#define x${i + 1} x${i} x${i}\n`).join('')}#define x0 ` +
      `a\nx40\nint main(void) { return 0; }`;
    expect(await compile(bomb, ['-O0'], 'main.c', hurried)).toMatchObject({ ok: false, code: 'COMPILE_LIMIT' });
  } finally {
    await hurried.close();
  }
});
