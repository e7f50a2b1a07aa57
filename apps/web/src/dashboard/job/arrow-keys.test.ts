import { describe, expect, it } from 'vitest';
import { arrowTarget } from './arrow-keys.ts';
import { pictureKind } from '../../shared/pictures.ts';

describe('arrowTarget', () => {
  it('moves within the grid and stops at its edges', () => {
    const from5 = (key: string) => arrowTarget(key, 5, 10, 4);
    expect(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'a'].map(from5)).toEqual([
      4,
      6,
      1,
      9,
      0,
      9,
      undefined,
    ]);
    expect(arrowTarget('ArrowDown', 7, 10, 4)).toBe(7);
    expect(arrowTarget('ArrowRight', 9, 10, 4)).toBe(9);
  });
});

describe('pictureKind', () => {
  it('knows pictures by their ending', () => {
    expect(pictureKind('out/a.PNG')).toEqual({ how: 'img', type: 'image/png' });
    expect(pictureKind('heat.ppm')).toEqual({ how: 'netpbm' });
    expect([pictureKind('a.csv'), pictureKind('png'), pictureKind('a.html')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
