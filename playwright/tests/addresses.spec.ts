/** A class is never sent to an address from which its tabs could not compute. */
import { expect, test, type Locator, type Page } from '@playwright/test';
import { Client } from '../src/client.ts';
import { openDashboard } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { ServerProcess } from '../src/server.ts';
import { Tab } from '../src/tabs.ts';

let server: ServerProcess;

test.beforeAll(async () => {
  server = await ServerProcess.start();
});
test.afterAll(() => server?.stop());
showLogOnFailure(() => server);

/** The page of a server that others know under this address. */
async function knownAs(page: Page, publicUrl: string): Promise<void> {
  await page.unrouteAll();
  await page.route('**/api/info', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), publicUrl } });
  });
}

test('a QR code only for an address that works; else what is wrong and the remedy', async ({ page, browser }, info) => {
  await new Client(server).json('POST', '/api/rooms', { name: 'Physics' });
  const room = page.getByRole('article', { name: 'Room Physics' });
  const code = room.getByRole('img', { name: /QR code/ });
  await knownAs(page, 'https://mayfly.example.org');
  await openDashboard(page, server, '/rooms');
  await expect(code).toBeVisible();
  await expect(page.getByTestId('unreachable')).toHaveCount(0);
  // It stays at the top of a card that grows with its board.
  await room.evaluate((card) => (card.style.minHeight = '60rem'));
  const edge = async (of: Locator): Promise<number> => Math.round((await of.boundingBox())!.y);
  expect(await edge(code.locator('rect'))).toBe(await edge(room.getByRole('heading', { name: 'Physics' })));
  await room.evaluate((card) => (card.style.minHeight = ''));

  // For a projector, and back.
  const wide = async (): Promise<number> => (await code.boundingBox())!.width;
  const before = await wide();
  await room.getByRole('button', { name: 'Show large' }).click();
  await expect.poll(wide).toBeGreaterThan(1.5 * before);
  await expect(room.getByText('0 tabs here')).toBeVisible();
  await expect(room.getByRole('link', { name: 'New job in this room' })).toBeHidden();
  await info.attach('large', { body: await page.screenshot(), contentType: 'image/png' });
  const tab = await Tab.open(browser, server.url, 'pupil', 1, (await room.getByLabel(/^Join code/).textContent())!);
  await expect(room.getByText('1 tab here')).toBeVisible();
  await tab.close();
  await page.evaluate(() => document.exitFullscreen());
  await expect.poll(wide).toBe(before);

  await knownAs(page, 'http://192.0.2.2:7801');
  await openDashboard(page, server, '/rooms');
  await expect(room).toContainText('browsers want HTTPS');
  await expect(room).toContainText('--tls-self-signed');
  await expect(code).toHaveCount(0);
  await openDashboard(page, server, '/nodes');
  await expect(page.getByTestId('unreachable')).toContainText('cannot compute');
});

test('a new token comes as a link and a QR code, where another device reaches the address', async ({ page }) => {
  const made = page.getByLabel('The new token');
  const create = async (name: string, publicUrl?: string): Promise<void> => {
    await (publicUrl === undefined ? page.unrouteAll() : knownAs(page, publicUrl));
    await openDashboard(page, server, '/tokens');
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create the token' }).click();
    const token = (await made.getByTestId('new-token').textContent())!;
    await expect(made.getByRole('link')).toHaveAttribute('href', `${publicUrl ?? server.url}/dashboard?token=${token}`);
  };
  await create('Class 7a');
  await expect(made.getByRole('img')).toHaveCount(0);
  await create('Class 7b', 'https://mayfly.example.org');
  await expect(made.getByRole('img', { name: 'QR code of the link with the token of Class 7b' })).toBeVisible();
});
