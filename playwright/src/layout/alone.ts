/**
 * The built pages in a browser, without a server: the test gives the answers of REST. The live connection does not come
 * about, so that the pages ask by REST again and again, by a clock that the test moves.
 */
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Page, Route } from '@playwright/test';
import { ROOT } from '../server.ts';

const DIST = join(ROOT, 'apps/web/dist');
const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
/** A secure context, which nobody listens at. */
const ORIGIN = 'http://pages.localhost';
/** When each page is opened, ms. */
export const NOW = Date.UTC(2026, 5, 1, 12);
/** Longer than any page waits before it asks again, ms. */
const AGAIN_MS = 16_000;

/** What REST answers, by path. */
export type Answers = Readonly<Record<string, unknown>>;

export class Alone {
  answers: Answers = {};

  private constructor(readonly page: Page) {}

  static async of(page: Page): Promise<Alone> {
    const alone = new Alone(page);
    await page.clock.install({ time: NOW });
    await page.route(`${ORIGIN}/**`, (route) => alone.#answer(route));
    return alone;
  }

  async open(path: string): Promise<void> {
    await this.page.clock.setSystemTime(NOW);
    await this.page.goto(`${ORIGIN}${path}${path.includes('?') ? '&' : '?'}token=x`);
    await this.page.evaluate(() => document.fonts.ready);
  }

  /** The pages ask once more. */
  async askAgain(): Promise<void> {
    await this.page.clock.fastForward(AGAIN_MS);
  }

  async #answer(route: Route): Promise<void> {
    const { pathname } = new URL(route.request().url());
    if (pathname.startsWith('/socket.io/')) return route.abort();
    if (pathname.startsWith('/api/')) {
      const json = this.answers[pathname.slice('/api/'.length)];
      return json === undefined
        ? route.fulfill({ status: 404, json: { code: 'NOT_FOUND', message: `the test has no ${pathname}` } })
        : route.fulfill({ json });
    }
    const file = extname(pathname) === '' ? 'index.html' : pathname;
    await route.fulfill({
      body: await readFile(join(DIST, file)),
      contentType: TYPES[extname(file)] ?? 'text/html',
    });
  }
}
