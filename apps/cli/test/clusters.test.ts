/** The values of `--clusters` and `--room`. */
import { expect, it } from 'vitest';
import { clusters, rooms, timers } from '../src/command-line/options.ts';

it('takes seconds between checkpoints, or those of each cluster', () => {
  expect(timers('30')).toBe(30);
  expect(timers('30,0.5,none')).toEqual([30_000, 500, null]);
  expect(() => timers('30,x')).toThrow("expected seconds, or those of each cluster: '30', '30,60', '30,none'");
});

it('takes a number of clusters, or the ranks of each', () => {
  expect(clusters('2')).toBe(2);
  expect(clusters('0-3,4-7')).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
  ]);
  expect(clusters('0-2+7,3-6')).toEqual([
    [0, 1, 2, 7],
    [3, 4, 5, 6],
  ]);
});

it.each(['', 'two', '0-', '3-1,0', '0-1-2,3', '0,,1', '-1,2', '0-3;4'])('refuses %j', (text) => {
  expect(() => clusters(text)).toThrow("expected a number of clusters, or the ranks of each: '2', '0-3,4-7'");
});

it('takes a room, or one for each cluster', () => {
  expect(rooms('QX7PKM')).toBe('QX7PKM');
  expect(rooms('QX7PKM, ABC234')).toEqual(['QX7PKM', 'ABC234']);
  expect(rooms('QX7PKM,-')).toEqual(['QX7PKM', null]);
  expect(() => rooms('QX7PKM,')).toThrow('expected the code of a room, or one for each cluster');
});
