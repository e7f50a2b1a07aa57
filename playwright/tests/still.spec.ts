/**
 * Nothing moves under the eyes of one who watches a job, until it fails, at two widths. The lists, and a job that ends
 * well: pages.spec.ts.
 */
import { expect, test, type Browser, type Page } from '@playwright/test';
import { Client, source } from '../src/client.ts';
import { headline, openDashboard } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { complaints, serious, shifts, watchShifts } from '../src/looks.ts';
import { ServerProcess } from '../src/server.ts';
import { Tab } from '../src/tabs.ts';

const WIDTHS = [1400, 360];

let server: ServerProcess;
let client: Client;

test.beforeAll(async () => {
  server = await ServerProcess.start();
  client = new Client(server);
});
test.afterAll(() => server?.stop());
showLogOnFailure(() => server);

/** A job whose ranks all wait, until rank 0 has read a line. */
async function waiting(name: string, then: string, size: number): Promise<string> {
  const text =
    `import { COMM_WORLD as comm, stdin } from 'mayfly';\nif (comm.rank === 0) ` +
    `stdin.readLine();\ncomm.barrier();\n${then}\n`;
  const { id } = await client.submit(source(name, text), size, [], { interactive: true });
  await client.until(
    id,
    'waiting',
    (j) => j.tasks.length === size && j.tasks.every((t) => t.state === 'running' && t.activity?.state === 'waiting'),
  );
  return id;
}

interface Watcher {
  what: string;
  page: Page;
  found: string[];
}

/**
 * Those who look at all of a page and touch nothing: what is out of sight counts as no shift. `there`: what a view
 * shows once it has read what it shows.
 */
async function watchersOf(
  browser: Browser,
  job: string,
  views: Readonly<Record<string, (page: Page) => Promise<void>>>,
): Promise<Watcher[]> {
  const at = async (width: number): Promise<Watcher[]> => {
    const context = await browser.newContext({ viewport: { width, height: 2000 } });
    const watchers: Watcher[] = [];
    for (const [view, there] of Object.entries(views)) {
      const page = await context.newPage();
      watchers.push({ what: `${view} at ${width} px`, page, found: complaints(page) });
      await openDashboard(page, server, `/jobs/${job}?view=${view}`);
      await expect(page.getByRole('button', { name: 'Cancel job' })).toBeVisible(); // it knows who looks
      await there(page);
      await watchShifts(page);
    }
    return watchers;
  };
  return (await Promise.all(WIDTHS.map(at))).flat();
}

const overview = (page: Page) => expect(page.getByTestId('rank-1')).toHaveAttribute('data-state', 'running');
const faults = async (page: Page) => {
  await expect(page.getByTestId('events')).toContainText('assigned to a node');
  await expect(page.getByLabel('Checkpoints by rank').getByRole('row')).toHaveCount(3);
};
const profile = (page: Page) => expect(page.getByTestId('profile-calls')).toContainText('MPI_Barrier');
const timeline = (page: Page) => expect(page.getByTestId('timeline')).toHaveAttribute('data-known', 'yes');
const messages = (page: Page) => expect(page.getByTestId('matrix-table').getByRole('row').nth(1)).toBeVisible();
const charts = (page: Page) => expect(page.getByTestId('chart-reading')).toContainText('messages');

test('a job that loses a rank and throws', async ({ browser }, info) => {
  const tab = await Tab.open(browser, server.url, 'two slots');
  const long =
    'no convergence after a thousand steps, whatever one tries, which is more than one line has room for, on ' +
    'a wide page and on a narrow one';
  const id = await waiting('throws', `if (comm.rank === 1) throw new RangeError('${long}');\ncomm.barrier();`, 2);
  const watchers = await watchersOf(browser, id, { overview, faults, profile });
  await client.json('POST', `/api/jobs/${id}/tasks/1/kill`);
  await client.until(
    id,
    'recovered',
    (j) => j.faults.length > 0 && j.faults.every((f) => f.recoveredAfterMs !== undefined),
  );
  await client.input(id);
  for (const { what, page, found } of watchers) {
    await expect(headline(page)).toContainText('Failed');
    const alert = page.getByRole('alert');
    await expect(alert).toContainText(`RangeError: ${long}`); // whole, for screen readers
    await expect(alert).toContainText('main.ts:4');
    expect.soft(await shifts(page), what).toEqual([]);
    await info.attach(what, { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
    expect(await serious(page), what).toEqual([]);
    expect(found, what).toEqual([]);
    if (what.startsWith('faults')) {
      await expect(page.getByLabel('Faults, newest first')).toContainText('killed manually');
      await expect(page.getByTestId('events')).not.toContainText('killed manually'); // its rows keep their places
      await page.getByRole('button', { name: /^Show \d+ new events?$/ }).click();
      await expect(page.getByTestId('events')).toContainText('lost: killed manually');
    }
    if (!what.startsWith('overview')) continue;
    // What only a running job has room for is gone.
    await expect(page.getByRole('button', { name: /^(Kill|Checkpoint) / })).toHaveCount(0);
    await expect(page.getByRole('form', { name: 'Standard input' })).toHaveCount(0);
    const card = async () => (await page.getByTestId('rank-1').boundingBox())!.height;
    const watched = await card();
    const stack = page.getByTestId('job-error').locator('pre');
    await expect(stack).not.toBeInViewport();
    await page.getByRole('button', { name: 'Details' }).click();
    await expect(stack).toBeInViewport({ ratio: 1 });
    await page.reload(); // whoever comes later finds it open
    await expect(stack).toBeInViewport({ ratio: 1 });
    expect(await card()).toBe(watched);
  }
  for (const { page } of watchers) await page.context().close();
  await tab.close();
});

test('a deadlock, whose report has a line for each rank', async ({ browser }) => {
  const tab = await Tab.open(browser, server.url, 'two slots');
  const id = await waiting('stuck', 'comm.recv(new Float64Array(1), 1 - comm.rank, 7);', 2);
  const watchers = await watchersOf(browser, id, { overview, timeline, messages, charts });
  await client.input(id);
  for (const { what, page, found } of watchers) {
    await expect(page.getByRole('alert')).toContainText('rank 0 waits in MPI_Recv for rank 1, tag 7');
    expect.soft(await shifts(page), what).toEqual([]);
    // Who waits for whom is there at once, as a picture and in words.
    await expect(page.getByTestId('wait-picture')).toBeInViewport();
    await expect(page.getByTestId('wait-picture')).toHaveAccessibleName(
      'rank 0 waits for rank 1, rank 1 waits for rank 0',
    );
    if (what.startsWith('overview'))
      await expect(page.getByTestId('rank-1')).toContainText('waited in MPI_Recv for rank 0, tag 7, at main.ts:4');
    expect(found, what).toEqual([]);
  }
  for (const { page } of watchers) await page.context().close();
  await tab.close();
});

test('an answer that was under way for longer does not take the end back', async ({ browser }) => {
  const tab = await Tab.open(browser, server.url, 'two slots');
  const id = await waiting('late', `throw new RangeError('no convergence');`, 2);
  const page = await (await browser.newContext()).newPage();
  await page.route(`**/api/jobs/${id}`, async (route) => {
    const response = await route.fetch(); // of a job that runs
    await expect(page.getByTestId('rank-1')).toHaveAttribute('data-state', 'running');
    await client.input(id);
    await expect(headline(page)).toContainText('Failed');
    await route.fulfill({ response });
  });
  const [answered] = await Promise.all([
    page.waitForResponse((r) => r.url().endsWith(`/api/jobs/${id}`)),
    openDashboard(page, server, `/jobs/${id}`),
  ]);
  await answered.finished();
  await page.evaluate(() => new Promise((shown) => requestAnimationFrame(() => setTimeout(shown, 300))));
  expect(await headline(page).textContent()).toContain('Failed'); // at once: a later answer would hide it
  await page.context().close();
  await tab.close();
});
