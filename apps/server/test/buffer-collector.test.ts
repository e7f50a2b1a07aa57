/** Messages make the server collect its young generation, and nothing else finds the collector. */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { messageCame } from '../src/hosts/buffer-collector.ts';

const MB = 1024 * 1024;

it('collects the young generation, and that alone, after some megabytes of messages', async () => {
  const kinds: number[] = [];
  const observer = new PerformanceObserver((list) => {
    // The engine's own collections are not forced.
    for (const { detail } of list.getEntries() as unknown as { detail: { kind: number; flags: number } }[])
      if ((detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) kinds.push(detail.kind);
  });
  observer.observe({ entryTypes: ['gc'] });
  for (let i = 0; i < 2 * 64; i++) messageCame(MB / 64);
  await expect.poll(() => kinds.length).toBeGreaterThan(0);
  observer.disconnect();
  expect(kinds).toEqual([constants.NODE_PERFORMANCE_GC_MINOR]);
  expect(runInNewContext('typeof gc')).toBe('undefined');
});
