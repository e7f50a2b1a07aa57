/**
 * Which installed browser a command uses: the one that was named, else the first that is found. Chrome, Chromium and
 * Edge before Firefox.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CommandError, Exit } from '../exit-codes.ts';

export interface InstalledBrowser {
  readonly path: string;
  readonly kind: 'chromium' | 'firefox';
  /** 'Chromium 156', 'Firefox 140'. */
  readonly name: string;
}

const CHROMIUMS = [
  'google-chrome',
  'google-chrome-stable',
  'chromium',
  'chromium-browser',
  'microsoft-edge',
  'microsoft-edge-stable',
];
const FIREFOXES = ['firefox', 'firefox-esr'];
/** Older ones lack parts of WebDriver BiDi, by which the page is watched. */
const OLDEST_FIREFOX = 128;
const VERSION_MS = 15_000;

const windows = process.platform === 'win32';

function* places(env: NodeJS.ProcessEnv): Generator<string> {
  for (const name of [...CHROMIUMS, ...FIREFOXES]) for (const folder of folders(env.PATH)) yield join(folder, name);
  if (process.platform === 'darwin')
    for (const app of ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Firefox'])
      yield `/Applications/${app}.app/Contents/MacOS/${app === 'Firefox' ? 'firefox' : app}`;
  if (windows)
    for (const base of [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA])
      if (base)
        for (const app of [
          'Google/Chrome/Application/chrome.exe',
          'Chromium/Application/chrome.exe',
          'Microsoft/Edge/Application/msedge.exe',
          'Mozilla Firefox/firefox.exe',
        ])
          yield join(base, app);
}

const folders = (path: string | undefined): string[] => (path ?? '').split(windows ? ';' : ':').filter((d) => d !== '');

/** @returns what is there, or why it is none that can be used */
function look(path: string): InstalledBrowser | string {
  if (!existsSync(path)) return 'the file does not exist';
  // Chrome on Windows does not answer to --version.
  if (windows)
    return {
      path,
      ...(/firefox/i.test(basename(path))
        ? { kind: 'firefox', name: 'Firefox' }
        : { kind: 'chromium', name: 'Chrome' }),
    };
  const r = spawnSync(path, ['--version'], {
    timeout: VERSION_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  });
  if (r.status !== 0) return 'it does not start';
  const [, product, version] = /(Firefox|Chrome|Chromium|Edge)\D*(\d+)/.exec(r.stdout) ?? [];
  if (product === undefined) return `it calls itself "${r.stdout.split('\n')[0]!.slice(0, 60)}"`;
  if (product === 'Firefox' && Number(version) < OLDEST_FIREFOX)
    return `it is Firefox ${version}; ${OLDEST_FIREFOX} is the oldest that works`;
  return { path, kind: product === 'Firefox' ? 'firefox' : 'chromium', name: `${product} ${version}` };
}

const FAMILIES: readonly string[] = ['chromium', 'firefox'] satisfies InstalledBrowser['kind'][];

function search(env: NodeJS.ProcessEnv, kind?: string): InstalledBrowser | undefined {
  for (const path of places(env)) {
    const found = existsSync(path) ? look(path) : '';
    if (typeof found !== 'string' && (kind === undefined || found.kind === kind)) return found;
  }
  return undefined;
}

/**
 * @param named by the user: a path, a name to look for on the PATH, 'firefox' or 'chromium' for any of the family; ''
 * for any browser
 * @throws CommandError when there is none, or the one that was named cannot be used
 */
export function findBrowser(named = '', env = process.env): InstalledBrowser {
  const wanted = named || env.MAYFLY_BROWSER;
  if (wanted) {
    const path = /[\\/]/.test(wanted)
      ? wanted
      : (folders(env.PATH)
          .map((d) => join(d, wanted))
          .find((p) => existsSync(p)) ?? wanted);
    let found = look(path);
    if (typeof found === 'string' && FAMILIES.includes(wanted)) found = search(env, wanted) ?? found;
    if (typeof found !== 'string') return found;
    throw new CommandError(
      `${named ? '--browser' : 'MAYFLY_BROWSER'} names ${wanted}, which cannot be used: ${found}. Give the ` +
        'path of Chrome, Chromium, Edge or Firefox.',
      Exit.USAGE,
    );
  }
  const found = search(env);
  if (found) return found;
  throw new CommandError(
    `no browser was found: install Chrome, Chromium, Edge or Firefox (${OLDEST_FIREFOX} or newer), or name ` +
      'one: --browser=PATH',
    Exit.USAGE,
  );
}
