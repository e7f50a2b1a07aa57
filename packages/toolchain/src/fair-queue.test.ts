/** Whose program is compiled next (fair-queue.ts F1 to F3). */
import { expect, it } from 'vitest';
import { FairQueue, type Waiting } from './fair-queue.ts';

interface Job extends Waiting {
  readonly name: string;
}
const jobs = (owner: string, n: number): Job[] =>
  Array.from({ length: n }, (_, i) => ({ owner, name: `${owner}${i + 1}` }));
const queueOf = (...all: Job[]): FairQueue<Job> => {
  const q = new FairQueue<Job>({ perOwner: 16, most: 256 });
  for (const j of all) expect(q.add(j)).toBeUndefined();
  return q;
};

it('owners take turns, whoever came first and with however many', () => {
  const q = queueOf(...jobs('a', 5), ...jobs('b', 2), ...jobs('c', 1));
  const order: string[] = [];
  for (let j = q.take(); j !== undefined; j = q.take()) {
    order.push(j.name);
    q.remove(j);
  }
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4', 'a5']);
  expect(q.size).toBe(0);
});

it('with several workers, each goes to who has the fewest', () => {
  const q = queueOf(...jobs('a', 5), ...jobs('b', 5));
  const taken = [q.take()!, q.take()!];
  expect(taken.map((j) => j.owner)).toEqual(['a', 'b']);
  // a's worker is free again, b's is not: it is a's.
  q.remove(taken[0]!);
  expect(q.take()!.name).toBe('a2');
  q.add({ owner: 'c', name: 'c1' });
  expect(q.take()!.name).toBe('c1');
});

it('an owner fills no more than its share of the queue', () => {
  const q = new FairQueue<Job>({ perOwner: 3, most: 5 });
  for (const j of jobs('a', 3)) expect(q.add(j)).toBeUndefined();
  expect(q.add({ owner: 'a', name: 'a4' })).toEqual({ mine: true, limit: 3 });
  for (const j of jobs('b', 2)) expect(q.add(j)).toBeUndefined();
  expect(q.add({ owner: 'c', name: 'c1' })).toEqual({ mine: false, limit: 5 });
  expect(q.size).toBe(5);
});

it('an owner who has all workers gives the youngest up for another one, and goes on with it first', () => {
  const q = queueOf(...jobs('a', 3));
  const [a1, a2] = [q.take()!, q.take()!];
  // Nobody else is there: they are a's.
  expect(q.usurper(2)).toBeUndefined();
  q.add({ owner: 'b', name: 'b1' });
  expect(q.usurper(1)).toBeUndefined();
  expect(q.usurper(3)).toBeUndefined();
  expect(q.usurper(2)).toBe(a2);
  q.putBack(a2);
  const b1 = q.take()!;
  expect(b1.name).toBe('b1');
  // b has one now: nobody has all.
  q.add({ owner: 'c', name: 'c1' });
  expect(q.usurper(2)).toBeUndefined();
  q.remove(a1);
  q.remove(b1);
  expect([q.take()!.name, q.take()!.name]).toEqual(['c1', 'a2']);
});

it('what is removed while it waits leaves the others in their order', () => {
  const a = jobs('a', 3);
  const q = queueOf(...a);
  q.remove(a[1]!);
  expect([q.take()!.name, q.take()!.name, q.take()]).toEqual(['a1', 'a3', undefined]);
});
