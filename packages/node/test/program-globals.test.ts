/** What takes the place of a program's global objects (rank/program-globals.ts). */
import { expect, it } from 'vitest';
import { performanceOf } from '../src/rank/program-globals.ts';

it('counts performance.now from a reading that no later one precedes', () => {
  let ms = 5000;
  let origin: number | undefined;
  const clock = (): number => ms++;
  const { now } = performanceOf({ clock, origin: () => (origin ??= clock()) });
  expect([now(), now(), now()]).toEqual([1, 2, 3]);
});
