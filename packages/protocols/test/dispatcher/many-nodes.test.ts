/** D34: where there are many nodes, slots are given away once in a while. */
import { expect, test } from 'vitest';
import { Stage, job } from './stage.ts';

test.each([
  [1000, 1],
  [1001, 0],
])(
  'with %i nodes the event that brings a job gives it %i slots, and the tick after the pause the rest',
  (n, atOnce) => {
    const s = new Stage();
    for (let i = 0; i < n; i++) s.come(i);
    s.send('submit', { job: job(1) });
    expect(s.assigned().length).toBe(atOnce);
    s.now += 50;
    s.send('tick', {});
    expect(s.assigned().length).toBe(atOnce);
    s.now += 50;
    s.send('tick', {});
    expect(s.assigned().length).toBe(1);
  },
);
