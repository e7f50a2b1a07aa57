/**
 * The pages of those who come without a token, as a person uses them: a room's volunteer, the lesson, the widget; and
 * every page on a phone.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, type Page } from '@playwright/test';
import { Client, source } from '../src/client.ts';
import { headline, openDashboard, write } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { openedDuringRestart, openedMeanwhile, openedWithoutIsolation } from '../src/offline.ts';
import { allSaid, COLOURS, complaints, firstLoad, machineOf, serious } from '../src/looks.ts';
import { Proxy } from '../src/proxy.ts';
import { ServerProcess } from '../src/server.ts';

let server: ServerProcess;
let client: Client;

test.beforeAll(async () => {
  server = await ServerProcess.start();
  client = new Client(server);
});
test.afterAll(() => server?.stop());
showLogOnFailure(() => server);

const dashboard = (page: Page, path?: string) => openDashboard(page, server, path);

test('a room: its volunteer comes by the link, serves its job, pauses, goes on, and leaves', async ({
  page,
  browser,
}, info) => {
  const found = complaints(page);
  await dashboard(page, '/rooms');
  await page.getByLabel('Name of a new room').fill('Class 7b');
  await page.getByRole('button', { name: 'Open the room' }).click();
  const room = page.getByRole('article', { name: 'Room Class 7b' });
  const link = room.getByRole('link', { name: /volunteer\?room=/ });
  await expect(room).toContainText('This address works on this machine only'); // 127.0.0.1
  await expect(room).toContainText('No QR code');
  const address = (await link.getAttribute('href'))!;
  const code = new URL(address).searchParams.get('room')!;
  expect(await serious(page)).toEqual([]);

  await room.getByRole('link', { name: 'New job in this room' }).click();
  await expect(page.getByRole('combobox', { name: /^Room/ })).toHaveValue(code);
  // Held by standard input until everything has been seen.
  await write(
    page,
    'greeting',
    `import { env, stdin } from 'mayfly';\nconsole.log('hello', env.WHO);\nconsole.log('then', stdin.readLine());\n`,
    1,
  );
  await page.getByLabel('Purpose').fill('It greets the class.');
  await page.getByText('Standard input and options').click();
  await page.getByLabel('Environment variables').fill('WHO=Ada\n');
  await page.getByLabel(/Keep it open/).check();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(headline(page)).toContainText(`needs 1 slot; none available in room ${code}`);
  await expect(page.getByTestId('job-about')).toHaveText('It greets the class.');
  const id = new URL(page.url()).pathname.split('/').at(-1)!;

  // Its volunteer comes through a proxy.
  const way = await Proxy.open(() => server.url);
  const volunteer = await (await browser.newContext()).newPage();
  found.push(...complaints(volunteer));
  const state = volunteer.getByTestId('volunteer-state');
  const says = volunteer.locator('#volunteer-detail');
  const machine = await machineOf(browser, volunteer);
  await volunteer.goto(`${way.url}/volunteer${new URL(address).search}&slots=1&name=pupil`);
  await expect(volunteer.getByLabel('Room code')).toHaveValue(code);
  // From the start on: the page takes less of the processor once this has lasted for ten seconds.
  const tells = await machine.tells();
  await machine.pressure('critical');
  await expect(volunteer.getByTestId('choices')).toHaveText(
    new RegExp(`^1 of \\d+ cores? while this tab is open, for room ${code}$`),
  );
  await volunteer.getByText('change', { exact: true }).click();
  await volunteer.getByLabel('Your name on the board').fill('<b>Grace');
  await expect(volunteer.getByText('Use letters, digits, spaces')).toBeVisible();
  await volunteer.getByLabel('Your name on the board').fill('Grace H.');
  await volunteer.getByRole('button', { name: 'Start' }).click();
  await expect(state).toHaveText('Working on “greeting”');
  await expect(volunteer.getByLabel('What the work is for')).toContainText('It greets the class.');
  await expect(page.getByTestId('output')).toContainText('hello Ada');
  await expect(volunteer.getByText('waits for standard input')).toBeVisible();

  // The job is paused: its volunteer is free for others. Then it goes on, and says hello no second time.
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByRole('alertdialog')).toContainText('replay their log');
  await page.getByRole('button', { name: 'Pause the job' }).click();
  await expect(headline(page)).toContainText('Paused');
  await expect(state).toHaveText('Idle');
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(state).toHaveText('Working on “greeting”');
  await expect(volunteer.getByText('waits for standard input')).toBeVisible();

  // The proxy is cut: the tab says so, is back when the proxy is, and the job goes on.
  const events = volunteer.getByLabel('Events, newest first');
  const atWork = async () => {
    await expect(state).toHaveText('Working on “greeting”');
    await expect(volunteer.getByText('waits for standard input')).toBeVisible();
  };
  way.cut();
  await expect(state).toHaveText('Connecting');
  await expect(says).toContainText('ranks here keep running');
  way.mend();
  await atWork();
  // It lets nothing pass and breaks nothing: the server is said to be silent although the connection stands, and then
  // to answer again.
  const said = await allSaid(volunteer);
  way.stall();
  expect(await serious(volunteer)).toEqual([]);
  await info.attach('volunteer', { body: await volunteer.screenshot({ fullPage: true }), contentType: 'image/png' });
  await expect
    .poll(said)
    .toContainEqual(
      expect.stringMatching(/^No answer from the server: No data for \d+ s, although the connection is open/),
    );
  way.mend();
  await expect(events).toContainText(
    /The server answers again, after \d+ s|Connected to the server.*The server does not answer/,
  );
  await atWork();
  // The server is killed, which the owner's page says too; started again, it finds its volunteer by itself.
  await server.kill9();
  await expect(state).toHaveText('Connecting');
  await expect(says).toContainText('ranks here keep running');
  await expect(page.getByText('No connection to the server')).toBeVisible();
  await openedMeanwhile(volunteer, server, way.url, info);
  await atWork();
  await expect(page.getByText('No connection to the server')).toBeHidden();
  if (tells.pressure) await expect(says).toContainText('of their share');
  await machine.pressure('nominal');

  await volunteer.getByRole('button', { name: 'Snooze…' }).click();
  await volunteer.getByRole('menuitem', { name: 'for an hour' }).click();
  await expect(state).toHaveText('Paused');
  await expect(headline(page)).toContainText('no node is connected in room');
  // A reload comes back as it was. It goes on when its person, the battery, the window and the keyboard all let it.
  await volunteer.reload();
  await expect(says).toHaveText(/^By you, until \d\d:\d\d\.$/);
  await volunteer.getByText('change', { exact: true }).click();
  await volunteer.getByLabel(/only while this machine is charging/).check();
  await volunteer.getByLabel(/only while this page is visible/).check();
  await machine.seen('hidden'); // a glance away is five seconds
  // Nobody acts for its rank meanwhile, and its lane says so.
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.getByText('As a table').click();
  await expect(page.getByTestId('timeline-table').getByRole('row').nth(1).getByRole('cell').nth(7)).toContainText('%');
  await expect(page.getByTestId('timeline-table').getByRole('columnheader').nth(8)).toHaveText('without a node');
  await page.getByRole('tab', { name: 'Overview' }).click();
  if (tells.idleness) {
    await volunteer.getByLabel(/only while nobody is using/).click(); // the browser is asked first: not checked at once
    await expect(volunteer.getByLabel(/only while nobody is using/)).toBeChecked();
  }
  await volunteer.getByRole('button', { name: 'Resume' }).click();
  await expect(says).toContainText('This machine is on battery');
  await machine.plugIn();
  await expect(says).toContainText('This page is hidden');
  await machine.seen('visible');
  if (tells.idleness) await expect(says).toContainText('Somebody is using this machine');
  await machine.leave();
  await expect(state).toHaveText('Working on “greeting”');
  if (tells.idleness) await volunteer.getByLabel(/only while nobody is using/).uncheck();
  for (const wish of [/machine is charging/, /page is visible/]) await volunteer.getByLabel(wish).uncheck();

  // A copy of the tab is not taken for it: a node of its own, which the rank goes to when the first one finishes its
  // step and leaves.
  const [copy] = await Promise.all([
    volunteer.context().waitForEvent('page'),
    volunteer.evaluate(() => void window.open(`${location.href.replace('name=pupil', 'name=copy')}&start`)),
  ]);
  found.push(...complaints(copy));
  await expect(copy.getByTestId('volunteer-state')).toHaveText('Idle');
  await expect(state).toHaveText('Working on “greeting”');
  expect(
    (await client.nodes())
      .filter((n) => n.state === 'here')
      .map((n) => n.name)
      .sort(),
  ).toEqual(['copy', 'pupil']);
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
  await expect(page.getByText('No open rooms')).toBeVisible();
  // Whoever comes with its code now is refused, with the reason, and may try again.
  await volunteer.getByRole('button', { name: 'Start' }).click();
  await expect(state).toHaveText('Refused');
  await expect(says).toContainText(`There is no room with the code ${code}`);
  expect(await serious(volunteer)).toEqual([]);
  await volunteer.context().close();
  way.close();
  expect(found).toEqual([]);
});

test('the lesson: a visitor closes tabs of a real job, opens others, and the answer is the same', async ({
  page,
}, info) => {
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
  await expect(page.getByLabel('What happened')).toContainText('Its log of 2 messages is kept.');
  expect(await serious(page)).toEqual([]);
  await info.attach('lesson', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await open.click();
  // The replayed rank takes its first new step when the token comes.
  await lap(3);
  await expect(page.getByLabel('What happened')).toContainText('Rank 1 is back, as incarnation 1');
  // Rank 0 reads its lines again, and prints nothing twice.
  await page.getByRole('button', { name: /with rank 0$/ }).click();
  await expect(next).toContainText('Rank 0 has no tab');
  await open.click();
  for (const n of [4, 5, 6]) await lap(n);
  const end = page.getByLabel('The end');
  await expect(end).toContainText('The answer is the same');
  await expect(end).toContainText('2 ranks were lost on the way');
  await info.attach('lesson, its end', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await page.getByRole('link', { name: 'Volunteer', exact: true }).click();
  await expect
    .poll(async () => (await client.json<{ name: string }[]>('GET', '/api/jobs')).filter((j) => j.name === 'lesson'))
    .toEqual([]);
  expect(found).toEqual([]);
});

test('the widget in another site asks before it computes, and offers a window where that site is not isolated', async ({
  page,
  context,
}, info) => {
  const found = complaints(page);
  const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
  const site = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', ...(request.url === '/isolated' ? isolation : {}) });
    response.end(
      '<!doctype html><html lang="en"><title>Another site</title><h1>Another site</h1><script ' +
        `src="${server.url}/widget.js" data-name="embedded"></script>`,
    );
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
    const job = await client.submit(
      source('from elsewhere', `import { stdin } from 'mayfly';\nconsole.log('read', stdin.readLine());\n`),
      1,
      [],
      { interactive: true },
    );
    await help.click();
    await widget.getByRole('button', { name: 'I agree' }).click();
    const state = widget.getByTestId('volunteer-state');
    await expect(state).toHaveText('Working on “from elsewhere”');
    await info.attach('widget', { body: await page.screenshot(), contentType: 'image/png' });
    await widget.getByRole('button', { name: 'Pause' }).click();
    await expect(state).toHaveText('Paused');
    await widget.getByRole('button', { name: 'Resume' }).click();
    await expect(state).toHaveText('Working on “from elsewhere”');
    await client.input(job.id, 'on');
    const done = await client.ended(job.id);
    expect((await client.answer(done)).stdout).toEqual(['read on\n']);
    // Buttons stand still before they are pressed.
    await expect(state).not.toHaveText('Working on “from elsewhere”');
    await widget.getByRole('button', { name: 'Leave' }).click();
    await expect(help).toBeVisible();

    await page.goto(`${base}/plain`);
    const [small] = await Promise.all([
      context.waitForEvent('page'),
      page.frameLocator('iframe').getByRole('link', { name: 'Open a small window' }).click(),
    ]);
    await small.getByRole('button', { name: 'Help with this tab' }).click();
    await small.getByRole('button', { name: 'I agree' }).click();
    await expect(small.getByTestId('volunteer-state')).toHaveText('Idle');
    await small.close();
  } finally {
    site.close();
  }
  // Only the widget may be framed by others.
  const ancestors = async (path: string) =>
    /frame-ancestors ([^;]*)/.exec((await fetch(server.url + path)).headers.get('content-security-policy') ?? '')?.[1];
  expect(
    await Promise.all(['/widget?room=x', '/volunteer', '/', '/dashboard', '/frame/index.html'].map(ancestors)),
  ).toEqual(['*', "'self'", "'self'", "'self'", server.url]);
  expect(found).toEqual([]);
});

test('every page fits a phone, in light and in dark', async ({ browser }, info) => {
  const done = await client.submit(source('for the phone', `console.log('a line');\n`), 1);
  const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  const found = complaints(page);
  await dashboard(page);
  for (const path of [
    '/',
    '/volunteer',
    '/widget',
    '/lesson',
    '/dashboard',
    '/dashboard/rooms',
    '/dashboard/tokens',
    '/dashboard/quotas',
    '/dashboard/me',
    '/dashboard/server',
    '/docs',
    '/docs/api',
    '/docs/deploy',
    '/docs/typescript-coverage',
    '/docs/typescript-reference',
    '/docs/c-programs',
    '/dashboard/new',
    `/dashboard/jobs/${done.id}`,
    '/nothing/here',
  ]) {
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
  await openedDuringRestart(browser, server);
});
