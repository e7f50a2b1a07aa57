import type { VolunteerEvent } from '@mayfly/node/page';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Announcer, HIDDEN_MS, keptHistory } from './cheap.ts';
import { History } from './History.tsx';

const event = (at: number, text = 'Rank 1 is done.'): VolunteerEvent => ({ at, kind: 'finished', text });
const hundred = Array.from({ length: 100 }, (_, i) => event(1_700_000_000_000 + i));

describe('the history of a tab', () => {
  it('is the same one in a snapshot without a new event, so that no line is rendered again', () => {
    const kept = keptHistory([], hundred);
    expect(keptHistory(kept, structuredClone(hundred))).toBe(kept);
    const next = [...structuredClone(hundred).slice(1), event(1_700_000_001_000)];
    const after = keptHistory(kept, next);
    expect(after).toEqual(next);
    expect(after.slice(0, 99).every((e, i) => e === kept[i + 1])).toBe(true);
    // Two that differ in their words alone are two.
    expect(keptHistory([event(1)], [event(1, 'Rank 1 failed.')])).toEqual([event(1, 'Rank 1 failed.')]);
    expect(keptHistory(kept, [])).toEqual([]);
  });

  it('a hundred lines make no formatter of times', () => {
    const made = [vi.spyOn(Date.prototype, 'toLocaleTimeString'), vi.spyOn(Intl, 'DateTimeFormat')];
    const html = renderToStaticMarkup(<History events={hundred} on />);
    const times = made.map((m) => m.mock.calls.length);
    for (const m of made) m.mockRestore();
    expect(html.match(/<li>/g)).toHaveLength(100);
    expect(html).toMatch(/>\d\d:\d\d:\d\d</);
    expect(times).toEqual([0, 0]);
  });
});

describe('news', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Five snapshots in each of two seconds, 200 ms apart. */
  const twoSeconds = (a: Announcer) => {
    for (let i = 0; i < 10; i++) {
      a.news(Date.now());
      vi.advanceTimersByTime(200);
    }
  };

  it('arrive at once while somebody looks, and once a second while nobody does', () => {
    let [said, hidden] = [0, false];
    const a = new Announcer(
      () => said++,
      () => hidden,
    );
    twoSeconds(a);
    expect(said).toBe(10);
    [said, hidden] = [0, true];
    twoSeconds(a);
    expect(said).toBeGreaterThanOrEqual(1);
    expect(said).toBeLessThanOrEqual(3);
  });

  it('that waited arrive when somebody looks again, the last ones after a second', () => {
    let [said, hidden] = [0, true];
    const a = new Announcer(
      () => said++,
      () => hidden,
    );
    a.news(Date.now());
    a.news(Date.now());
    expect(said).toBe(1);
    vi.advanceTimersByTime(HIDDEN_MS);
    expect(said).toBe(2);
    a.news(Date.now());
    hidden = false;
    a.seen(Date.now());
    expect(said).toBe(3);
    a.seen(Date.now());
    hidden = true;
    a.news(Date.now(), true);
    expect(said).toBe(4);
    vi.advanceTimersByTime(10 * HIDDEN_MS);
    expect(said).toBe(4);
  });
});
