/** Invariants of a browser's process, with a shell as the browser. */
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BrowserProcess, newProfile } from '../src/browser/process.ts';

it.skipIf(process.platform === 'win32')(
  'B2: a process that outlives a crashed browser does not write its profile again',
  async () => {
    const profile = await newProfile();
    const writes = 'trap "" TERM HUP; n=0; while [ $((n += 1)) -lt 200 ]; do mkdir -p "$0/again"; sleep 0.01; done';
    const browser = new BrowserProcess({
      path: '/bin/sh',
      args: ['-c', `sh -c '${writes}' "$0" & sleep 0.2; exit 3`, profile],
      profile,
    });
    expect(await browser.gone).toBe('it ended with code 3');
    await browser.close(() => Promise.resolve());
    await delay(200);
    expect(existsSync(profile)).toBe(false);
  },
);
