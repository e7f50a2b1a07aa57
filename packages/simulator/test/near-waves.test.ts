/** Waves of jobs with parity: images of most of them are with the nodes (docs/codes.md). */
import { expect, test } from 'vitest';
import { run } from '../src/run.ts';

test.each(['vcl', 'pcl'] as const)(
  '%s with parity: every job ends with its answer, from waves of both levels',
  { timeout: 240_000 },
  (protocol) => {
    const counts: Record<string, number> = {};
    for (let seed = 1; seed <= 30; seed++) {
      const report = run(seed, { setup: { protocol, checkpointMs: 300, wholeEvery: 3 } });
      expect(report.violation, `seed ${seed}`).toBeUndefined();
      for (const [what, n] of Object.entries(report.counts)) counts[what] = (counts[what] ?? 0) + n;
    }
    expect(counts['image with the nodes']).toBeGreaterThan(30);
    expect(counts['image made again']).toBeGreaterThan(5);
    expect(counts['image lost with the nodes']).toBeGreaterThan(0);
  },
);
