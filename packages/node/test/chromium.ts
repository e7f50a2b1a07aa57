/** Tabs of a real Chromium as nodes, on a page that has nothing but the volunteer. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@mayfly/testing';
import { chromium, type Browser, type Page } from '@playwright/test';
import { build as bundle } from 'esbuild';
import type { VolunteerSnapshot } from '../src/page/index.ts';

export const executable = [process.env.MAYFLY_BROWSER, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (p) => p !== undefined && existsSync(p),
);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Writes the page into a server's web root. */
export async function writePage(webRoot: string): Promise<void> {
  mkdirSync(join(webRoot, 'assets'), { recursive: true });
  const common = { bundle: true, format: 'esm', platform: 'browser', target: 'chrome111', logLevel: 'error' } as const;
  await Promise.all([
    bundle({ ...common, entryPoints: [at('browser-page.ts')], outfile: join(webRoot, 'assets/page.js') }),
    bundle({
      ...common,
      entryPoints: [at('../src/daemon/entry-browser.ts')],
      outfile: join(webRoot, 'assets/daemon.js'),
    }),
  ]);
  writeFileSync(
    join(webRoot, 'index.html'),
    '<!doctype html><meta charset="utf-8"><body><script type="module" src="/assets/page.js"></script>',
  );
}

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executable!,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

const snapshot = (page: Page): Promise<VolunteerSnapshot> =>
  page.evaluate(() => (globalThis as unknown as { volunteer: { snapshot(): VolunteerSnapshot } }).volunteer.snapshot());

/** A tab that has been welcomed by the server. */
export async function openTab(browser: Browser, server: string, name: string, slots: number): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  page.on('pageerror', (e) => console.log(`[${name}] page error ${e.message}`));
  await page.goto(`${server}/volunteer?start&slots=${slots}&name=${name}`);
  let s!: VolunteerSnapshot;
  await until(
    () => `the tab is welcomed; it is ${s.phase} (${s.reason ?? ''}): ${JSON.stringify(s.history)}`,
    async () => ['idle', 'working'].includes((s = await snapshot(page)).phase),
  );
  return page;
}
