/** The demo's volunteers: tabs of a real Chromium, or headless nodes where there is no browser. */
import { startHeadlessNode } from '@mayfly/node/headless';
import type { Browser } from 'playwright-core';

export interface Volunteer {
  readonly name: string;
  /** Closed as a person closes a tab. */
  close(): Promise<void>;
}

export interface Volunteers {
  /** 'Chromium 156.0' or 'headless nodes in Node 20.20'. */
  readonly kind: string;
  open(name: string, slots: number): Promise<Volunteer>;
  end(): Promise<void>;
}

/** @param browser path of a Chrome, Chromium or Edge; undefined: headless nodes */
export async function gather(server: string, browser: string | undefined, show: boolean): Promise<Volunteers> {
  return browser === undefined ? headless(server) : inBrowser(server, browser, show);
}

async function inBrowser(server: string, executablePath: string, show: boolean): Promise<Volunteers> {
  const { chromium } = await import('playwright-core');
  const browser: Browser = await chromium.launch({
    executablePath,
    headless: !show,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
  return {
    kind: `tabs of Chromium ${browser.version()}`,
    async open(name, slots) {
      // A context of its own: another person's browser.
      const context = await browser.newContext();
      const page = await context.newPage();
      page.on('pageerror', (error) => process.stderr.write(`${name}: page error: ${error.message}\n`));
      await page.goto(`${server}/volunteer?start&slots=${slots}&name=${encodeURIComponent(name)}`);
      return {
        name,
        async close() {
          await page.close({ runBeforeUnload: false });
          await context.close();
        },
      };
    },
    end: () => browser.close(),
  };
}

async function headless(server: string): Promise<Volunteers> {
  const nodes = new Set<{ close(): Promise<void> | void }>();
  return {
    kind: `headless nodes in Node ${process.versions.node}`,
    async open(name, slots) {
      const node = await startHeadlessNode({ server, allowTypeScript: true, slots, name });
      nodes.add(node);
      return {
        name,
        async close() {
          nodes.delete(node);
          await node.kill();
        },
      };
    },
    async end() {
      for (const node of nodes) await node.close();
    },
  };
}
