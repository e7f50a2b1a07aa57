/** Clusters of ranks as people type them. */
import { expect, it } from 'vitest';
import { clustersOfText, textOfClusters, textOfTimers, timersOfText } from '../src/index.ts';

it.each([
  ['2', 2],
  [
    '0-3,4-7',
    [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ],
  ],
  [
    '0-2+7,3-6',
    [
      [0, 1, 2, 7],
      [3, 4, 5, 6],
    ],
  ],
  ['1,0', [[1], [0]]],
])('%s', (text, clusters) => {
  expect(clustersOfText(text)).toEqual(clusters);
  expect(textOfClusters(clusters)).toBe(text);
});

it.each(['', '2,', '3-1', '0-1-2', 'a', '0-1,b', '-1', '99999', '0-1024', '1.5'])('not "%s"', (text) => {
  expect(clustersOfText(text)).toBeUndefined();
});

it.each([
  ['30,none', [30_000, null]],
  ['0.5,2,none', [500, 2000, null]],
])('timers %s', (text, timers) => {
  expect(timersOfText(text)).toEqual(timers);
  expect(textOfTimers(timers)).toBe(text);
});

it.each(['', '30,', '-1,2', 'none,x', '1e3,2', '123456,1'])('no timers: "%s"', (text) => {
  expect(timersOfText(text)).toBeUndefined();
});
