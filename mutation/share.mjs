/**
 * The simulator's part in judging a mutant: seeds of its campaign, of which each must end with the right answer or with
 * the error that its faults excuse.
 * Run by `npm run mutate` alone; `npm run verify` has a campaign of its own.
 */
import { HOSTILE, run } from '@mayfly/simulator';
import { expect, test } from 'vitest';

const wrong = (seed, options) => run(seed, options).violation;

test.each(Array.from({ length: 20 }, (_, i) => i + 1))('seed %i of the campaign', (seed) => {
  expect(wrong(seed)).toBeUndefined();
});

test.each([1, 2, 3, 4])('strangers and faults that cost no honest node a rank: seed %i', (seed) => {
  expect(wrong(seed, { only: [...HOSTILE, 'close', 'kill server'] })).toBeUndefined();
});

test.each([1, 2])('a program that no node can run: seed %i', (seed) => {
  expect(wrong(seed, { only: ['crashing program', 'false crash'] })).toBeUndefined();
});
