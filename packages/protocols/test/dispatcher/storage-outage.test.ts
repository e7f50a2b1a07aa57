import { describe, expect, it } from 'vitest';
import { I, J, job, Stage } from './stage.ts';

const FULL = { code: 'DISK_FULL', message: 'The disk of the server is full: 0 B of 16 MB free.' };

/** Two ranks at work on two nodes. */
function running(over: Parameters<typeof job>[1] = {}): Stage {
  const s = new Stage();
  s.come(1);
  s.come(2);
  s.send('submit', { job: job(2, over) });
  s.send('heartbeat', { connection: 'c1', tasks: [s.beat(0, 0)] });
  s.send('heartbeat', { connection: 'c2', tasks: [s.beat(1, 0)] });
  return s;
}
const alive = (s: Stage): Parameters<Stage['pass']>[1] => ({ c1: [s.beat(0, 0)], c2: [s.beat(1, 0)] });

describe('storage that cannot be written', () => {
  it('pauses jobs that run, with the reason, and no longer than it lasts; their ranks stay where they are', () => {
    const s = running();
    s.send('storage', { error: FULL });
    expect(s.view()).toMatchObject({ state: 'paused', reason: FULL.message, stopped: FULL, pausedAt: s.now });
    const before = s.effects.length;
    s.pass(20_000, alive(s));
    expect(
      s.effects.slice(before).filter((e) => e.type === 'persist' || e.type === 'revoke' || e.type === 'assign'),
    ).toEqual([]);
    s.send('storage', { error: { ...FULL, message: 'other words' } });
    expect(s.view().reason).toBe('other words');
    s.send('storage', {});
    const after = s.view();
    expect([after.state, after.reason, after.stopped, after.pausedAt, after.pausedMs, after.faults]).toEqual([
      'running',
      undefined,
      undefined,
      undefined,
      20_000,
      [],
    ]);
    expect(s.assigned()).toEqual(['0.0@1', '1.0@2']);
  });

  it('D11: begins nothing, also not for ranks that are lost meanwhile, and makes up for it', () => {
    const s = running();
    s.come(3);
    s.send('storage', { error: FULL });
    s.send('goodbye', { connection: 'c2', reason: 'closed' });
    s.send('submit', { job: job(1, { id: J(1) }) });
    s.pass(5000, { c1: [s.beat(0, 0)] });
    expect(s.assigned()).toEqual(['0.0@1', '1.0@2']);
    expect(s.view(J(1))).toMatchObject({ state: 'waiting', reason: FULL.message, stopped: FULL });
    s.send('storage', {});
    s.pass(250, { c1: [s.beat(0, 0)], c3: [] });
    expect(s.assigned()).toEqual(['0.0@1', '1.0@2', '1.1@3']);
    expect(s.view().faults).toMatchObject([{ task: 1, cause: 'goodbye', pausedMs: 5000 }]);
  });

  it('D11: a rank that was given to a node need not start until it can', () => {
    const s = new Stage({ startMs: 2000 });
    s.come(1);
    s.send('submit', { job: job(1) });
    s.send('storage', { error: FULL });
    s.pass(10_000, { c1: [{ ...s.beat(0, 0), started: false }] });
    s.send('storage', {});
    s.pass(1500, { c1: [{ ...s.beat(0, 0), started: false }] });
    expect(s.view().faults).toEqual([]);
    s.pass(1000, { c1: [{ ...s.beat(0, 0), started: false }] });
    expect(s.view().faults).toMatchObject([{ cause: 'crashed' }]);
  });

  it('D12: its time counts for no limit, also after a restart of the server', () => {
    const s = running({ timeLimitMs: 10_000 });
    s.pass(4000, alive(s));
    s.send('storage', { error: FULL });
    s.pass(60_000, alive(s));
    s.send('storage', {});
    s.pass(4000, alive(s));
    s.crash(100);
    expect(s.view()).toMatchObject({ pausedMs: 60_000 });
    s.send('hello', {
      connection: 'c1',
      claimed: s.record(0).node,
      fresh: s.record(0).node,
      session: 's1',
      name: '',
      engine: '',
      slots: 1,
      holds: [{ job: J(), task: 0 as never, incarnation: I(0) }],
      images: [],
    });
    s.send('hello', {
      connection: 'c2',
      claimed: s.record(1).node,
      fresh: s.record(1).node,
      session: 's2',
      name: '',
      engine: '',
      slots: 1,
      holds: [{ job: J(), task: 1 as never, incarnation: I(0) }],
      images: [],
    });
    expect(s.view().state).toBe('running');
    s.pass(11_000, alive(s));
    expect(s.view()).toMatchObject({ error: { code: 'TIME_LIMIT' } });
  });

  it('a job that somebody paused stays paused; one that is resumed meanwhile goes on when it can', () => {
    const s = running();
    s.send('storage', { error: FULL });
    s.pass(1000, alive(s));
    s.send('pause', { job: J(), waitMs: 0 });
    s.pass(250, alive(s));
    expect([s.view().state, s.view().stopped, s.view().pausedMs]).toEqual(['paused', undefined, 1000]);
    s.send('storage', {});
    s.pass(1000);
    expect(s.view()).toMatchObject({ state: 'paused', reason: 'has no checkpoints; will resume from the logs' });
    s.send('storage', { error: FULL });
    s.send('resume', { job: J() });
    s.pass(1000, { c1: [], c2: [] });
    expect(s.view()).toMatchObject({ state: 'waiting', stopped: FULL });
    s.send('storage', {});
    s.pass(250, { c1: [], c2: [] });
    expect(s.view().state).toBe('running');
    expect(s.assigned()).toEqual(['0.0@1', '1.0@2', '0.1@1', '1.1@2']);
  });

  it('a job that ends meanwhile says that this is not stored yet', () => {
    const s = running();
    s.hold.add('persist');
    s.send('storage', { error: FULL });
    s.send('cancel', { job: J() });
    expect(s.view().reason).toBe(`ends once the server can store that: ${FULL.message}`);
    expect(s.of('jobEnded')).toEqual([]);
    s.send('storage', {});
    s.release();
    expect(s.of('jobEnded')).toMatchObject([{ state: 'cancelled' }]);
  });
});
