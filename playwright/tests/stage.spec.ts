/** The stage of a job: ranks in their tabs; a closed tab is left, its ranks wait, and float to the next one. */
import { expect, test } from '@playwright/test';
import { Client, source } from '../src/client.ts';
import { openDashboard } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { serious } from '../src/looks.ts';
import { ServerProcess } from '../src/server.ts';
import { Tab } from '../src/tabs.ts';

let server: ServerProcess;
test.beforeAll(async () => {
  server = await ServerProcess.start();
});
test.afterAll(() => server?.stop());
showLogOnFailure(() => server);

/** Rank 0 sends a message for each line that it reads. */
const PROGRAM = `import { COMM_WORLD as comm, stdin } from 'mayfly';
const one = new Float64Array(1);
for (let i = 0; i < 3; i++)
  if (comm.rank === 0) {
    stdin.readLine();
    comm.send(one, 1, 0);
  } else comm.recv(one, 0, 0);`;

test('a tab that is closed is left, and its rank floats to the next one', async ({ browser }, info) => {
  const client = new Client(server);
  const first = await Tab.open(browser, server.url, 'first', 1);
  const second = await Tab.open(browser, server.url, 'second', 1);
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 1000 } })).newPage();
  const { id } = await client.submit(source('staged', PROGRAM), 2, [], { interactive: true });
  await openDashboard(page, server, `/jobs/${id}`);
  const stage = page.getByTestId('stage');
  await expect(stage).toHaveAccessibleName(/first: 1 waiting/);
  await expect(stage).toHaveAccessibleName(/second: 1 waiting/);
  // A dot for a message that is logged now; it may be gone when one looks.
  await page.evaluate(() => {
    const flown = { n: 0 };
    Object.assign(globalThis, { flown });
    new MutationObserver((all) => {
      for (const m of all) for (const e of m.addedNodes) if ((e as Element).className === 'stage-dot') flown.n++;
    }).observe(document.querySelector('.stage')!, { subtree: true, childList: true });
  });
  await client.input(id);
  await expect.poll(() => page.evaluate(() => (globalThis as unknown as { flown: { n: number } }).flown.n)).toBe(1);
  await info.attach('two tabs', { body: await page.screenshot(), contentType: 'image/png' });
  // For a projector, and back.
  const wide = async (): Promise<number> => (await stage.locator('.stage-rank').first().boundingBox())!.width;
  const before = await wide();
  await page.getByRole('button', { name: 'Show large' }).click();
  await expect.poll(wide).toBeGreaterThan(1.5 * before);
  await info.attach('large', { body: await page.screenshot(), contentType: 'image/png' });
  await page.evaluate(() => document.exitFullscreen());
  await expect.poll(wide).toBe(before);
  await second.close();
  await expect(stage).toHaveAccessibleName(/second: left; without a node: 1 waiting for a slot/);
  expect(await serious(page)).toEqual([]);
  await info.attach('one is lost', { body: await page.screenshot(), contentType: 'image/png' });
  const third = await Tab.open(browser, server.url, 'third', 1);
  // In the window that was left.
  await expect(stage).toHaveAccessibleName(/third: 1 waiting/);
  await expect(stage).not.toHaveAccessibleName(/second|without a node/);
  await client.input(id);
  await client.input(id);
  await client.ended(id);
  await expect(stage).toHaveAccessibleName(/first: 1 done/);
  await info.attach('done', { body: await page.screenshot(), contentType: 'image/png' });
  await page.context().close();
  await first.close();
  await third.close();
});
