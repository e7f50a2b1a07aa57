/** Progress that a program states, in real tabs: the bar, its words in page and list, and what lost ranks do to it. */
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

/** A quarter, and a half once there is a line. */
const PROGRAM = `import { COMM_WORLD as comm, stdin } from 'mayfly';
const go = (): void => {
  if (comm.rank === 0) stdin.readLine();
  comm.barrier();
};
comm.progress(1, 4);
go();
comm.progress(0.5);
go();`;

test('a bar with an estimate, in the job and in the list; lost ranks do not take it back', async ({
  page,
  browser,
}, info) => {
  const client = new Client(server);
  const tab = await Tab.open(browser, server.url, 'states', 2);
  const { id } = await client.submit(source('states', PROGRAM), 2, [], { interactive: true });
  await openDashboard(page, server, `/jobs/${id}`);
  const bar = page.getByRole('progressbar', { name: 'Progress of the program' });
  const line = page.locator('.job-progress');
  await expect(bar).toHaveAttribute('value', '0.25');
  await expect(line).toHaveText('25 %');
  await expect(tab.page.getByText('· 25 %')).toHaveCount(2);
  await client.input(id);
  await expect(line).toHaveText(/^50 %, about [\d.]+ (s|min) left$/);
  expect(await serious(page)).toEqual([]);
  await info.attach('job', { body: await page.screenshot(), contentType: 'image/png' });
  await tab.close();
  await expect(bar).toHaveAttribute('data-repeats');
  await expect(bar).toHaveAttribute('value', '0.5');
  await expect(line).toContainText('2 ranks are catching up');
  await expect(page.locator('.rank-card .tag').first()).toHaveText(/^waiting for a/);
  const outside = await page.locator('.rank-card').evaluateAll((cards) =>
    cards.flatMap((card) => {
      const edge = card.getBoundingClientRect().right - parseFloat(getComputedStyle(card).paddingRight);
      const tag = card.querySelector('.tag')!;
      return tag.getBoundingClientRect().left + tag.scrollWidth > edge + 1 ? [tag.textContent] : [];
    }),
  );
  expect(outside).toEqual([]);
  await info.attach('lost', { body: await page.screenshot(), contentType: 'image/png' });
  const next = await Tab.open(browser, server.url, 'next', 2);
  await expect(bar).not.toHaveAttribute('data-repeats');
  await expect(bar).toHaveAttribute('value', '0.5');
  await openDashboard(page, server);
  const row = page.getByRole('rowheader', { name: /states/ });
  await expect(row).toContainText('program at 50 %');
  await expect(row.locator('progress')).toHaveAttribute('value', '0.5');
  await info.attach('list', { body: await page.screenshot(), contentType: 'image/png' });
  await client.input(id);
  await client.ended(id);
  await expect(row).toContainText('2 ranks finished');
  await expect(row).not.toContainText('program at');
  await next.close();
});
