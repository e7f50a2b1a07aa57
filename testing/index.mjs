/** What `npm test` and `npm run verify` run: the choice of parts and of tests. parts.mjs has the commands. */
import { spawnSync } from 'node:child_process';
import { join, relative, sep } from 'node:path';
import { changedFiles, reachedBy } from './changed.mjs';
import { partsOf } from './parts.mjs';
import { runParts } from './run.mjs';
import { BROWSER, UNIT, resolve } from './share.mjs';

const SPECS = 'playwright/tests/';
const NAMES = ['types', 'imports', 'lint', 'layout', 'unit', 'browser', 'firefox'];
/** What `npm test` has only a share of. */
const SHARED = ['unit', 'browser'];

/**
 * @param {string[]} args names of parts (all when there is none), `--changed`, `--changed=COMMIT`, `--others`: what
 *   `npm test` does not run
 * @param {object} setUp what bootstrap.mjs brings: `browser()`, `firefox(install)` and `bubblewrap()` find or install
 *   them; `Stop` is an error whose message alone is shown
 * @returns {Promise<number>} the exit code
 */
export async function runTests(args, { root, everything, say, browser, firefox, bubblewrap, Stop }) {
  const flag = args.find((arg) => /^--(others$|changed(=|$))/.test(arg));
  const names = args.filter((arg) => arg !== flag);
  const others = flag === '--others';
  const unknown = names.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new Stop(`there is no part "${unknown}"; there are ${NAMES.join(', ')}`);
  const alone = names.includes('firefox');
  const chosen = alone ? { unit: [], browser: ['firefox.spec.ts'] } : choose({ root, everything, flag, say });
  const wanted = (name) =>
    alone ? name === 'browser' : names.length === 0 ? !others || SHARED.includes(name) : names.includes(name);

  const env = {};
  // Some unit tests open tabs, too.
  if (wanted('unit') || wanted('browser')) {
    env.MAYFLY_BROWSER = await browser();
    say(`browser: ${env.MAYFLY_BROWSER}`);
    const fox = await firefox(alone);
    if (fox) env.MAYFLY_FIREFOX = fox;
    else if (everything) say('no Firefox here: its test is skipped (npm run verify -- firefox installs it)');
    await bubblewrap();
  }
  const parts = Object.values(partsOf({ root, env, ...chosen })).filter(({ name }) => wanted(name));
  if (parts.length === 0) throw new Stop('the changed files reach no test');
  const title = alone
    ? 'The test of Firefox.'
    : others
      ? 'npm run verify -- --others: every test that npm test does not run.'
      : everything
        ? 'npm run verify: every test. On two quiet cores it takes some 20 minutes.'
        : flag
          ? 'npm test -- --changed: what the changed files reach.'
          : 'npm test: a share of every kind of check (testing/share.mjs). npm run verify runs everything.';
  return runParts(parts, { root, title });
}

/** Which files of tests, and which files lint reads; undefined: all of them. */
function choose({ root, everything, flag, say }) {
  const unitOf = (list) => resolve(list, { root });
  const browserOf = (list) => resolve(list, { root, below: SPECS }).map((place) => place.replace('playwright/', ''));
  const places = (list) => list.map((place) => [place, '']);
  if (flag === '--others') {
    const whole = new Set(unitOf(UNIT.filter(([place]) => !place.includes(' > '))));
    return { unit: filesOf(root).filter((file) => !whole.has(file)) };
  }
  if (everything && flag === undefined) return {};
  const share = { unit: unitOf(UNIT), browser: browserOf(BROWSER) };
  if (flag === undefined) return share;
  const { files, since } = changedFiles(root, flag.split('=')[1]);
  const reached = reachedBy(files);
  say(`changed: ${files.length === 0 ? 'nothing' : files.slice(0, 8).join(', ')}${files.length > 8 ? ', …' : ''}`);
  if (reached.everything) {
    say('nobody can tell what that reaches: the whole of npm test runs');
    return share;
  }
  return {
    unit: [...new Set([...filesOf(root, '--changed', ...since), ...unitOf(places(reached.unit))])],
    browser: browserOf(places(reached.browser)),
    changed: files,
  };
}

/** Files of unit tests. With `--changed`: those that import a changed file, directly or by others. */
function filesOf(root, ...args) {
  const r = spawnSync(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'list', '--filesOnly', '--json', ...args],
    { cwd: root, encoding: 'utf8', env: { ...process.env, MAYFLY_BUILT: '1' } },
  );
  if (r.status !== 0) throw new Error(`vitest list ${args.join(' ')} failed:\n${r.stderr}`);
  return JSON.parse(r.stdout).map(({ file }) => relative(root, file).split(sep).join('/'));
}
