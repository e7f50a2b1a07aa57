/** A browser of the machine that a command runs pages in. One interface over both families. */
import { CommandError, Exit } from '../exit-codes.ts';
import { launchChromium } from './chromium.ts';
import type { InstalledBrowser } from './find.ts';
import { launchFirefox } from './firefox.ts';

export interface LaunchOptions {
  /** With a window. */
  show?: boolean;
  /** Chromium's own, around every page. */
  sandbox: boolean;
  /** Accept a certificate that the server made itself. */
  insecure?: boolean;
  /**
   * Origin of plain HTTP that may do what others may do with HTTPS only (shared memory): the one that the user named.
   */
  trusted?: string | undefined;
}

export interface BrowserPage {
  /** Why the page could not be loaded. */
  readonly failed: string | undefined;
  /** Loads it again. @returns why it could not be loaded */
  load(): Promise<string | undefined>;
  /** When it, or the browser, has ended by itself: why. */
  readonly gone: Promise<string>;
  /** An expression, of which the value is plain data. */
  evaluate<T>(expression: string): Promise<T>;
  /** As a person closes it. */
  close(): Promise<void>;
}

export interface LaunchedBrowser {
  /** 'Chromium 156'. */
  readonly name: string;
  readonly gone: Promise<string>;
  /** A page of its own, which shares nothing with others. */
  open(url: string): Promise<BrowserPage>;
  /** Ends the browser and removes its profile. */
  close(): Promise<void>;
}

/** @throws CommandError: Chromium has no sandbox when root runs it, and nobody has accepted that */
export function allowSandbox(browser: InstalledBrowser, sandbox: boolean, uid = process.getuid?.()): void {
  if (browser.kind !== 'chromium' || !sandbox || uid !== 0) return;
  throw new CommandError(
    `${browser.name} has no sandbox when root runs it, and the programs of a server's users would run ` +
      'without one. Run this command as another user (for example with runuser -u nobody --),' +
      (' use Firefox (--browser=firefox), or accept that with --no-browser-sandbox where everybody who ' +
        'submits jobs may do anything on this machine.'),
    Exit.USAGE,
  );
}

export const launch = (browser: InstalledBrowser, options: LaunchOptions): Promise<LaunchedBrowser> =>
  (browser.kind === 'firefox' ? launchFirefox : launchChromium)(browser, options);
