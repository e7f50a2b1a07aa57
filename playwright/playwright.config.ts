import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

const browser = process.env.MAYFLY_BROWSER ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((p) => existsSync(p));

/**
 * Real Chromium against a real server process. One worker: a test owns the two cores. `MAYFLY_BROWSER` names the browser that
 * the bootstrap found; without it an installed one, else Playwright's own is used.
 */
export default defineConfig({
  testDir: 'tests',
  timeout: 150_000,
  workers: 1,
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  retries: 0,
  reporter: [['list'], ['json', { outputFile: 'test-results/report.json' }]],
  use: {
    launchOptions: {
      ...(browser === undefined ? {} : { executablePath: browser }),
      args: [
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
      ],
    },
  },
});
