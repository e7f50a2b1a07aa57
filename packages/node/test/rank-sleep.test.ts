/** A sleep of a rank that an image interrupts. */
import { expect, it } from 'vitest';
import { RankDevice } from '../src/rank/host-device.ts';

/** Sleeps for 10 ms; an image is asked for at 9 ms, and the machine takes so long to say so. */
function left(lateMs: number): number {
  let now = 0;
  const device = {
    endpoint: { replaying: false },
    mark: () => undefined,
    side: {
      pause(_ms: number, stop: () => boolean) {
        now = 9;
        if (stop()) now += lateMs;
      },
    },
  };
  return RankDevice.prototype.sleep.call(
    device as unknown as RankDevice,
    10,
    () => true,
    () => now,
  );
}

it('says what is left', () => {
  expect(left(0)).toBe(1);
});

it('is interrupted even where its time is over meanwhile: the image is asked for only once', () => {
  expect(left(1)).toBeGreaterThan(0);
  expect(left(50)).toBeGreaterThan(0);
});
