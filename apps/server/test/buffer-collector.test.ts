/** Buffers of messages that have gone are freed without a collection of the whole heap, and nothing else finds the collector. */
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { messageCame } from '../src/hosts/buffer-collector.ts';

const MB = 1024 * 1024;

it('frees young buffers after some megabytes of messages', async () => {
  let held = Array.from({ length: 128 }, () => Buffer.allocUnsafeSlow(64 * 1024));
  const full = process.memoryUsage().arrayBuffers;
  expect(held.length).toBe(128);
  held = [];
  messageCame(2 * MB);
  // The engine sweeps beside us.
  for (const end = Date.now() + 60_000; process.memoryUsage().arrayBuffers > full - 6 * MB && Date.now() < end; ) await new Promise((r) => setTimeout(r, 5));
  expect(process.memoryUsage().arrayBuffers).toBeLessThan(full - 6 * MB);
  expect(runInNewContext('typeof gc')).toBe('undefined');
}, 90_000);
