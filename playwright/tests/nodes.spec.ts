/**
 * How the slots of nodes are used, as the dashboard shows it: in the list, and on a node's own page; of a tab that
 * works, one that waits, and a node that is frozen and killed.
 */
import { expect, test, type Browser, type Page } from '@playwright/test';
import { Client, source } from '../src/client.ts';
import { openDashboard } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { complaints, serious, shifts, watchShifts } from '../src/looks.ts';
import { HeadlessProcess } from '../src/nodes/headless.ts';
import { ServerProcess } from '../src/server.ts';
import { Tab } from '../src/tabs.ts';

let server: ServerProcess;
let client: Client;
let frozen: HeadlessProcess | undefined;

test.beforeAll(async () => {
  server = await ServerProcess.start();
  client = new Client(server);
});
test.afterEach(() => frozen?.dispose());
test.afterAll(() => server?.stop());
showLogOnFailure(() => server);

async function open(browser: Browser, path: string, width: number): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width, height: 2000 } })).newPage();
  await openDashboard(page, server, path);
  return page;
}
const idOf = async (name: string): Promise<string> => (await client.nodes()).find((n) => n.name === name)!.id;
/** What the newest column says. */
const reading = (page: Page) => page.getByTestId('use-reading');
const picture = (page: Page) =>
  page.getByRole('region', { name: 'Use of its slots', exact: true }).getByRole('img').first();

test(
  'a tab whose rank computes shows computing, one whose rank waits waiting, a frozen node silence; a killed ' +
    'one keeps its picture',
  async ({ browser }, info) => {
    const [list, ...tabs] = await Promise.all([
      open(browser, '', 360),
      Tab.open(browser, server.url, 'left', 1),
      Tab.open(browser, server.url, 'right', 1),
    ]);
    const found = [complaints(list)];
    const row = (page: Page, name: string) =>
      page.getByRole('region', { name: 'Table of nodes' }).getByRole('row', { name });
    await expect(row(list, 'left')).toBeVisible();

    // Somebody watches a node from before its rank to behind its end, and nothing moves.
    const watcher = await open(browser, `/nodes/${await idOf('left')}`, 360);
    await expect(reading(watcher)).toContainText('From');
    await watchShifts(watcher);
    const { id } = await client.submit(
      source(
        'busy',
        `import { COMM_WORLD as comm } from 'mayfly';\nif (comm.rank === 0) for (;;) Math.sqrt(2);\nelse ` +
          `comm.recv(new Float64Array(1), 0, 7);\n`,
      ),
      2,
    );
    const { tasks } = await client.until(id, 'running', (j) => j.tasks.every((t) => t.state === 'running'));
    const [node, waits] = await Promise.all([
      HeadlessProcess.start(server.url, 'frozen', 1),
      open(browser, `/nodes/${tasks[1]!.node!}`, 1400),
    ]);
    frozen = node;
    const still = await open(browser, `/nodes/${await idOf('frozen')}`, 1400);
    for (const p of [waits, still]) found.push(complaints(p));

    // From the list to a node, and its ranks.
    await row(list, tasks[0]!.nodeName!).getByRole('link').click();
    await expect(list.getByRole('heading', { level: 1 })).toHaveText(tasks[0]!.nodeName!);
    await expect(list.getByTestId('node-ranks').getByRole('row', { name: 'busy 0 computing' })).toBeVisible();
    await expect(waits.getByTestId('node-ranks')).toContainText('waits in MPI_Recv for rank 0, tag 7');
    await expect(reading(list)).toContainText(/: computing (9\d|100) %/);
    await expect(reading(waits)).toContainText(/: waiting (9\d|100) %/);
    await expect(picture(waits)).toHaveAccessibleName(/waiting \d+ %.* last \d+/);
    await expect(reading(still)).toContainText('idle 100 % of 1 slot');
    await node.freeze();
    // Meanwhile: a moment by keyboard, and in numbers.
    await waits.getByRole('group', { name: /^Use of its slots/ }).focus();
    await waits.keyboard.press('End');
    await expect(reading(waits)).toContainText(/: waiting (9\d|100) %/);
    await waits.keyboard.press('Home');
    await expect(reading(waits)).toContainText('no data');
    await waits.keyboard.press('Escape');
    await waits.getByText('As a table').click();
    await expect(waits.getByTestId('use-table').getByRole('row').nth(1).getByRole('cell').nth(1)).toHaveText(/^\d+ %$/);
    expect(await serious(waits)).toEqual([]);
    await info.attach('waits', { body: await waits.screenshot({ fullPage: true }), contentType: 'image/png' });
    await client.json('POST', `/api/jobs/${id}/cancel`);
    await expect(watcher.getByTestId('node-ranks').getByRole('row', { name: 'free' })).toBeVisible();
    expect(await shifts(watcher)).toEqual([]);
    expect(await serious(watcher)).toEqual([]);
    expect(await watcher.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await info.attach('watched', { body: await watcher.screenshot({ fullPage: true }), contentType: 'image/png' });

    await expect(picture(still)).toHaveAccessibleName(/silent \d+ %/);
    node.thaw();
    await expect(still.getByText('Connected since')).toBeVisible();
    await expect(picture(still)).toHaveAccessibleName(/idle \d+ %.* silent|silent \d+ %.* idle/); // the same node
    await node.kill();
    await expect(still.getByText('the data shown is from then')).toBeVisible();
    await expect(picture(still)).toHaveAccessibleName(/idle \d+ %/);
    await info.attach('gone', { body: await still.screenshot({ fullPage: true }), contentType: 'image/png' });

    // All of them together.
    await list.getByRole('link', { name: 'All nodes' }).click();
    await expect(list.getByTestId('pool')).toContainText('0 % of 2 slots computing');
    await expect(row(list, 'left').getByRole('img')).toHaveAccessibleName(/(computing|waiting) \d+ %/);
    expect(await serious(list)).toEqual([]);
    await info.attach('list', { body: await list.screenshot({ fullPage: true }), contentType: 'image/png' });
    // The address of the list leads to it, however many jobs stand above.
    await list.setViewportSize({ width: 1280, height: 300 });
    await list.goto(`${server.url}/dashboard/nodes`);
    await expect(list.getByRole('heading', { name: 'Nodes' })).toBeInViewport();
    // One that there is not.
    await list.goto(`${server.url}/dashboard/nodes/0123456789abcdef`);
    await expect(list.getByRole('alert')).toContainText('There is no node 0123456789abcdef');
    expect(found.flat()).toEqual([]);
    for (const p of [list, watcher, waits, still]) await p.context().close();
    for (const tab of tabs) await tab.close();
  },
);
