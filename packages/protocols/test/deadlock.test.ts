import { incarnation, taskId, WORLD, type RankActivity } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { DeadlockWatch, STABLE_MS, TIMED, type JobObservation, type TaskObservation } from '../src/index.ts';

const waits = (
  task: number,
  activity: Partial<RankActivity>,
  more: Partial<TaskObservation> = {},
): TaskObservation => ({
  task: taskId(task),
  state: 'running',
  incarnation: incarnation(0),
  activity: { state: 'waiting', call: 'MPI_Recv', arrivals: 3, sends: 2, ...activity },
  arrivalsLogged: 3,
  sendsLogged: 2,
  ...more,
});

const twice = (tasks: TaskObservation[], o: Partial<JobObservation> = {}) => {
  const w = new DeadlockWatch();
  expect(w.observe({ now: 0, tasks, stdinOpen: false, ...o })).toBeUndefined();
  expect(w.observe({ now: STABLE_MS - 1, tasks, stdinOpen: false, ...o })).toBeUndefined();
  return w.observe({ now: STABLE_MS, tasks, stdinOpen: false, ...o });
};

describe('deadlock', () => {
  it('two ranks that receive from each other: says who waits in which call for whom', () => {
    const d = twice([waits(0, { peer: taskId(1), tag: 7 }), waits(1, { peer: taskId(0), tag: 9, call: 'MPI_Wait' })]);
    expect(d?.cycle).toEqual([0, 1]);
    expect(d?.report).toBe(
      [
        'Deadlock: all 2 unfinished ranks are waiting and no message is in flight:',
        '  rank 0 waits in MPI_Recv for rank 1, tag 7',
        '  rank 1 waits in MPI_Wait for rank 0, tag 9',
        'Wait cycle: 0 → 1 → 0',
      ].join('\n'),
    );
  });

  it('a wait for one that has ended, or for anybody', () => {
    const done: TaskObservation = {
      task: taskId(1),
      state: 'done',
      incarnation: incarnation(0),
      arrivalsLogged: 9,
      sendsLogged: 9,
    };
    expect(twice([waits(0, { peer: taskId(1) }), done])?.report).toContain(
      'rank 0 waits in MPI_Recv for rank 1, which has ended',
    );
    expect(twice([waits(0, {}), waits(1, {})])?.report).toContain('for any rank');
  });

  it('finds a ring that not everybody is part of', () => {
    expect(
      twice([waits(0, { peer: taskId(1) }), waits(1, { peer: taskId(2) }), waits(2, { peer: taskId(1) })])?.cycle,
    ).toEqual([1, 2]);
  });

  it('is none while something is in flight, or somebody may still act', () => {
    const other = waits(0, { peer: taskId(1) });
    expect(twice([other, waits(1, { arrivals: 2 })])).toBeUndefined();
    expect(twice([other, waits(1, { sends: 3 })])).toBeUndefined();
    expect(twice([other, waits(1, {}, { bodiesUnderWay: 1 })])).toBeUndefined();
    expect(twice([other, waits(1, { call: 'message body' })])).toBeUndefined();
    expect(twice([other, waits(1, { call: `MPI_Comm_connect${TIMED}` })])).toBeUndefined();
    expect(twice([other, waits(1, { state: 'computing' })])).toBeUndefined();
    expect(twice([other, waits(1, { state: 'replaying' })])).toBeUndefined();
    expect(twice([other, waits(1, {}, { state: 'other' })])).toBeUndefined();
    expect(twice([])).toBeUndefined();
  });

  it('a rank that waits for open standard input is no deadlock; for ended input it is', () => {
    const tasks = [waits(0, { call: 'stdin', peer: WORLD }), waits(1, { peer: taskId(0) })];
    expect(twice(tasks, { stdinOpen: true })).toBeUndefined();
    expect(twice(tasks)?.report).toContain('rank 0 waits in stdin for standard input, which has ended');
  });

  it('begins anew whenever anything moved', () => {
    const w = new DeadlockWatch();
    const at = (now: number, n: number) =>
      w.observe({ now, stdinOpen: false, tasks: [waits(0, { arrivals: n }, { arrivalsLogged: n })] });
    expect(at(0, 3)).toBeUndefined();
    expect(at(STABLE_MS, 4)).toBeUndefined();
    expect(at(STABLE_MS + 1000, 4)).toBeUndefined();
    expect(at(2 * STABLE_MS, 4)).toBeDefined();
  });
});
