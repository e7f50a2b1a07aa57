/** How the tests start Chromium. */
import { existsSync } from 'node:fs';

/** The browser that the bootstrap found, else an installed one; undefined: Playwright's own. */
export const browserPath =
  process.env.MAYFLY_BROWSER ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((p) => existsSync(p));

export const launchOptions = {
  ...(browserPath === undefined ? {} : { executablePath: browserPath }),
  args: [
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};
