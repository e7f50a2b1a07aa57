/** The pages as a person uses them: volunteering by a click, submitting from the form, watching, killing a rank, errors, a phone. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, type Page } from '@playwright/test';
import { zipSync } from 'fflate';
import { Client, source } from '../src/client.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { openedMeanwhile, openedWithoutIsolation } from '../src/offline.ts';
import { allSaid, COLOURS, complaints, firstLoad, machineOf, serious, shifts, watchShifts } from '../src/looks.ts';
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

const dashboard = async (page: Page, path = ''): Promise<void> => {
  await page.goto(`${server.url}/dashboard${path}${path.includes('?') ? '&' : '?'}token=${server.token}`);
};
const headline = (page: Page) => page.locator('.job-title [role=status]');

async function write(page: Page, name: string, text: string, ranks: number): Promise<void> {
  await page.getByRole('button', { name: /Your own program/ }).click();
  await page.locator('.cm-content').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('textbox', { name: 'Ranks' }).fill(String(ranks));
  await page.keyboard.press('Tab');
}

test('the token is asked for, a wrong one refused, a right one kept and not shown', async ({ page }) => {
  await page.goto(`${server.url}/dashboard`);
  await page.getByLabel('Token').fill('not-the-token');
  await page.getByRole('button', { name: 'Open the dashboard' }).click();
  await expect(page.getByText('does not know the token')).toBeVisible();
  await dashboard(page);
  await expect(page.getByRole('heading', { name: 'Jobs' })).toBeVisible();
  expect(page.url()).toBe(`${server.url}/dashboard`);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Jobs' })).toBeVisible();

  // A token for somebody else, who may look and no more; it ends while the page is open.
  await page.getByRole('link', { name: 'Tokens' }).click();
  await page.getByLabel('Name').fill('Ada');
  await page.getByLabel('Role').selectOption('viewer');
  await page.getByRole('button', { name: 'Make the token' }).click();
  const token = (await page.getByTestId('new-token').textContent())!.trim();
  await page.goto(`${server.url}/dashboard?token=${token}`);
  await expect(page.getByRole('heading', { name: 'Jobs' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Rooms' })).toBeVisible();
  expect((await client.request('POST', '/api/rooms', { name: 'x' }, token)).status).toBe(403);
  const tokens = await client.json<{ id: string; name: string }[]>('GET', '/api/tokens');
  await client.json('DELETE', `/api/tokens/${tokens.find((t) => t.name === 'Ada')!.id}`);
  await expect(page.getByText('does not know the token')).toBeVisible({ timeout: 60_000 });
});

test('a job waits with its reason, starts when somebody volunteers, shows its picture, and survives a killed rank', async ({ page, browser }, info) => {
  const found = complaints(page);
  // What the form submits, smaller, and with a wait behind it: the rank that is killed is certainly there, and the page has time to show it.
  await page.route('**/api/jobs', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    const job = route.request().postDataJSON() as { program: { entry: string; sources: Record<string, string> }; args: string[]; options?: object };
    expect(job.args).toEqual(['--width', '768', '--iterations', '2000']);
    job.args = ['--width', '192', '--iterations', '400'];
    job.program.sources['held.ts'] = `import './${job.program.entry}';\nimport { COMM_WORLD as comm, stdin } from 'mayfly';\nif (comm.rank === 0) stdin.readLine();\ncomm.barrier();\n`;
    job.program.entry = 'held.ts';
    job.options = { ...job.options, interactive: true };
    await route.continue({ postData: JSON.stringify(job) });
  });
  // However slow the server: until the example is there, there is no form whose other program could be submitted in its place.
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
  await expect(page.getByText('Needs 4 slots, 0 are here')).toBeVisible();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(headline(page)).toContainText('needs 4 slots, 0 are here');

  const volunteer = await (await browser.newContext({ viewport: { width: 360, height: 740 } })).newPage(); // a phone
  found.push(...complaints(volunteer));
  await volunteer.goto(`${server.url}/volunteer?slots=4&ease=0&name=by-click`);
  await expect(volunteer.getByTestId('volunteer-state')).toHaveText('Off');
  await volunteer.getByRole('button', { name: 'Start' }).click();
  await expect(volunteer.getByTestId('volunteer-state')).toHaveText(/Working on “mandelbrot”/);
  await watchShifts(volunteer);

  await page.getByRole('button', { name: 'Kill rank 1' }).click();
  const id = new URL(page.url()).pathname.split('/').at(-1)!;
  await client.until(id, 'recovered', (j) => j.faults.length > 0 && j.faults.every((f) => f.recoveredAfterMs !== undefined));
  // The time line and the matrix while the job runs (rank 0 waits for its line), by keyboard and as tables.
  await page.getByRole('tab', { name: 'Time line' }).click();
  await page.getByText('As a table').click();
  const lane = page.getByTestId('timeline-table').getByRole('row').nth(2);
  await expect(lane.getByRole('rowheader')).toHaveText('1');
  await expect(lane.getByRole('cell').last()).toHaveText(/^[1-9]\d*$/); // its fault; on a machine that stalls for long there are more
  await expect(lane.getByRole('cell').nth(1)).toContainText('%'); // waiting
  await page.getByTestId('timeline').focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByTestId('timeline-cell')).toContainText(/Rank 1, .* to /);
  expect(await serious(page)).toEqual([]);
  await info.attach('time line', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
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
  await page.getByRole('tab', { name: 'Overview' }).click();

  await client.input(id);
  await expect(headline(page)).toContainText('Done');
  await expect(page.getByTestId('output')).toContainText('PASS');
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
  await expect(stranger.getByTestId('report')).toContainText('killed by hand');
  await expect(stranger.locator('body')).not.toContainText('by-click');
  expect(await serious(stranger)).toEqual([]);
  expect(await stranger.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await info.attach('report', { body: await stranger.screenshot({ fullPage: true }), contentType: 'image/png' });
  await stranger.context().close();
  await page.goto(page.url().replace('view=report', 'view=faults'));
  await expect(page.getByText('killed by hand')).toBeVisible();
  expect(await serious(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Output' }).click();
  await expect(page.getByTestId('output')).toContainText('PASS'); // the search is made in what has come
  await page.getByRole('searchbox').fill('pass');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('search').getByRole('status')).toHaveText(/^1 of \d+$/);
  await expect(page.locator('.line[data-at] mark').first()).toHaveText('PASS');
  await info.attach('job', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });

  // All that it has written, as one file of the browser's own downloads. Then the proof: the same again, compared byte for byte, seen from both runs.
  const [archive] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download all' }).click()]);
  expect(archive.suggestedFilename()).toBe(`mandelbrot-${id}.tar`);
  expect(readFileSync(await archive.path()).includes(`mandelbrot-${id}/files/mandelbrot.png`)).toBe(true);
  const proof = page.getByTestId('comparison');
  await expect(proof).toContainText('has not been compared with another run yet');
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
  await volunteer.getByRole('button', { name: 'Stop' }).click();
  await expect(volunteer.getByTestId('volunteer-state')).toHaveText('Off');
  await volunteer.context().close();
  await page.goto(`${server.url}/dashboard`);
  await expect(page.getByText('No node is here')).toBeVisible();
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
  await write(page, 'broken', `import { COMM_WORLD as comm } from 'mayfly';\nconst a: number = 'x';\nconsole.log(a, comm.rank);\n`, 2);
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(page.getByRole('alert')).toContainText("Type 'string' is not assignable to type 'number'");
  await expect(page.getByRole('button', { name: 'main.ts:2:7' })).toBeVisible();
  await expect(page.locator('.cm-lintRange-error')).toHaveText('a');

  // What cannot be a program is refused in words and changes nothing; an archive becomes sources that can be edited.
  const upload = page.locator('.source-bar input[type=file]').first();
  await upload.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.of(0x89, 0) });
  await expect(page.getByTestId('given')).toContainText('a.png is no text, no module');
  await expect(page.locator('.cm-content')).toContainText("const a: number = 'x'");
  const text = new TextEncoder();
  const files = {
    'throws/mayfly.json': '{ "language": "typescript", "entry": "start.ts" }',
    'throws/start.ts': `import { COMM_WORLD as comm } from 'mayfly';\nimport { fail } from './part.ts';\nif (comm.rank === 1) fail();\ncomm.barrier();\n`,
    'throws/part.ts': `export function fail(): never {\n  throw new RangeError('no convergence');\n}\n`,
  };
  await upload.setInputFiles({ name: 'throws.zip', mimeType: 'application/zip', buffer: Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([p, t]) => [p, text.encode(t)])))) });
  await expect(page.getByTestId('given')).toContainText('2 sources of throws.zip, as its mayfly.json says');
  await page.getByRole('button', { name: 'part.ts' }).click();
  await expect(page.locator('.cm-content')).toContainText('no convergence');
  await info.attach('an archive', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(headline(page)).toContainText('Failed');
  await expect(page.getByRole('alert')).toContainText('RangeError: no convergence');
  await expect(page.getByRole('alert')).toContainText('part.ts:2');

  const stuck = await client.submit(source('stuck', `import { COMM_WORLD as comm } from 'mayfly';\ncomm.recv(new Float64Array(1), 1 - comm.rank, 7);\n`), 2);
  await page.goto(`${server.url}/dashboard/jobs/${stuck.id}`);
  await expect(page.getByRole('alert')).toContainText('rank 0 waits in MPI_Recv for rank 1, tag 7');
  await tab.close();
});

/** (module (memory (export "memory") 1) (func (export "_start") (loop (br 0)))) */
const FOR_EVER = Buffer.from('0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a0901070003400c000b0b', 'hex');

test('a module from the form: cancel, run again, edit a copy, delete, and what a viewer may not', async ({ page, browser }) => {
  const tab = await Tab.open(browser, server.url, 'loop', 1);
  await dashboard(page, '/new');
  await page.locator('.source-bar input[type=file]').first().setInputFiles({ name: 'for ever.wasm', mimeType: 'application/wasm', buffer: FOR_EVER });
  await expect(page.getByTestId('packed')).toContainText('for_ever.wasm');
  await page.getByRole('textbox', { name: 'Ranks' }).fill('1');
  await page.keyboard.press('Tab');
  await expect(page.getByText('1 slot free: it starts at once.')).toBeVisible();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(page.getByTestId('rank-0')).toHaveAttribute('data-state', 'running');
  const id = new URL(page.url()).pathname.split('/').at(-1)!;
  // The same page for somebody who may look only.
  const { token } = await client.json<{ token: string }>('POST', '/api/tokens', { name: 'looks on', role: 'viewer' });
  const viewer = await (await browser.newContext()).newPage();
  await viewer.goto(`${server.url}/dashboard/jobs/${id}?token=${token}`);
  await expect(viewer.getByText('Your token is a viewer’s')).toBeVisible();
  await expect(viewer.getByTestId('rank-0')).toBeVisible();
  await expect(viewer.getByRole('button', { name: /Cancel|Pause|Checkpoint|Run again|Delete|Kill|Image now/ })).toHaveCount(0);
  await viewer.context().close();
  const cancel = async () => {
    await page.getByRole('button', { name: 'Cancel job' }).click();
    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await expect(headline(page)).toContainText('Cancelled');
  };
  await cancel();
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
  await tab.close();
});

test('a room: its volunteer comes by the link, serves its job, pauses, goes on, and leaves', async ({ page, browser }, info) => {
  const found = complaints(page);
  await dashboard(page, '/rooms');
  await page.getByLabel('Name of a new room').fill('Class 7b');
  await page.getByRole('button', { name: 'Open the room' }).click();
  const room = page.getByRole('article', { name: 'Room Class 7b' });
  const link = room.getByRole('link', { name: /volunteer\?room=/ });
  await expect(room.getByRole('img', { name: /QR code/ })).toBeVisible();
  await expect(room).toContainText('leads other devices to themselves'); // 127.0.0.1
  const address = (await link.getAttribute('href'))!;
  const code = new URL(address).searchParams.get('room')!;
  expect(await serious(page)).toEqual([]);

  await room.getByRole('link', { name: 'New job in this room' }).click();
  await expect(page.getByRole('combobox', { name: /^Room/ })).toHaveValue(code);
  // Held by standard input until everything has been seen.
  await write(page, 'greeting', `import { env, stdin } from 'mayfly';\nconsole.log('hello', env.WHO);\nconsole.log('then', stdin.readLine());\n`, 1);
  await page.getByLabel('What it is for').fill('It greets the class.');
  await page.getByText('Standard input and options').click();
  await page.getByLabel('Environment variables').fill('WHO=Ada\n');
  await page.getByLabel(/Keep it open/).check();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(headline(page)).toContainText(`needs 1 slot, 0 are in room ${code}`);
  await expect(page.getByTestId('job-about')).toHaveText('It greets the class.');
  const id = new URL(page.url()).pathname.split('/').at(-1)!;

  const volunteer = await (await browser.newContext()).newPage();
  found.push(...complaints(volunteer));
  const state = volunteer.getByTestId('volunteer-state');
  const says = volunteer.locator('#volunteer-detail');
  const machine = await machineOf(browser, volunteer);
  await volunteer.goto(`${server.url}/volunteer${new URL(address).search}&slots=1&name=pupil`);
  await expect(volunteer.getByLabel('Room code')).toHaveValue(code);
  // From the start on: the page takes less of the processor once this has lasted for ten seconds.
  const tells = await machine.tells();
  await machine.pressure('critical');
  await volunteer.getByLabel('Your name on the board').fill('<b>Grace');
  await expect(volunteer.getByText('Letters, digits, blanks')).toBeVisible();
  await volunteer.getByLabel('Your name on the board').fill('Grace H.');
  await volunteer.getByRole('button', { name: 'Start' }).click();
  await expect(state).toHaveText('Working on “greeting”');
  await expect(volunteer.getByLabel('What the work is for')).toContainText('It greets the class.');
  await expect(page.getByTestId('output')).toContainText('hello Ada');
  await expect(volunteer.getByText('waits for standard input')).toBeVisible();

  // The job is paused: its volunteer is free for others. Then it goes on, and says hello no second time.
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByRole('alertdialog')).toContainText('repeats its log');
  await page.getByRole('button', { name: 'Pause the job' }).click();
  await expect(headline(page)).toContainText('Paused');
  await expect(state).toHaveText('Idle');
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(state).toHaveText('Working on “greeting”');
  await expect(volunteer.getByText('waits for standard input')).toBeVisible();

  // A server that stands still is said to be silent while the connection still stands; killed and started again, it finds its volunteer by itself.
  const said = await allSaid(volunteer);
  server.freeze();
  expect(await serious(volunteer)).toEqual([]);
  await info.attach('volunteer', { body: await volunteer.screenshot({ fullPage: true }), contentType: 'image/png' });
  await expect.poll(said).toContainEqual(expect.stringMatching(/^No answer from the server: Nothing has come for \d+ s, although the connection stands/));
  await server.kill9();
  await expect(state).toHaveText('Connecting');
  await expect(says).toContainText('ranks here go on');
  await openedMeanwhile(volunteer, server, info);
  await expect(state).toHaveText('Working on “greeting”');
  await expect(volunteer.getByText('waits for standard input')).toBeVisible();
  if (tells.pressure) await expect(says).toContainText('of their share');
  await machine.pressure('nominal');

  await volunteer.getByRole('button', { name: 'Snooze…' }).click();
  await volunteer.getByRole('menuitem', { name: 'for an hour' }).click();
  await expect(state).toHaveText('Paused');
  await expect(headline(page)).toContainText('no node is in room');
  // A reload comes back as it was. It goes on when its person, the battery, the window and the keyboard all let it.
  await volunteer.reload();
  await expect(says).toHaveText(/^By you, until \d\d:\d\d\.$/);
  await volunteer.getByLabel(/only while this machine charges/).check();
  await volunteer.getByLabel(/only while this page is visible/).check();
  await machine.seen('hidden'); // a glance away is five seconds
  // Nobody acts for its rank meanwhile, and its lane says so.
  await page.getByRole('tab', { name: 'Time line' }).click();
  await page.getByText('As a table').click();
  await expect(page.getByTestId('timeline-table').getByRole('row').nth(1).getByRole('cell').nth(7)).toContainText('%');
  await expect(page.getByTestId('timeline-table').getByRole('columnheader').nth(8)).toHaveText('dead');
  await page.getByRole('tab', { name: 'Overview' }).click();
  if (tells.idleness) {
    await volunteer.getByLabel(/only while nobody uses/).click(); // the browser is asked first: not checked at once
    await expect(volunteer.getByLabel(/only while nobody uses/)).toBeChecked();
  }
  await volunteer.getByRole('button', { name: 'Go on' }).click();
  await expect(says).toContainText('This machine runs on its battery');
  await machine.plugIn();
  await expect(says).toContainText('This page is hidden');
  await machine.seen('visible');
  if (tells.idleness) await expect(says).toContainText('Somebody uses this machine');
  await machine.leave();
  await expect(state).toHaveText('Working on “greeting”');
  if (tells.idleness) await volunteer.getByLabel(/only while nobody uses/).uncheck();
  for (const wish of [/machine charges/, /page is visible/]) await volunteer.getByLabel(wish).uncheck();

  // A copy of the tab is not taken for it: a node of its own, which the rank goes to when the first one finishes its step and leaves.
  const [copy] = await Promise.all([volunteer.context().waitForEvent('page'), volunteer.evaluate(() => void window.open(`${location.href.replace('name=pupil', 'name=copy')}&start`))]);
  found.push(...complaints(copy));
  await expect(copy.getByTestId('volunteer-state')).toHaveText('Idle');
  await expect(state).toHaveText('Working on “greeting”');
  expect((await client.nodes()).filter((n) => n.state === 'here').map((n) => n.name).sort()).toEqual(['copy', 'pupil']);
  await volunteer.getByRole('button', { name: 'Finish this step and leave' }).click();
  await expect(state).toHaveText('Off');
  await expect(copy.getByTestId('volunteer-state')).toHaveText('Working on “greeting”');

  await client.until(id, 'back', (j) => j.faults.length > 0 && j.faults.every((f) => f.recoveredAfterMs !== undefined));
  await client.input(id, 'goodbye');
  await expect(headline(page)).toContainText('1 rank finished');
  await expect(page.getByTestId('output')).toHaveText('hello Adathen goodbye');
  await copy.close();
  await expect(volunteer.getByLabel('What you gave')).toContainText('New work');
  // The choices are remembered, the board has counted.
  await volunteer.reload();
  await expect(volunteer.getByLabel('Your name on the board')).toHaveValue('Grace H.');
  await expect(volunteer.getByTestId('your-place')).toHaveText('You are 1st of 1 in this room.');
  await expect(volunteer.getByRole('region', { name: 'Board', exact: true })).toContainText('Grace H.');
  await info.attach('board', { body: await volunteer.screenshot({ fullPage: true }), contentType: 'image/png' });

  await dashboard(page, '/rooms');
  await expect(room.getByRole('table')).toContainText('Grace H.');
  await room.getByRole('button', { name: 'Close the room' }).click();
  await page.getByRole('button', { name: 'Close it' }).click();
  await expect(page.getByText('No room is open')).toBeVisible();
  // Whoever comes with its code now is refused, with the reason, and may try again.
  await volunteer.getByRole('button', { name: 'Start' }).click();
  await expect(state).toHaveText('Refused');
  await expect(says).toContainText(`There is no room with the code ${code}`);
  expect(await serious(volunteer)).toEqual([]);
  await volunteer.context().close();
  expect(found).toEqual([]);
});

test('the lesson: a visitor closes tabs of a real job, opens others, and the answer is the same', async ({ page }, info) => {
  const found = complaints(page);
  await page.goto(`${server.url}/`);
  await page.getByRole('link', { name: 'See it happen' }).click();
  await page.getByRole('button', { name: 'Begin the lesson' }).click();
  const send = page.getByRole('button', { name: 'Send the token round' });
  const open = page.getByRole('button', { name: 'Open another tab' });
  const next = page.getByLabel('Your next step');
  const lap = async (n: number) => {
    await send.click();
    await expect(page.getByLabel('What happened')).toContainText(`rank 0 prints ${[1, 5, 15, 35, 70, 126][n - 1]}.`);
  };
  await lap(1);
  await lap(2);
  await expect(page.getByText('Log of rank 1: 2 messages')).toBeVisible();
  await page.getByRole('button', { name: /with rank 1$/ }).click();
  await expect(page.getByText('has no tab', { exact: true })).toBeVisible();
  await expect(page.getByLabel('What happened')).toContainText('its log of 2 messages is not');
  expect(await serious(page)).toEqual([]);
  await info.attach('lesson', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await open.click();
  // The replayed rank takes its first new step when the token comes.
  await lap(3);
  await expect(page.getByLabel('What happened')).toContainText('Rank 1 is back, as incarnation 1');
  // Rank 0 reads its lines again, and prints nothing twice.
  await page.getByRole('button', { name: /with rank 0$/ }).click();
  await expect(next).toContainText('A rank has no tab');
  await open.click();
  for (const n of [4, 5, 6]) await lap(n);
  const end = page.getByLabel('The end');
  await expect(end).toContainText('The answer is the same');
  await expect(end).toContainText('2 ranks were lost on the way');
  await info.attach('lesson, its end', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await page.getByRole('link', { name: 'Volunteer', exact: true }).click();
  await expect.poll(async () => (await client.json<{ name: string }[]>('GET', '/api/jobs')).filter((j) => j.name === 'lesson')).toEqual([]);
  expect(found).toEqual([]);
});

test('the widget in another site asks before it computes, and offers a window where that site is not isolated', async ({ page, context }, info) => {
  const found = complaints(page);
  const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
  const site = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', ...(request.url === '/isolated' ? isolation : {}) });
    response.end(`<!doctype html><html lang="en"><title>Another site</title><h1>Another site</h1><script src="${server.url}/widget.js" data-name="embedded"></script>`);
  }).listen(0, '127.0.0.1');
  await new Promise((r) => site.once('listening', r));
  try {
    // Another host name, not only another port: to the browser it is another site.
    const base = `http://localhost:${(site.address() as AddressInfo).port}`;
    await page.goto(`${base}/isolated`);
    const widget = page.frameLocator('iframe');
    const help = widget.getByRole('button', { name: 'Help with this tab' });
    await help.click();
    await widget.getByRole('button', { name: 'No' }).click();
    await expect(help).toBeVisible();
    expect((await client.nodes()).filter((n) => n.name === 'embedded' && n.state === 'here')).toEqual([]);
    const job = await client.submit(source('from elsewhere', `import { stdin } from 'mayfly';\nconsole.log('read', stdin.readLine());\n`), 1, [], { interactive: true });
    await help.click();
    await widget.getByRole('button', { name: 'I agree' }).click();
    const state = widget.getByTestId('volunteer-state');
    await expect(state).toHaveText('Working on “from elsewhere”');
    await info.attach('widget', { body: await page.screenshot(), contentType: 'image/png' });
    await widget.getByRole('button', { name: 'Pause' }).click();
    await expect(state).toHaveText('Paused');
    await widget.getByRole('button', { name: 'Go on' }).click();
    await expect(state).toHaveText('Working on “from elsewhere”');
    await client.input(job.id, 'on');
    const done = await client.ended(job.id);
    expect((await client.answer(done)).stdout).toEqual(['read on\n']);
    await widget.getByRole('button', { name: 'Leave' }).click();
    await expect(help).toBeVisible();

    await page.goto(`${base}/plain`);
    const [small] = await Promise.all([context.waitForEvent('page'), page.frameLocator('iframe').getByRole('link', { name: 'Open a small window' }).click()]);
    await small.getByRole('button', { name: 'Help with this tab' }).click();
    await small.getByRole('button', { name: 'I agree' }).click();
    await expect(small.getByTestId('volunteer-state')).toHaveText('Idle');
    await small.close();
  } finally {
    site.close();
  }
  // Only the widget may be framed by others.
  const ancestors = async (path: string) => /frame-ancestors ([^;]*)/.exec((await fetch(server.url + path)).headers.get('content-security-policy') ?? '')?.[1];
  expect(await Promise.all(['/widget?room=x', '/volunteer', '/', '/dashboard', '/frame/index.html'].map(ancestors))).toEqual(['*', "'self'", "'self'", "'self'", server.url]);
  expect(found).toEqual([]);
});

test('every page fits a phone, in light and in dark', async ({ browser }, info) => {
  const done = await client.submit(source('for the phone', `console.log('a line');\n`), 1);
  const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  const found = complaints(page);
  await dashboard(page);
  for (const path of ['/', '/volunteer', '/widget', '/lesson', '/dashboard', '/dashboard/rooms', '/dashboard/tokens', '/dashboard/server', '/docs', '/docs/api', '/docs/trust', '/docs/typescript-reference', '/docs/c-programs', '/dashboard/new', `/dashboard/jobs/${done.id}`, '/nothing/here']) {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(server.url + path);
    await expect(page.locator('main h1').first()).toBeAttached();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path).toBe(true);
    expect(await serious(page), `light ${path}`).toEqual([]);
    if (path === '/volunteer') {
      expect(await firstLoad(page)).toBeLessThan(250_000);
      // (A context of a test counts as a private window.)
      const { installabilityErrors } = await (await context.newCDPSession(page)).send('Page.getInstallabilityErrors');
      expect(installabilityErrors.map((e) => e.errorId).filter((id) => id !== 'in-incognito')).toEqual([]);
    }
    await info.attach(`light ${path}`, { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
    // The same page as the evening comes: only its colours are others.
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await serious(page, COLOURS), `dark ${path}`).toEqual([]);
    await info.attach(`dark ${path}`, { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  }
  expect(found).toEqual([]);
  await context.close();
  await openedWithoutIsolation(browser, server, info);
});
