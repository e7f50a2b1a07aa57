import { describe, expect, it } from 'vitest';
import { held, renewed, type Row } from './stable-rows.ts';

interface Thing {
  name: string;
  n: number;
}
const of = (text: string) => {
  const all = text
    .split(' ')
    .filter(Boolean)
    .map((t): Thing => ({ name: t[0]!, n: Number(t.slice(1)) }));
  return { all, listed: all.filter((t) => t.n > 0).toSorted((a, b) => b.n - a.n), id: (t: Thing) => t.name };
};
const seen = (rows: readonly Row<Thing>[]): string =>
  rows.map((r) => `${r.gone ? '-' : ''}${r.item.name}${r.item.n}`).join(' ');

describe('rows that are watched', () => {
  const { rows } = renewed(of('a1 b2 c3 d0'));
  it('begin in the order of the list', () => expect(seen(rows)).toBe('c3 b2 a1'));
  it('stay where they are when the order becomes another, or they belong no more', () =>
    expect(seen(held(rows, of('a9 b2 c0'), false).rows)).toBe('c0 b2 a9'));
  it('stay as they were when they are gone, and are back when they are', () => {
    const without = held(rows, of('a1 c3'), false).rows;
    expect(seen(without)).toBe('c3 -b2 a1');
    expect(seen(held(without, of('a1 b5 c3'), false).rows)).toBe('c3 b5 a1');
  });
  it('let newcomers wait', () => {
    const { rows: same, newcomers } = held(rows, of('a1 b2 c3 d4 e5'), false);
    expect(seen(same)).toBe('c3 b2 a1');
    expect(newcomers.map((t) => t.name)).toEqual(['e', 'd']);
  });
  it('or give them the places of the gone, and then the end', () =>
    expect(seen(held(rows, of('b2 c3 d4 e5'), true).rows)).toBe('c3 b2 e5 d4'));
});
