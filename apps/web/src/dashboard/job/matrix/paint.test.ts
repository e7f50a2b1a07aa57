import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Grid } from './grid.ts';
import { paint } from './paint.ts';

beforeEach(() => {
  vi.stubGlobal('devicePixelRatio', 1);
  vi.stubGlobal('getComputedStyle', () => ({ getPropertyValue: () => 'grey' }));
});
afterEach(() => void vi.unstubAllGlobals());

/** What is written on a canvas of that side, in an ink each; a letter is 6 px wide. */
function written(side: number, size: number, dark = false): [ink: string, text: string][] {
  const texts: [string, string][] = [];
  const context = {
    fillStyle: '',
    scale: () => undefined,
    fillRect: () => undefined,
    measureText: (text: string) => ({ width: 6 * text.length }),
    fillText: (text: string) => void texts.push([context.fillStyle, text]),
  };
  const grid = new Grid({
    src: [0, size - 1],
    dst: [0, size - 1],
    binned: 1,
    cells: [
      [0, 1, 12_345, 8],
      [1, 0, 2, 8],
    ],
  });
  const canvas = { getContext: () => context, width: 0, height: 0 } as unknown as HTMLCanvasElement;
  paint(canvas, grid, 'messages', undefined, dark, side);
  return texts.filter(([ink]) => ink !== 'grey'); // the ranks at the edges
}

test('a cell has its number where there is room for it, in an ink that can be read on its colour', () => {
  expect(written(520, 4)).toEqual([
    ['#fff', '12,345'],
    ['#000', '2'],
  ]);
  expect(written(520, 4, true)).toEqual([
    ['#000', '12,345'],
    ['#fff', '2'],
  ]);
  expect(written(520, 16)).toEqual([['#000', '2']]); // cells of 30 px
  expect(written(520, 64)).toEqual([]);
});
