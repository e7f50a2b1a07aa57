/** log-quota.ts Q1, Q2; and a server that keeps to it. */
import { jobId } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { LogQuota } from '../src/jobs/log-quota.ts';
import { api, door, program, startServer, until } from './harness.ts';
import { Volunteer } from './volunteer.ts';

const job = jobId('abcdefghijkl');
const other = jobId('abcdefghijkm');

describe('LogQuota', () => {
  it(
    'Q1: asks at a half and with each eighth more, and ends a job beyond the limit; jobs do not count for each ' +
      'other',
    () => {
      const quota = new LogQuota(800);
      expect([0, 399, 400, 499, 500, 599, 600, 800, 801].map((n) => quota.observe(job, n))).toEqual([
        'nothing',
        'nothing',
        'ask',
        'nothing',
        'ask',
        'nothing',
        'ask',
        'ask',
        'end',
      ]);
      expect(quota.observe(other, 450)).toBe('ask');
      quota.forget(job);
      expect(quota.observe(job, 450)).toBe('ask');
    },
  );

  it('Q1: a log that images trim may grow for ever', () => {
    const quota = new LogQuota(800);
    // Ranks take an image when they are asked; the log goes back to the image before.
    let log = 0,
      images = [0];
    for (let total = 0; total < 20_000; total += 50) {
      log += 50;
      const what = quota.observe(job, log);
      expect(what).not.toBe('end');
      if (what !== 'ask') continue;
      images = [images.at(-1)!, total];
      log = Math.min(log, total - images[0]! + 50);
    }
    expect(images[1]).toBeGreaterThan(19_000);
  });

  it('Q2: a long log that stays as it is is asked about once, one that was trimmed counts anew', () => {
    const quota = new LogQuota(800);
    expect([700, 700, 700, 620, 700, 719, 720].map((n) => quota.observe(job, n))).toEqual([
      'ask',
      'nothing',
      'nothing',
      'nothing',
      'nothing',
      'nothing',
      'ask',
    ]);
  });
});

it('a running server asks the ranks for images, and ends the job whose logs hold more than they may', async () => {
  const server = await startServer({ limits: { logBytes: 4 << 20 } });
  const asked = door();
  const volunteer = new Volunteer(server.localUrl, 1, async (r) => {
    for (let i = 0; i < 3; i++) await r.send(0, new Uint8Array(1 << 20), i);
    await asked.opened;
    for (let i = 0; i < 3; i++) await r.send(0, new Uint8Array(1 << 20), i);
    await new Promise(() => undefined);
  });
  const { id } = (await api(server, 'POST', '/api/jobs', program('export {};', 1))).body as { id: string };
  await until('asked for an image', () => volunteer.checkpoints.length > 0);
  // Its owner's quota counts the log as long as the job runs.
  const held = async (): Promise<number> =>
    ((await api(server, 'GET', '/api/quota')).body as { used: { bytes: number } }).used.bytes;
  expect(await held()).toBeGreaterThan(2 << 20);
  asked.open();
  const seen = async (): Promise<{ state: string; error?: { code: string } }> =>
    (await api(server, 'GET', `/api/jobs/${id}`)).body as never;
  await until('over', async () => (await seen()).state === 'failed');
  expect((await seen()).error?.code).toBe('LOG_LIMIT');
  await until('without its log', async () => (await held()) < 1 << 20);
});
