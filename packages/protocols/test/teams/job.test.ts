/** Whole jobs of teams on the real comm core and the real Channel Memory, at random; and with rules undone. */
import { describe, expect, it } from 'vitest';
import { firstWrong } from '../coordinated/wrong.ts';
import { JOB_PLANTED } from './job-planted.ts';
import { Job } from './job.ts';

const SEEDS = Number(process.env['TEAM_JOBS'] ?? '100');

describe('teams on the real comm core and Channel Memory', () => {
  it('keep every rule in random jobs', () => {
    const all: Record<string, number> = {};
    const wrong = firstWrong(SEEDS, (seed) => {
      const { counts } = new Job(seed).run();
      for (const [k, n] of Object.entries(counts)) all[k] = (all[k] ?? 0) + n;
    });
    expect(wrong).toBeUndefined();
    for (const [k, n] of Object.entries(all)) if (k !== 'lostLogs') expect.soft(n, k).toBeGreaterThan(5);
    expect(all['lostLogs']).toBeLessThan(SEEDS / 10);
  });

  it.each(Object.entries(JOB_PLANTED))('notices: %s', (_, planted) => {
    const wrong = firstWrong(600, (seed) => new Job(seed, planted).run());
    if (process.env['TEAM_JOBS']) console.log(wrong);
    expect(wrong).toBeDefined();
  });
});
