/** log-quota.ts Q1, Q2. */
import { jobId } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { LogQuota } from '../src/jobs/log-quota.ts';

const job = jobId('abcdefghijkl');
const other = jobId('abcdefghijkm');

describe('LogQuota', () => {
  it('Q1: asks at a half and with each eighth more, and ends a job beyond the limit; jobs do not count for each other', () => {
    const quota = new LogQuota(800);
    expect([0, 399, 400, 499, 500, 599, 600, 800, 801].map((n) => quota.observe(job, n))).toEqual(['nothing', 'nothing', 'ask', 'nothing', 'ask', 'nothing', 'ask', 'ask', 'end']);
    expect(quota.observe(other, 450)).toBe('ask');
    quota.forget(job);
    expect(quota.observe(job, 450)).toBe('ask');
  });

  it('Q1: a log that images trim may grow for ever', () => {
    const quota = new LogQuota(800);
    // Ranks take an image when they are asked; the log goes back to the image before.
    let log = 0, images = [0];
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
    expect([700, 700, 700, 620, 700, 719, 720].map((n) => quota.observe(job, n))).toEqual(['ask', 'nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'ask']);
  });
});
