/**
 * `mayfly volunteer --browser <url>`: the server's volunteer page in an installed browser without a window, until a
 * signal comes. The page starts by itself (`?start`); what it says stands in the terminal. A browser or page that
 * crashes is started again, after a while that doubles.
 */
import { availableParallelism, hostname } from 'node:os';
import { findBrowser, type InstalledBrowser } from '../browser/find.ts';
import { allowSandbox, launch } from '../browser/launch.ts';
import type { BrowserPage, LaunchOptions } from '../browser/launched.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { interrupted } from '../signals.ts';
import { NO_URL } from './volunteer-check.ts';
import { say } from '../terminal.ts';

export interface BrowserVolunteerOptions {
  slots?: number;
  name?: string;
  room?: string;
  insecure?: boolean;
  browserSandbox: boolean;
}

/** What the page says of itself. */
interface PageState {
  /** VolunteerPhase; undefined: the volunteer page is not there, or cannot work. */
  phase?: string;
  title: string;
  detail: string;
}

/** As many as the page takes. */
const MOST_SLOTS = 64;
const LOOK_MS = 500;
/** Until its first word a page has so long. */
const MUTE_MS = 60_000;
/** So many looks in a row at a page that was there find none: it crashed, and its browser did not tell. */
const MISSED = 10;
/** A leaving page takes last images, for 5 s at most, and says goodbye. */
const LEAVE_MS = 10_000;
const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 60_000;
/** After so long a start counts as one that went well. */
const WELL_MS = 60_000;

const STATE = `(() => {
  const text = (where) => (document.querySelector(where)?.textContent ?? '').trim();
  return {
    phase: document.querySelector('[data-phase]')?.getAttribute('data-phase') ?? undefined,
    title: text('[data-testid="volunteer-state"]'),
    detail: text('#volunteer-detail'),
  };
})()`;
/** The button of the page: Stop, while it is on. */
const PRESS = `void document.querySelector('[data-phase] .orb')?.click()`;

/** What comes from a page goes to a terminal: no control characters, and not too much of it. */
const plain = (text: string): string => text.replace(/[\p{C}\p{Z}]+/gu, ' ').slice(0, 300);
const sleep = (ms: number): Promise<void> => new Promise((r) => setTimeout(r, ms));

/** @throws CommandError */
export async function browserVolunteer(
  server: string | undefined,
  wanted: string,
  options: BrowserVolunteerOptions,
): Promise<number> {
  if (server === undefined) throw new CommandError(NO_URL, Exit.USAGE);
  const slots = options.slots ?? Math.min(MOST_SLOTS, Math.max(1, availableParallelism() - 1));
  if (slots > MOST_SLOTS)
    throw new CommandError(
      `a page can offer at most ${MOST_SLOTS} slots, not ${slots}; start more than one volunteer`,
      Exit.USAGE,
    );
  const name = (options.name ?? hostname()).slice(0, 80);
  const url = pageOf(server, slots, name, options.room);
  const browser = findBrowser(wanted);
  allowSandbox(browser, options.browserSandbox);
  const how: LaunchOptions = {
    sandbox: options.browserSandbox,
    insecure: options.insecure ?? false,
    trusted: plainHttp(url) ? url.origin : undefined,
  };
  const watch = new Watch(
    browser,
    url,
    `"${name}" offers ${slots} slot${slots === 1 ? '' : 's'} to ${url.origin} in ${browser.name}; press Ctrl-C to stop`,
  );
  const leave = interrupted();
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(MOST_WAIT_MS, 2 * wait)) {
    const began = Date.now();
    const gone = await watch.once(how, leave);
    if (gone === undefined) return Exit.OK;
    if (Date.now() - began > WELL_MS) wait = FIRST_WAIT_MS;
    say(`${browser.name} has stopped: ${plain(gone)}. Its ranks continue elsewhere; it restarts in ${wait / 1000} s.`);
    if ((await Promise.race([leave, sleep(wait)])) !== undefined) return Exit.OK;
  }
}

/** @throws CommandError */
function pageOf(server: string, slots: number, name: string, room: string | undefined): URL {
  let url: URL;
  try {
    url = new URL('/volunteer', server);
  } catch {
    throw new CommandError(`"${server}" is not a server URL`, Exit.USAGE);
  }
  if (!/^https?:$/.test(url.protocol))
    throw new CommandError(`${server}: a server URL starts with http:// or https://`, Exit.USAGE);
  url.search = new URLSearchParams({
    start: '',
    slots: String(slots),
    name,
    ...(room === undefined ? {} : { room }),
  }).toString();
  return url;
}

/** Browsers give shared memory to pages of HTTPS and of the same machine. */
const plainHttp = (url: URL): boolean =>
  url.protocol === 'http:' && !/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);

class Watch {
  /** What was said last of the page. */
  #said = '';
  /** It has been connected: what goes wrong from now on may pass. */
  #wasUp = false;

  constructor(
    private readonly browser: InstalledBrowser,
    private readonly url: URL,
    private readonly welcome: string,
  ) {}

  /**
   * One browser, from its start to its end.
   * @returns why it ended by itself; undefined: it was asked to leave
   * @throws CommandError: it cannot work
   */
  async once(how: LaunchOptions, leave: Promise<unknown>): Promise<string | undefined> {
    // What was said of the browser before is over: the same words are news again.
    this.#said = '';
    const browser = await launch(this.browser, how).catch((e: Error) => e);
    if (browser instanceof Error) {
      if (this.#wasUp) return browser.message;
      throw new CommandError(`${this.browser.path} does not start: ${browser.message}`, Exit.FAILED);
    }
    try {
      const page = await browser.open(this.url.href);
      const ended = await this.#follow(page, leave);
      if (ended === undefined) {
        await leavePage(page);
        await page.close().catch(() => undefined);
      }
      return ended;
    } catch (e) {
      // The browser went in the middle of an answer.
      if (e instanceof CommandError) throw e;
      return (e as Error).message;
    } finally {
      await browser.close();
    }
  }

  /** Until it is asked to leave, or the page is gone (why). */
  async #follow(page: BrowserPage, leave: Promise<unknown>): Promise<string | undefined> {
    let { failed } = page;
    let heard = Date.now();
    let wait = FIRST_WAIT_MS;
    let there = false;
    let missed = 0;
    /** It was connected in this browser. */
    let up = false;
    let left = false;
    let gone: string | undefined;
    // It may be here for weeks: no promise gets a new listener at every look.
    let wake = (): void => undefined;
    void leave.then(() => {
      left = true;
      wake();
    });
    void page.gone.then((why) => {
      gone = why;
      wake();
    });
    for (;;) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, failed === undefined ? LOOK_MS : wait);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (left || gone !== undefined) wake();
      });
      if (left) return undefined;
      if (gone !== undefined) return gone;
      if (failed !== undefined) {
        this.#tell('no page', `The server does not answer (${plain(failed)}); retrying.`);
        wait = Math.min(10_000, 2 * wait);
        failed = await page.load();
        heard = Date.now();
        continue;
      }
      const state = await page.evaluate<PageState | undefined>(STATE).catch(() => undefined);
      if (state?.phase !== undefined) there = true;
      missed = state?.phase === undefined ? missed + 1 : 0;
      if (there && missed >= MISSED) return 'the page crashed, or hangs';
      if (!there && !state?.title && Date.now() - heard > MUTE_MS) {
        if (this.#wasUp) return 'the page does not load';
        throw new CommandError(
          `${this.url.origin}${this.url.pathname} is not a volunteer page: is this a Mayfly server?`,
          Exit.FAILED,
        );
      }
      if (state?.phase === 'idle' || state?.phase === 'working') up = true;
      // A page that is older than its server by now: the next one is not.
      if (up && state?.phase === 'refused') return `the server refused the page: ${state.detail}`;
      if (state) this.#show(state);
    }
  }

  /** @throws CommandError when the page cannot work */
  #show({ phase, title, detail }: PageState): void {
    const words = plain(`${title}${detail ? `. ${detail}` : ''}`);
    switch (phase) {
      case undefined:
        if (title) throw new CommandError(`the page cannot work in ${this.browser.name}: ${words}`, Exit.FAILED);
        return;
      case 'refused':
        throw new CommandError(`the server refused this volunteer: ${plain(detail)}`, Exit.FAILED);
      case 'off':
        return; // about to start, or to leave
      case 'idle':
      case 'working':
        if (!this.#wasUp) say(this.welcome);
        this.#wasUp = true;
        // Only that it works is news, not what its ranks wait for.
        return this.#tell(
          phase === 'idle' ? 'idle' : plain(title),
          phase === 'idle' ? 'Idle: waiting for work.' : `${plain(title)}.`,
        );
      default:
        return this.#tell(phase, words);
    }
  }

  #tell(what: string, text: string): void {
    if (what === this.#said) return;
    this.#said = what;
    say(text);
  }
}

/** As a person does who presses Stop and waits: last images, then goodbye. */
async function leavePage(page: BrowserPage): Promise<void> {
  const phase = async (): Promise<string | undefined> => (await page.evaluate<PageState | undefined>(STATE))?.phase;
  const off = (p: string | undefined): boolean => p === undefined || p === 'off' || p === 'refused';
  try {
    if (off(await phase())) return;
    say('Leaving: the ranks here take final checkpoints and continue elsewhere.');
    await page.evaluate(PRESS);
    for (const end = Date.now() + LEAVE_MS; Date.now() < end && !off(await phase());) await sleep(100);
  } catch {
    // It is gone: so are its ranks.
  }
}
