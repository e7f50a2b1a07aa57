import { incarnation, jobId, taskId } from '@mayfly/wire';
import type { RankSnapshot, VolunteerSnapshot } from '@mayfly/node/page';
import { describe, expect, it } from 'vitest';
import { parseKept, plus } from './contribution.ts';
import { Rates } from './rates.ts';
import { Seats } from './seats.ts';
import { abouts, jobNames, rankWords, stateWords, Tally } from './tab-texts.ts';

const rank = (over: Partial<RankSnapshot> = {}): RankSnapshot => ({
  job: jobId('abcdefghijkl'),
  jobName: 'heat',
  task: taskId(0),
  incarnation: incarnation(0),
  size: 2,
  state: 'running',
  messagesIn: 1,
  bytesIn: 10,
  messagesOut: 2,
  bytesOut: 20,
  since: 0,
  program: 'main.ts',
  canImage: true,
  ...over,
});
const snap = (over: Partial<VolunteerSnapshot> = {}): VolunteerSnapshot => ({
  phase: 'idle',
  name: 'x',
  slots: 2,
  ranks: [],
  gave: { usefulMs: 0, replayedMs: 0, finished: 0, jobs: 0 },
  history: [],
  ...over,
});

describe('volunteer words', () => {
  it('begins with the phase and gives the reason', () => {
    for (const phase of ['off', 'connecting', 'idle', 'working', 'leaving', 'paused', 'refused'] as const) {
      expect(
        stateWords(snap({ phase, ranks: [rank()] }))
          .title.toLowerCase()
          .startsWith(phase),
      ).toBe(true);
    }
    expect(stateWords(snap({ phase: 'paused', reason: 'on battery' })).detail).toBe('On battery.');
    expect(stateWords(snap({ phase: 'connecting', reason: 'the server does not answer' })).detail).toBe(
      'The server does not answer.',
    );
    expect(stateWords(snap({ phase: 'refused', error: { code: 'FORBIDDEN', message: 'wrong room' } })).detail).toBe(
      'wrong room',
    );
  });
  it('says at once that the server is silent, and for how long', () => {
    const silent = { ranks: [rank()], silentSince: 10_000 };
    expect(stateWords(snap({ ...silent, phase: 'working' }), new Map(), 17_500)).toEqual({
      title: 'No answer from the server',
      detail:
        'No data for 7 s, although the connection is open. Ranks here keep running as far as they can. It ' +
        'will resume automatically.',
      tone: 'warn',
    });
    expect(stateWords(snap({ ...silent, phase: 'leaving' }), new Map(), 17_500).title).toBe('Leaving');
  });
  it('names the jobs once each', () => {
    expect(jobNames([rank(), rank({ task: taskId(1) })])).toBe('“heat”');
    expect(jobNames([rank(), rank({ jobName: 'cg' }), rank({ jobName: 'pi' })])).toBe('“heat” and 2 others');
  });
  it('tells what each job is for, once', () => {
    expect(
      abouts([
        rank({ about: 'Heat on a plate.' }),
        rank({ task: taskId(1), about: 'Heat on a plate.' }),
        rank({ job: jobId('bcdefghijklm'), jobName: 'pi' }),
      ]),
    ).toEqual([
      ['heat', 'Heat on a plate.'],
      ['pi', undefined],
    ]);
  });
  it('says what a rank does', () => {
    expect(rankWords(rank({ activity: { state: 'waiting', call: 'MPI_Recv', arrivals: 0, sends: 0 } })).text).toBe(
      'waits in MPI_Recv',
    );
    expect(rankWords(rank({ state: 'loading', incarnation: incarnation(2) })).text).toBe('recovering');
  });
  it('says what stands still, and since when', () => {
    const waits = rank({ activity: { state: 'waiting', call: 'MPI_Recv', peer: taskId(3), arrivals: 0, sends: 0 } });
    const rates = new Rates();
    rates.take([waits], 0);
    const s = snap({ phase: 'working', ranks: [waits] });
    expect(stateWords(s, rates.take([waits], 5000)).detail).toContain('You can close the tab');
    expect(stateWords(s, rates.take([waits], 75_000))).toMatchObject({
      detail: 'No progress: the rank here has waited 1 min 15 s for messages from other ranks.',
      tone: 'wait',
    });
    // What the runtime says of a connection comes first, and the tab still does not seem to compute.
    expect(stateWords({ ...s, reason: 'a data connection is down' }, rates.take([waits], 75_000))).toMatchObject({
      detail: 'A data connection is down.',
      tone: 'wait',
    });
    const line = rank({ activity: { state: 'waiting', call: 'stdin', arrivals: 0, sends: 0 } });
    const two = [
      line,
      rank({ task: taskId(1), activity: { state: 'waiting', call: 'MPI_Barrier', arrivals: 0, sends: 0 } }),
    ];
    const others = new Rates();
    others.take(two, 0);
    expect(stateWords({ ...s, ranks: two }, others.take(two, 12_000)).detail).toBe(
      'No progress: both ranks here have waited 12 s for a line of input from the job’s owner.',
    );
    expect(rankWords(waits).text).toBe('waits in MPI_Recv for rank 3');
    expect(rates.take([rank({ messagesIn: 41, bytesIn: 4010 })], 77_000).get('abcdefghijkl.0.0')).toEqual({
      messages: 20,
      bytes: 2000,
      stillMs: 0,
    });
  });
  it('leaves each rank at its line while others come and go', () => {
    const seats = new Seats();
    const [a, b, c] = [0, 1, 2].map((t) => rank({ task: taskId(t) }));
    const lines = (...ranks: RankSnapshot[]) => seats.take(ranks).map((r) => r && `${r.task}.${r.incarnation}`);
    expect(lines(a!, b!, c!)).toEqual(['0.0', '1.0', '2.0']);
    expect(lines(a!, c!)).toEqual(['0.0', undefined, '2.0']);
    expect(lines(a!, c!, rank({ task: taskId(1), incarnation: incarnation(1) }))).toEqual(['0.0', '1.1', '2.0']);
    expect(lines(rank({ task: taskId(7) }), a!)).toEqual(['0.0', '7.0']);
    expect(lines()).toEqual([]);
  });
  it('adds up what was given over visits, also with a second tab', () => {
    const visit = { usefulMs: 1000, replayedMs: 10, finished: 1, jobs: 1 };
    expect(plus(plus(parseKept('{"usefulMs":5,"jobs":"x"}'), visit), visit, -1)).toEqual({
      usefulMs: 5,
      replayedMs: 0,
      finished: 0,
      jobs: 0,
    });
    expect(parseKept('nonsense')).toEqual({ usefulMs: 0, replayedMs: 0, finished: 0, jobs: 0 });
  });
  it('keeps the figures of ranks that have left, and counts each finish once', () => {
    const t = new Tally();
    t.take(snap({ ranks: [rank()] }));
    const end = snap({ history: [{ at: 5, kind: 'finished', text: 'done' }] });
    expect(t.take(end)).toEqual({ finished: 1, messages: 3, bytes: 30 });
    expect(t.take(end)).toEqual({ finished: 1, messages: 3, bytes: 30 });
  });
});
