/** The time between two waves. */
import { expect, test } from 'vitest';
import { Period } from '../../src/units/period.ts';

test('the period is √(2·C·M), with M of the job', () => {
  const period = new Period(undefined);
  const begin = 1e6;
  period.ms(begin);
  period.took(1000);
  expect(period.ms(begin)).toBeCloseTo(Math.sqrt(2 * 1000 * 1_800_000));
  period.lost();
  period.lost();
  expect(period.ms(begin + 7_200_000)).toBeCloseTo(Math.sqrt(2 * 1000 * 3_600_000));
  // a crowd that loses a rank each second still computes between its waves
  for (let i = 0; i < 1e6; i++) period.lost();
  expect(period.ms(begin + 7_200_000)).toBe(1000);
  expect(new Period(30_000).ms(begin)).toBe(30_000);
});

test('a chosen period is raised to what a wave costs', () => {
  const period = new Period(1000);
  period.took(400);
  expect([period.ms(0), period.raisedFrom]).toEqual([1000, {}]);
  for (let i = 0; i < 3; i++) period.took(4000);
  expect([period.ms(0), period.raisedFrom]).toEqual([4000, { askedMs: 1000 }]);
});
