/** Tasks that a job gets while it runs. */
import { describe, expect, it } from 'vitest';
import { slotsFor, spawnedSlots } from '../../src/index.ts';
import { J, job, N, Stage, T } from './stage.ts';

const group = (first: number, count: number, root = 0) => ({
  first: T(first),
  root: T(root),
  parts: [{ args: [], count }],
});

/** A job of one rank that has two more slots. */
function stage(): Stage {
  const s = new Stage();
  s.come(1, 3);
  s.send('submit', { job: job(1, { capacity: 8 }) });
  return s;
}

describe('spawn', () => {
  it('D1, D2: added tasks go the way of all first incarnations, and the job is done when they are', () => {
    const s = stage();
    expect(slotsFor(s.dispatcher, J())).toBe(2);
    s.effects.length = 0;
    s.send('spawn', { job: J(), group: group(1, 2) });
    const order = s.effects.map((e) => e.type).filter((t) => ['persist', 'fenceCs', 'assign'].includes(t));
    // The tasks are part of the job, durably, before they are given to anybody.
    expect(order).toEqual(['persist', 'persist', 'fenceCs', 'fenceCs', 'assign', 'assign']);
    expect(s.assigned()).toEqual(['1.0@1', '2.0@1']);
    expect(s.view()).toMatchObject({
      size: 3,
      spawned: 2,
      tasks: [{ task: 0 }, { task: 1, spawned: { by: 0, world: [1, 2] } }, { task: 2 }],
    });
    expect(s.view().tasks[0]).not.toHaveProperty('spawned');
    s.send('spawn', { job: J(), group: group(1, 2) }); // said again
    expect(s.view().size).toBe(3);
    expect(slotsFor(s.dispatcher, J())).toBe(0);
    // What the children hold may become free; one of them that asks is not among those that leave.
    expect([0, 1].map((t) => spawnedSlots(s.dispatcher, J(), T(t)))).toEqual([2, 1]);
    s.exit(0);
    s.exit(2);
    expect(spawnedSlots(s.dispatcher, J(), T(0))).toBe(1);
    expect(s.view().state).toBe('running');
    s.exit(1, { code: 3 });
    expect(s.view()).toMatchObject({ state: 'done', exitCode: 3 });
  });

  it('"a server restart loses no job", nor its children: a job whose first ranks have ended waits for them', () => {
    const s = stage();
    s.send('spawn', { job: J(), group: group(1, 1) });
    s.send('spawn', { job: J(), group: group(2, 1, 1) });
    s.exit(0);
    s.exit(1);
    s.crash();
    s.send('spawn', { job: J(), group: group(1, 1) }); // the world says again what its journal has
    expect(s.view()).toMatchObject({
      state: 'running',
      size: 3,
      tasks: [{ state: 'done' }, { state: 'done' }, { state: 'suspect', spawned: { by: 1, world: [2, 2] } }],
    });
    s.come(1, 3, { claimed: N(1) }); // without what it held
    expect(s.assigned().slice(-1)).toEqual(['2.1@1']);
    s.exit(2);
    expect(s.view().state).toBe('done');
    s.send('forget', { job: J() });
    expect([...s.registry.keys()].filter((k) => !k.startsWith('reputation/'))).toEqual([]);
  });

  it('they wait for slots as lost ranks do, before the queue, and belong to a job that runs only', () => {
    const s = stage();
    s.send('submit', { job: job(3, { id: J(1) }) });
    s.send('spawn', { job: J(), group: group(1, 3) });
    expect(s.view()).toMatchObject({ state: 'stalled', reason: 'rank 3 waits for a slot' });
    s.exit(1);
    expect(s.assigned().slice(-1)).toEqual(['3.0@1']);
    s.send('cancel', { job: J() });
    s.send('spawn', { job: J(), group: group(4, 1) });
    expect(s.view().size).toBe(4);
    expect(slotsFor(s.dispatcher, J())).toBe(0);
    expect(s.view(J(1)).state).toBe('running');
  });
});
