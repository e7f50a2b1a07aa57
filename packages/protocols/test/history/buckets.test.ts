/** B1 to B3 of history/buckets.ts, over drawn histories, against a list of everything that was added. */
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { Buckets } from '@mayfly/protocols';

const ORIGIN = 1_700_000_000_000;
const entry = fc.record({
  row: fc.nat(2),
  kind: fc.nat(1),
  /** Later ones mostly later; some come late. */
  at: fc.nat(3_000_000),
  span: fc.nat(12_000),
  amount: fc.nat(5000),
});
const filled = (entries: { row: number; kind: number; at: number; span: number; amount: number }[]): Buckets => {
  const b = new Buckets({ rows: 3, kinds: 2, origin: ORIGIN, young: 12, old: 16 });
  for (const e of entries) b.add(e.row, e.kind, ORIGIN + e.at, ORIGIN + e.at + e.span, e.amount);
  return b;
};
const sum = (b: Buckets, row: number, kind: number, columns = 1): number => {
  const w = b.read(ORIGIN, (b.until - ORIGIN) / columns, columns);
  let n = 0;
  for (let c = 0; c < columns; c++) n += w.sums[(c * 3 + row) * 2 + kind]!;
  return n;
};

describe('a history in buckets', () => {
  it('keeps every sum, however it is merged, read or written down, within its bounds (B1, B2)', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 40 }),
        (entries, columns) => {
          const b = filled(entries);
          expect(b.buckets).toBeLessThanOrEqual(12 + 16);
          const again = Buckets.of(b.record(), { young: 12, old: 16 });
          for (let row = 0; row < 3; row++)
            for (let kind = 0; kind < 2; kind++) {
              const added = entries.filter((e) => e.row === row && e.kind === kind).reduce((n, e) => n + e.amount, 0);
              expect(sum(b, row, kind)).toBe(added);
              expect(sum(b, row, kind, columns)).toBeCloseTo(added, 4);
              expect(sum(again, row, kind)).toBe(added);
            }
          // What comes after being read again from its record goes where it would have gone.
          b.add(0, 0, b.until, b.until + 5000, 77);
          again.add(0, 0, again.until, again.until + 5000, 77);
          expect(again.record()).toEqual(b.record());
        },
      ),
      { numRuns: 80 },
    );
  });

  it('puts each millisecond into the second in which it passed, as long as that is young', () => {
    const b = new Buckets({ rows: 1, kinds: 1, origin: ORIGIN });
    b.add(0, 0, ORIGIN + 500, ORIGIN + 2500, 2000);
    expect([...b.read(ORIGIN, 1000, 4).sums]).toEqual([500, 1000, 500, 0]);
    expect([...b.read(ORIGIN, 2000, 2).sums]).toEqual([1500, 500]);
    expect([...b.read(ORIGIN + 500, 500, 2).sums]).toEqual([250, 500]);
    b.add(0, 0, ORIGIN - 5000, ORIGIN - 4000, 3); // B3
    expect(b.read(ORIGIN, 1000, 1).sums[0]).toBe(503);
  });

  it('merges only when the older side is full: 12 units and 16 pairs of them fit', () => {
    const b = new Buckets({ rows: 1, kinds: 1, origin: ORIGIN, young: 12, old: 16 });
    b.add(0, 0, ORIGIN + 43_000, ORIGIN + 43_000, 1);
    expect(b.resolutionAt(ORIGIN)).toBe(2000);
    b.add(0, 0, ORIGIN + 44_000, ORIGIN + 44_000, 1);
    expect(b.resolutionAt(ORIGIN)).toBe(4000);
  });

  it('is as large for a week of 1,024 rows as for an hour of 16 (B2)', () => {
    const b = new Buckets({ rows: 1024, kinds: 9, origin: ORIGIN });
    for (let h = 0; h < 7 * 24; h++) b.add(h, 0, ORIGIN + h * 3_600_000, ORIGIN + h * 3_600_000 + 1000, 1000);
    expect(b.buckets * 1024).toBeLessThanOrEqual(2 ** 18);
    expect(b.resolutionAt(ORIGIN)).toBeGreaterThanOrEqual(604_800_000 / 256);
    expect(b.resolutionAt(b.until - 1)).toBe(1000);
  });
});
