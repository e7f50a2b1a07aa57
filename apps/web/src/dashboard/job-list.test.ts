import type { JobView } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { chosenOf, eachOf, found, namesOf, nextOrder, NEWEST_FIRST, type Order } from './job-list.ts';

const job = (id: string, over: Partial<JobView>) =>
  ({ id, name: id, state: 'done', size: 1, submittedAt: 0, ...over }) as JobView;
const all = { text: '', which: 'all', owner: '' } as const;

describe('the list of jobs', () => {
  const jobs = [
    job('a', { submittedAt: 1, size: 8, owner: 'Zoe', startedAt: 10, endedAt: 20 }),
    job('b', { submittedAt: 2, state: 'running', size: 2, owner: 'ada', room: 'QX7PKM', startedAt: 30 }),
    job('c', { submittedAt: 3, state: 'waiting', size: 2, owner: 'ada' }),
  ];
  const ids = (order?: Order) =>
    found(jobs, all, order)
      .map((j) => j.id)
      .join('');
  it('is sorted by any column; equals are newest first, what is not known is last', () => {
    expect(ids()).toBe('cba');
    expect(ids({ by: 'ranks', down: false })).toBe('cba');
    expect(ids({ by: 'ranks', down: true })).toBe('acb');
    expect(ids({ by: 'owner', down: false })).toBe('cba');
    expect([ids({ by: 'room', down: false }), ids({ by: 'room', down: true })]).toEqual(['bca', 'bca']);
    expect([ids({ by: 'time', down: false }), ids({ by: 'time', down: true })]).toEqual(['abc', 'bac']);
  });
  it('a third press of a head is the newest first again', () => {
    const orders: Order[] = [NEWEST_FIRST];
    for (const by of ['name', 'name', 'name', 'submitted', 'submitted'] as const)
      orders.push(nextOrder(orders.at(-1)!, by));
    expect(orders.slice(1)).toEqual([
      { by: 'name', down: false },
      { by: 'name', down: true },
      NEWEST_FIRST,
      { by: 'submitted', down: false },
      NEWEST_FIRST,
    ]);
  });
  it('those that were chosen are cancelled or deleted; what fails is named, and the rest is done', async () => {
    const { cancel, remove } = chosenOf(jobs, new Set(['a', 'b', 'gone']));
    expect([cancel.map((j) => j.id), remove.map((j) => j.id)]).toEqual([['b'], ['a']]);
    const tried: string[] = [];
    const result = await eachOf(jobs, async (id) => {
      tried.push(id);
      if (id === 'b') throw new Error('The job has ended (done).');
    });
    expect(tried).toEqual(['a', 'b', 'c']);
    expect(result).toEqual({
      done: [jobs[0], jobs[2]],
      failed: [{ job: jobs[1], why: 'The job has ended (done).' }],
    });
    expect(namesOf(jobs)).toBe('“a”, “b”, “c”');
    expect(namesOf([...jobs, ...jobs])).toBe('“a”, “b”, “c”, “a”, “b” and 1 more');
  });
});
