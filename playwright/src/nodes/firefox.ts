/**
 * An installed Firefox, driven by WebDriver BiDi (Playwright drives only its own build of it): as much of the protocol
 * as a volunteer's tab needs. https://w3c.github.io/webdriver-bidi/
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patient } from '@mayfly/testing';
import { WebSocket } from 'ws';

/** What the bootstrap found, else an installed one. */
export const firefoxPath =
  process.env.MAYFLY_FIREFOX ??
  ['/usr/bin/firefox-esr', '/usr/bin/firefox', '/Applications/Firefox.app/Contents/MacOS/firefox'].find((p) =>
    existsSync(p),
  );

const LIMIT_MS = patient(240_000);

/** Quiet: nothing is asked of the outside, no first-run pages. */
const PREFERENCES: Record<string, boolean | number | string> = {
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.aboutwelcome.enabled': false,
  'browser.backup.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.getAddons.cache.enabled': false,
  'extensions.systemAddon.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.enabled': false,
};

interface Answer {
  id?: number;
  type: 'success' | 'error' | 'event';
  result?: unknown;
  error?: string;
  message?: string;
  method?: string;
  params?: { level?: string; text?: string };
}

/** Waits until `look` gives something; what it throws meanwhile (no page yet) is a no. */
async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const end = Date.now() + LIMIT_MS;
  let why: unknown;
  while (Date.now() < end) {
    const found = await Promise.resolve()
      .then(look)
      .catch((e: unknown) => void (why = e));
    if (found) return found;
    await new Promise((r) => setTimeout(r, 50));
  }
  throw new Error(
    `Firefox: ${what} did not come${why ? `: ${why instanceof Error ? why.message : JSON.stringify(why)}` : ''}`,
  );
}

export class Firefox {
  /** Errors that pages wrote to the console or threw. */
  readonly complaints: string[] = [];
  #next = 1;
  readonly #asked = new Map<number, (a: Answer) => void>();

  private constructor(
    private readonly child: ChildProcess,
    private readonly profile: string,
    private readonly socket: WebSocket,
  ) {
    socket.on('message', (data: Buffer) => {
      const m = JSON.parse(data.toString()) as Answer;
      if (m.id !== undefined) this.#asked.get(m.id)?.(m);
      // A socket that its frame closes while it opens, or that the server's end cuts, is logged as an error too: that
      // is no defect of a page.
      else if (
        m.method === 'log.entryAdded' &&
        m.params?.level === 'error' &&
        !/connection to (the server at )?wss?:/.test(m.params.text ?? '')
      )
        this.complaints.push(m.params.text ?? '');
    });
  }

  static async start(path: string): Promise<Firefox> {
    const profile = await mkdtemp(join(tmpdir(), 'mayfly-firefox-'));
    await writeFile(
      join(profile, 'user.js'),
      Object.entries(PREFERENCES)
        .map(([k, v]) => `user_pref(${JSON.stringify(k)}, ${JSON.stringify(v)});\n`)
        .join(''),
    );
    const child = spawn(
      path,
      ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'],
      {
        // It refuses a home that belongs to somebody else.
        env: { ...process.env, HOME: profile },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    try {
      let said = '';
      child.stderr!.on('data', (d: Buffer) => (said = (said + d.toString()).slice(-20_000)));
      const address = await eventually('the remote agent', () => {
        if (child.exitCode !== null) throw new Error(`it exited with ${child.exitCode}: ${said}`);
        return /WebDriver BiDi listening on (ws:\S+)/.exec(said)?.[1];
      });
      const socket = new WebSocket(`${address}/session`);
      await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
      const firefox = new Firefox(child, profile, socket);
      await firefox.ask('session.new', { capabilities: {} });
      await firefox.ask('session.subscribe', { events: ['log.entryAdded'] });
      return firefox;
    } catch (e) {
      child.kill('SIGKILL');
      throw e;
    }
  }

  ask<T>(method: string, params: object = {}): Promise<T> {
    const id = this.#next++;
    return new Promise<T>((resolve, reject) => {
      this.#asked.set(id, (a) => {
        this.#asked.delete(id);
        if (a.type === 'error') reject(new Error(`${method}: ${a.error}: ${a.message}`));
        else resolve(a.result as T);
      });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  async open(url: string): Promise<FirefoxTab> {
    const { context } = await this.ask<{ context: string }>('browsingContext.create', { type: 'tab' });
    await this.ask('browsingContext.navigate', { context, url, wait: 'interactive' });
    return new FirefoxTab(this, context);
  }

  async close(): Promise<void> {
    const gone = new Promise<void>((r) =>
      this.child.exitCode !== null || this.child.signalCode !== null ? r() : this.child.once('exit', () => r()),
    );
    this.socket.terminate();
    this.child.kill('SIGKILL');
    await gone;
    // Its content processes may still write for a moment.
    await rm(this.profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

export class FirefoxTab {
  constructor(
    private readonly firefox: Firefox,
    private readonly context: string,
  ) {}

  /** An expression in the page; its value goes as JSON. */
  async evaluate<T>(expression: string): Promise<T> {
    const r = await this.firefox.ask<{
      type: string;
      result?: { value?: string };
      exceptionDetails?: { text: string };
    }>('script.evaluate', {
      expression: `Promise.resolve(${expression}).then((v) => JSON.stringify(v ?? null))`,
      target: { context: this.context },
      awaitPromise: true,
    });
    if (r.type !== 'success') throw new Error(r.exceptionDetails?.text ?? 'the expression threw');
    return JSON.parse(r.result!.value!) as T;
  }

  /** Text of the element, once it matches. */
  text(selector: string, pattern: RegExp): Promise<string> {
    return eventually(`${selector} with ${pattern}`, async () => {
      const text = await this.evaluate<string | null>(
        `document.querySelector(${JSON.stringify(selector)})?.textContent`,
      );
      if (text === null || !pattern.test(text)) throw new Error(`it says ${JSON.stringify(text)}`);
      return text;
    });
  }

  /** A real click of the mouse in the middle of the element. */
  async click(selector: string): Promise<void> {
    const at = await eventually(selector, () =>
      this.evaluate<{ x: number; y: number } | null>(
        `(() => { const e = document.querySelector(${JSON.stringify(selector)}); if (!e) return null; ` +
          `e.scrollIntoView({ block: 'center', behavior: 'instant' }); const r = e.getBoundingClientRect(); ` +
          'return { x: Math.round(r.x + r.width / 2), y: Math.round(r.y + r.height / 2) }; })()',
      ).then((p) => p ?? undefined),
    );
    await this.firefox.ask('input.performActions', {
      context: this.context,
      actions: [
        {
          type: 'pointer',
          id: 'mouse',
          actions: [
            { type: 'pointerMove', ...at },
            { type: 'pointerDown', button: 0 },
            { type: 'pointerUp', button: 0 },
          ],
        },
      ],
    });
  }

  /** A picture of the page, PNG. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.firefox.ask<{ data: string }>('browsingContext.captureScreenshot', {
      context: this.context,
      origin: 'document',
    });
    return Buffer.from(data, 'base64');
  }

  /** As a person closes it. */
  async close(): Promise<void> {
    await this.firefox.ask('browsingContext.close', { context: this.context });
  }
}
