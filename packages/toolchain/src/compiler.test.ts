import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { createMath } from '@mayfly/libm';
import { MayflyError } from '@mayfly/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createCompiler,
  declarations,
  mapStack,
  readProgram,
  templateFiles,
  type CompiledProgram,
  type Compiler,
  type RefusedProgram,
} from './index.ts';
import { PROGRAM_OPTIONS } from './program-options.ts';

let compiler: Compiler;
beforeAll(async () => {
  compiler = createCompiler();
  await compiler.warm();
});
afterAll(() => compiler.close());

const compile = (main: string, more: Record<string, string> = {}) =>
  compiler.compile({ entry: 'main.ts', sources: { 'main.ts': main, ...more } });
async function accepted(main: string, more?: Record<string, string>): Promise<CompiledProgram> {
  const r = await compile(main, more);
  expect(r.ok ? '' : r.message).toBe('');
  return r as CompiledProgram;
}
async function refused(main: string, more?: Record<string, string>): Promise<RefusedProgram> {
  const r = await compile(main, more);
  expect(r.ok).toBe(false);
  return r as RefusedProgram;
}
/** Runs a bundle as a rank host does: a classic script, with the module in a global. */
function run(program: CompiledProgram, mayfly: object, globals: object = {}): string[] {
  const out: string[] = [];
  runInNewContext(
    program.bundle,
    { __mayfly: mayfly, console: { log: (...a: unknown[]) => out.push(a.map(String).join(' ')) }, ...globals },
    { filename: 'mayfly-program.js' },
  );
  return out;
}

describe('a bundle', () => {
  it('is one script that reads __mayfly', async () => {
    const p = await accepted(
      `import { COMM_WORLD as comm, SUM, type Comm } from 'mayfly';
       import data from './data.json';
       import text from './notes.txt';
       import { twice } from './lib/twice';
       const c: Comm = comm;
       console.log(twice(c.rank), data.n, text.trim(), SUM);`,
      {
        'data.json': '{"n": 7}',
        'notes.txt': 'hello\n',
        'lib/twice.ts': 'export const twice = (x: number): number => 2 * x;\n',
      },
    );
    expect(p.warnings).toEqual([]);
    expect(p.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(run(p, { COMM_WORLD: { rank: 21 }, SUM: 'sum' })).toEqual(['42 7 hello sum']);
  });
  it('has the same hash for the same program, and another for another', async () => {
    const [a, b, c] = [
      await accepted(`import 'mayfly';`),
      await accepted(`import 'mayfly';`),
      await accepted(`import 'mayfly'; console.log(1);`),
    ];
    expect(a.hash).toBe(b.hash);
    expect(c.hash).not.toBe(a.hash);
  });
  it('runs in strict mode', async () => {
    expect(
      run(await accepted(`console.log((function (this: unknown) { return this === undefined; })());`), {}),
    ).toEqual(['true']);
  });
  it('takes JavaScript too', async () => {
    const r = await compiler.compile({
      entry: 'main.js',
      sources: { 'main.js': `import { args } from 'mayfly';\nconsole.log(args.length);` },
    });
    expect(run(r as CompiledProgram, { args: [1, 2] })).toEqual(['2']);
  });
  it('has a source map that leads a stack back to the files', async () => {
    const p = await accepted(`import { fail } from './fail.ts';\n\nfail();\n`, {
      'fail.ts': `// a comment\nexport function fail(): never {\n  throw new Error('here');\n}\n`,
    });
    let stack = '';
    try {
      run(p, {});
    } catch (error) {
      stack = (error as Error).stack!;
    }
    const mapped = mapStack(stack, p.sourceMap);
    expect(mapped).toMatch(/at fail \(fail\.ts:3:9\)/);
    expect(mapped).toMatch(/main\.ts:3:1/);
    expect(mapStack('fail@mayfly-program.js:5:11', p.sourceMap)).toMatch(/^fail@fail\.ts:3:/);
  });
});

it('takes every program of the documentation', async () => {
  const page = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
  const blocks = ['README.md', 'docs/programs.md'].flatMap((path) =>
    [...page(path).matchAll(/^```ts\n(.*?)^```$/gms)].map((m) => m[1]!),
  );
  expect(blocks.length).toBeGreaterThan(7);
  // One program of all: a module each.
  await accepted(
    blocks.map((_, i) => `import './block${i}';`).join('\n'),
    Object.fromEntries(blocks.map((b, i) => [`block${i}.ts`, b])),
  );
});

describe('`**` is Math.pow, so that it is the same on every engine', () => {
  it('calls the Math of the rank', async () => {
    const p = await accepted(`let x = 2.5; x **= 0.3; const y = x ** 1.7 ** 1.1; console.log(x, y, (-8) ** 2);`);
    const ours = createMath();
    const x = ours.pow(2.5, 0.3);
    expect(run(p, {}, { Math: ours })).toEqual([`${x} ${ours.pow(x, ours.pow(1.7, 1.1))} 64`]);
    const calls: number[] = [];
    run(p, {}, { Math: { pow: (a: number, b: number) => (calls.push(a, b), 1) } });
    expect(calls.length).toBeGreaterThanOrEqual(6);
    expect(p.bundle.replace(/var __pow = .*/, '')).not.toContain('**');
  });
  it('leaves BigInts exact', async () => {
    expect(run(await accepted(`let n = 3n; n **= 2n; console.log(n, 2n ** 100n, n ** 40n);`), {})).toEqual([
      `9 ${2n ** 100n} ${9n ** 40n}`,
    ]);
  });
});

describe('what a program may not ask for', () => {
  it.each([
    [`import fs from 'fs';`, 'module of Node.js'],
    [`import { readFile } from 'node:fs/promises';`, 'module of Node.js'],
    [`import x from '/etc/passwd';`, 'absolute path'],
    [`import x from '../../../etc/passwd';`, "leaves the program's folder"],
    [`import _ from 'lodash';`, 'is a package'],
    [`import type { Plugin } from 'esbuild';`, 'is a package'],
    [`export * from 'typescript';`, 'is a package'],
    [`import x from 'https://esm.sh/lodash';`, 'on the network'],
    [`import x from 'data:text/javascript,export default 1';`, 'is a URL'],
    [`import x = require('fs');`, 'module of Node.js'],
    [`const x = require('fs');`, 'module of Node.js'],
    [`declare const n: string; const x = require('./' + n);`, 'literal name'],
    [`const x = import('./main.ts');`, '`import()`'],
    [`const x = import('fs');`, '`import()`'],
    ['declare const n: string; const x = import(`./${n}.ts`);', '`import()`'],
    [`console.log(import.meta.url);`, '`import.meta`'],
    [`const u = new URL('./x.bin', import.meta.url);`, '`import.meta`'],
    [`type T = import('fs').Stats;`, 'module of Node.js'],
    [`/** @jsxImportSource react */ import { h } from 'react/jsx-runtime';`, 'is a package'],
  ])('refuses %s', async (main, words) => {
    const r = await refused(main);
    expect(r.code).toBe('FORBIDDEN_IMPORT');
    expect(r.diagnostics[0]).toMatchObject({ file: 'main.ts', line: 1, code: 'FORBIDDEN_IMPORT', severity: 'error' });
    expect(r.diagnostics[0]!.message).toContain(words);
    expect(r.message).toMatch(/^main\.ts:1:\d+: /);
  });
  it('refuses in every reachable file, and looks at no other', async () => {
    const r = await refused(`import './a.ts';`, { 'a.ts': `import './b.js';`, 'b.ts': `\n  import 'os';` });
    expect(r.diagnostics[0]).toMatchObject({ file: 'b.ts', line: 2, column: 10 });
    await accepted(`import 'mayfly';`, { 'unused.ts': `import 'os';` });
  });
  it('does not let comments and directives reach the disk', async () => {
    for (const directive of [
      '/// <reference path="/etc/passwd" />',
      '/// <reference path="../../../../etc/passwd" />',
      '/// <reference types="node" />',
    ]) {
      const r = await refused(`${directive}\nimport 'mayfly';`);
      expect(r.code).toBe('COMPILE_FAILED');
      expect(r.message).not.toContain('root:');
    }
    const p = await accepted(`import 'mayfly';\nconsole.log(1);\n//# sourceMappingURL=/etc/passwd`);
    expect(p.sourceMap).not.toContain('root:');
    await refused('/** @jsxImportSource react */\nimport "./a.tsx";', { 'a.tsx': 'export const a = <div />;' });
  });
  it('refuses bad paths and a missing entry', async () => {
    expect((await compile(`import 'mayfly';`, { '../x.ts': '' })).ok).toBe(false);
    expect((await compile(`import 'mayfly';`, { '.env.ts': '' })).ok).toBe(false);
    const r = await compiler.compile({ entry: 'no.ts', sources: { 'main.ts': '' } });
    expect(r).toMatchObject({
      ok: false,
      code: 'COMPILE_FAILED',
      message: expect.stringContaining('no file "no.ts"') as string,
    });
    expect((await refused(`import './gone.ts';`)).diagnostics[0]).toMatchObject({ code: 'MISSING_FILE' });
    expect((await refused(`import './a.csv';`, { 'a.csv': '1,2' })).message).toContain('.txt');
  });
});

describe('diagnostics', () => {
  it('are the type errors, with their places', async () => {
    const r = await refused(
      `import { COMM_WORLD as comm } from 'mayfly';\n\nconst x: string = comm.rank;\ncomm.send([1, 2], 0);\n`,
    );
    expect(r.code).toBe('COMPILE_FAILED');
    expect(r.diagnostics).toMatchObject([
      { file: 'main.ts', line: 3, column: 7, code: 'TS2322', severity: 'error' },
      {
        file: 'main.ts',
        line: 4,
        column: 11,
        code: 'TS2345',
        severity: 'error',
        message: expect.stringContaining('`sendObject`') as string,
      },
    ]);
    expect(r.message).toContain('(and 1 more)');
  });
  it('are the syntax errors', async () => {
    expect((await refused('const = 3;')).diagnostics[0]).toMatchObject({ line: 1, column: 7, code: 'TS1134' });
    const js = await compiler.compile({ entry: 'main.js', sources: { 'main.js': 'let x = ;' } });
    expect(js.ok).toBe(false);
  });
  it('say that no await is needed', async () => {
    for (const main of [
      `import { COMM_WORLD as c } from 'mayfly';\nconst s = await c.recv(new Uint8Array(1));`,
      `export {};\nfor await (const x of []) console.log(x);`,
    ]) {
      const r = await refused(main);
      expect(r.diagnostics[0]).toMatchObject({ code: 'TOP_LEVEL_AWAIT', line: 2 });
      expect(r.message).toContain('MPI calls block; no await is needed');
    }
  });
  it.each([
    ['process.exit(1)', '`args`'],
    ['setTimeout(() => {}, 1)', 'no timers'],
    ['fetch("x")', 'no network'],
    ['new WebSocket("ws://x")', 'no network'],
    ['document.title', 'no page'],
    ['localStorage.x', 'no local storage'],
    ['new Worker("x")', 'more ranks'],
    ['new WeakRef({})', 'garbage collector'],
    ['Buffer.from("x")', 'Uint8Array'],
    ['COMM_WORLD.rank', 'Import it'],
  ])('help with %s', async (text, words) => {
    const r = await refused(`export {};\n${text};`);
    expect(r.diagnostics[0]).toMatchObject({ file: 'main.ts', line: 2, severity: 'error' });
    expect(r.diagnostics[0]!.message).toContain(words);
  });
  it('are not talked out of it by a library directive', async () => {
    for (const lib of ['dom', 'webworker', 'esnext', 'es2021.weakref'])
      expect(
        (
          await refused(
            `/// <reference lib="${lib}" />\nimport ` +
              `'mayfly';\n${lib === 'es2021.weakref' ? 'new WeakRef({})' : 'fetch("x")'};`,
          )
        ).diagnostics.length,
      ).toBeGreaterThan(0);
  });
  it('know what there is', async () => {
    await accepted(
      `import { args } from 'mayfly'; console.log(performance.now(), Date.now(), Math.random(), new ` +
        `TextEncoder().encode('x'), structuredClone([1]), crypto.getRandomValues(new Uint8Array(4)), args);`,
    );
  });
  it('warn of a program without MPI, of async functions and of eval', async () => {
    expect((await accepted('console.log(1);')).warnings).toMatchObject([{ code: 'NO_MPI', severity: 'warning' }]);
    expect((await accepted(`import 'mayfly';\nasync function f() { await 1; }\nf();`)).warnings).toMatchObject([
      { code: 'ASYNC', line: 2 },
    ]);
    expect((await accepted(`import 'mayfly';\neval('1');`)).warnings.map((w) => w.code)).toContain('EVAL');
  });
  it('do not name paths of this machine', async () => {
    const r = await refused(`import { x } from './b.ts';\nx.y.z;`, { 'b.ts': 'export const x = 1;' });
    expect(JSON.stringify(r)).not.toContain('/program/');
    expect(JSON.stringify(r)).not.toContain(process.cwd());
  });
});

describe('limits', () => {
  it('ends what takes too long, serves the next, and leaves no folder behind', async ({ onTestFinished }) => {
    const [before, temporary] = [process.env['TMPDIR'], mkdtempSync(join(tmpdir(), 'mayfly-limits-'))];
    process.env['TMPDIR'] = temporary;
    onTestFinished(() => {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
      rmSync(temporary, { recursive: true, force: true });
    });
    const c = createCompiler({ timeLimitMs: 3000 });
    // A type whose normal form has 2^40 members.
    const slow = `type B = '0' | '1'; type L<N extends number, A extends unknown[] = [], S extends string = ''> = A['length'] extends N ? S : L<N, [...A, 0], \`\${S}\${B}\`>;
      let i = 0; export const f = (x: number): number => ${'x ? '.repeat(10)}1${' : 2'.repeat(10)};`;
    const nested = `${'['.repeat(24)}${']'.repeat(24)}`;
    const blowUp =
      `${slow}\nfunction g<T>(a: T, b: T): { a: T; b: T } { return { a, b }; }\nexport const y = ` +
      `${'g('.repeat(60)}${nested}${', {})'.repeat(60)};\n` +
      Array.from(
        { length: 4000 },
        (_, i) =>
          `export type U${i} = { [K in \`\${B}\${B}\${B}\${B}\${B}\${B}\${B}\${B}\${B}\${B}\${B}\${B}\`]: K ` +
          `extends \`\${infer A}\${infer R}\` ? [A, R, ${i}] : never }; export const v${i}: ` +
          `U${i}['000000000000'] = 0 as never as U${i}[keyof U${i}];`,
      ).join('\n');
    const r = await c.compile({ entry: 'main.ts', sources: { 'main.ts': blowUp } });
    expect(r).toMatchObject({ ok: false, code: 'COMPILE_LIMIT' });
    // On a slow machine the new process would need the limit for its own start: that has a limit of its own.
    for (;;) {
      await c.warm();
      const next = await c.compile({ entry: 'main.ts', sources: { 'main.ts': `import 'mayfly';` } });
      if (next.ok) break;
      expect(next.code).toBe('COMPILE_LIMIT');
    }
    await c.close();
    expect(readdirSync(temporary)).toEqual([]);
  });
  it('answers when the tools run out of stack or memory, and serves the next', async () => {
    const deep = await compile(`export const x = ${'('.repeat(60_000)}1${')'.repeat(60_000)};`);
    expect(deep.ok).toBe(false);
    const small = createCompiler({ memoryMb: 60 });
    const r = await small.compile({
      entry: 'main.ts',
      sources: {
        'main.ts': `import 'mayfly';\n${'export const z = [' + '{ a: [1, 2, { b: 3 }] },'.repeat(150_000)}];`,
      },
    });
    expect(r).toMatchObject({ ok: false, code: 'COMPILE_LIMIT' });
    await small.close();
    await accepted(`import 'mayfly';`);
  });
  it('refuses too much text, too many files, and too long a queue', async () => {
    const c = createCompiler({ maxSourceBytes: 1000, maxFiles: 2, maxQueue: 1, workers: 1 });
    expect(await c.compile({ entry: 'main.ts', sources: { 'main.ts': ' '.repeat(1001) } })).toMatchObject({
      code: 'TOO_LARGE',
    });
    expect(await c.compile({ entry: 'main.ts', sources: { 'main.ts': '', 'a.ts': '', 'b.ts': '' } })).toMatchObject({
      code: 'TOO_LARGE',
    });
    const results = await Promise.allSettled(
      [1, 2, 3].map(() => c.compile({ entry: 'main.ts', sources: { 'main.ts': '' } })),
    );
    expect(results.map((r) => r.status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect((results[2] as PromiseRejectedResult).reason).toMatchObject({ code: 'TOO_MANY' });
    await c.close();
    await expect(c.compile({ entry: 'main.ts', sources: { 'main.ts': '' } })).rejects.toBeInstanceOf(MayflyError);
  });
});

describe('the template', () => {
  it('is a program, and its tsconfig says what the compiler does', async () => {
    const files = templateFiles();
    expect(Object.keys(files)).toEqual(['main.ts', 'mayfly-globals.d.ts', 'mayfly.d.ts', 'tsconfig.json']);
    expect((await accepted(files['main.ts']!, files)).warnings).toEqual([]);
    const { paths, ...options } = (JSON.parse(files['tsconfig.json']!) as { compilerOptions: Record<string, unknown> })
      .compilerOptions;
    expect(paths).toEqual({ mayfly: ['./mayfly.d.ts'] });
    expect(options).toEqual(PROGRAM_OPTIONS);
    expect(declarations().mayfly).toBe(files['mayfly.d.ts']);
  });
});

describe('reading a program from a folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-program-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const put = (path: string, text: string): void => writeFileSync(join(folder, path), text);

  it('takes the entry and what it imports, and nothing else', async () => {
    mkdirSync(join(folder, 'lib'));
    put('main.ts', `import { a } from './lib/a';\nimport 'mayfly';\nconsole.log(a);`);
    put('lib/a.ts', `import d from '../d.json';\nexport const a = d.x;`);
    put('d.json', '{"x":1}');
    put('other.ts', '');
    const program = await readProgram(join(folder, 'main.ts'));
    expect(program.entry).toBe('main.ts');
    expect(Object.keys(program.sources).sort()).toEqual(['d.json', 'lib/a.ts', 'main.ts']);
    expect((await compiler.compile(program)).ok).toBe(true);
  });
  it('follows no link and no path out', async () => {
    put('secret.ts', 'export const secret = 1;');
    mkdirSync(join(folder, 'p'));
    symlinkSync(join(folder, 'secret.ts'), join(folder, 'p/link.ts'));
    put('p/main.ts', `import './link.ts';`);
    await expect(readProgram(join(folder, 'p/main.ts'))).rejects.toMatchObject({ code: 'FORBIDDEN_IMPORT' });
    symlinkSync(folder, join(folder, 'p/up'));
    put('p/main2.ts', `import './up/secret.ts';`);
    await expect(readProgram(join(folder, 'p/main2.ts'))).rejects.toMatchObject({ code: 'FORBIDDEN_IMPORT' });
    put('p/main3.ts', `import '../secret.ts';`);
    const program = await readProgram(join(folder, 'p/main3.ts'));
    expect(Object.keys(program.sources)).toEqual(['main3.ts']);
    expect(await compiler.compile(program)).toMatchObject({ ok: false, code: 'FORBIDDEN_IMPORT' });
    await expect(readProgram(join(folder, 'no.ts'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(readFileSync(join(folder, 'secret.ts'), 'utf8')).toContain('secret');
  });
});
