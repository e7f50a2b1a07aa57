/** When a server that stands by takes over: T1 to T3 of takeover.ts. */
import { expect, it } from 'vitest';
import { Takeover, type Sight } from '../src/postgres/takeover.ts';

const alive: Sight = { epoch: '1', until: 'noon', released: false, ended: false, alone: false };

it('takes what was given up at once, and what shows no sign of life for a second', () => {
  expect(new Takeover(1000).saw({ ...alive, released: true }, 0)).toBe(true);
  for (const dead of [
    { ...alive, alone: true },
    { ...alive, ended: true },
  ]) {
    const t = new Takeover(1000);
    expect([0, 500, 999, 1000].map((now) => t.saw(dead, now))).toEqual([false, false, false, true]);
  }
});

it('begins again when the owner was alive in between, renewed its lease, or could not be looked at', () => {
  const dead = { ...alive, alone: true };
  for (const between of [alive, { ...dead, until: 'one' }, { ...dead, epoch: '2' }, undefined]) {
    const t = new Takeover(1000);
    t.saw(dead, 0);
    if (between) expect(t.saw(between, 999)).toBe(false);
    else t.failed();
    expect(t.saw(dead, 1000)).toBe(false);
    expect(t.saw(dead, 1999)).toBe(false);
    expect(t.saw(dead, 2000)).toBe(true);
  }
});
