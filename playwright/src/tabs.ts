/** Volunteers' tabs in the test's browser, each with a context of its own. What faults are done to: nodes/tab.ts. */
import { expect, type Browser, type BrowserContext, type Page } from '@playwright/test';

export class Tab {
  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  static async open(browser: Browser, url: string, name: string, slots = 2, room?: string): Promise<Tab> {
    const context = await browser.newContext();
    const page = await context.newPage();
    const tab = new Tab(context, page);
    page.on('pageerror', (e) => console.error(`[${name}] page error: ${e.message}`));
    const where = room === undefined ? '' : `&room=${room}`;
    await page.goto(`${url}/volunteer?start&ease=0&slots=${slots}&name=${name}${where}`);
    await tab.ready();
    return tab;
  }

  /** Waits until the page says that it is connected. */
  async ready(): Promise<void> {
    await expect(this.page.getByTestId('volunteer-state')).toHaveText(/idle|ready|working/i);
  }

  /** The person closes the tab: pagehide runs, then everything is gone. */
  async close(): Promise<void> {
    await this.page.close({ runBeforeUnload: false });
    await this.context.close();
  }
}
