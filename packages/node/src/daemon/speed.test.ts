import { expect, it } from 'vitest';
import { measureSpeed } from './speed.ts';

/** Readings of a clock: each call answers the next step further on. */
function clock(steps: readonly number[]): () => number {
  let at = 0;
  let i = 0;
  return () => (at += steps[i++] ?? 10);
}

it('the speed of a core is that of the best window: what others took of it in between is not this machine', () => {
  // A window: its begin, then the time after each 20,000 steps, until 10 ms have passed. 20,000 in 10 ms are 2 million
  // a second.
  expect(measureSpeed(clock([]))).toBe(2);
  // The second of four windows ran undisturbed: 80,000 steps in 10 ms.
  expect(measureSpeed(clock([0, 40, 0, 2.5, 2.5, 2.5, 2.5, 0, 100, 0, 20]))).toBe(8);
});
