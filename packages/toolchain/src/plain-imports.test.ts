/** The quick reader of imports finds what TypeScript finds, or says that it cannot. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inspectFile } from './inspect.ts';
import { plainImports } from './plain-imports.ts';

const relative = (text: string): string[] =>
  inspectFile('main.ts', text)
    .imports.map((i) => i.specifier)
    .filter((s) => s.startsWith('.'));

it.each([
  ["import { a } from './a.ts';\nimport b, {\n  c,\n} from '../b';\nexport * from './c';\nimport './d'\n", true],
  ["import type { T } from \"./t\";\nconst ring = '.'.repeat(3) + `${ring}.` + '...' + '\\n' + '\\u00e9';\n", false],
  ["console.log('nothing', `of`.length, '...', '\\n');\n", true],
  // Strings elsewhere, which may be names.
  ["// import './old.ts';\n", false],
  ["const x: import('./t').T = 1;\n", false],
  ["  import './indented.ts';\n", false],
  ["import '\\x2e/escaped.ts';\n", false],
  ["import '.\\/escaped.ts';\n", false],
  ["export const file = './data.mtx';\n", false],
  ["const f = require('./f');\n", false],
  ["import f = require('./f');\n", false],
  ["import f from /* why */ './x';\n", false],
  ["import '.';\nimport '..';\n", true],
])('of %j', (text, plain) => {
  const names = plainImports(text);
  expect(names !== undefined).toBe(plain);
  if (names !== undefined) expect(names).toEqual(relative(text));
});

it('of every example', () => {
  const folder = join(import.meta.dirname, '../../../examples');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => /(?<!\.test)\.ts$/.test(f));
  let plain = 0;
  for (const f of files) {
    const text = readFileSync(join(folder, f), 'utf8');
    const names = plainImports(text);
    if (names === undefined) continue;
    plain++;
    expect(names, f).toEqual(relative(text));
  }
  expect(plain).toBeGreaterThan(0.8 * files.length);
});
