/**
 * What a browser knows of a page and of the machine under it: complaints, accessibility, shifts of the layout, weight;
 * battery, pressure, idleness.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from '@playwright/test';

/** Complaints of the browser about our pages. Refusals and lost connections that a test provokes are no complaints. */
export function complaints(page: Page): string[] {
  const found: string[] = [];
  page.on('pageerror', (e) => found.push(e.message));
  page.on('console', (m) => {
    if (m.type() === 'error' && !/Failed to load resource|WebSocket connection to/.test(m.text())) found.push(m.text());
  });
  return found;
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Those of axe's rules whose outcome depends on colours. */
export const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * What axe finds serious: rule and place; with `rules` by these alone. Our own frames of volunteers are not looked
 * into.
 */
export async function serious(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  return page.evaluate(async (rules) => {
    interface Axe {
      run(
        where: Document,
        options: object,
      ): Promise<{ violations: { id: string; impact: string; nodes: { target: string[] }[] }[] }>;
    }
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(document, {
      resultTypes: ['violations'],
      iframes: false,
      ...(rules === undefined ? {} : { runOnly: rules }),
    });
    return violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}`));
  }, rules);
}

/**
 * Remembers what moves in the page, in whatever direction, without having been pressed for: by 3 px or more, which is
 * what browsers count. From when its fonts and pictures are there and drawn; that it has read what it shows is for the
 * test to await. The causes (columns without a width, places that are not kept) are layout.spec.ts's. When its job
 * ends, its page becomes shorter: what moves from then on does not count.
 */
export const watchShifts = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    await document.fonts.ready;
    await Promise.all([...document.images].map((i) => i.decode().catch(() => undefined)));
    for (let frames = 0; frames < 2; frames++) await new Promise((drawn) => requestAnimationFrame(drawn));
    interface Shift extends PerformanceEntry {
      hadRecentInput: boolean;
      sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
    }
    const moved: string[] = [];
    Object.assign(globalThis, { moved });
    // A shift has the time of its frame, which may have begun before the page changed.
    const FRAME_MS = 100;
    let ended = Infinity;
    const look = () => {
      if (document.querySelector('.job-page[data-ended]')) ended = Math.min(ended, performance.now());
    };
    look();
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributeFilter: ['data-ended'] });
    new PerformanceObserver((list) => {
      for (const e of list.getEntries() as Shift[])
        for (const { node, previousRect: was, currentRect: is } of e.hadRecentInput || e.startTime > ended - FRAME_MS
          ? []
          : e.sources)
          if (Math.abs(was.top - is.top) >= 3 || Math.abs(was.left - is.left) >= 3)
            moved.push(
              `${was.left}, ${was.top} → ${is.left}, ${is.top}: ` +
                `${(node instanceof Element ? node : node?.parentElement)?.outerHTML.slice(0, 200)}`,
            );
    }).observe({ type: 'layout-shift' });
  });

/** To be asked before a screenshot of a whole page, for which the browser changes the size of the view. */
export const shifts = (page: Page): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as { moved: string[] }).moved);

/**
 * What the volunteer page says of its state, 'title: detail', from now on: a slow machine may look too late for what is
 * said for a few seconds.
 */
export async function allSaid(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const says = document.querySelector('.says')!;
    const said: string[] = [];
    Object.assign(globalThis, { said });
    new MutationObserver(() => said.push([...says.children].map((p) => p.textContent).join(': '))).observe(says, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  return () => page.evaluate(() => (globalThis as unknown as { said: string[] }).said);
}

/**
 * The machine of a tab, as its browser tells of it. Pressure and idleness by the browser's own means; for the battery
 * it has none.
 */
export async function machineOf(browser: Browser, page: Page) {
  const cdp = await page.context().newCDPSession(page);
  const { targetInfo } = await cdp.send('Target.getTargetInfo');
  const whole = await browser.newBrowserCDPSession();
  await whole.send('Browser.grantPermissions', {
    permissions: ['idleDetection'],
    ...(targetInfo.browserContextId ? { browserContextId: targetInfo.browserContextId } : {}),
  });
  const pressure = (state: 'nominal' | 'critical') =>
    cdp.send('Emulation.setPressureStateOverride', { source: 'cpu', state }).catch(() => undefined);
  await cdp
    .send('Emulation.setPressureSourceOverrideEnabled', { enabled: true, source: 'cpu', metadata: { available: true } })
    .catch(() => undefined);
  await pressure('nominal');
  await cdp.send('Emulation.setIdleOverride', { isUserActive: true, isScreenUnlocked: true });
  await page.addInitScript(() => {
    const battery = Object.assign(new EventTarget(), { charging: false, level: 0.5 });
    Object.assign(navigator, { getBattery: async () => battery });
  });
  return {
    /** Once the page is there: what its browser has. Chromium's headless shell lacks both. */
    tells: () =>
      page.evaluate(() => ({ pressure: 'PressureObserver' in globalThis, idleness: 'IdleDetector' in globalThis })),
    pressure,
    /** Another tab lies before this one, or none. */
    seen: (state: 'visible' | 'hidden') =>
      page.evaluate((state) => {
        Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state),
    leave: () => cdp.send('Emulation.setIdleOverride', { isUserActive: false, isScreenUnlocked: true }),
    plugIn: () =>
      page.evaluate(async () => {
        const battery = await (navigator as unknown as { getBattery(): Promise<EventTarget> }).getBattery();
        Object.assign(battery, { charging: true }).dispatchEvent(new Event('chargingchange'));
      }),
  };
}

/** Allows the page's site notifications; titles of those that it shows from its next load on. */
export async function notificationsOf(page: Page): Promise<() => Promise<string[]>> {
  await page.context().grantPermissions(['notifications']);
  await page.addInitScript(() => {
    const announced: string[] = [];
    class Noted extends Notification {
      constructor(title: string, options?: NotificationOptions) {
        super(title, options);
        announced.push(title);
      }
    }
    Object.assign(globalThis, { announced, Notification: Noted });
  });
  return () => page.evaluate(() => (globalThis as unknown as { announced: string[] }).announced);
}

/** Bytes of the page and of everything that it has loaded, as they came (compressed). */
export const firstLoad = (page: Page): Promise<number> =>
  page.evaluate(() =>
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce(
      (sum, e) => sum + (e as PerformanceResourceTiming).encodedBodySize,
      0,
    ),
  );
