/** Order, and cost, of an Inbox. */
import { expect, test } from 'vitest';
import { Inbox } from '../../src/index.ts';

test('events that come meanwhile are taken in order; those behind an error wait; cleared ones never come', () => {
  const taken: number[] = [];
  const inbox: Inbox<number> = new Inbox((n) => {
    taken.push(n);
    if (n === 1) for (let i = 2; i <= 5; i++) inbox.put(i);
    if (n === 3) throw new Error('three');
    if (n === 6) inbox.clear();
    if (n === 6) inbox.put(8);
  });
  expect(() => inbox.put(1)).toThrow('three');
  expect(taken).toEqual([1, 2, 3]);
  inbox.put(0);
  expect(taken).toEqual([1, 2, 3, 4, 5, 0]);
  inbox.put(6);
  expect(taken.slice(6)).toEqual([6, 8]);
});

test('many events that come at once are not moved for each one that is taken', () => {
  const { shift } = Array.prototype;
  let shifted = 0;
  Array.prototype.shift = function (...args) {
    shifted++;
    return shift.apply(this, args) as unknown;
  };
  try {
    let taken = 0;
    const inbox: Inbox<number> = new Inbox((n) => {
      taken++;
      if (n === 0) for (let i = 1; i <= 1000; i++) inbox.put(i);
    });
    inbox.put(0);
    expect([taken, shifted]).toEqual([1001, 0]);
  } finally {
    Array.prototype.shift = shift;
  }
});
