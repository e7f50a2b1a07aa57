/**
 * Somebody alone with one machine, for a first look: an example, the slots that it lacks, its answer, by three clicks;
 * nothing moves under the form meanwhile.
 */
import { expect, test } from '@playwright/test';
import { headline, openDashboard } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { complaints, serious, shifts, watchShifts } from '../src/looks.ts';
import { ServerProcess } from '../src/server.ts';

let server: ServerProcess;

test.beforeAll(async () => {
  server = await ServerProcess.start();
});
test.afterAll(() => server?.stop());
showLogOnFailure(() => server);

for (const width of [1400, 360])
  test(`the slots that a job lacks come by one click, from the form and from the job that waits; ${width} px`, async ({
    browser,
  }) => {
    const context = await browser.newContext({ viewport: { width, height: 2400 } });
    const page = await context.newPage();
    const found = complaints(page);
    await openDashboard(page, server, '/new?example=ring');
    await expect(page.getByText('Needs 4 slots; none available')).toBeVisible();
    // The editor colours its lines from the top: it is complete once the last one with a word in it has its colours.
    const coloured = (lines: Element[]): boolean =>
      lines.findLast((l) => /\w/.test(l.textContent))?.querySelector('[class*="tok-"]') != null;
    await expect.poll(() => page.locator('.cm-content .cm-line').evaluateAll(coloured)).toBe(true);
    await watchShifts(page);

    const opened = (name: string) =>
      Promise.all([context.waitForEvent('page'), page.getByRole('link', { name }).click()]).then(([tab]) => tab);
    const first = await opened('Compute in a new tab (4 slots)');
    await expect(first.getByTestId('volunteer-state')).toHaveText('Idle');
    await expect(page.getByText('4 slots free: the job starts at once.')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Compute in a new tab' })).toHaveCount(0);
    await first.close();
    await expect(page.getByText('Needs 4 slots; none available')).toBeVisible();
    expect(await shifts(page)).toEqual([]);
    expect(await serious(page)).toEqual([]);

    await page.getByRole('button', { name: 'Submit' }).click();
    await expect(headline(page)).toContainText('needs 4 slots; none available');
    await opened('Compute in a new tab (4 slots)');
    await expect(headline(page)).toContainText('4 ranks finished');
    expect(found).toEqual([]);
    await context.close();
  });
