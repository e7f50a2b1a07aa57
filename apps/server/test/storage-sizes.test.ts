/** Sizes of the storage: one measurement serves all who ask, and nobody who only looks waits for a long one. */
import type { StorageUsage } from '@mayfly/storage/ports';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MeasuredStorage } from '../src/storage-sizes.ts';

const usage = (jobs: number): StorageUsage => ({ log: 1, images: 2, jobs, registry: 4, total: 7 + jobs });
/** Measurements that end when the test says so. */
class Slow {
  readonly ends: ((u: StorageUsage) => void)[] = [];
  readonly sizes = new MeasuredStorage(() => new Promise((resolve) => this.ends.push(resolve)));
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('who looks waits for a second, then has what is known: nothing before the first measurement', async () => {
  const { sizes, ends } = new Slow();
  const first = sizes.look();
  await vi.advanceTimersByTimeAsync(1000);
  expect(await first).toBeUndefined();
  const second = sizes.look();
  ends[0]!(usage(10));
  expect(await second).toMatchObject({ jobs: 10 });
  expect(ends).toHaveLength(1);
});

it('one measurement serves all who ask meanwhile; the next begins with the next who measures', async () => {
  const { sizes, ends } = new Slow();
  const both = Promise.all([sizes.measure(), sizes.measure(), sizes.look()]);
  expect(ends).toHaveLength(1);
  ends[0]!(usage(10));
  expect((await both).map((s) => s?.jobs)).toEqual([10, 10, 10]);
  const third = sizes.measure();
  expect(ends).toHaveLength(2);
  ends[1]!(usage(11));
  expect(await third).toMatchObject({ jobs: 11 });
});

it('looking begins no measurement for ten seconds, and for twenty times as long as the last one took', async () => {
  const { sizes, ends } = new Slow();
  const first = sizes.measure();
  await vi.advanceTimersByTimeAsync(60_000);
  ends[0]!(usage(10));
  await first;
  await vi.advanceTimersByTimeAsync(19 * 60_000);
  expect(await sizes.look()).toMatchObject({ jobs: 10 });
  expect(ends).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60_000);
  const look = sizes.look();
  expect(ends).toHaveLength(2);
  // The old one serves while the new one is under way.
  await vi.advanceTimersByTimeAsync(1000);
  expect(await look).toMatchObject({ jobs: 10 });
});

it('a measurement that fails leaves the one before', async () => {
  let fails = false;
  const sizes = new MeasuredStorage(() => (fails ? Promise.reject(new Error('no disk')) : Promise.resolve(usage(10))));
  await sizes.measure();
  fails = true;
  await expect(sizes.measure()).rejects.toThrow('no disk');
  await vi.advanceTimersByTimeAsync(3600_000);
  expect(await sizes.look()).toMatchObject({ jobs: 10 });
});
