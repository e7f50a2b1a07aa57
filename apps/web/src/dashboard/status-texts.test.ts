import { incarnation, taskId, type JobView } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { splitStack } from './error-text.ts';
import { job, rank } from './job-sample.ts';
import {
  activityText,
  comparisonLine,
  doingText,
  faultNotes,
  jobLine,
  phaseOf,
  rankWord,
  runText,
  slotsAdvice,
  statesOf,
  tileText,
  totalsOf,
  uploadText,
  verdictOf,
  wantedAt,
} from './status-texts.ts';

const at = (state: string, more = {}) => ({ state, arrivals: 0, sends: 0, ...more });

describe('words', () => {
  it('says whom a rank waits for', () => {
    const recv = { call: 'MPI_Recv', peer: taskId(2), tag: 5 };
    expect(activityText(rank({ activity: at('waiting', recv) }))).toBe('waits in MPI_Recv for rank 2, tag 5');
    expect(activityText(rank({ activity: at('waiting', { call: 'MPI_Recv', tag: -1 }) }))).toBe(
      'waits in MPI_Recv for any rank, any tag',
    );
    expect(activityText(rank({ activity: at('waiting', { call: 'MPI_Barrier' }) }))).toBe('waits in MPI_Barrier');
    expect(activityText(rank({ activity: at('computing') }))).toBeUndefined();
    expect(activityText(rank({ state: 'done', activity: at('waiting', recv) }))).toBeUndefined();
  });
  it('says how long a rank has waited, once that is news', () => {
    const t = rank({ activity: at('waiting', { call: 'MPI_Recv', peer: taskId(2), tag: 5 }), activitySince: 1000 });
    expect(doingText(t, 3500)).toBe('waits in MPI_Recv for rank 2, tag 5');
    expect(doingText(t, 13_400)).toBe('waits in MPI_Recv for rank 2, tag 5, 12\u00a0s');
    expect(doingText(rank({ activity: at('computing'), activitySince: 0 }), 60_000)).toBeUndefined();
    expect([tileText(t), tileText(rank({})), tileText(rank({ state: 'done' }))]).toEqual([
      'waits for 2',
      'computing',
      'done',
    ]);
  });
  it('has one word for every state', () => {
    expect(rankWord(rank({ state: 'done', exitCode: 3 }))).toEqual({ text: 'exit 3', tone: 'bad' });
    expect(rankWord(rank({ state: 'recovering', activity: at('replaying') })).text).toBe('replaying');
    expect(rankWord(rank({})).text).toBe('computing');
  });
  it('says why a job waits, how far it is, how it ended', () => {
    expect(jobLine(job({ state: 'waiting', reason: 'needs 4 slots; 3 available' }))).toBe('needs 4 slots; 3 available');
    expect(jobLine(job({ tasks: [rank({ state: 'done' }), rank({})] }))).toBe('1 of 2 ranks done');
    expect(jobLine(job({ state: 'failed', error: { code: 'DEADLOCK', message: 'Every rank waits.\nrank 0 …' } }))).toBe(
      'DEADLOCK: Every rank waits.',
    );
    const twice = { code: 'DEADLOCK', message: 'Deadlock: all 4 unfinished ranks are waiting:\n  rank 0 …' };
    expect(jobLine(job({ state: 'failed', error: twice }))).toBe('Deadlock: all 4 unfinished ranks are waiting.');
    expect([
      wantedAt(job({ state: 'waiting' })),
      wantedAt(job({ state: 'waiting', room: 'ABCDEF' })),
      wantedAt(job({ state: 'paused' })),
      wantedAt(job({ state: 'done' })),
      wantedAt(
        job({
          state: 'waiting',
          rooms: [{ code: 'AAAA', ranks: [0] }, { ranks: [1] }] as NonNullable<JobView['rooms']>,
        }),
      ),
    ]).toEqual([['/volunteer'], ['/volunteer?room=ABCDEF'], [], [], ['/volunteer?room=AAAA', '/volunteer']]);
    const stopped = job({
      state: 'paused',
      reason: 'The disk of the server is full: 0 B of 16 MB free. …',
      stopped: { code: 'DISK_FULL', message: '' },
    });
    expect([jobLine(stopped), wantedAt(stopped)]).toEqual([
      'the server’s disk is full; the job resumes when there is space',
      [],
    ]);
    expect(wantedAt(job({ state: 'waiting', stopped: { code: 'STORAGE_FAILED', message: '' } }))).toEqual([]);
    expect(jobLine(job({ state: 'done', reason: 'old' }))).toBe('2 ranks finished');
    const fault = { at: 0, task: taskId(1), incarnation: incarnation(0), cause: 'killed' };
    expect([
      jobLine(job({ state: 'done', faults: [fault], tasks: [rank({ state: 'done' }), rank({ state: 'done' })] })),
      jobLine(job({ state: 'done', faults: [fault], tasks: [rank({ state: 'done' }), rank({ state: 'failed' })] })),
      jobLine(
        job({
          state: 'done',
          size: 3,
          faults: [fault, fault, fault],
          tasks: [rank({ state: 'done' }), rank({ state: 'failed' }), rank({ state: 'failed' })],
        }),
      ),
    ]).toEqual([
      '2 ranks finished, 1 fault survived',
      '1 of 2 ranks finished; 1 was lost, and the program went on',
      '1 of 3 ranks finished; 2 were lost, and the program went on, 1 fault survived',
    ]);
  });
  it('counts a message where it was sent', () => {
    expect(
      totalsOf(
        job({
          tasks: [
            rank({ messagesOut: 2, messagesIn: 3, bytesOut: 8 }),
            rank({ messagesOut: 3, messagesIn: 2, bytesOut: 1 }),
          ],
        }),
      ),
    ).toMatchObject({ messages: 5, bytes: 9 });
  });
  it('says before submission whether there is room', () => {
    expect(slotsAdvice(4, { total: 3, free: 3 }).text).toContain('Needs 4 slots; 3 available');
    expect(slotsAdvice(4, { total: 8, free: 2 }).tone).toBe('wait');
    expect(slotsAdvice(1, { total: 8, free: 2 }).tone).toBe('good');
  });
  it('tells a message from its stack', () => {
    expect(splitStack('boom\n    at f (main.ts:3:1)\n    at main.ts:9:2')).toEqual({
      message: 'boom',
      stack: '    at f (main.ts:3:1)\n    at main.ts:9:2',
    });
    expect(splitStack('rank 1: RangeError: boom\nRangeError: boom\n    at f (main.ts:3:1)').message).toBe(
      'rank 1: RangeError: boom',
    );
    expect(
      splitStack('rank 1: RangeError: boom\nRangeError: boom\nmayfly-program.js:8\n    at f (main.ts:3:1)').message,
    ).toBe('rank 1: RangeError: boom');
    expect(splitStack('boom\nf@main.ts:3:1')).toEqual({ message: 'boom', stack: 'f@main.ts:3:1' });
    expect(
      splitStack('rank 1: the program trapped: why\nRuntimeError: unreachable\n    at abort (wasm-function[1]:0x1)'),
    ).toEqual({
      message: 'rank 1: the program trapped: why',
      stack: 'RuntimeError: unreachable\n    at abort (wasm-function[1]:0x1)',
    });
    expect(splitStack('two\nlines')).toEqual({ message: 'two\nlines', stack: undefined });
  });
  it('says of a fault what is known besides its cause, and what follows for the node', () => {
    const fault = { at: 0, task: taskId(0), incarnation: incarnation(0), cause: 'crashed' };
    expect(faultNotes(fault)).toEqual([]);
    const error = 'The node no longer reported this rank.';
    expect(faultNotes({ ...fault, error, newcomer: true, quarantineMs: 5000 })).toEqual([
      error,
      'new node in quarantine for 5 s',
    ]);
  });
  it('a proof says no more than was compared', () => {
    const run = (same?: boolean, faults = 0) => ({
      job: 'abcdefghijkl' as JobView['id'],
      name: 'j',
      state: 'done' as const,
      faults,
      ...(same === undefined ? {} : { same }),
      differences: [],
    });
    expect(verdictOf([run()])).toEqual({ text: 'Not compared yet.', tone: 'quiet' });
    expect(verdictOf([run(true), run()]).text).toBe(
      'The answer is the same, byte for byte, as that of the undisturbed run.',
    );
    expect(verdictOf([run(true, 2)]).text).toBe('The answer is the same, byte for byte, as that of the other run.');
    expect(verdictOf([run(true), run(false)])).toEqual({
      text: 'The answer is not the same as that of 1 of 2 other runs.',
      tone: 'bad',
    });
    expect(comparisonLine(2, run(true))).toBe('the same. This run lost 2 ranks; the other lost none.');
    expect([
      uploadText({ sentBytes: 0, ofBytes: 0 }),
      uploadText({ sentBytes: 65_536, ofBytes: 131_072 }),
      uploadText({ sentBytes: 9, ofBytes: 9 }),
    ]).toEqual(['uploading', 'uploading 65.5 kB of 131 kB', 'uploaded, waiting for the log']);
  });

  it('a rank of a job that has ended waits for nothing', () => {
    expect([
      rankWord(rank({ state: 'unassigned' }), 'waiting').text,
      rankWord(rank({ state: 'unassigned' })).text,
      rankWord(rank({ state: 'unassigned' }), 'ended').text,
      tileText(rank({ state: 'running' }), 'ended'),
      rankWord(rank({ state: 'done' }), 'ended').text,
    ]).toEqual(['without a slot', 'waiting for a slot', 'stopped', 'stopped', 'done']);
    expect([phaseOf(job({})), phaseOf(job({ startedAt: 1 })), phaseOf(job({ state: 'done', startedAt: 1 }))]).toEqual([
      'waiting',
      'begun',
      'ended',
    ]);
  });

  it('a healthy job does not wait: it was busy for a share of the last seconds', () => {
    const tasks = [rank({ activity: at('waiting') }), rank({ activity: at('computing') })];
    const text = (j: Partial<JobView>) => jobLine(job({ tasks, startedAt: 1, ...j }));
    expect([text({}), text({ computed: 0.85 }), text({ computed: 0, state: 'paused', reason: 'why' })]).toEqual([
      '2 of 2 ranks running',
      '2 of 2 ranks running · 85 % busy',
      'why',
    ]);
    const states = (together: boolean) =>
      statesOf([...tasks, rank({ state: 'unassigned' })], 'begun', together).map(([t, { n }]) => `${n} ${t}`);
    expect(states(true)).toEqual(['2 running', '1 waiting for a slot']);
    expect(states(false)).toEqual(['1 waiting', '1 computing', '1 waiting for a slot']);
  });
});

it('says the run time in whole seconds that tick, and rounded as everywhere when it is over', () => {
  expect(runText(job({}), 5000)).toBe('–');
  expect(runText(job({ startedAt: 1000 }), 98_700)).toBe('1 min 37 s');
  expect(runText(job({ startedAt: 1000, endedAt: 98_700 }), 200_000)).toBe('1 min 38 s');
});
