import { describe, expect, it } from 'vitest';
import { Grid, cellsFrom, csvOf, shade } from './grid.ts';

describe('the matrix that is shown', () => {
  const part = {
    src: [0, 9] as [number, number],
    dst: [0, 9] as [number, number],
    binned: 4,
    cells: [
      [0, 1, 5, 50],
      [2, 2, 1, 7],
    ] as [number, number, number, number][],
  };
  it('has bins of ranks, takes news of its own kind only (G1), and lists what is in it', () => {
    const g = new Grid(part);
    expect([g.high, g.wide, g.most('messages'), g.most('bytes')]).toEqual([3, 3, 5, 50]);
    expect([g.ranks('src', 0), g.ranks('dst', 2)]).toEqual([
      [0, 3],
      [8, 9],
    ]);
    const bytes = new Uint8Array(Float64Array.from([0, 1, 6, 60]).buffer);
    expect(g.take({ ...part, cells: cellsFrom(bytes) })).toBe(true);
    expect(g.take({ ...part, binned: 2, cells: [[0, 0, 9, 9]] })).toBe(false);
    expect(g.list('bytes')).toEqual([
      { s: 0, d: 1, messages: 6, bytes: 60 },
      { s: 2, d: 2, messages: 1, bytes: 7 },
    ]);
    expect(csvOf(new Grid({ src: [0, 1], dst: [0, 1], binned: 1, cells: [[1, 0, 3, 24]] }))).toBe(
      'source,destination,messages,bytes\n1,0,3,24\n',
    );
  });
  it('shades logarithmically, and nothing is nothing', () => {
    expect([shade(0, 100), shade(100, 100), shade(1, 100), shade(1, 1)]).toEqual([0, 1, 0.15, 1]);
    expect(shade(10, 100)).toBeCloseTo(0.575);
  });
});
