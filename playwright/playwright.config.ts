import { defineConfig } from '@playwright/test';
import { patient } from '@mayfly/testing/pace';
import { launchOptions } from './src/nodes/browser.ts';

/**
 * Real Chromium against real server processes, one per worker and file. Two workers: each waits half of its time, for
 * processes, sockets and graces. `MAYFLY_BROWSER` names the browser that the bootstrap found; without it an installed
 * one, else Playwright's own is used. Limits are there to end a hang, never to judge how fast a machine is.
 */
export default defineConfig({
  testDir: 'tests',
  timeout: patient(900_000),
  expect: { timeout: patient(120_000) },
  workers: 2,
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  retries: 0,
  reporter: 'list',
  use: { launchOptions },
});
