/** How much of a machine a volunteer gives, and when: the share of ranks, wishes, a processor under pressure. */
import { describe, expect, it } from 'vitest';
import { holdOf, lowBattery, nextLook } from '../src/page/policy.ts';
import { AT_EASE, CALM_MS, PRESSED_MS, eased, easeWords, nextEase } from '../src/page/pressure.ts';
import { DutyCycle } from '../src/rank/duty.ts';
import { CommSide, createRankMemory, RankSide } from '../src/ring/index.ts';
import { RankState } from '../src/status.ts';

describe('a share of a processor', () => {
  /** A rank that computes `work` ms between calls, on a clock of its own. */
  function rank(share: number) {
    const r = {
      now: 0,
      rested: 0,
      side: { share, pause: (ms: number) => ((r.now += ms), (r.rested += ms), undefined) },
    };
    const duty = new DutyCycle(r.side, { state: () => undefined }, () => r.now);
    const call = (work: number): void => {
      r.now += work;
      duty.call(() => RankState.COMPUTING);
    };
    return { r, duty, call };
  }

  it('rests at calls until the rest is in proportion to the work', () => {
    const { r, call } = rank(25);
    call(0);
    for (let i = 0; i < 1000; i++) call(3);
    // 3 s of work at a quarter of a processor: 9 s of rest, but for what is not yet worth a sleep.
    expect(r.rested).toBeGreaterThan(9000 - 40);
    expect(r.rested).toBeLessThanOrEqual(9000);
  });
  it('takes waiting for others as rest, and never sleeps for longer than half a second at once', () => {
    const { r, duty, call } = rank(50);
    call(0);
    for (let i = 0; i < 100; i++) {
      call(10);
      const from = r.now;
      r.now += 10;
      duty.rested(from);
    }
    expect(r.rested).toBe(0);
    call(60_000);
    expect(r.rested).toBe(500);
  });
  it('costs nothing when all of it is given, and begins anew when that changes', () => {
    const { r, call } = rank(100);
    for (let i = 0; i < 10; i++) call(1000);
    r.side.share = 50;
    call(1000);
    expect(r.rested).toBe(0);
    call(100);
    expect(r.rested).toBe(100);
  });
  it('reaches the rank through the rank memory', () => {
    const memory = createRankMemory(4096, 4096);
    const rankSide = new RankSide(memory);
    const comm = new CommSide(memory, () => undefined);
    expect(rankSide.share).toBe(100);
    comm.share = 40;
    expect(rankSide.share).toBe(40);
    comm.share = 100;
    expect(rankSide.share).toBe(100);
  });
});

describe('when a volunteer’s wishes forbid to work', () => {
  const c = { now: 100_000, visible: true, visibleSince: 0 };
  const wishes = { onlyCharging: true, onlyVisible: true, pausedUntil: undefined };

  it('says why, and when to look again', () => {
    expect(holdOf(wishes, c)).toBeUndefined();
    expect(holdOf({ ...wishes, pausedUntil: Infinity }, c)).toContain('by you');
    expect(holdOf({ ...wishes, pausedUntil: 99_999 }, c)).toBeUndefined();
    expect(nextLook({ ...wishes, pausedUntil: 160_000 }, c)).toBe(60_000);
    expect(nextLook({ ...wishes, pausedUntil: Infinity }, c)).toBeUndefined();
    const battery = { charging: false, level: 0.9 };
    expect(holdOf(wishes, { ...c, battery })).toContain('battery');
    expect(holdOf({ ...wishes, onlyCharging: false }, { ...c, battery })).toBeUndefined();
    expect([
      lowBattery({ battery }),
      lowBattery({ battery: { charging: false, level: 0.1 } }),
      lowBattery({ battery: { charging: true, level: 0.1 } }),
      lowBattery({}),
    ]).toEqual([false, true, false, false]);
  });
  it('waits until nobody uses the machine, where the browser says so', () => {
    expect(holdOf({ ...wishes, onlyIdle: true }, { ...c, away: false })).toContain('somebody is using');
    expect([
      holdOf({ ...wishes, onlyIdle: true }, { ...c, away: true }),
      holdOf({ ...wishes, onlyIdle: true }, c),
      holdOf(wishes, { ...c, away: false }),
    ]).toEqual([undefined, undefined, undefined]);
  });
  it('works at the hours that were chosen, past midnight too, and looks again every minute', () => {
    const at = (hour: number, minute = 0): number => new Date(2026, 5, 3, hour, minute, 20).getTime();
    const night = { ...wishes, hours: { from: 22 * 60, to: 7 * 60 } };
    const holds = (w: typeof night, ...times: number[]) => times.map((now) => holdOf(w, { ...c, now }) !== undefined);
    expect(holds(night, at(21, 59), at(22), at(0), at(6, 59), at(7), at(12))).toEqual([
      true,
      false,
      false,
      false,
      true,
      true,
    ]);
    expect(holds({ ...wishes, hours: { from: 9 * 60, to: 17 * 60 } }, at(8, 59), at(9), at(16, 59), at(17))).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(holds({ ...wishes, hours: { from: 60, to: 60 } }, at(0), at(1), at(2))).toEqual([false, false, false]);
    expect(holdOf(night, { ...c, now: at(12) })).toBe('outside your chosen hours; resumes at 22:00');
    expect(nextLook(night, { ...c, now: at(12) })).toBe(40_000);
  });
  it('takes no glance at another tab for a departure', () => {
    const hidden = { ...c, visible: false, visibleSince: 99_000 };
    expect(holdOf(wishes, hidden)).toBeUndefined();
    expect(nextLook(wishes, hidden)).toBe(4000);
    expect(holdOf(wishes, { ...hidden, now: 104_000 })).toContain('hidden');
    expect(holdOf({ ...wishes, onlyVisible: false }, { ...hidden, now: 104_000 })).toBeUndefined();
  });
});

describe('a processor under pressure', () => {
  it('halves the share while it lasts, to a quarter, and doubles it slowly when it is calm', () => {
    let e = eased(AT_EASE, 'fair', 0);
    expect([e, nextEase(e, 0)]).toEqual([AT_EASE, undefined]);
    e = eased(e, 'serious', 1000);
    expect([e.factor, nextEase(e, 1000), easeWords(e)]).toEqual([1, PRESSED_MS, undefined]);
    // A moment of calm begins the wait anew.
    e = eased(eased(e, 'nominal', 5000), 'critical', 6000);
    expect(eased(e, undefined, 6000 + PRESSED_MS - 1).factor).toBe(1);
    e = eased(e, undefined, 6000 + PRESSED_MS);
    expect([e.factor, easeWords(e)]).toEqual([0.5, expect.stringContaining('half')]);
    e = eased(e, 'critical', 6000 + 2 * PRESSED_MS);
    expect([e.factor, nextEase(e, 0)]).toEqual([0.25, undefined]);
    e = eased(e, 'fair', 100_000);
    expect([e.factor, nextEase(e, 100_000)]).toEqual([0.25, CALM_MS]);
    e = eased(e, undefined, 100_000 + CALM_MS);
    expect(eased(e, undefined, 100_000 + 2 * CALM_MS)).toEqual({
      factor: 1,
      pressed: false,
      since: 100_000 + 2 * CALM_MS,
    });
  });
});
