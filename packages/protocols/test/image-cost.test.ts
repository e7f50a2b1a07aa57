/** How far apart checkpoints are that cost more than the job's interval. */
import { expect, test } from 'vitest';
import { ImageCost } from '../src/images/image-cost.ts';

test('a job spends at most half of the time on checkpoints', () => {
  const cost = new ImageCost();
  expect(cost.spaced(1000)).toBe(1000);
  cost.took(2500);
  expect(cost.spaced(1000)).toBe(5000);
  expect(cost.spaced(30_000)).toBe(30_000);
});

test('I1: the smallest of the last three costs counts', () => {
  const cost = new ImageCost();
  for (const ms of [2500, 60_000, 2600]) cost.took(ms);
  expect(cost.spaced(1000)).toBe(5000);
  cost.took(2700);
  expect(cost.ms).toBe(2600);
  for (const ms of [100, 90_000, 90_000]) cost.took(ms);
  expect(cost.spaced(1000)).toBe(1000);
});
