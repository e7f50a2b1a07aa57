/** A volunteer's tab in a browser of its own: what happens to its processes happens to nobody else. */
import { chromium, type Browser, type BrowserContext, type BrowserServer, type Page } from '@playwright/test';
import { patient } from '@mayfly/testing';
import { launchOptions } from './browser.ts';
import { noteLine, type VolunteerNode } from './node.ts';
import { frameRendererOf, renderersOf, resumed, stopped } from './processes.ts';

const IDENTITY = 'mayfly-node';
const LIMIT_MS = patient(120_000);
/** How long the person waits for last images. */
const FINISH_MS = 10_000;

/** A browser process and the connection that drives it. */
class Chrome {
  private constructor(
    readonly server: BrowserServer,
    readonly browser: Browser,
  ) {}

  static async start(): Promise<Chrome> {
    const server = await chromium.launchServer({
      ...launchOptions,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    return new Chrome(server, await chromium.connect(server.wsEndpoint()));
  }

  async kill(): Promise<void> {
    await this.server.kill().catch(() => undefined);
    await this.browser.close().catch(() => undefined);
  }
}

/**
 * Browsers whose tab is gone, for the next tabs: starting one costs more than what most faults do. One tab at a time
 * has a browser.
 */
export class Browsers {
  private readonly idle: Chrome[] = [];

  async take(): Promise<Chrome> {
    for (let c = this.idle.pop(); c; c = this.idle.pop()) {
      if (c.browser.isConnected()) return c;
      await c.kill();
    }
    return Chrome.start();
  }

  back(c: Chrome): void {
    this.idle.push(c);
  }

  async close(): Promise<void> {
    await Promise.all(this.idle.splice(0).map((c) => c.kill()));
  }
}

export class BrowserTab implements VolunteerNode {
  readonly kind = 'tab';
  /**
   * False once the process of a frame was killed: Playwright then takes the whole page for crashed, and drives it no
   * more. The page itself lives on.
   */
  driven = true;
  readonly log: string[] = [];
  private frozen: number[] = [];
  /** Its browser has been given back, or killed. */
  private left = false;

  private constructor(
    readonly name: string,
    private readonly address: string,
    private readonly browsers: Browsers,
    private readonly chrome: Chrome,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    page.on('console', (m) => noteLine(this.log, `${m.type()}: ${m.text()}`));
    page.on('pageerror', (e) => noteLine(this.log, `error: ${e.message}`));
    page.on('crash', () => noteLine(this.log, 'the page crashed'));
  }

  static async open(url: string, name: string, slots: number, browsers: Browsers): Promise<BrowserTab> {
    const chrome = await browsers.take();
    try {
      const context = await chrome.browser.newContext();
      context.setDefaultTimeout(LIMIT_MS);
      const page = await context.newPage();
      const address = `${url}/volunteer?start&ease=0&slots=${slots}&name=${name}`;
      const tab = new BrowserTab(name, address, browsers, chrome, context, page);
      await load(page, address);
      await tab.connected(page);
      return tab;
    } catch (error) {
      await chrome.kill();
      throw error;
    }
  }

  private async connected(page: Page): Promise<void> {
    await page
      .getByTestId('volunteer-state')
      .filter({ hasText: /idle|ready|working/i })
      .waitFor();
  }

  private get pid(): number {
    return this.chrome.server.process().pid!;
  }

  /** The person closes the tab: pagehide runs, then everything is gone. */
  async close(): Promise<void> {
    await this.page.close({ runBeforeUnload: false });
    await this.leave();
  }

  /**
   * The person presses "Finish this step and leave": last images first, then a goodbye. A person who waits too long for
   * a rank that cannot take one presses "Stop now".
   */
  async finish(): Promise<void> {
    await this.press('Finish this step and leave');
    const off = this.state(/^off/i);
    const stop = setTimeout(() => void this.press('Stop now').catch(() => undefined), FINISH_MS);
    await off.finally(() => clearTimeout(stop));
    await this.close();
  }

  /** The person pauses and, once the ranks are gone, resumes. */
  async pause(): Promise<void> {
    await this.press('Pause');
    await this.state(/paused/i);
    await this.press('Resume');
    await this.connected(this.page);
  }

  private press(name: string): Promise<void> {
    return this.page.getByRole('button', { name, exact: true }).click();
  }

  private state(text: RegExp): Promise<void> {
    return this.page.getByTestId('volunteer-state').filter({ hasText: text }).waitFor();
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.connected(this.page);
  }

  /** The page's renderer dies: no handler runs. */
  async crash(): Promise<void> {
    await this.page.goto('chrome://crash').catch(() => undefined);
    await this.leave();
  }

  /** The whole browser is killed. */
  async kill(): Promise<void> {
    this.left = true;
    await this.chrome.kill();
  }

  /** The page is gone; its browser may serve another. */
  private async leave(): Promise<void> {
    this.left = true;
    const emptied = this.context.close().then(
      () => true,
      () => false,
    );
    if (await Promise.race([emptied, new Promise<false>((r) => setTimeout(r, LIMIT_MS, false).unref())]))
      this.browsers.back(this.chrome);
    else await this.chrome.kill();
  }

  /** Only the sandboxed frame's renderer dies, as when a program takes all memory. False: there was none. */
  killFrame(): boolean {
    const pid = frameRendererOf(this.pid);
    if (pid === undefined) return false;
    this.driven = false;
    process.kill(pid, 'SIGKILL');
    return true;
  }

  setOffline(offline: boolean): Promise<void> {
    return this.context.setOffline(offline);
  }

  /**
   * "Duplicate tab": a second one of the same browser, with a copy of this one's session storage. Call the result to
   * close it.
   */
  async duplicate(): Promise<() => Promise<void>> {
    const [copy] = await Promise.all([
      this.context.waitForEvent('page'),
      this.page.evaluate((a) => void window.open(a), this.address),
    ]);
    await this.connected(copy);
    return () => copy.close();
  }

  /** Somebody with a copy of this tab's identity, in another profile, where no lock tells that it is in use. */
  async impersonate(): Promise<() => Promise<void>> {
    const identity = await this.page.evaluate((key) => sessionStorage.getItem(key), IDENTITY);
    if (identity === null) throw new Error(`tab ${this.name} has no identity`);
    const context = await this.chrome.browser.newContext();
    context.setDefaultTimeout(LIMIT_MS);
    await context.addInitScript(
      ([key, value]) => {
        if (origin !== 'null' && sessionStorage.length === 0) sessionStorage.setItem(key!, value!);
      },
      [IDENTITY, identity],
    );
    const page = await context.newPage();
    await load(page, this.address);
    await this.connected(page);
    return () => context.close();
  }

  /** Every renderer of the browser stands still: page, daemon, frame and ranks. */
  freeze(): Promise<void> {
    this.frozen = renderersOf(this.pid);
    return stopped(this.frozen);
  }

  thaw(): void {
    resumed(this.frozen);
    this.frozen = [];
  }

  async dispose(): Promise<void> {
    this.thaw();
    if (!this.left) await this.kill();
  }
}

/** A server that is just going answers nothing; a person loads the page again then. */
async function load(page: Page, address: string): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      await page.goto(address);
      return;
    } catch (error) {
      if (attempt === 5 || !/ERR_(EMPTY_RESPONSE|CONNECTION_\w+)/.test((error as Error).message)) throw error;
      await page.waitForTimeout(500);
    }
}
