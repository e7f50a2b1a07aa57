/**
 * Firefox, driven by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/). It offers that on a port of the loopback
 * only, to one session: this one takes it at once, and Firefox refuses all others.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { InstalledBrowser } from './find.ts';
import type { LaunchedBrowser, LaunchOptions } from './launched.ts';
import { BrowserProcess, newProfile } from './process.ts';
import { Requests } from './requests.ts';

/** Quiet: nothing is asked of the outside, no first-run pages. */
const PREFERENCES: Record<string, boolean | number | string> = {
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.aboutwelcome.enabled': false,
  'browser.backup.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.startup.page': 0,
  'browser.tabs.unloadOnLowMemory': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.getAddons.cache.enabled': false,
  'extensions.systemAddon.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.enabled': false,
};
const START_MS = 60_000;

interface Message {
  id?: number;
  method?: string;
  params?: { context?: string };
}

export async function launchFirefox(
  browser: InstalledBrowser,
  { show, insecure, trusted }: LaunchOptions,
): Promise<LaunchedBrowser> {
  const profile = await newProfile();
  const preferences = {
    ...PREFERENCES,
    ...(trusted === undefined ? {} : { 'dom.securecontext.allowlist': new URL(trusted).hostname }),
  };
  await writeFile(
    join(profile, 'user.js'),
    Object.entries(preferences)
      .map(([k, v]) => `user_pref(${JSON.stringify(k)}, ${JSON.stringify(v)});\n`)
      .join(''),
  );
  const process_ = new BrowserProcess({
    path: browser.path,
    profile,
    args: [
      ...(show ? [] : ['--headless']),
      '--no-remote',
      '--profile',
      profile,
      '--remote-debugging-port',
      '0',
      'about:blank',
    ],
    // It refuses a home that belongs to somebody else.
    env: { HOME: profile },
    watched: true,
  });
  let socket: WebSocket | undefined;
  const requests = new Requests((m) => socket?.send(m));
  const contexts = new Map<string, () => void>();
  let lost: () => void = () => undefined;
  const unheard = new Promise<string>((resolve) => (lost = () => resolve('it ended')));
  const gone = Promise.race([process_.gone, unheard]);
  const close = () => process_.close(() => requests.ask('browser.close', {}).finally(() => socket?.terminate()));
  try {
    socket = new WebSocket(`${await address(process_)}/session`);
    const s = socket;
    s.on('message', (data: Buffer) => {
      const m = JSON.parse(data.toString()) as Message;
      if (!requests.answered(m) && m.method === 'browsingContext.contextDestroyed' && m.params?.context)
        contexts.get(m.params.context)?.();
    });
    s.on('close', () => {
      requests.close();
      lost();
    });
    await new Promise<void>((resolve, reject) => s.once('open', resolve).on('error', reject));
    await requests.ask('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: insecure } } });
    await requests.ask('session.subscribe', { events: ['browsingContext.contextDestroyed'] });
  } catch (e) {
    await close();
    throw new Error(`${(e as Error).message}\n${process_.said.trim()}`, { cause: e });
  }
  return {
    name: browser.name,
    gone,
    close,
    async open(url) {
      const { userContext } = await requests.ask<{ userContext: string }>('browser.createUserContext', {});
      const { context } = await requests.ask<{ context: string }>('browsingContext.create', {
        type: 'tab',
        userContext,
      });
      const crashed = new Promise<string>((resolve) =>
        contexts.set(context, () => resolve('the page is gone (out of memory?)')),
      );
      const load = (): Promise<string | undefined> =>
        requests.ask('browsingContext.navigate', { context, url, wait: 'interactive' }).then(
          () => undefined,
          (e: Error) => e.message,
        );
      const failed = await load();
      return {
        failed,
        load,
        gone: Promise.race([crashed, gone]),
        async evaluate<T>(expression: string): Promise<T> {
          const r = await requests.ask<{
            type: string;
            result?: { value?: string };
            exceptionDetails?: { text: string };
          }>('script.evaluate', {
            expression: `JSON.stringify(${expression})`,
            target: { context },
            awaitPromise: false,
          });
          if (r.type !== 'success') throw new Error(r.exceptionDetails?.text ?? 'the expression threw');
          return JSON.parse(r.result?.value ?? 'null') as T;
        },
        async close() {
          contexts.delete(context);
          await requests.ask('browsingContext.close', { context });
          await requests.ask('browser.removeUserContext', { userContext });
        },
      };
    },
  };
}

/** Where it listens, once it says so. */
async function address(browser: BrowserProcess): Promise<string> {
  let why: string | undefined;
  void browser.gone.then((w) => (why = w));
  for (const end = Date.now() + START_MS; Date.now() < end; await new Promise((r) => setTimeout(r, 50))) {
    const found = /WebDriver BiDi listening on (ws:\S+)/.exec(browser.said)?.[1];
    if (found) return found;
    if (why !== undefined) throw new Error(why);
  }
  throw new Error(`it did not offer WebDriver BiDi within ${START_MS / 1000} s`);
}
