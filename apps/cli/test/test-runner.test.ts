/** The runner of `npm test`: a file that failed beside the others runs again alone, and what becomes of that. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const runner = join(import.meta.dirname, '../../../testing/run.mjs');
/** Tells the runner of two tests of a file, as testing/report.mjs does: the file, then those that fail. */
const REPORTER = `
const [file, ...failing] = process.argv.slice(2);
process.send({ files: 1 });
for (const test of ['a', 'b']) {
  process.send({ begins: test });
  const state = failing.includes(test) ? 'failed' : 'passed';
  process.send({ ends: test, state, file: file + '.test.ts', title: test, message: test + ' says why' });
}
process.exitCode = failing.length > 0 ? 1 : 0;
process.disconnect();
`;
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mayfly-runner-'));
  writeFileSync(join(root, 'tests.cjs'), REPORTER);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** @param parts for each: which of its tests fail beside the others, and which fail alone */
function run(parts: { together: string[]; alone: string[] }[]): { code: number | null; said: string } {
  const code = `
    import { runParts } from ${JSON.stringify(runner)};
    const root = ${JSON.stringify(root)};
    const parts = ${JSON.stringify(parts)}.map(({ together, alone }, i) => ({
      name: 'part ' + i,
      command: process.execPath,
      args: [root + '/tests.cjs', 'file' + i, ...together],
      alone: (file) => [root + '/tests.cjs', file.replace('.test.ts', ''), ...alone],
      repeat: ({ file, title }) => 'repeat ' + file + ' ' + title,
      counts: true,
    }));
    process.exitCode = await runParts(parts, { root, title: 'A try.' });`;
  const r = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  expect(r.stderr).toBe('');
  return { code: r.status, said: r.stdout };
}

it('a test that passes alone is unsteady: the summary has what it said, and the exit code is 0', () => {
  const { code, said } = run([{ together: ['b'], alone: [] }]);
  expect(said).toMatch(
    /UNSTEADY b failed beside the others and passed alone\n +b says why\n +again: repeat file0.test.ts b/,
  );
  expect(said).toContain('2 passed, 0 failed; 1 of those that passed were unsteady');
  expect(code).toBe(0);
});

it('a test that fails alone too is a failure, also beside one that is unsteady', () => {
  const { code, said } = run([
    { together: ['a'], alone: ['a'] },
    { together: ['b'], alone: [] },
  ]);
  expect(said).toMatch(/FAILED a\n +a says why\n +again: repeat file0.test.ts a/);
  expect(said).toMatch(/UNSTEADY b /);
  expect(said).toContain('3 passed, 1 failed; 1 of those that passed were unsteady');
  expect(code).toBe(1);
});

it('another test that fails when the file runs alone leaves the first one a failure', () => {
  expect(run([{ together: ['a'], alone: ['b'] }])).toMatchObject({ code: 1 });
});

it('with failures in more than five files none runs again', () => {
  const { code, said } = run(Array.from({ length: 6 }, () => ({ together: ['a'], alone: [] })));
  expect(said).not.toContain('runs again');
  expect(code).toBe(1);
});

it('all passes: nothing runs again', () => {
  const { code, said } = run([{ together: [], alone: ['a'] }]);
  expect(said).toContain('2 passed, 0 failed\n');
  expect(said).not.toContain('again');
  expect(code).toBe(0);
});
