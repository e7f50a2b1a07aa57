import { describe, expect, it } from 'vitest';
import { lastKnown, niceMax, recoveriesOf, stepsOf } from './plot.ts';

describe('charts', () => {
  it('end at round numbers', () => {
    expect([0, 0.3, 1, 1.01, 4.2, 7, 99, 100, 1234].map(niceMax)).toEqual([1, 0.5, 1, 2, 5, 10, 100, 100, 2000]);
  });
  it('draw a step for each column, and nothing where nobody saw', () => {
    expect(stepsOf([5, 10, null, 0], 10)).toBe('M0 50H1V0H2M3 100H4');
    expect(stepsOf([5, null, 10], 10, true)).toBe('M0 100V50H1V100ZM2 100V0H3V100Z');
  });
  it('know a gap from their end', () => {
    expect([lastKnown([1, null, 0, null, null]), lastKnown([null]), lastKnown([])]).toEqual([2, -1, -1]);
  });
  it('show recoveries by phase, near ones as their mean, and none that is not over', () => {
    const fault = (at: number, a?: number, s?: number, r?: number) =>
      ({
        at,
        task: 0,
        incarnation: 0,
        cause: 'killed',
        ...(a === undefined ? {} : { assignedAfterMs: a, startedAfterMs: s, recoveredAfterMs: r }),
      }) as never;
    expect(
      recoveriesOf([fault(100, 10, 30, 90), fault(104, 30, 50, 70), fault(900, 1, 2, 3), fault(950)], 0, 1000, 10),
    ).toEqual([
      { at: 0.15, faults: 2, slotMs: 20, startMs: 20, replayMs: 40 },
      { at: 0.95, faults: 1, slotMs: 1, startMs: 1, replayMs: 1 },
    ]);
  });
});
