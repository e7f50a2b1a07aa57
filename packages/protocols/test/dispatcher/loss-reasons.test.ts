/** What a fault and the log of the server say of a lost rank, besides its cause. */
import { describe, expect, it } from 'vitest';
import { I, J, job, Stage, T } from './stage.ts';

/** Rank 0 runs at node 1; node 2 is free, and names whatever it gets. */
const running = (settings = {}): Stage => {
  const s = new Stage({ trustNewcomers: true, ...settings });
  s.come(1);
  s.send('submit', { job: job(1) });
  s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(0), event: 'started' });
  s.come(2);
  return s;
};
const crash = (s: Stage, at: number, inc: number, error?: { code: string; message: string }): void =>
  void s.send('report', {
    connection: `c${at}`,
    job: J(),
    task: T(0),
    incarnation: I(inc),
    event: 'crashed',
    ...(error && { error }),
  });
const losses = (s: Stage): string[] =>
  s.of('log').flatMap(({ message }) => (message.startsWith('rank 0 lost') ? [message] : []));

describe('the reason of a loss, where the node reported none', () => {
  it.each([
    ['its node names it no longer', 'The node no longer reported this rank.', (s: Stage) => s.pass(1000, { c1: [] })],
    [
      'its node was back in the same session, without it',
      'The node reconnected without this rank.',
      (s: Stage) => s.come(1, 1, { connection: 'c1b', claimed: s.record(0).node }),
    ],
    ['its node reported a crash and no more', 'The node reported no reason.', (s: Stage) => crash(s, 1, 0)],
  ])('%s', (_, reason, lose) => {
    const s = running();
    lose(s);
    expect(s.view().faults).toMatchObject([{ cause: 'crashed', error: reason }]);
    expect(losses(s)).toEqual([`rank 0 lost: crashed. ${reason}`]);
    s.crash();
    expect(s.view().faults).toMatchObject([{ cause: 'crashed', error: reason }]);
  });

  it.each([
    ['its node never named it', 'The node never reported this rank.', 10_250, []],
    ['its node named it, and then did not', 'The node no longer reported this rank.', 10_250, ['once']],
    ['its node names it, but it does not start', 'The rank did not start in time.', 30_250, ['always']],
  ])('before it started: %s', (_, reason, ms, named) => {
    const s = new Stage({ trustNewcomers: true, startMs: 30_000, startAfterMs: 120_000 });
    s.come(1);
    s.send('submit', { job: job(1) });
    const begins = { ...s.beat(0, 0), started: false };
    if (named.includes('once')) s.send('heartbeat', { connection: 'c1', tasks: [begins] });
    s.pass(ms, { c1: named.includes('always') ? [begins] : [] });
    expect(s.view().faults).toMatchObject([{ cause: 'crashed', error: reason }]);
    expect(losses(s)).toEqual([`rank 0 lost: crashed. ${reason}`]);
  });

  it('is not the error of an earlier incarnation', () => {
    const s = running();
    crash(s, 1, 0, { code: 'INTERNAL', message: 'out of memory' });
    expect(s.assigned()).toEqual(['0.0@1', '0.1@2']);
    s.send('report', { connection: 'c2', job: J(), task: T(0), incarnation: I(1), event: 'started' });
    s.pass(1000, { c1: [], c2: [] });
    expect(s.view().faults.map((f) => f.error)).toEqual([
      'INTERNAL: out of memory',
      'The node no longer reported this rank.',
    ]);
  });
});

it('a reported error is in the fault and in the log, cut; a loss whose cause says all has none', () => {
  const s = running();
  crash(s, 1, 0, { code: 'INTERNAL', message: 'x'.repeat(300) });
  const error = `INTERNAL: ${'x'.repeat(190)}`;
  s.send('goodbye', { connection: 'c2', reason: 'closed' });
  expect(s.view().faults).toMatchObject([{ error }, { cause: 'goodbye' }]);
  expect(s.view().faults[1]).not.toHaveProperty('error');
  expect(losses(s)).toEqual([`rank 0 lost: crashed. ${error}`, 'rank 0 lost: goodbye']);
});
