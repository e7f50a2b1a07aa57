import { describe, expect, it } from 'vitest';
import { LANE_KINDS, type Columns, type TimelineEvent } from '@mayfly/wire';
import { label, pan, settle, stepFor, widthFor, zoom, type Range } from './range.ts';
import { Sheet, incarnationAt } from './sheet.ts';

const K = LANE_KINDS.length;
const part = (from: number, columns: number, value: number, first = 0, last = 1): Columns => ({
  from,
  widthMs: 1000,
  columns,
  first,
  last,
  shares: new Uint8Array(columns * (last - first + 1) * K).fill(value),
});

describe('the columns of a viewer', () => {
  it('grow and are corrected by news; other widths and ranks change nothing (S1, S2)', () => {
    const s = new Sheet(part(10_000, 2, 1));
    expect(s.take({ ...part(11_000, 2, 9) })).toBe(1);
    expect(s.take({ ...part(15_000, 1, 7) })).toBe(5);
    expect([s.columns, s.to]).toEqual([6, 16_000]);
    expect(Array.from({ length: 6 }, (_, c) => s.shares[c * s.stride])).toEqual([1, 9, 9, 0, 0, 7]);
    expect(s.take({ ...part(12_000, 1, 3), widthMs: 2000 })).toBeUndefined();
    expect(s.take(part(12_000, 1, 3, 1, 2))).toBeUndefined();
    for (let t = 16; t < 9000; t++) s.take(part(t * 1000, 1, 5));
    expect(s.to).toBe(9_000_000);
    expect(s.columns).toBeLessThanOrEqual(4096);
  });

  it('say what a rank did in a range', () => {
    const p = part(0, 2, 0);
    p.shares[K] = 255; // rank 1, first column: computing
    p.shares[3 * K + 1] = 51; // rank 1, second column: waiting, and 0.8 unknown
    const s = new Sheet(p);
    expect(s.sharesOf(1, 0, 2000)).toMatchObject({
      known: 0.6,
      of: [0.8333333333333334, 0.16666666666666666, 0, 0, 0, 0, 0, 0, 0],
    });
    expect(s.sharesOf(0, 0, 2000).known).toBe(0);
    expect(s.sharesOf(5, 0, 2000).known).toBe(0);
  });

  it('know the incarnation at a time', () => {
    const e = (at: number, kind: TimelineEvent['kind'], incarnation: number): TimelineEvent => ({
      at,
      kind,
      task: 3 as never,
      incarnation: incarnation as never,
    });
    const events = [e(10, 'assigned', 0), e(20, 'fault', 0), e(30, 'assigned', 1)];
    expect([5, 15, 25, 35].map((t) => incarnationAt(events, 3, t))).toEqual([undefined, 0, undefined, 1]);
  });
});

describe('the range that is shown', () => {
  const run = { since: 1000, until: 101_000 };
  const whole: Range = { mode: 'whole', from: 1000, to: 101_000 };
  it('follows the end, keeps its place, stays inside', () => {
    expect(zoom(whole, run, 0.5, 101_000)).toEqual({ mode: 'live', from: 51_000, to: 101_000 });
    const middle = zoom(whole, run, 0.1, 51_000);
    expect(middle).toEqual({ mode: 'fixed', from: 46_000, to: 56_000 });
    expect(settle(middle, { since: 1000, until: 201_000 })).toEqual(middle);
    expect(pan(middle, run, -1e9)).toEqual({ mode: 'fixed', from: 1000, to: 11_000 });
    expect(pan(middle, run, 1e9).mode).toBe('live');
    expect(zoom(middle, run, 1e9, 50_000)).toEqual(whole);
    expect(settle({ mode: 'live', from: 0, to: 10_000 }, { since: 1000, until: 201_000 })).toEqual({
      mode: 'live',
      from: 191_000,
      to: 201_000,
    });
    // A short one that has ended is no longer than it was.
    expect(settle(whole, { since: 1000, until: 1400 })).toEqual({ mode: 'whole', from: 1000, to: 3000 });
    expect(settle(whole, { since: 1000, until: 1400, ended: true })).toEqual({ mode: 'whole', from: 1000, to: 1400 });
  });
  it('has columns and labels that fit', () => {
    expect([
      widthFor(10_000, 1000),
      widthFor(3_600_000, 1000),
      stepFor(60_000, 800),
      stepFor(86_400_000 * 9, 800),
    ]).toEqual([1000, 8000, 10_000, 86_400_000]);
    expect([
      label(7400),
      label(750_000),
      label(3_723_000),
      label(400, true),
      label(7000, true),
      label(12_300, true),
    ]).toEqual(['0:07', '12:30', '1:02:03', '0:00.4', '0:07', '0:12']);
  });
});
