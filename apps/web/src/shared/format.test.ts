import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ago, bytes, count, day, dayAndClock, duration, elapsed, plural, shownArguments } from './format.ts';

describe('format', () => {
  it('says bytes with at most three digits', () => {
    expect([0, 1, 999, 1000, 1234, 12_340, 999_499, 999_600, 34e6, 1.5e9].map(bytes)).toEqual([
      '0 B',
      '1 B',
      '999 B',
      '1 kB',
      '1.23 kB',
      '12.3 kB',
      '999 kB',
      '1 MB',
      '34 MB',
      '1.5 GB',
    ]);
  });
  it('shows the first 2,000 characters of long arguments', () => {
    expect(shownArguments(['heat', '-n', '200'])).toBe('heat -n 200');
    expect(shownArguments(['a', 'x'.repeat(1998)])).toHaveLength(2000);
    expect(shownArguments(['a', 'x'.repeat(3200)])).toBe(`a ${'x'.repeat(1998)}… (1,202 more characters)`);
  });
  it('says counts', () => {
    expect([0, 7, 12_345, 1_234_567, 2e9].map(count)).toEqual(['0', '7', '12,345', '1.23 M', '2 G']);
    expect([plural(1, 'rank'), plural(3, 'rank')]).toEqual(['1 rank', '3 ranks']);
  });
  it('says days by the name of their month, everywhere', () => {
    const at = new Date(2026, 11, 5, 14, 3, 27).getTime();
    expect([day(at), dayAndClock(at), ago(at, at + 48 * 3_600_000)]).toEqual([
      '5 Dec 2026',
      '5 Dec 2026, 14:03:27',
      '5 Dec 2026',
    ]);
    const others = readdirSync(new URL('..', import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((f) => /\.tsx?$/.test(f) && !f.endsWith('shared/format.ts') && !f.includes('.test.'))
      .filter((f) => {
        const text = readFileSync(new URL(`../${f}`, import.meta.url), 'utf8');
        return /toLocaleDateString|new Date\(.*\)\.toLocaleString|DateTimeFormat/.test(text);
      });
    expect(others).toEqual([]);
  });
  it('says durations', () => {
    expect([0, 340, 2400, 9_960, 47_000, 59_999, 185_000, 7_440_000, 4 * 86_400_000].map(duration)).toEqual([
      '0 ms',
      '340 ms',
      '2.4 s',
      '10 s',
      '47 s',
      '1 min 00 s',
      '3 min 05 s',
      '2 h 04 min',
      '4 d 0 h',
    ]);
    expect([elapsed(-5), elapsed(400), elapsed(1999)]).toEqual(['0 s', '0 s', '1 s']);
  });
  it('says ages', () => {
    const now = 1e12;
    expect([ago(now + 5, now), ago(now - 12_500, now), ago(now - 200_000, now), ago(now - 7_300_000, now)]).toEqual([
      'just now',
      '12 s ago',
      '3 min ago',
      '2 h ago',
    ]);
  });
});
