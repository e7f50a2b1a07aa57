/** Invariants of a browser's process, with a shell as the browser. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { until } from '@mayfly/testing';
import { expect, it } from 'vitest';
import { BrowserProcess, newProfile } from '../src/browser/process.ts';

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it.skipIf(process.platform === 'win32')(
  'B2: a process that outlives a crashed browser does not write its profile again',
  async () => {
    const profile = await newProfile();
    const pid = `${profile}.pid`;
    const writes =
      'trap "" TERM HUP; echo $$ > "$0.pid"; n=0; ' +
      'while [ $((n += 1)) -lt 200 ]; do mkdir -p "$0/again"; sleep 0.01; done';
    const browser = new BrowserProcess({
      path: '/bin/sh',
      args: ['-c', `sh -c '${writes}' "$0" & sleep 0.2; exit 3`, profile],
      profile,
    });
    expect(await browser.gone).toBe('it ended with code 3');
    await browser.close(() => Promise.resolve());
    await until('the process has ended', () => !runs(Number(readFileSync(pid, 'utf8'))));
    rmSync(pid);
    expect(existsSync(profile)).toBe(false);
  },
);
