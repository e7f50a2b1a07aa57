import type { JobView } from '@mayfly/wire';
import { expect, test } from 'vitest';
import { endedAmong, idsOf } from './end-notices.ts';

test('what is stored is read as ids, each once', () => {
  expect(idsOf(undefined)).toEqual([]);
  expect(idsOf('abc def abc <b> ../x')).toEqual(['abc', 'def']);
  expect(idsOf(Array.from({ length: 500 }, (_, i) => `j${i}`).join(' '))).toHaveLength(100);
});

test('a job is announced when it has ended, and is not waited for when it is gone', () => {
  const job = (id: string, state: string) => ({ id, state }) as JobView;
  const done = job('a', 'done');
  expect(endedAmong(['a', 'b', 'gone'], [done, job('b', 'running'), job('c', 'done')])).toEqual({
    ended: [done],
    over: ['gone', 'a'],
  });
});
