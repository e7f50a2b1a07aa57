import { expect, test } from 'vitest';
import type { JobView } from '@mayfly/wire';
import { firstPicture } from './result.ts';

const job = (...outputs: [string, number][]): Pick<JobView, 'outputs'> => ({
  outputs: outputs.map(([path, bytes]) => ({ path, bytes, task: 0 }) as JobView['outputs'][number]),
});

test('the first picture that has anything in it is the result, and keeps its place', () => {
  expect(firstPicture(job(['log.txt', 9]), new Map())).toBeUndefined();
  expect(firstPicture(job(['a.png', 0]), new Map())).toBeUndefined();
  expect(firstPicture(job(['log.txt', 9], ['a.png', 5], ['b.png', 7]), new Map())).toMatchObject({
    path: 'a.png',
    bytes: 5,
    change: 0,
  });
});

test('what the socket says of a file is ahead of the view', () => {
  const news = new Map([['a.png', { bytes: 8, change: 3 }]]);
  expect(firstPicture(job(['a.png', 0]), news)).toMatchObject({ path: 'a.png', bytes: 8, change: 3 });
});
