/**
 * Chromium and its relatives, driven by DevTools over a pair of pipes: no port is open that another user of the machine
 * could reach, and the browser ends when the pipes do (B1).
 */
import type { InstalledBrowser } from './find.ts';
import type { LaunchedBrowser, LaunchOptions } from './launched.ts';
import { BrowserProcess, newProfile } from './process.ts';
import { Requests } from './requests.ts';

interface Event {
  id?: number;
  method?: string;
  sessionId?: string;
  params?: Record<string, unknown>;
}

/**
 * Quiet: nothing is asked of the outside, nothing is shown, and nothing slows a page down because nobody looks at it.
 */
const QUIET = [
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--disable-default-apps',
  '--disable-gpu',
  '--disable-quic',
  '--mute-audio',
  '--metrics-recording-only',
  '--password-store=basic',
  '--use-mock-keychain',
  '--disable-breakpad',
  '--no-pings',
  '--disable-background-timer-throttling',
  '--disable-renderer-backgrounding',
  '--disable-backgrounding-occluded-windows',
];

export async function launchChromium(
  browser: InstalledBrowser,
  { show, sandbox, insecure, trusted }: LaunchOptions,
): Promise<LaunchedBrowser> {
  const profile = await newProfile();
  const process_ = new BrowserProcess({
    path: browser.path,
    profile,
    pipes: true,
    args: [
      ...(show ? [] : ['--headless=new']),
      '--remote-debugging-pipe',
      `--user-data-dir=${profile}`,
      ...QUIET,
      ...(sandbox ? [] : ['--no-sandbox']),
      ...(insecure ? ['--ignore-certificate-errors'] : []),
      ...(trusted === undefined ? [] : [`--unsafely-treat-insecure-origin-as-secure=${trusted}`]),
      'about:blank',
    ],
  });
  const { to, from } = process_.pipe;
  const requests = new Requests((m) => void to.write(`${m}\0`));
  const sessions = new Map<string, (e: Event) => void>();
  for (const stream of [to, from]) stream.on('error', () => requests.close());
  let rest: Buffer = Buffer.alloc(0);
  from.on('data', (d: Buffer) => {
    rest = Buffer.concat([rest, d]);
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const message = JSON.parse(rest.subarray(0, end).toString()) as Event;
      rest = rest.subarray(end + 1);
      if (!requests.answered(message) && message.sessionId !== undefined) sessions.get(message.sessionId)?.(message);
    }
  });
  from.on('close', () => requests.close());
  const close = () => process_.close(() => requests.ask('Browser.close', {}));
  try {
    await requests.ask('Browser.getVersion', {});
  } catch (e) {
    await close();
    throw new Error(
      /No usable sandbox/.test(process_.said)
        ? 'Chromium finds no sandbox on this machine: allow user namespaces (on Debian and Ubuntu: sysctl ' +
            'kernel.unprivileged_userns_clone=1, or an AppArmor profile for it), or use Firefox'
        : `${(e as Error).message}\n${process_.said.trim()}`,
      { cause: e },
    );
  }
  return {
    name: browser.name,
    gone: process_.gone,
    close,
    async open(url) {
      // As another person's browser: nothing is shared with the other pages.
      const { browserContextId } = await requests.ask<{ browserContextId: string }>('Target.createBrowserContext', {});
      const { targetId } = await requests.ask<{ targetId: string }>('Target.createTarget', {
        url: 'about:blank',
        browserContextId,
      });
      const { sessionId } = await requests.ask<{ sessionId: string }>('Target.attachToTarget', {
        targetId,
        flatten: true,
      });
      const ask = <T>(method: string, params: object = {}): Promise<T> =>
        requests.ask<T>(method, params, { sessionId });
      const crashed = new Promise<string>((resolve) =>
        sessions.set(sessionId, (e) => {
          if (e.method === 'Inspector.targetCrashed') resolve('the page crashed (out of memory?)');
          if (e.method === 'Target.detachedFromTarget' || e.method === 'Inspector.detached')
            resolve('the page is gone');
        }),
      );
      await ask('Inspector.enable');
      const load = async (): Promise<string | undefined> =>
        (await ask<{ errorText?: string }>('Page.navigate', { url })).errorText;
      const failed = await load();
      return {
        failed,
        load,
        gone: Promise.race([crashed, process_.gone]),
        async evaluate<T>(expression: string): Promise<T> {
          const { result, exceptionDetails } = await ask<{
            result: { value?: T };
            exceptionDetails?: { text: string };
          }>('Runtime.evaluate', { expression, returnByValue: true });
          if (exceptionDetails) throw new Error(exceptionDetails.text);
          return result.value as T;
        },
        async close() {
          sessions.delete(sessionId);
          await requests.ask('Target.closeTarget', { targetId });
          await requests.ask('Target.disposeBrowserContext', { browserContextId });
        },
      };
    },
  };
}
