/**
 * `kill -9` of the server under a real tab and under a page that somebody looks at: the tab keeps its ranks, the page
 * says that it has lost the server, and the job ends with its answer.
 */
import { expect, test } from '@playwright/test';
import { Client, source } from '../src/client.ts';
import { headline, openDashboard } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { ServerProcess } from '../src/server.ts';
import { Tab } from '../src/tabs.ts';

let server: ServerProcess;
test.beforeAll(async () => {
  server = await ServerProcess.start();
});
test.afterAll(() => server?.stop());
showLogOnFailure(() => server);

/** Numbers are folded around a ring; the second half waits for a line. Each one that is lost or doubled shows. */
const PROGRAM = `import { COMM_WORLD as comm, stdin } from 'mayfly';
let x = comm.rank + 1;
for (let step = 0; step < 20; step++) {
  if (step === 10) { console.log('half'); if (comm.rank === 0) stdin.readLine(); comm.barrier(); }
  comm.sendObject(x, (comm.rank + 1) % comm.size, 1);
  const { value } = comm.recvObject<number>((comm.rank + comm.size - 1) % comm.size, 1);
  x = (x * 31 + value + step) % 1000003;
}
console.log('answer ' + x);`;

/** What the ranks print at the end. */
function answers(size: number): string[] {
  let x = Array.from({ length: size }, (_, r) => r + 1);
  for (let step = 0; step < 20; step++)
    x = x.map((own, r) => (own * 31 + x[(r + size - 1) % size]! + step) % 1_000_003);
  return x.map((n) => `half\nanswer ${n}\n`);
}

test('the server is killed under a tab: the page says so, the tab keeps its ranks, the answer is right', async ({
  page,
  browser,
}) => {
  const client = new Client(server);
  const tab = await Tab.open(browser, server.url, 'stays', 2);
  const { id } = await client.submit(source('ring', PROGRAM), 2, [], { interactive: true, team: 1 });
  await openDashboard(page, server, `/jobs/${id}`);
  await client.until(id, 'at its half', (j) => j.tasks[0]?.activity?.call === 'stdin');
  await expect(headline(page)).toContainText('Running');

  await server.kill9();
  await expect(page.getByText('No connection to the server')).toBeVisible();
  await server.begin();

  await client.input(id);
  const job = await client.until(id, 'done', ({ state }) => state === 'done');
  await expect(headline(page)).toContainText('Done');
  expect(job.tasks.map((t) => t.incarnation)).toEqual([0, 0]);
  expect((await client.answer(job)).stdout).toEqual(answers(2));
  await tab.close();

  // It came back as it was. Then it comes back with other pages.
  const upgraded = page.getByText('Mayfly was upgraded');
  await expect(upgraded).toBeHidden();
  const other = '<!doctype html><script type="module" src="/assets/other.js"></script>';
  await page.route(`${server.url}/`, (route) => route.fulfill({ contentType: 'text/html', body: other }));
  await server.kill9();
  await expect(page.getByText('No connection to the server')).toBeVisible();
  await server.begin();
  await expect(upgraded).toBeVisible();
  await page.getByRole('button', { name: 'Reload' }).click();
  await expect(upgraded).toBeHidden();
  await expect(headline(page)).toContainText('Done');
});
