/**
 * The parts of `npm test` and `npm run verify`: each is one command, with the command that repeats a failure of it. A
 * part that counts tests says as well with which arguments one file of tests runs alone (`alone`).
 */
import { join } from 'node:path';

/** Import rules hold for these. */
const CODE = ['apps', 'packages', 'playwright', 'benchmarks', 'mutation', 'testing'];

/** A title as the shell and a regular expression read it. */
const quoted = (text) => `"${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/["$`\\]/g, '\\$&')}"`;

/**
 * @param {{ root: string, env: object, unit?: string[], browser?: string[], changed?: string[] }} about `unit` and
 *   `browser`: files of tests (all of them when not given, none when empty); `changed`: files that lint looks at
 * @returns {Record<string, { name: string, command: string, args: string[] }>} by name; run.mjs runs them
 */
export function partsOf({ root, env, unit, browser, changed }) {
  const bin = join(root, 'node_modules', '.bin');
  const cache = join(root, 'node_modules', '.cache');
  const part = (name, more) => ({ name, env, ...more });
  const code = changed?.filter((file) => /\.([cm]?js|tsx?)$/.test(file)) ?? ['.'];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const playwright = [join(root, 'node_modules/@playwright/test/cli.js'), 'test'];
  const reporter = `--reporter=list,${join(root, 'testing/report.mjs')}`;
  const parts = {
    types: part('types', { command: process.execPath, args: ['types.mjs'], repeat: 'node types.mjs' }),
    imports: part('imports', {
      command: join(bin, 'depcruise'),
      args: ['--config', '.dependency-cruiser.cjs', ...CODE],
      repeat: `npx depcruise --config .dependency-cruiser.cjs ${CODE.join(' ')}`,
    }),
    lint: part('lint', {
      command: join(bin, 'eslint'),
      // What has not changed since the last run is not read again.
      args: [...code, '--max-warnings=0', '--no-warn-ignored', '--cache', '--cache-strategy=content'].concat([
        '--cache-location',
        join(cache, 'eslint'),
      ]),
      repeat: `npx eslint ${changed ? code.join(' ') : '.'}`,
    }),
    layout: part('layout', {
      command: join(bin, 'prettier'),
      args: ['--check', '--log-level=warn', '--cache', '--cache-strategy=content', '--cache-location'].concat([
        join(cache, 'prettier'),
        '--ignore-unknown',
        ...(changed ?? ['.']),
      ]),
      repeat: `npx prettier --write ${changed ? changed.join(' ') : '.'}`,
    }),
    unit: part('unit', {
      command: process.execPath,
      args: [vitest, 'run', ...(unit ?? [])],
      alone: (file) => [vitest, 'run', file],
      env: { ...env, MAYFLY_BUILT: '1' },
      counts: true,
      repeat: ({ file, title }) => `npx vitest run ${file}${title === undefined ? '' : ` -t ${quoted(title)}`}`,
    }),
    browser: part('browser', {
      command: process.execPath,
      args: [...playwright, ...(browser ?? []), reporter],
      alone: (file) => [...playwright, file, reporter],
      cwd: join(root, 'playwright'),
      env: { ...env, PLAYWRIGHT_FORCE_TTY: '0' },
      counts: true,
      repeat: ({ file, line }) => `npx playwright test -c playwright ${file}${line === undefined ? '' : `:${line}`}`,
    }),
  };
  if (unit?.length === 0) delete parts.unit;
  if (browser?.length === 0) delete parts.browser;
  if (code.length === 0) delete parts.lint;
  if (changed?.length === 0) delete parts.layout;
  return parts;
}
