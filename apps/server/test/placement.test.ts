/** C1 of memories/seats.ts: where a Channel Memory goes. */
import { jobId } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { leastLoaded, type Load } from '../src/memories/placement.ts';

const load = (memories: number, messages = 0): Load => ({
  memories: Array.from({ length: memories }, () => jobId('abcdefghijkl')),
  messages,
});

it('is the server with the least load, and of equal ones not the one with the dispatcher', () => {
  expect(leastLoaded([load(0)])).toBe(0);
  expect(leastLoaded([load(0), load(0)])).toBe(1);
  expect(leastLoaded([load(0), load(1)])).toBe(0);
  expect(leastLoaded([load(2), load(2), load(1)])).toBe(2);
  // One that passes many messages on has enough with it.
  expect(leastLoaded([load(3), load(1, 5000)])).toBe(0);
  expect(leastLoaded([load(3, 5000), load(4, 20)])).toBe(1);
});
