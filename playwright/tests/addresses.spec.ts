/** A class is never sent to an address from which its tabs could not compute. */
import { expect, test, type Page } from '@playwright/test';
import { Client } from '../src/client.ts';
import { openDashboard } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { ServerProcess } from '../src/server.ts';

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

test('a QR code only for an address that works; else what is wrong and the remedy', async ({ page }) => {
  await new Client(server).json('POST', '/api/rooms', { name: 'Physics' });
  const room = page.getByRole('article', { name: 'Room Physics' });
  const code = room.getByRole('img', { name: /QR code/ });
  await knownAs(page, 'https://mayfly.example.org');
  await openDashboard(page, server, '/rooms');
  await expect(code).toBeVisible();
  await expect(page.getByTestId('unreachable')).toHaveCount(0);

  await knownAs(page, 'http://192.0.2.2:7801');
  await openDashboard(page, server, '/rooms');
  await expect(room).toContainText('browsers want HTTPS');
  await expect(room).toContainText('--tls-self-signed');
  await expect(code).toHaveCount(0);
  await openDashboard(page, server, '/nodes');
  await expect(page.getByTestId('unreachable')).toContainText('cannot compute');
});
