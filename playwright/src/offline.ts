/** The volunteer page where something is in its way: its server is away or restarts, or a proxy took its headers. */
import { expect, type Browser, type Page, type TestInfo } from '@playwright/test';
import { serious } from './looks.ts';
import type { ServerProcess } from './server.ts';

/**
 * In the browser of this volunteer, which came by the address `url`, while the server is down: the page says so, and
 * comes when the server does (it is started here): the server's own, isolated as ever, with nothing kept of it.
 */
export async function openedMeanwhile(
  volunteer: Page,
  server: ServerProcess,
  url: string,
  info: TestInfo,
): Promise<void> {
  await volunteer.evaluate(async () => void (await navigator.serviceWorker.ready));
  const late = await volunteer.context().newPage();
  await late.goto(`${url}/volunteer`);
  await expect(late.getByRole('heading')).toHaveText('No connection to the server');
  expect(await serious(late)).toEqual([]);
  await info.attach('no connection', { body: await late.screenshot(), contentType: 'image/png' });
  await server.begin();
  await expect(late.getByTestId('volunteer-state')).toHaveText('Off');
  expect(
    await late.evaluate(async () => [
      crossOriginIsolated,
      navigator.serviceWorker.controller !== null,
      await caches.keys(),
    ]),
  ).toEqual([true, true, []]);
  await late.close();
}

/** A proxy has removed the headers that isolate the page: the page says why it cannot compute, and what to do. */
export async function openedWithoutIsolation(browser: Browser, server: ServerProcess, info: TestInfo): Promise<void> {
  // What passes through a service worker is not seen by `route`.
  const page = await browser.newPage({ serviceWorkers: 'block', viewport: { width: 360, height: 740 } });
  await page.route('**/volunteer?bare', async (route) => {
    const response = await route.fetch();
    const headers = Object.fromEntries(
      Object.entries(response.headers()).filter(([name]) => !name.startsWith('cross-origin-')),
    );
    await route.fulfill({ response, headers });
  });
  await page.goto(`${server.url}/volunteer?bare`);
  await expect(page.getByTestId('volunteer-state')).toHaveText(
    'This browser cannot compute here: This page has no shared memory',
  );
  await expect(
    page.getByText('pass on the headers Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy'),
  ).toBeVisible();
  expect(await serious(page)).toEqual([]);
  await info.attach('not isolated', { body: await page.screenshot(), contentType: 'image/png' });
  await page.close();
}

/** The server restarts while the page loads: a file of each kind is refused once. The page gets there by itself. */
export async function openedDuringRestart(browser: Browser, server: ServerProcess): Promise<void> {
  const page = await browser.newPage({ serviceWorkers: 'block' });
  const refused = new Set<string>();
  await page.route(/\/assets\//, (route) => {
    const kind = /\/assets\/(index-.*\.(?:js|css)|VolunteerPage|entry-browser)/.exec(route.request().url())?.[1];
    if (kind === undefined || refused.has(kind)) return route.continue();
    refused.add(kind);
    return route.fulfill({ status: 503, contentType: 'application/json', body: '{}' });
  });
  await page.goto(`${server.url}/volunteer?start&slots=1`);
  await expect(page.getByTestId('volunteer-state')).toHaveText(/^Idle/);
  expect([...refused].map((kind) => kind.replace(/-[^.]{8}\./, '.')).sort()).toEqual([
    'VolunteerPage',
    'entry-browser',
    'index.css',
    'index.js',
  ]);
  await page.close();
}
