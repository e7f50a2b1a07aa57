/**
 * The owner's pages as a person uses them: the token, submitting from the form, watching, killing a rank, errors. The
 * volunteers' and visitors': visitors.spec.ts.
 */
import { readFileSync } from 'node:fs';
import { expect, test, type Browser, type Page } from '@playwright/test';
import { zipSync } from 'fflate';
import { Client, source } from '../src/client.ts';
import { headline, openDashboard, write } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { complaints, notificationsOf, serious, shifts, watchShifts } from '../src/looks.ts';
import { ServerProcess } from '../src/server.ts';
import { Tab } from '../src/tabs.ts';

let server: ServerProcess;
let client: Client;

test.beforeAll(async () => {
  server = await ServerProcess.start();
  client = new Client(server);
});
test.afterAll(() => server?.stop());
showLogOnFailure(() => server);

const dashboard = (page: Page, path?: string) => openDashboard(page, server, path);

/** Somebody who looks and touches nothing, at all of the page: what is out of sight counts as no shift. */
async function watcherOf(browser: Browser, path: string, width: number): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width, height: 2000 } })).newPage();
  await dashboard(page, path);
  return page;
}

test('the token is asked for, a wrong one refused, a right one kept and not shown', async ({ page, browser }) => {
  await page.goto(`${server.url}/dashboard`);
  await page.getByLabel('Token').fill('not-the-token');
  await page.getByRole('button', { name: 'Open the dashboard' }).click();
  await expect(page.getByText('rejected the last token')).toBeVisible();
  await dashboard(page);
  await expect(page.getByRole('heading', { name: 'Jobs' })).toBeVisible();
  expect(page.url()).toBe(`${server.url}/dashboard`);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Jobs' })).toBeVisible();

  // A token for somebody else, who may look and no more; it ends while the page is open.
  await page.getByRole('link', { name: 'Tokens' }).click();
  await page.getByLabel('Name').fill('Ada');
  await page.getByLabel('Role').selectOption('viewer');
  await page.getByRole('button', { name: 'Create the token' }).click();
  const token = (await page.getByTestId('new-token').textContent())!.trim();
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined })); // as off HTTPS
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await expect(page.getByRole('button', { name: /^Selected: copy it/ })).toBeVisible();
  expect(await page.evaluate(() => getSelection()!.toString())).toBe(token);
  await page.goto(`${server.url}/dashboard?token=${token}`);
  await expect(page.getByRole('heading', { name: 'Jobs' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Rooms' })).toBeVisible();
  expect((await client.request('POST', '/api/rooms', { name: 'x' }, token)).status).toBe(403);
  const owner = await (await browser.newContext()).newPage();
  await dashboard(owner, '/tokens');
  await owner
    .getByRole('row', { name: /^Ada viewer/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  await owner.getByRole('button', { name: 'Revoke it' }).click();
  await expect(owner.getByRole('row', { name: /^Ada/ })).toHaveCount(0);
  await owner.context().close();
  await expect(page.getByText('rejected the last token')).toBeVisible();
});

test('a job waits with its reason, starts when somebody volunteers, shows its picture, and survives a killed rank', async ({
  page,
  browser,
}, info) => {
  const found = complaints(page);
  // Somebody who watches the lists and touches nothing, from before the first job and node.
  const lists = await Promise.all([1400, 360].map((width) => watcherOf(browser, '', width)));
  for (const p of lists) await expect(p.locator('main')).toHaveText(/New job.*No jobs yet.*No nodes connected/s);
  for (const p of lists) await watchShifts(p);
  // What the form submits, smaller, and with a wait behind it: the page has time to show the rank that is killed.
  await page.route('**/api/jobs', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    const job = route.request().postDataJSON() as {
      program: { entry: string; sources: Record<string, string> };
      args: string[];
      options?: object;
    };
    expect(job.args).toEqual(['--width', '768', '--iterations', '2000', '--repeat', '8']);
    job.args = ['--width', '192', '--iterations', '400'];
    job.program.sources['held.ts'] =
      `import './${job.program.entry}';\nimport { COMM_WORLD as comm, stdin } from 'mayfly';\nif (comm.rank ` +
      `=== 0) stdin.readLine();\ncomm.barrier();\n`;
    job.program.entry = 'held.ts';
    job.options = { ...job.options, interactive: true };
    await route.continue({ postData: JSON.stringify(job) });
  });
  // However slow the server: until the example is there, there is no form whose other program could be submitted in its
  // place.
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route('**/api/examples', async (route) => {
    await held;
    await route.continue();
  });
  await dashboard(page, '/new?example=mandelbrot');
  await expect(page.getByText('Reading mandelbrot')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Submit' })).toHaveCount(0);
  answer();
  await expect(page.getByText('Needs 4 slots; none available')).toBeVisible();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(headline(page)).toContainText('needs 4 slots; none available');
  await expect(
    page.getByTestId('wanted').getByRole('link', { name: 'Compute in a new tab (4 slots)' }),
  ).toHaveAttribute('href', '/volunteer?start&slots=4&ease=0');
  await expect(page.getByRole('form', { name: 'Standard input' })).toContainText('Rank 0 is not waiting for input');

  const volunteer = await (await browser.newContext({ viewport: { width: 360, height: 740 } })).newPage(); // a phone
  found.push(...complaints(volunteer));
  await volunteer.goto(`${server.url}/volunteer?slots=4&ease=0&name=by-click`);
  await expect(volunteer.getByTestId('volunteer-state')).toHaveText('Off');
  await volunteer.getByRole('button', { name: 'Start' }).click();
  await expect(volunteer.getByTestId('volunteer-state')).toHaveText(/Working on “mandelbrot”/);
  await watchShifts(volunteer);

  // The same of the job, from before the loss of a rank to behind the end.
  const id = new URL(page.url()).pathname.split('/').at(-1)!;
  const watchers = await Promise.all([1400, 360].map((width) => watcherOf(browser, `/jobs/${id}`, width)));
  for (const watcher of watchers) {
    await expect(watcher.getByTestId('rank-1')).toHaveAttribute('data-state', 'running');
    for (const name of ['Kill rank 1', 'Run again', 'Cancel job'])
      await expect(watcher.getByRole('button', { name })).toBeVisible(); // it knows who looks
    await watchShifts(watcher);
  }
  await page.getByRole('button', { name: 'Kill rank 1' }).click();
  await client.until(
    id,
    'recovered',
    (j) => j.faults.length > 0 && j.faults.every((f) => f.recoveredAfterMs !== undefined),
  );
  // The button could not be pressed meanwhile, and still has the focus.
  await expect(page.getByRole('button', { name: 'Kill rank 1' })).toBeFocused();
  // The time line and the matrix while the job runs (rank 0 waits for its line), by keyboard and as tables.
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.getByText('As a table').click();
  const lane = page.getByTestId('timeline-table').getByRole('row').nth(2);
  await expect(lane.getByRole('rowheader')).toHaveText('1');
  // its fault; on a machine that stalls for long there are more
  await expect(lane.getByRole('cell').last()).toHaveText(/^[1-9]\d*$/);
  await expect(lane.getByRole('cell').nth(1)).toContainText('%'); // waiting
  const [trace] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download as a trace' }).click(),
  ]);
  expect(
    (
      JSON.parse(readFileSync(await trace.path(), 'utf8')) as {
        traceEvents: { name: string; tid: number; args: { cause?: string } }[];
      }
    ).traceEvents,
  ).toContainEqual(expect.objectContaining({ name: 'fault', tid: 2, args: { incarnation: 0, cause: 'killed' } }));
  await page.getByTestId('timeline').focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByTestId('timeline-cell')).toContainText(/Rank 1, .* to /);
  expect(await serious(page)).toEqual([]);
  await info.attach('timeline', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await page.getByRole('tab', { name: 'Profile' }).click();
  await expect(page.getByTestId('profile-calls').getByRole('row', { name: /^standard input .* rank 0/ })).toBeVisible();
  await expect(page.getByTestId('profile-calls').getByRole('row', { name: /^MPI_Barrier / })).toBeVisible();
  await expect(page.getByTestId('profile-ranks').getByRole('row').nth(2).getByRole('cell').last()).toHaveText(
    'MPI_Barrier',
  );
  expect(await serious(page)).toEqual([]);
  await info.attach('profile', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await page.getByRole('tab', { name: 'Messages' }).click();
  await expect(page.getByTestId('matrix-table').getByRole('row', { name: /^1 0 / })).toBeVisible();
  await page.getByTestId('matrix').focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByTestId('matrix-cell')).toContainText('From rank 0 to rank 0: nothing');
  expect(await serious(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Charts' }).click();
  await expect(page.getByTestId('chart-reading')).toContainText('messages');
  expect(await serious(page)).toEqual([]);
  await info.attach('charts', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await page.goBack(); // to the view before, not out of the job
  await expect(page.getByTestId('matrix')).toBeVisible();
  await page.getByRole('tab', { name: 'Overview' }).click();

  await client.input(id);
  await expect(headline(page)).toContainText('Done');
  await expect(page.getByTestId('output')).toContainText('PASS');
  for (const watcher of watchers) {
    await expect(watcher.getByTestId('comparison')).toContainText('Not verified');
    await expect(watcher.getByTestId('output')).toContainText('PASS');
    expect.soft(await shifts(watcher)).toEqual([]);
    await info.attach('watched', { body: await watcher.screenshot({ fullPage: true }), contentType: 'image/png' });
    await watcher.context().close();
  }
  const picture = page.locator('.picture img');
  await expect.poll(() => picture.evaluate((i: HTMLImageElement) => i.naturalWidth)).toBeGreaterThan(0);
  // The views are a list of tabs for the keyboard, and each has an address.
  await page.getByRole('tab', { name: 'Overview' }).focus();
  await page.keyboard.press('End');
  await expect(page).toHaveURL(/\?view=report$/);
  await expect(page.getByTestId('report')).toContainText(/a process was lost (once|\d+ times)/);
  // The report is shared, and read by somebody without a token.
  await page.getByRole('checkbox', { name: /Share this report/ }).click();
  const address = (await page.getByTestId('share-link').getByRole('link').getAttribute('href'))!;
  const stranger = await (await browser.newContext({ viewport: { width: 360, height: 740 } })).newPage();
  found.push(...complaints(stranger));
  await stranger.goto(address);
  await expect(stranger.getByTestId('report')).toContainText('killed manually');
  await expect(stranger.locator('body')).not.toContainText('by-click');
  await expect(stranger.getByTestId('profile-calls')).toContainText('MPI_Barrier');
  expect(await serious(stranger)).toEqual([]);
  expect(await stranger.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await info.attach('report', { body: await stranger.screenshot({ fullPage: true }), contentType: 'image/png' });
  await stranger.context().close();
  await page.goto(page.url().replace('view=report', 'view=faults'));
  await expect(page.getByRole('region', { name: 'Faults', exact: true }).getByText('killed manually')).toBeVisible();
  await page.getByLabel('Which events').selectOption('faults');
  await page.getByLabel('Of which rank').fill('1');
  await expect(page.getByTestId('events')).toContainText('lost: killed manually');
  await expect(page.getByTestId('events')).not.toContainText('assigned to a node');
  expect(await serious(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Output' }).click();
  await expect(page.getByTestId('output')).toContainText('PASS'); // the search is made in what has come
  await page.getByRole('searchbox').fill('pass');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('search').getByRole('status')).toHaveText(/^1 of \d+$/);
  await expect(page.locator('.line[data-at] mark').first()).toHaveText('PASS');
  await info.attach('job', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });

  // All that it has written, as one file of the browser's own downloads. Then the proof: the same again, compared byte
  // for byte, seen from both runs.
  const [archive] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download all' }).click(),
  ]);
  expect(archive.suggestedFilename()).toBe(`mandelbrot-${id}.tar`);
  expect(readFileSync(await archive.path()).includes(`mandelbrot-${id}/files/mandelbrot.png`)).toBe(true);
  const proof = page.getByTestId('comparison');
  await expect(proof).toContainText('Not verified by a second run yet');
  await proof.getByRole('button', { name: 'Run again and compare' }).click();
  await expect(page).not.toHaveURL(new RegExp(id));
  await expect(proof).toContainText('The answer is the same, byte for byte');
  await proof.getByRole('link', { name: 'mandelbrot', exact: true }).click();
  await expect(page).toHaveURL(new RegExp(id));
  await expect(proof).toContainText('The answer is the same, byte for byte');
  await info.attach('proof', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await page.getByRole('tab', { name: 'Report' }).click();
  await expect(page.getByTestId('same')).toContainText('The answer is the same, byte for byte');

  await expect(volunteer.getByTestId('volunteer-state')).toHaveText('Idle');
  // Ranks, figures and events came and went; nothing moved.
  await expect(volunteer.getByLabel('Events, newest first')).toContainText('is done');
  expect(await shifts(volunteer)).toEqual([]);
  // Nor in the lists: the second job is announced, a node that leaves keeps its row, and the next one takes its place.
  const nodeAt = (p: Page, n: number) => p.getByRole('region', { name: 'Table of nodes' }).getByRole('row').nth(n);
  const stays = await Tab.open(browser, server.url, 'stays', 1);
  for (const p of lists) await expect(nodeAt(p, 2)).toContainText('stays');
  await volunteer.getByRole('button', { name: 'Stop' }).click();
  await expect(volunteer.getByTestId('volunteer-state')).toHaveText('Off');
  await volunteer.context().close();
  for (const p of lists) await expect(nodeAt(p, 1)).toContainText(/by-click.*gone/);
  const next = await Tab.open(browser, server.url, 'takes-its-place', 1);
  for (const p of lists) {
    await expect(nodeAt(p, 1)).toContainText(/takes-its-place.*online/);
    await expect(p.getByTestId('job-news')).toContainText('mandelbrot (again): done');
    expect.soft(await shifts(p)).toEqual([]);
    await info.attach('lists', { body: await p.screenshot({ fullPage: true }), contentType: 'image/png' });
    await expect(p.getByLabel('Whose jobs')).toBeVisible(); // before there is a second owner
    await p.getByRole('button', { name: 'Show 1 new job' }).click();
    await expect(p.getByRole('region', { name: 'Jobs' }).getByRole('rowheader')).toHaveText([
      /mandelbrot \(again\)/,
      /mandelbrot/,
    ]);
    await p.context().close();
  }
  for (const tab of [stays, next]) await tab.close();
  await page.goto(`${server.url}/dashboard`);
  await expect(page.getByText('No nodes connected')).toBeVisible();
  expect(found).toEqual([]);
});

test('errors are shown where they belong: files, compiler, stack, deadlock', async ({ page, browser }, info) => {
  const tab = await Tab.open(browser, server.url, 'errors', 2);
  await page.setViewportSize({ width: 1400, height: 900 });
  await dashboard(page, '/new');
  // The form stands under one row of examples, not under all of them.
  await expect(page.getByRole('button', { name: /All \d+ examples/ })).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Ranks' })).toBeInViewport();
  await expect(page.locator('.cm-content')).toBeInViewport();
  await write(
    page,
    'broken',
    `import { COMM_WORLD as comm } from 'mayfly';${'\n'.repeat(80)}const a: number = 'x';\nconsole.log(a, comm.rank);\n`,
    2,
  );
  await page.setViewportSize({ width: 1280, height: 800 }); // a laptop
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(page.getByRole('alert')).toContainText("Type 'string' is not assignable to type 'number'");
  // Both without scrolling: the message whole, and the mistake in the editor.
  await expect(page.getByRole('alert')).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('button', { name: 'main.ts:81:7' })).toBeVisible();
  await expect(page.locator('.cm-lintRange-error')).toHaveText('a');
  await expect(page.locator('.cm-lintRange-error')).toBeInViewport();
  await page.setViewportSize({ width: 1400, height: 900 });

  // What cannot be a program is refused in words and changes nothing; an archive becomes sources that can be edited.
  const upload = page.locator('.source-bar input[type=file]').first();
  await upload.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.of(0x89, 0) });
  await expect(page.getByTestId('given')).toContainText('a.png is not a text file, a module');
  await expect(page.locator('.cm-content')).toContainText("const a: number = 'x'");
  const text = new TextEncoder();
  const files = {
    'throws/mayfly.json': '{ "language": "typescript", "entry": "start.ts" }',
    'throws/start.ts':
      `import { COMM_WORLD as comm } from 'mayfly';\nimport { fail } from './part.ts';\nif (comm.rank === 1) ` +
      `fail();\ncomm.barrier();\n`,
    'throws/part.ts': `export function fail(): never {\n  throw new RangeError('no convergence');\n}\n`,
  };
  await upload.setInputFiles({
    name: 'throws.zip',
    mimeType: 'application/zip',
    buffer: Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([p, t]) => [p, text.encode(t)])))),
  });
  await expect(page.getByTestId('given')).toContainText('2 sources of throws.zip, as its mayfly.json says');
  await page.getByRole('button', { name: 'part.ts' }).click();
  await expect(page.locator('.cm-content')).toContainText('no convergence');
  await info.attach('an archive', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(headline(page)).toContainText('Failed');
  await expect(page.getByRole('alert')).toContainText('RangeError: no convergence');
  await expect(page.getByRole('alert')).toContainText('part.ts:2');

  const stuck = await client.submit(
    source(
      'stuck',
      `import { COMM_WORLD as comm } from 'mayfly';\ncomm.recv(new Float64Array(1), 1 - comm.rank, 7);\n`,
    ),
    2,
  );
  await page.goto(`${server.url}/dashboard/jobs/${stuck.id}`);
  await expect(page.getByRole('alert')).toContainText('rank 0 waits in MPI_Recv for rank 1, tag 7');
  await tab.close();
});

/** (module (memory (export "memory") 1) (func (export "_start") (loop (br 0)))) */
const FOR_EVER = Buffer.from(
  '0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a0901070003400c000b0b',
  'hex',
);

test('a module from the form: cancel, run again, edit a copy, delete, and what a viewer may not', async ({
  page,
  browser,
}) => {
  const tab = await Tab.open(browser, server.url, 'loop', 1);
  const announced = await notificationsOf(page);
  await dashboard(page, '/new');
  await page
    .locator('.source-bar input[type=file]')
    .first()
    .setInputFiles({ name: 'for ever.wasm', mimeType: 'application/wasm', buffer: FOR_EVER });
  await expect(page.getByTestId('packed')).toContainText('for_ever.wasm');
  await page.getByRole('textbox', { name: 'Ranks' }).fill('1');
  await page.keyboard.press('Tab');
  await expect(page.getByText('1 slot free: the job starts at once.')).toBeVisible();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(page.getByTestId('rank-0')).toHaveAttribute('data-state', 'running');
  const id = new URL(page.url()).pathname.split('/').at(-1)!;
  // The same page for somebody who may look only.
  const { token } = await client.json<{ token: string }>('POST', '/api/tokens', { name: 'looks on', role: 'viewer' });
  const viewer = await (await browser.newContext()).newPage();
  await viewer.goto(`${server.url}/dashboard/jobs/${id}?token=${token}`);
  await expect(viewer.getByText('Your token can only view jobs')).toBeVisible();
  await expect(viewer.getByTestId('rank-0')).toBeVisible();
  await expect(viewer.getByRole('button', { name: /Cancel|Pause|Checkpoint|Run again|Delete|Kill/ })).toHaveCount(0);
  await viewer.context().close();
  const cancel = async () => {
    await page.getByRole('button', { name: 'Cancel job' }).click();
    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await expect(headline(page)).toContainText('Cancelled');
  };
  await page.getByRole('button', { name: 'Notify me' }).click();
  await expect(page.getByRole('button', { name: 'Will notify' })).toBeVisible();
  await cancel();
  await expect.poll(announced).toEqual(['Cancelled: for_ever.wasm']);
  await page.getByRole('button', { name: 'Run again' }).click();
  await expect(page).not.toHaveURL(new RegExp(id));
  await expect(headline(page)).toContainText(/Running|Waiting/);
  await cancel();
  await page.getByRole('link', { name: 'Edit a copy' }).click();
  await expect(page.getByTestId('packed')).toContainText('for_ever.wasm');
  await page.goBack();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await expect(page).toHaveURL(`${server.url}/dashboard`);
  await expect(page.locator('.c-job-state', { hasText: 'Cancelled' }).first()).toBeVisible();
  const cut = await page
    .locator('.c-job-state')
    .evaluateAll((cells) => cells.filter((c) => c.scrollWidth > c.clientWidth).map((c) => c.textContent));
  expect(cut).toEqual([]);
  // The first run goes from the list: it is sorted, selected, and deleted once the number was confirmed.
  await page.getByRole('button', { name: 'Job', exact: true }).click();
  await expect(page.getByRole('columnheader', { name: 'Job' })).toHaveAttribute('aria-sort', 'ascending');
  await page.getByRole('searchbox').fill(id);
  await page.getByRole('checkbox', { name: 'Select all 1 job' }).check();
  expect(await serious(page)).toEqual([]);
  await page.getByRole('button', { name: 'Delete 1 job' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 1 job' }).click();
  await expect(page.getByRole('row', { name: /Deleted/ })).toBeVisible();
  await tab.close();
});
