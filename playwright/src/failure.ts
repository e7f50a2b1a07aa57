/**
 * A test that fails shows what the server said last: on the terminal, since that is all that is left of a run
 * elsewhere.
 */
import { test } from '@playwright/test';
import type { Served } from './server.ts';

const SHOWN = 8000;

export function showLogOnFailure(server: () => Served | undefined): void {
  // The pattern is Playwright's: the second argument only comes with a first.
  test.afterEach(async ({}, info) => {
    const log = server()?.log;
    if (log === undefined || info.status === info.expectedStatus) return;
    await info.attach('server log', { body: log, contentType: 'text/plain' });
    console.log(`── last lines of the server's log, "${info.title}" ──\n${log.slice(-SHOWN)}\n──`);
  });
}
