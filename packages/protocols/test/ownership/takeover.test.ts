/** When a server that stands by takes over: T1 to T3 and T5 of takeover.ts. */
import { expect, it } from 'vitest';
import { Takeover, type Sight } from '../../src/index.ts';

const TIMES = { graceMs: 1000, leaseMs: 2000 };
const alive: Sight = { epoch: '1', until: 'noon', released: false, ended: false, alone: false };

it('takes what was given up at once, and what shows no sign of life for a second', () => {
  expect(new Takeover(TIMES).saw({ ...alive, released: true }, 0)).toBe(true);
  for (const dead of [
    { ...alive, alone: true },
    { ...alive, ended: true },
  ]) {
    const t = new Takeover(TIMES);
    expect([0, 500, 999, 1000].map((now) => t.saw(dead, now))).toEqual([false, false, false, true]);
  }
});

it('T1: leaves what it gave up itself to others for a while', () => {
  const t = new Takeover({ ...TIMES, yieldMs: 5000 });
  const released = { ...alive, released: true };
  expect([0, 4999, 5000].map((now) => t.saw(released, now))).toEqual([false, false, true]);
  const later = new Takeover({ ...TIMES, yieldMs: 5000 });
  // Another one has served meanwhile.
  expect(later.saw(released, 0)).toBe(false);
  expect(later.saw({ ...released, epoch: '2' }, 500)).toBe(true);
});

it('begins again when the owner was alive in between, or renewed its lease', () => {
  const dead = { ...alive, alone: true };
  for (const between of [alive, { ...dead, until: 'one' }, { ...dead, epoch: '2' }]) {
    const t = new Takeover(TIMES);
    t.saw(dead, 0);
    expect(t.saw(between, 999)).toBe(false);
    expect(t.saw(dead, 1000)).toBe(false);
    expect(t.saw(dead, 1999)).toBe(false);
    expect(t.saw(dead, 2000)).toBe(true);
  }
});

it('T3: begins again after a pause, which may have stopped the owner as well', () => {
  const t = new Takeover(TIMES);
  const dead = { ...alive, ended: true, alone: true };
  expect([0, 900, 2901, 3900, 3901].map((now) => t.saw(dead, now))).toEqual([false, false, false, false, true]);
});

it('T5: a lease that ends while it is young is not believed: its owner may be about to renew it', () => {
  const t = new Takeover({ graceMs: 1000, leaseMs: 10_000 });
  const looks = (from: number, to: number, sight: Sight): number | undefined => {
    for (let now = from; now <= to; now += 250) if (t.saw(sight, now)) return now;
    return undefined;
  };
  const ended = { ...alive, ended: true };
  expect(looks(0, 500, alive)).toBeUndefined();
  expect(looks(750, 2500, ended)).toBeUndefined(); // the clock was set forward
  expect(looks(2750, 4000, { ...alive, until: 'one' })).toBeUndefined();
  expect(looks(4250, 20_000, { ...ended, until: 'one' })).toBe(7750);
});
