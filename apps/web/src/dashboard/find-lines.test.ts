import { describe, expect, it } from 'vitest';
import { findLines, neighbour, splitAt } from './find-lines.ts';

describe('find', () => {
  const lines = ['Step 1', 'residual 0.5', 'step 2', ''].map((text, i) => ({ seq: 10 * i, text }));
  it('finds lines whatever the capitals, and none for nothing', () => {
    expect(findLines(lines, 'STEP')).toEqual([0, 20]);
    expect(findLines(lines, '')).toEqual([]);
  });
  it('goes round in both directions, and begins again where the line has gone', () => {
    expect([undefined, 0, 20, 99].map((at) => neighbour([0, 20], at, 1))).toEqual([0, 20, 0, 0]);
    expect([undefined, 0, 20].map((at) => neighbour([0, 20], at, -1))).toEqual([20, 20, 0]);
    expect(neighbour([], 0, 1)).toBeUndefined();
  });
  it('cuts a line at every place, as it is written', () => {
    expect(splitAt('Aba aBA', 'ab')).toEqual(['', 'Ab', 'a ', 'aB', 'A']);
    expect(splitAt('none', 'x')).toEqual(['none']);
    expect(splitAt('\u0130stanbul', 'stan')).toEqual(['\u0130stanbul']);
  });
});
