import { expect, it } from 'vitest';
import { limitOf, wishOf } from './typed-limits.ts';

it('limits are read as they are shown, and anything else is refused', () => {
  expect(wishOf({ slots: ' 8 ', jobs: 'None', bytes: '' })).toEqual({ slots: 8, jobs: null });
  expect(wishOf({ slots: '', jobs: '', bytes: limitOf(2e9, 1e6) })).toEqual({ bytes: 2e9 });
  expect([limitOf(undefined), limitOf(null), limitOf(0)]).toEqual(['', 'none', '0']);
  for (const slots of ['-1', '1.5', 'many', '1e3'])
    expect(wishOf({ slots, jobs: '', bytes: '' }), slots).toBeUndefined();
});
