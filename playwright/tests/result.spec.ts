/** The result first: the picture of a job, in view without scrolling, at its place before there is one. */
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

/** Prints a line; draws once it has read one. */
const PROGRAM = `import { files, stdin } from 'mayfly';
console.log('a first line');
stdin.readLine();
files.write('out.pgm', Uint8Array.from([...'P5 2 2 255 '].map((c) => c.charCodeAt(0)).concat([0, 255, 255, 0])));
stdin.readLine();`;

for (const [width, height] of [
  [1280, 800],
  [360, 740],
] as const)
  test(`the picture is in view at ${width} × ${height}, and takes the place of the lines`, async ({ browser }) => {
    const client = new Client(server);
    const tab = await Tab.open(browser, server.url, 'one', 1);
    const page = await (await browser.newContext({ viewport: { width, height } })).newPage();
    const { id } = await client.submit(source('draws', PROGRAM), 1, [], { interactive: true });
    await openDashboard(page, server, `/jobs/${id}`);
    const result = page.getByTestId('result');
    await expect(result).toContainText('a first line');
    const place = await result.boundingBox();
    await client.input(id);
    const picture = result.getByRole('img', { name: /^out\.pgm/ });
    await expect(picture).toBeInViewport({ ratio: 0.95 });
    expect(await result.boundingBox()).toEqual(place);
    await expect(page.locator('.pictures')).toHaveCount(0); // once is enough
    expect(await serious(page)).toEqual([]);
    await client.input(id);
    await client.ended(id);
    await expect(picture).toBeInViewport({ ratio: 0.95 });
    await page.context().close();
    await tab.close();
  });
