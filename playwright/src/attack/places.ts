/**
 * Where hostile programs run: in a tab of a real Chromium, on a headless volunteer as anybody starts it, and on one
 * that takes scripts. The options of volunteers stand here alone.
 */
import type { Attack } from './programs.ts';
import type { Canaries } from './canaries.ts';
import { BrowserTab, Browsers } from '../nodes/tab.ts';
import { HeadlessProcess } from '../nodes/headless.ts';

export const PLACES = ['chromium', 'headless', 'headless-scripts'] as const;
export type PlaceName = (typeof PLACES)[number];

const SLOTS = 2;

/** A volunteer that attacks run on, and how it is seen that it lives. */
export interface Place {
  readonly name: PlaceName;
  /** Of the node, as the server lists it. */
  readonly node: string;
  takes(attack: Attack): boolean;
  /** What a program has done to it, beyond the canaries; undefined: nothing. */
  harmed(): Promise<string | undefined>;
  log(): readonly string[];
  close(): Promise<void>;
}

async function headless(name: PlaceName, url: string, canaries: Canaries): Promise<Place> {
  const scripts = name === 'headless-scripts';
  const volunteer = await HeadlessProcess.start(
    url,
    name,
    SLOTS,
    { MAYFLY_CANARY: canaries.environment },
    scripts ? ['--allow-typescript'] : [],
  );
  return {
    name,
    node: name,
    // A module is the same to both.
    takes: (attack) => attack.kind === 'script' || !scripts,
    harmed: () => Promise.resolve(volunteer.gone ? 'the process of the volunteer has ended' : undefined),
    log: () => volunteer.log,
    close: () => volunteer.dispose(),
  };
}

async function chromium(url: string): Promise<Place> {
  const browsers = new Browsers();
  const tab = await BrowserTab.open(url, 'chromium', SLOTS, browsers);
  return {
    name: 'chromium',
    node: 'chromium',
    takes: () => true,
    async harmed() {
      // A frame whose process a program has ended is no harm; Playwright then drives the page no more.
      const seen = await tab.page
        .evaluate(async () => ({
          stored: [
            ...Object.keys(localStorage),
            ...Object.keys(sessionStorage),
            document.cookie,
            ...(await indexedDB.databases()).map((d) => d.name),
            ...(await caches.keys()),
          ].join(),
          url: location.pathname,
        }))
        .catch((e: unknown) => String(e));
      if (typeof seen === 'string')
        return /(Target|Page) crashed/.test(seen) ? undefined : `the page does not answer: ${seen}`;
      if (seen.stored.includes('escaped')) return `the storage of the page contains ${seen.stored}`;
      return seen.url === '/volunteer' ? undefined : `the page navigated to ${seen.url}`;
    },
    log: () => tab.log,
    async close() {
      await tab.dispose();
      await browsers.close();
    },
  };
}

export const open = (name: PlaceName, url: string, canaries: Canaries): Promise<Place> =>
  name === 'chromium' ? chromium(url) : headless(name, url, canaries);

/** True where the server must not give this attack to this place, however long it waits. */
export const refuses = (place: Place, attack: Attack): boolean => place.name === 'headless' && attack.kind === 'script';
