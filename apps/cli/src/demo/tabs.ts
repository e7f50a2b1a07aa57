/** The demo's volunteers: tabs of an installed browser, or headless nodes where there is no browser. */
import { startHeadlessNode } from '@mayfly/node/headless';
import type { InstalledBrowser } from '../browser/find.ts';
import { launch } from '../browser/launch.ts';
import { CommandError, Exit } from '../exit-codes.ts';

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

/** @param browser undefined: headless nodes */
export async function gather(
  server: string,
  browser: InstalledBrowser | undefined,
  show: boolean,
): Promise<Volunteers> {
  return browser === undefined ? headless(server) : inBrowser(server, browser, show);
}

async function inBrowser(server: string, installed: InstalledBrowser, show: boolean): Promise<Volunteers> {
  // The demo's own program runs here, and no stranger's.
  const browser = await launch(installed, { show, sandbox: process.getuid?.() !== 0 });
  return {
    kind: `tabs of ${browser.name}`,
    async open(name, slots) {
      const page = await browser.open(`${server}/volunteer?start&slots=${slots}&name=${encodeURIComponent(name)}`);
      if (page.failed !== undefined)
        throw new CommandError(`${name} does not open in ${browser.name}: ${page.failed}`, Exit.FAILED);
      return { name, close: () => page.close() };
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
