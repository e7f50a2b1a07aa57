/** Two servers over one PostgreSQL: the one that serves is killed, and a tab goes on with the other. */
import { needPrograms } from '@mayfly/storage/test-postgres';
import { expect, test } from '@playwright/test';
import { Client, source } from '../src/client.ts';
import { openDashboard } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { Browsers, BrowserTab } from '../src/nodes/tab.ts';
import { PATIENT } from '../src/server.ts';
import { Servers } from '../src/servers.ts';

const programs = needPrograms();
const SUMS = `
import { COMM_WORLD as comm, SUM, stdin } from 'mayfly';
let all = 0;
for (let round = 1; round <= 20; round++) {
  all += comm.allreduce(round * 10 + comm.rank, SUM);
  if (comm.rank === 0 && round === 10) {
    console.log('half ' + all);
    stdin.readLine();
  }
}
if (comm.rank === 0) console.log('all ' + all);
`;
const sum = (rounds: number): number =>
  Array.from({ length: rounds }, (_, k) => 20 * (k + 1) + 1).reduce((a, b) => a + b);

let servers: Servers | undefined;
const browsers = new Browsers();
showLogOnFailure(() => servers);
test.afterAll(async () => {
  await browsers.close();
  await servers?.stop();
});

test('a tab goes on with the other server when the one that serves is killed; the owner lets another one serve', async () => {
  test.skip(programs === undefined);
  servers = await Servers.start(2, PATIENT);
  const client = new Client(servers);
  const tab = await BrowserTab.open(servers.url, 'tab', 2, browsers);
  const { id } = await client.submit(source('sums', SUMS), 2, [], { interactive: true });
  await client.until(id, 'half way', (job) => job.outputBytes > 0);
  await servers.kill9();
  await expect(async () => client.input(id)).toPass();
  const end = await client.ended(id);
  expect(end.state).toBe('done');
  // The tab kept its ranks: it is the server that was lost.
  expect(end.faults).toEqual([]);
  expect((await client.answer(end)).stdout).toEqual([`half ${sum(10)}\nall ${sum(20)}\n`, '']);

  await servers.begin();
  const page = await tab.context.newPage();
  await openDashboard(page, servers, '/server');
  const list = page.getByRole('region', { name: 'Servers' });
  await expect(list.getByText('Stands by', { exact: true })).toBeVisible();
  await expect(list.getByText('Serves', { exact: true })).toBeVisible();
  // What begins now has its Channel Memory at the other server.
  await expect.poll(() => servers!.log).toMatch(/another server has seats[^]*another server has seats/);
  const next = await client.submit(source('sums', SUMS), 2, [], { interactive: true });
  await client.until(next.id, 'half way', (job) => job.outputBytes > 0);
  await expect(list.locator('dt:has-text("Stands by") + dd')).toContainText(
    /passes \d+ messages? a second on, for 1 job/,
  );
  await expect(list.locator('dt:has-text("Serves") + dd')).toContainText('passes no messages on');
  await page.screenshot({ path: test.info().outputPath('servers.png') });

  const served = (await list.locator('dt:has-text("Serves") + dd .mono').textContent())!;
  await list.getByRole('button', { name: 'Let another one serve' }).click();
  await page.getByRole('button', { name: 'Hand over' }).click();
  await expect(list.locator('dt:has-text("Stands by") + dd .mono')).toHaveText(served);
  await expect(list.locator('dt:has-text("Serves") + dd .mono')).not.toHaveText(served);
  // …and goes on at the one that serves then.
  await expect(async () => client.input(next.id)).toPass();
  const after = await client.ended(next.id);
  expect([after.state, after.faults]).toEqual(['done', []]);
  expect((await client.answer(after)).stdout).toEqual([`half ${sum(10)}\nall ${sum(20)}\n`, '']);
  await tab.kill();
});
