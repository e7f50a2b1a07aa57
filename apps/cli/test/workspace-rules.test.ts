/** The rules of the repository fire: the bans in pure packages, lengths that nobody checked, the import directions. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const eslint = new ESLint({ cwd: root });

async function complaints(file: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath: join(root, file) });
  return result!.messages.filter((m) => m.severity === 2).map((m) => m.message);
}

const BANNED: [code: string, says: RegExp][] = [
  ['export const now = (): number => Date.now();', /Time is an input/],
  ['export const at = new Date();', /Time is an input/],
  ['export const t = (): number => performance.now();', /Time is an input/],
  ['export const r = (): number => Math.random();', /Chance is an input/],
  ['const { random } = Math; export const r = random;', /Chance is an input/],
  ['export const r = crypto.getRandomValues(new Uint8Array(4));', /Chance is an input/],
  ['setTimeout(() => undefined, 10);', /no timers/],
  ['queueMicrotask(() => undefined);', /no timers/],
  ['export const e = process.env;', /return an effect/],
  ["export const f = fetch('/');", /return an effect/],
  ["import { readFileSync } from 'node:fs'; export const f = readFileSync('x');", /return an effect/],
  ["import { readFileSync } from 'fs'; export const f = readFileSync('x');", /return an effect/],
  ["import WebSocket from 'ws'; export const s = new WebSocket('ws://x');", /return an effect/],
  ["import { randomBytes } from 'crypto'; export const b = randomBytes(4);", /return an effect/],
  ["export const m = import('./x.ts');", /import statically/],
  ['export const f = async (): Promise<void> => { await Promise.resolve(); };', /synchronous/],
  ['export const d = globalThis.Date;', /nothing global/],
  ['export const p = Math.pow(2, 0.5);', /Engines differ/],
  ["import { x } from '@mayfly/storage'; export const y = x;", /downward/],
  ["import { x } from '../../wire/src/frame.ts'; export const y = x;", /declared exports/],
];

describe('pure packages', () => {
  for (const name of ['wire', 'protocols', 'mpi', 'simulator'])
    it.each(BANNED)(`${name}: refuses %s`, async (code, says) => {
      expect((await complaints(`packages/${name}/src/somewhere/probe.ts`, code)).join('\n')).toMatch(says);
    });

  it('leaves other packages and tests alone', async () => {
    const code = 'export const now = (): number => Date.now() + Math.random();\n';
    expect(await complaints('packages/node/src/probe.ts', code)).toEqual([]);
    expect(await complaints('packages/protocols/test/probe.ts', code)).toEqual([]);
    expect(
      await complaints(
        'packages/protocols/src/probe.ts',
        'export const sum = (a: number, b: number): number => Math.sqrt(a * a + b * b);\n',
      ),
    ).toEqual([]);
  });
});

it('the command line writes through terminal.ts', async () => {
  for (const code of ["process.stdout.write('x');", "process.stderr.write('x');", "console.log('x');"])
    expect((await complaints('apps/cli/src/commands/probe.ts', code)).join(), code).toMatch(/terminal\.ts/);
  expect(await complaints('apps/cli/src/terminal.ts', "process.stdout.write('x');")).toEqual([]);
});

it('tests do not depend on the speed of the machine', async () => {
  const refused: [string, RegExp][] = [
    ["it('x', () => undefined, 5000);", /no limit of its own/],
    ["it.skipIf(true)('x', () => undefined, 5000);", /no limit of its own/],
    ["it('x', { timeout: 5000 }, () => undefined);", /no limit of its own/],
    ['beforeAll(() => undefined, 60_000);', /no limit of its own/],
    ['await new Promise((r) => setTimeout(r, 10));', /Do not guess a time/],
    ['await sleep(10);', /Do not guess a time/],
  ];
  const places = ['apps/server/test/probe.test.ts', 'apps/web/src/probe.test.tsx', 'playwright/tests/probe.spec.ts'];
  for (const file of places)
    for (const [code, says] of refused) expect((await complaints(file, code)).join(), code).toMatch(says);
  expect(await complaints('apps/server/test/probe.test.ts', "it('x', () => undefined);")).toEqual([]);
});

describe('files of the server', () => {
  const code = "import { readFileSync } from 'node:fs'; export const f = readFileSync('x');\n";

  it.each(["'node:fs'", "'node:fs/promises'", "'fs'", "'fs/promises'"])(
    'come from ports, not from %s',
    async (from) => {
      const probe = code.replace("'node:fs'", from);
      for (const file of ['probe.ts', 'jobs/probe.ts', 'rest/data.ts', 'hosts/world-host.ts'])
        expect((await complaints(`apps/server/src/${file}`, probe)).join('\n')).toMatch(/ports of @mayfly\/storage/);
      expect(
        (await complaints('apps/server/src/rest/data.ts', "import '../../../../packages/wire/src/frame.ts';"))[0],
      ).toMatch(/declared exports/);
    },
  );

  it('are the business of adapters, of the check, and of what reads the installation', async () => {
    for (const file of ['options.ts', 'tls.ts', 'disk.ts', 'check/check.ts', 'serve/examples.ts'])
      expect(await complaints(`apps/server/src/${file}`, code)).toEqual([]);
    expect(await complaints('apps/server/test/probe.ts', code)).toEqual([]);
    expect(await complaints('packages/storage/src/embedded/probe.ts', code)).toEqual([]);
  });
});

describe('memory that is taken by a length', () => {
  const UNCHECKED = /Nothing here bounds this length/;
  const PLACES = [
    'apps/server/src/hosts/probe.ts',
    'apps/server/src/rest/probe.ts',
    'packages/wire/src/probe.ts',
    'packages/protocols/src/files/probe.ts',
    'packages/storage/src/embedded/output/probe.ts',
  ];
  const inFunction = (
    body: string,
    given = 'm: { size: number; count: number }, held: Uint8Array, v: DataView',
  ): string => `const MOST = 64;\nexport function f(${given}): unknown {\n${body}\n}\nexport const used = MOST;\n`;

  it.each([
    ['a field of a message', 'return new Uint8Array(m.size);'],
    ['a number read from bytes', 'const n = v.getUint32(0, true); return new Float64Array(n);'],
    ['a product with one', 'return new Array<number>(m.count * 4).fill(0);'],
    ['one that is added to what is held', 'return Buffer.alloc(held.length + m.size);'],
    ['the larger of two', 'return Buffer.allocUnsafe(Math.max(MOST, m.size));'],
    ['a length for Array.from', 'return Array.from({ length: m.count }, () => 0);'],
    [
      'what a function adds up',
      'return new ArrayBuffer(lengthOf(m));\n} function lengthOf(m: { size: number }): number { return m.size;',
    ],
    ['a limit that is none itself', 'return new Uint8Array(checkedLength(m.size, m.count));'],
    ['a comparison that changes nothing', 'if (m.size > MOST) used(); return new Uint8Array(m.size);'],
    ['a variable that grows by one', 'let n = 8; n += m.size; return Buffer.alloc(n);'],
  ])('is refused: %s', async (_what, body) => {
    for (const place of PLACES) expect((await complaints(place, inFunction(body))).join('\n')).toMatch(UNCHECKED);
  });

  it.each([
    ['constants', 'return [new Uint8Array(64), Buffer.alloc(2 * MOST + 8)];'],
    ['the length of what is held', 'return new Uint8Array(24 + 8 * held.length);'],
    ['a copy, a view', 'return [new Uint8Array(held), new Uint8Array(held.buffer, m.size, 8), Buffer.from(held)];'],
    ['the smaller of two', 'return Buffer.alloc(Math.min(m.size, MOST));'],
    ['a comparison that leads out', 'if (m.size > MOST) return undefined; return new Uint8Array(m.size);'],
    [
      'of what is made of it',
      'const n = m.count; const end = 8 * n; if (end > held.length) return 0; return new Array(n);',
    ],
    ['a comparison around it', 'return m.size <= MOST ? Buffer.alloc(m.size) : undefined;'],
    ['a named check', 'return new Uint8Array(checkedLength(m.size, MOST));'],
    ['a sum of what is held', 'return new Uint8Array([held].reduce((n, b) => n + b.length, MOST));'],
  ])('passes: %s', async (_what, body) => {
    for (const place of PLACES) expect((await complaints(place, inFunction(body))).join('\n')).not.toMatch(UNCHECKED);
  });

  it('is not looked at where nothing comes from others, and in tests', async () => {
    const code = inFunction('return new Uint8Array(m.size);', 'm: { size: number }');
    for (const place of ['packages/mpi/src/probe.ts', 'apps/server/test/probe.ts', 'packages/wire/src/probe.test.ts'])
      expect((await complaints(place, code)).join('\n')).not.toMatch(UNCHECKED);
  });
});

describe('import directions', () => {
  /** A little tree of the same shape, judged by the repository's own rules. */
  function cruise(files: Record<string, string>): string {
    const tree = mkdtempSync(join(root, 'node_modules/.mayfly-rules-'));
    try {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(tree, path, '..'), { recursive: true });
        writeFileSync(join(tree, path), text);
      }
      writeFileSync(join(tree, 'package.json'), '{"type":"module"}');
      const config = join(root, '.dependency-cruiser.cjs');
      const loader = join(tree, 'rules.cjs');
      // Under node_modules, which the rules do not follow.
      writeFileSync(
        loader,
        `const r = require(${JSON.stringify(config)}); module.exports = { ...r, options: { ...r.options, ` +
          'doNotFollow: {}, exclude: {} } };',
      );
      const bin = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
      const run = spawnSync(process.execPath, [bin, '--config', loader, 'packages', 'apps'], {
        cwd: tree,
        encoding: 'utf8',
      });
      return run.stdout + run.stderr;
    } finally {
      rmSync(tree, { recursive: true, force: true });
    }
  }

  it('refuses upward and sideways imports, cycles and what cannot be resolved; passes downward ones', () => {
    const out = cruise({
      'packages/wire/src/index.ts': "export { up } from '../../protocols/src/index.ts';\n",
      'packages/protocols/src/index.ts': "export { side } from '../../mpi/src/index.ts';\nexport const up = 1;\n",
      'packages/mpi/src/index.ts': "export const side = 1;\nexport * from './a.ts';\n",
      'packages/mpi/src/a.ts': "import { b } from './b.ts';\nexport const a = (): number => b();\n",
      'packages/mpi/src/b.ts': "import { a } from './a.ts';\nexport const b = (): number => a();\n",
      'packages/simulator/src/types.ts': "import type { B } from './more.ts';\nexport interface A { b?: B }\n",
      'packages/simulator/src/more.ts': "import type { A } from './types.ts';\nexport interface B { a?: A }\n",
      'packages/node/src/index.ts': "export { gone } from './nowhere.ts';\n",
      'packages/protocols/src/table.ts': "export { none } from './none/index.ts';\n",
      'packages/protocols/src/none/index.ts': "export { line as none } from '../pessimistic/line.ts';\n",
      'packages/protocols/src/pessimistic/index.ts': "export { line } from './line.ts';\n",
      'packages/protocols/src/pessimistic/line.ts': 'export const line = 1;\n',
      'packages/protocols/src/comm/comm.ts': "export { line } from '../pessimistic/line.ts';\n",
      'apps/server/src/index.ts': "export { side } from '../../../packages/mpi/src/index.ts';\n",
    });
    expect(out).toMatch(/downward-only-from-packages-wire: packages\/wire\/src\/index.ts → packages\/protocols/);
    expect(out).toMatch(/downward-only-from-packages-protocols: packages\/protocols\/src\/index.ts → packages\/mpi/);
    expect(out).toMatch(/no-cycles: packages\/mpi\/src\/[ab].ts/);
    expect(out).toMatch(/no-cycles: packages\/simulator\/src\/(types|more).ts/);
    const siblings = out.match(/(?<=protocols-are-siblings: packages\/protocols\/src\/).*(?= →)/g);
    expect(siblings?.sort()).toEqual(['comm/comm.ts', 'none/index.ts']);
    expect(out).toMatch(/resolvable: packages\/node\/src\/index.ts → .\/nowhere.ts/);
    expect(out).not.toMatch(/: apps\/server/);
  });
});
