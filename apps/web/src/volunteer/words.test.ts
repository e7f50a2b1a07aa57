import { incarnation, jobId, taskId } from '@mayfly/wire';
import type { RankSnapshot, VolunteerSnapshot } from '@mayfly/node/page';
import { describe, expect, it } from 'vitest';
import { jobNames, rankWords, stateWords, Tally } from './words.ts';

const rank = (over: Partial<RankSnapshot> = {}): RankSnapshot => ({
  job: jobId('abcdefghijkl'), jobName: 'heat', task: taskId(0), incarnation: incarnation(0), size: 2, state: 'running', messagesIn: 1, bytesIn: 10, messagesOut: 2, bytesOut: 20, since: 0, ...over,
});
const snap = (over: Partial<VolunteerSnapshot> = {}): VolunteerSnapshot => ({ phase: 'idle', name: 'x', slots: 2, ranks: [], history: [], ...over });

describe('volunteer words', () => {
  it('begins with the phase and gives the reason', () => {
    for (const phase of ['off', 'connecting', 'idle', 'working', 'paused', 'refused'] as const) {
      expect(stateWords(snap({ phase, ranks: [rank()] })).title.toLowerCase().startsWith(phase)).toBe(true);
    }
    expect(stateWords(snap({ phase: 'paused', reason: 'on battery' })).detail).toBe('on battery');
    expect(stateWords(snap({ phase: 'refused', error: { code: 'FORBIDDEN', message: 'wrong room' } })).detail).toBe('wrong room');
  });
  it('names the jobs once each', () => {
    expect(jobNames([rank(), rank({ task: taskId(1) })])).toBe('“heat”');
    expect(jobNames([rank(), rank({ jobName: 'cg' }), rank({ jobName: 'pi' })])).toBe('“heat” and 2 others');
  });
  it('says what a rank does', () => {
    expect(rankWords(rank({ activity: { state: 'waiting', call: 'MPI_Recv', arrivals: 0, sends: 0 } })).text).toBe('waits in MPI_Recv');
    expect(rankWords(rank({ state: 'loading', incarnation: incarnation(2) })).text).toBe('recovering');
  });
  it('keeps the figures of ranks that have left, and counts each finish once', () => {
    const t = new Tally();
    t.take(snap({ ranks: [rank()] }));
    const end = snap({ history: [{ at: 5, kind: 'finished', text: 'done' }] });
    expect(t.take(end)).toEqual({ finished: 1, messages: 3, bytes: 30 });
    expect(t.take(end)).toEqual({ finished: 1, messages: 3, bytes: 30 });
  });
});
