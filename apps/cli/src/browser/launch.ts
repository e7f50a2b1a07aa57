/** Launches a browser of the machine that a command runs pages in. */
import { CommandError, Exit } from '../exit-codes.ts';
import { launchChromium } from './chromium.ts';
import { launchFirefox } from './firefox.ts';
import type { InstalledBrowser } from './find.ts';
import type { LaunchedBrowser, LaunchOptions } from './launched.ts';

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
