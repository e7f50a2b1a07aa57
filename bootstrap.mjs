#!/usr/bin/env node
/**
 * What stands behind `npm start | test | verify | demo | simulate | mutate | faults | attack | damage | conformance |
 * bench | papers | newer`: sets up what a fresh machine lacks, then does it. Needs Node and npm, nothing else.
 *
 *   node bootstrap.mjs <the name, or `setup` for the set-up alone> …
 *
 * Set-up: packages (`npm ci`, when they do not match the lockfile), build (turbo; unchanged parts come from its cache),
 * and for the tests and the faults a browser: an installed Chrome, Chromium or Edge, else Playwright's own, else
 * Debian's package. The tests use an installed Firefox too; `npm test -- firefox` gets Debian's where there is none. On
 * Linux they use bubblewrap, Debian's where there is none and it may be installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runOnNewerNode } from './newer-node.mjs';

const root = dirname(fileURLToPath(import.meta.url));
const bin = join(root, 'node_modules', '.bin');
const windows = process.platform === 'win32';
process.env.TURBO_TELEMETRY_DISABLED = '1';
process.env.DO_NOT_TRACK = '1';

const say = (line) => console.error(`mayfly: ${line}`);

class Stop extends Error {}

/**
 * Runs a command to its end; what it prints goes to this terminal (`quiet`: only when it fails). Resolves to its exit
 * code.
 */
function run(command, args, { cwd = root, env = {}, stdin = 'ignore', timeoutMs, quiet = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: quiet ? [stdin, 'pipe', 'pipe'] : [stdin, 'inherit', 'inherit'],
      shell: windows,
    });
    const held = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => held.push(bytes));
    let timer;
    if (timeoutMs)
      timer = setTimeout(() => {
        say(`${command} ${args[0] ?? ''} took longer than ${Math.round(timeoutMs / 1000)} s and is stopped`);
        child.kill('SIGKILL');
      }, timeoutMs);
    // Ctrl-C reaches the child as well (same terminal); it ends in its own way, and this process after it.
    const ignore = () => undefined;
    const forward = () => child.kill('SIGTERM');
    process.on('SIGINT', ignore);
    process.on('SIGTERM', forward);
    const done = (code) => {
      clearTimeout(timer);
      process.off('SIGINT', ignore);
      process.off('SIGTERM', forward);
      if (code !== 0) for (const bytes of held) process.stderr.write(bytes);
      resolve(code);
    };
    child.on('error', (error) => {
      say(`cannot run ${command}: ${error.message}`);
      done(127);
    });
    child.on('close', (code, signal) => done(code ?? 128 + (signal === 'SIGINT' ? 2 : signal === 'SIGTERM' ? 15 : 9)));
  });
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    throw new Stop(`Node ${process.versions.node} is too old: Mayfly needs 20.19 or newer (https://nodejs.org)`);
}

/** True when node_modules holds what the lockfile says: npm writes down there what it installed. */
function packagesMatch() {
  let wanted;
  let installed;
  try {
    wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    installed = JSON.parse(readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8')).packages;
  } catch {
    return false;
  }
  for (const [path, entry] of Object.entries(wanted)) {
    if (!path.includes('node_modules/') || entry.optional || entry.peer) continue;
    const there = installed[path];
    if (!there || there.version !== entry.version || Boolean(there.link) !== Boolean(entry.link)) return false;
  }
  return true;
}

async function installPackages() {
  if (packagesMatch()) return;
  say('installing packages (npm ci)');
  const code = await run('npm', ['ci', '--no-audit', '--no-fund'], { env: { npm_config_update_notifier: 'false' } });
  if (code !== 0) throw new Stop(`npm ci failed (exit code ${code}): is the npm registry within reach?`);
}

async function build() {
  say('building (unchanged parts come from the cache)');
  const code = await run(join(bin, 'turbo'), ['run', 'build', '--output-logs=errors-only', '--log-order=grouped'], {
    quiet: true,
  });
  if (code !== 0) throw new Stop('the build failed, see above');
  // npm links no command that is not built yet, as on a fresh machine: `npx mayfly` would not be found.
  if (['mayfly', 'mayfly-volunteer'].some((name) => !existsSync(join(bin, windows ? `${name}.cmd` : name))))
    await run('npm', ['rebuild', '--ignore-scripts', 'mayfly', '@mayfly/volunteer'], { quiet: true });
}

/** The path of a program that answers to --version. */
function works(path) {
  if (!path) return undefined;
  if (windows) return existsSync(path) ? path : undefined; // Chrome on Windows has no --version
  const r = spawnSync(path, ['--version'], { timeout: 15_000, stdio: ['ignore', 'pipe', 'ignore'] });
  return r.status === 0 ? path : undefined;
}

function installedBrowser() {
  const names = [
    'google-chrome',
    'google-chrome-stable',
    'chromium',
    'chromium-browser',
    'microsoft-edge',
    'microsoft-edge-stable',
  ];
  const places = (process.env.PATH ?? '')
    .split(windows ? ';' : ':')
    .flatMap((d) => (d ? names.map((n) => join(d, n)) : []));
  if (process.platform === 'darwin')
    for (const app of ['Google Chrome', 'Chromium', 'Microsoft Edge'])
      places.push(`/Applications/${app}.app/Contents/MacOS/${app}`);
  if (windows)
    for (const base of [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA].filter(
      Boolean,
    ))
      places.push(
        join(base, 'Google/Chrome/Application/chrome.exe'),
        join(base, 'Chromium/Application/chrome.exe'),
        join(base, 'Microsoft/Edge/Application/msedge.exe'),
      );
  return places.filter((p) => existsSync(p)).find(works);
}

async function playwrightsBrowser() {
  try {
    const { chromium } = (await import(pathToFileURL(join(root, 'node_modules/playwright-core/index.js')).href))
      .default;
    const path = chromium.executablePath();
    return existsSync(path) ? works(path) : undefined;
  } catch {
    return undefined;
  }
}

/** @param {boolean} install whether to install one when there is none */
async function findBrowser(install) {
  const named = process.env.MAYFLY_BROWSER;
  if (named) {
    if (works(named)) return named;
    throw new Stop(`MAYFLY_BROWSER names ${named}, which does not start`);
  }
  let path = installedBrowser() ?? (await playwrightsBrowser());
  if (path || !install) return path;
  say("no Chrome, Chromium or Edge here: trying Playwright's own");
  await run(process.execPath, [join(root, 'node_modules/playwright/cli.js'), 'install', 'chromium'], {
    timeoutMs: 240_000,
    env: { PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '15000' },
  });
  path = await playwrightsBrowser();
  if (path) return path;
  if (process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say("Playwright's browser cannot be had: installing Debian's chromium");
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-qq'], { env, timeoutMs: 300_000 });
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env, timeoutMs: 600_000 });
    path = installedBrowser();
    if (path) return path;
  }
  throw new Stop('no browser for the tests: install Chrome, Chromium or Edge, or name one in MAYFLY_BROWSER');
}

/** For the tests of the sandbox of headless nodes; without it they test Node's permission model alone. */
async function findBubblewrap() {
  const there = () => (process.env.PATH ?? '').split(':').some((d) => d && existsSync(join(d, 'bwrap')));
  if (process.platform !== 'linux') return;
  if (!there() && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say("no bubblewrap here: installing Debian's");
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-qq'], { env, timeoutMs: 300_000, quiet: true });
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'bubblewrap'], {
      env,
      timeoutMs: 300_000,
      quiet: true,
    });
  }
  if (!there()) say('no bubblewrap here: its tests are skipped (install the package bubblewrap)');
}

/** Older ones lack parts of WebDriver BiDi. */
const OLDEST_FIREFOX = 128;

function firefoxVersion(path) {
  const r = spawnSync(path, ['--version'], { timeout: 15_000, stdio: ['ignore', 'pipe', 'ignore'] });
  return Number(/Firefox (\d+)/.exec(String(r.stdout))?.[1] ?? 0);
}

/** @param {boolean} install whether to install Debian's when there is none */
async function findFirefox(install) {
  const named = process.env.MAYFLY_FIREFOX;
  if (named) {
    if (works(named)) return named;
    throw new Stop(`MAYFLY_FIREFOX names ${named}, which does not start`);
  }
  const look = () => {
    const places = (process.env.PATH ?? '')
      .split(windows ? ';' : ':')
      .flatMap((d) => (d ? ['firefox-esr', 'firefox'].map((n) => join(d, n)) : []));
    if (process.platform === 'darwin') places.push('/Applications/Firefox.app/Contents/MacOS/firefox');
    return places.filter((p) => existsSync(p)).find((p) => firefoxVersion(p) >= OLDEST_FIREFOX);
  };
  let path = look();
  if (path || !install) return path;
  if (process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say("no Firefox here: installing Debian's firefox-esr");
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-qq'], { env, timeoutMs: 300_000 });
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'firefox-esr'], {
      env,
      timeoutMs: 600_000,
    });
    path = look();
    if (path) return path;
  }
  throw new Stop(`no Firefox of version ${OLDEST_FIREFOX} or newer: install it, or name one in MAYFLY_FIREFOX`);
}

const cli = join(root, 'apps/cli/dist/mayfly.js');

/**
 * `npm test` (a share that a contributor runs many times a day) and `npm run verify` (everything): testing/ has the
 * list, the parts and the runner.
 * @param {string[]} args names of parts; `--changed` or `--changed=COMMIT`: what the changed files reach
 */
async function test(args, everything = false) {
  const { runTests } = await import('./testing/index.mjs');
  const browser = () => findBrowser(true);
  return runTests(args, { root, everything, say, browser, firefox: findFirefox, bubblewrap: findBubblewrap, Stop });
}

const commands = {
  setup: async () => 0,
  start: (args) =>
    run(process.execPath, [cli, 'start', ...args], { stdin: 'inherit', cwd: process.env.INIT_CWD ?? root }),
  test: (args) => test(args),
  verify: (args) => test(args, true),
  demo: async (args) => run(process.execPath, [cli, 'demo', ...args], { env: await optionalBrowser() }),
  simulate: (args) => run(process.execPath, [cli, 'simulate', ...args]),
  mutate: (args) => run(process.execPath, [join(root, 'mutation/mutate.mjs'), ...args]),
  faults: async (args) =>
    run(process.execPath, [join(root, 'playwright/dist/faults.js'), ...args], {
      env: { MAYFLY_BROWSER: await findBrowser(true) },
    }),
  attack: async (args) =>
    run(process.execPath, [join(root, 'playwright/dist/attack.js'), ...args], {
      env: { MAYFLY_BROWSER: await findBrowser(true) },
    }),
  damage: ([only = 'all']) =>
    run(
      process.execPath,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        'run',
        'apps/server/test/damage.test.ts',
        '--disable-console-intercept',
      ],
      { env: { MAYFLY_DAMAGE: only } },
    ),
  conformance: (args) => run(process.execPath, [join(root, 'playwright/dist/conformance.js'), ...args]),
  bench: async (args) =>
    run(process.execPath, [join(root, 'benchmarks/dist/bench.js'), ...args], { env: await optionalBrowser() }),
  papers: (args) => run(process.execPath, [join(root, 'benchmarks/dist/papers.js'), ...args]),
  newer: async (args) => {
    await findBubblewrap();
    return runOnNewerNode({ root, run, works, args, env: await optionalBrowser() });
  },
};

async function optionalBrowser() {
  const path = await findBrowser(false);
  return path ? { MAYFLY_BROWSER: path } : {};
}

try {
  const [name = 'start', ...args] = process.argv.slice(2);
  if (!Object.hasOwn(commands, name))
    throw new Stop(`unknown command "${name}"; there are ${Object.keys(commands).join(', ')}`);
  checkNode();
  await installPackages();
  await build();
  process.exitCode = await commands[name](args);
} catch (error) {
  if (!(error instanceof Stop)) throw error;
  say(error.message);
  process.exitCode = 1;
}
