/** Volunteers' tabs: each with a context of its own (a person's browser), opened, closed, reloaded and cut off as people do. */
import { expect, type Browser, type BrowserContext, type Page } from '@playwright/test';

export class Tab {
  private constructor(
    readonly name: string,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  static async open(browser: Browser, url: string, name: string, slots = 2): Promise<Tab> {
    const context = await browser.newContext();
    const page = await context.newPage();
    const tab = new Tab(name, context, page);
    page.on('pageerror', (e) => console.error(`[${name}] page error: ${e.message}`));
    await page.goto(`${url}/volunteer?start&slots=${slots}&name=${name}`);
    await tab.ready();
    return tab;
  }

  /** Waits until the page says that it is connected. */
  async ready(): Promise<void> {
    await expect(this.page.getByTestId('volunteer-state')).toHaveText(/idle|ready|working/i, { timeout: 20_000 });
  }

  /** The person closes the tab: pagehide runs, then everything is gone. */
  async close(): Promise<void> {
    await this.page.close({ runBeforeUnload: false });
    await this.context.close();
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  /** The renderer dies: no handler runs. */
  async crash(): Promise<void> {
    await this.page.goto('chrome://crash').catch(() => undefined);
    await this.context.close();
  }

  async offline(forMs: number): Promise<void> {
    await this.context.setOffline(true);
    await new Promise((r) => setTimeout(r, forMs));
    await this.context.setOffline(false);
  }
}
