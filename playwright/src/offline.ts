/** The volunteer page, opened while its server is away. */
import { expect, type Page, type TestInfo } from '@playwright/test';
import { serious } from './looks.ts';
import type { ServerProcess } from './server.ts';

/**
 * In the browser of this volunteer, while the server is down: the page says so, and comes when the server does (it is started here): the server's own, isolated
 * as ever, with nothing kept of it.
 */
export async function openedMeanwhile(volunteer: Page, server: ServerProcess, info: TestInfo): Promise<void> {
  await volunteer.evaluate(async () => void (await navigator.serviceWorker.ready));
  const late = await volunteer.context().newPage();
  await late.goto(`${server.url}/volunteer`);
  await expect(late.getByRole('heading')).toHaveText('No connection to the server');
  expect(await serious(late)).toEqual([]);
  await info.attach('no connection', { body: await late.screenshot(), contentType: 'image/png' });
  await server.begin();
  await expect(late.getByTestId('volunteer-state')).toHaveText('Off');
  expect(await late.evaluate(async () => [crossOriginIsolated, navigator.serviceWorker.controller !== null, await caches.keys()])).toEqual([true, true, []]);
  await late.close();
}
