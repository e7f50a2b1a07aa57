/** Small parts: coalescing, the random source, dates. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coalesce } from '../src/comm/links.ts';
import { createDate } from '../src/rank/date.ts';
import { Random } from '../src/rank/random.ts';

describe('coalescing (links L2)', () => {
  it('keeps every byte in order, joins what is small, and copies no neighbours', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            n: fc.integer({ min: 1, max: 12 }).map((k) => k * 8),
            big: fc.boolean(),
            neighbour: fc.boolean(),
          }),
          { maxLength: 40 },
        ),
        (specs) => {
          let pool = new Uint8Array(0);
          let at = 0;
          let next = 0;
          const frames = specs.map(({ n, big, neighbour }) => {
            const length = big ? n * 3000 : n;
            if (!neighbour || at + length > pool.length) {
              pool = new Uint8Array(4 * 300_000);
              at = 0;
            }
            const f = pool.subarray(at, at + length).fill(next++ & 255);
            at += length;
            return f;
          });
          const out = coalesce(frames);
          expect(Buffer.compare(Buffer.concat(out), Buffer.concat(frames))).toBe(0);
          expect(out.length).toBeLessThanOrEqual(frames.length);
        },
      ),
      { numRuns: 100 },
    );
    const b = new Uint8Array(128);
    const joined = coalesce([b.subarray(0, 64), b.subarray(64, 128)]);
    expect(joined).toHaveLength(1);
    expect(joined[0]!.buffer).toBe(b.buffer);
  });
});

describe('the random source', () => {
  it('is a function of seed and task, and goes on from its state', () => {
    const a = new Random(12345, 0);
    const first = [a.draw(), a.draw(), a.draw()];
    expect(new Random(12345, 0).draw()).toBe(first[0]);
    expect(new Random(12345, 1).draw()).not.toBe(first[0]);
    expect(new Random(12346, 0).draw()).not.toBe(first[0]);
    const state = a.state();
    const rest = [a.draw(), a.bits()];
    const b = new Random(0, 0);
    b.restore(state);
    expect([b.draw(), b.bits()]).toEqual(rest);
  });

  it('is uniform enough: mean, extremes and bits of 100,000 draws', () => {
    const r = new Random(7, 3);
    let sum = 0;
    const ones = new Array<number>(32).fill(0);
    for (let i = 0; i < 100_000; i++) {
      const x = r.draw();
      expect(x >= 0 && x < 1).toBe(true);
      sum += x;
      const bits = r.bits();
      for (let k = 0; k < 32; k++) ones[k]! += (bits >>> k) & 1;
    }
    expect(Math.abs(sum / 100_000 - 0.5)).toBeLessThan(0.005);
    for (const n of ones) expect(Math.abs(n - 50_000)).toBeLessThan(1000);
  });
});

describe('Date', () => {
  // In a realm of its own: createDate changes the prototype.
  it('lives in UTC and en-US, whatever the machine is set to', async () => {
    const { runInNewContext } = await import('node:vm');
    const Engine = runInNewContext('Date') as DateConstructor;
    const D = createDate(Engine, () => 1_600_000_000_123);
    expect(D.now()).toBe(1_600_000_000_123);
    expect(new D().getTime()).toBe(1_600_000_000_123);
    expect(new D(2020, 0, 31, 12).toISOString()).toBe('2020-01-31T12:00:00.000Z');
    expect(new D('2020-01-31T12:00').toISOString()).toBe('2020-01-31T12:00:00.000Z');
    expect(new D('2020-01-31T12:00+02:00').toISOString()).toBe('2020-01-31T10:00:00.000Z');
    expect(new D('31 Jan 2020 12:00').toISOString()).toBe('2020-01-31T12:00:00.000Z');
    expect(new D('Fri, 31 Jan 2020 12:00:00 GMT').toISOString()).toBe('2020-01-31T12:00:00.000Z');
    const d = new D(0);
    expect([d.getHours(), d.getTimezoneOffset(), String(d), d.toLocaleString(), `${new D(NaN)}`]).toEqual([
      0,
      0,
      'Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)',
      '1/1/1970, 12:00:00 AM',
      'Invalid Date',
    ]);
    d.setHours(13);
    expect(d.toISOString()).toBe('1970-01-01T13:00:00.000Z');
    expect((D as unknown as () => string)()).toBe('Sun Sep 13 2020 12:26:40 GMT+0000 (Coordinated Universal Time)');
    class Mine extends D {}
    expect(new Mine(5).getTime()).toBe(5);
    expect(new Mine(5) instanceof D).toBe(true);
    expect(new D(new D(9)).getTime()).toBe(9);
  });
});
