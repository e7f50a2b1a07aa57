/** One definition of a recovery: its parts and their sum, under every protocol. */
import { describe, expect, it } from 'vitest';
import { incarnation, recoveryOf, taskId, type Fault, type WavesView } from '../src/index.ts';

const fault = (task: number, more: Partial<Fault> = {}): Fault => ({
  at: 5000,
  task: taskId(task),
  incarnation: incarnation(0),
  cause: 'killed',
  assignedAfterMs: 40,
  startedAfterMs: 340,
  recoveredAfterMs: 400,
  ...more,
});
const back = { at: 5000, epoch: 1, wave: 3, cause: 'killed', ranks: [taskId(2)], lostMs: 900, mostMs: 300 };
const waves: Pick<WavesView, 'rolledBack'> = {
  rolledBack: [back, { ...back, at: 9000, ranks: [taskId(1), taskId(2)], mostMs: 400 }],
};

describe('a recovery', () => {
  it('is a new place, a start and repeated work, and as long as all three', () => {
    expect(recoveryOf(fault(0), undefined)).toEqual({ place: 40, start: 300, repeat: 60, total: 400 });
  });

  it('counts what a rollback undid, which comes after the first step', () => {
    expect(recoveryOf(fault(2), waves)).toEqual({ place: 40, start: 300, repeat: 300, total: 640 });
    // Of two ranks that were lost one soon after the other, both repeat after the same rollback.
    const repeats = (at: number, rank: number): unknown => recoveryOf(fault(rank, { at }), waves)!.repeat;
    expect([repeats(4999, 2), repeats(9040, 1), repeats(9000, 2)]).toEqual([300, 400, 400]);
    // The list of rollbacks has an end.
    expect(recoveryOf(fault(0), waves)).toEqual({ place: 40, start: 300, repeat: undefined, total: 340 });
  });

  it('is unknown until the rank does something new; parts may stay unknown', () => {
    const { recoveredAfterMs: _, ...still } = fault(0);
    expect(recoveryOf(still, undefined)).toBeUndefined();
    const { assignedAfterMs: _a, ...again } = fault(0);
    expect(recoveryOf(again, undefined)).toMatchObject({ place: undefined, repeat: undefined, total: 400 });
  });
});
