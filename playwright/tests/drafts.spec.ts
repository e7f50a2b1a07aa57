/** Drafts in the form of a new job: what was typed is never lost, whatever is chosen or loaded next. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { openDashboard, write } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { ServerProcess } from '../src/server.ts';

let server: ServerProcess;

test.beforeAll(async () => {
  server = await ServerProcess.start();
});
test.afterAll(() => server?.stop());
showLogOnFailure(() => server);

test('no card of the gallery replaces a program for good', async ({ page }) => {
  await openDashboard(page, server, '/new');
  const card = (name: RegExp) => page.locator('.gallery').getByRole('button', { name });
  const editor = page.locator('.cm-content');
  await write(page, 'my own', '// an evening of work', 2);
  await card(/Mandelbrot set/).click();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('mandelbrot');
  await page.getByLabel('Arguments').fill('--width 64');
  // At once, without a wait for what is stored a moment later.
  await card(/Your own program/).click();
  await expect(editor).toContainText('an evening of work');
  await card(/Mandelbrot set/).click();
  await expect(page.getByLabel('Arguments')).toHaveValue('--width 64');
  await page.getByRole('button', { name: 'Start over' }).click();
  await expect(page.getByLabel('Arguments')).toHaveValue(/^--width 768/);
  const drafts = page.getByTestId('unsent').getByRole('listitem');
  await expect(drafts).toHaveText([/mandelbrot, /, /my own, /]);
  // A reload brings back all of them, and the newest into the form.
  await page.reload();
  await expect(page.getByLabel('Arguments')).toHaveValue('--width 64');
  await drafts.filter({ hasText: 'my own' }).getByRole('button', { name: 'Open it' }).click();
  await expect(editor).toContainText('an evening of work');
  await drafts.filter({ hasText: 'mandelbrot' }).getByRole('button', { name: 'Discard it' }).click();
  await expect(drafts).toHaveText([/^This is your unsubmitted draft: my own, /]);
});

test('what was typed into the form survives a reload; a file that the server would not take is refused by its size', async ({
  page,
}) => {
  await openDashboard(page, server, '/new');
  await page.getByLabel('Name', { exact: true }).fill('half an hour of work');
  await page.getByLabel('Arguments').fill('--n 7');
  const inputs = page.locator('.input-files');
  const choose = (files: string | { name: string; mimeType: string; buffer: Buffer }): Promise<void> =>
    inputs.locator('input[type=file]').setInputFiles(files);
  await choose({ name: 'small.txt', mimeType: 'text/plain', buffer: Buffer.from('abc') });
  await expect(inputs.getByText('small.txt')).toBeVisible();
  // It vanished from the form without a word, and the job ran without it.
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-large-'));
  try {
    writeFileSync(join(folder, 'mesh.bin'), '');
    truncateSync(join(folder, 'mesh.bin'), 2.2e9); // takes no room on the disk
    await choose(join(folder, 'mesh.bin'));
    await expect(inputs.getByRole('alert')).toHaveText(
      /^mesh\.bin \(2\.2 GB\) was not added: the input files of a job can have at most 50\.3 MB, and the others have 3 B\.$/,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  await expect(inputs.getByText('mesh.bin', { exact: true })).toHaveCount(0);
  // Stored a moment after the last change.
  await expect
    .poll(() =>
      page.evaluate(
        () =>
          new Promise((done) => {
            const open = indexedDB.open('keyval-store');
            // Not made yet: it is the page's to make, with what belongs into it.
            open.onupgradeneeded = () => open.transaction!.abort();
            open.onerror = () => done(undefined);
            open.onsuccess = () => {
              const all = open.result.transaction('keyval').objectStore('keyval').getAll();
              all.onsuccess = () =>
                done((all.result[0] as { draft: { files: unknown[] } } | undefined)?.draft.files.length);
            };
          }),
      ),
    )
    .toBe(1);
  await page.reload();
  await expect(page.getByTestId('unsent')).toContainText('This is your unsubmitted draft: half an hour of work');
  await expect(page.getByLabel('Arguments')).toHaveValue('--n 7');
  await expect(inputs.getByText('small.txt')).toBeVisible();
  // What the address asks for comes first; the draft is offered.
  await page.goto(`${server.url}/dashboard/new?example=pi`);
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('pi');
  await page.getByTestId('unsent').getByRole('button', { name: 'Open it' }).click();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('half an hour of work');
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(page.getByRole('heading', { name: 'half an hour of work' })).toBeVisible();
  await page.goto(`${server.url}/dashboard/new`);
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('');
  await expect(page.getByTestId('unsent')).toHaveCount(0);
});
