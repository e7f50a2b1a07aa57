import { describe, expect, it } from 'vitest';
import { nodeViews } from '../../src/index.ts';
import { I, held, image, J, job, N, Stage, T } from './stage.ts';

const asked = (s: Stage): string[] => s.of('checkpoint').map((c) => `${c.task}@${Number(c.node.slice(4))}`);
const stopped = (s: Stage): string[] =>
  s
    .of('revoke')
    .filter((r) => r.error.message === 'The job is paused.')
    .map((r) => `${r.task}.${r.incarnation}@${Number(r.node.slice(4))}`);
const busy = (s: Stage): number => nodeViews(s.dispatcher).reduce((n, v) => n + v.busy, 0);

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

describe('pause', () => {
  it('asks every rank for an image; each leaves with its own, without a fault, and its slot does other work', () => {
    const s = running();
    s.send('pause', { job: J(), waitMs: 10_000 });
    expect(asked(s)).toEqual(['0@1', '1@2']);
    expect(s.view()).toMatchObject({ state: 'pausing', reason: 'waiting for checkpoints of ranks 0, 1' });
    s.images.set(`${J()}/0`, image(0, 1));
    s.send('image', image(0, 1));
    expect(stopped(s)).toEqual(['0.0@1']);
    expect(s.view()).toMatchObject({ state: 'pausing', reason: 'waiting for a checkpoint of rank 1' });
    s.send('submit', { job: job(1, { id: J(1) }) });
    expect(s.view(J(1)).state).toBe('running');
    s.send('image', image(1, 1));
    expect(s.view()).toMatchObject({
      state: 'paused',
      reason: 'will resume from checkpoints of all 2 ranks',
      faults: [],
    });
    expect(s.view().tasks.map((t) => t.state)).toEqual(['paused', 'paused']);
    expect(busy(s)).toBe(1);
  });

  it('D9: nobody is told to leave, or asked, before the pause is durable', () => {
    const s = running();
    s.hold.add('persist');
    s.send('pause', { job: J(), waitMs: 0 });
    s.send('image', image(0, 1));
    s.pass(1000, { c1: [s.beat(0, 0)], c2: [s.beat(1, 0)] });
    expect([...asked(s), ...stopped(s)]).toEqual([]);
    s.release();
    s.pass(250);
    expect(stopped(s)).toEqual(['0.0@1', '1.0@2']);
  });

  it('who has no image when the wait is over leaves without', () => {
    const s = running();
    s.send('pause', { job: J(), waitMs: 2000 });
    s.pass(1750, { c1: [s.beat(0, 0)], c2: [s.beat(1, 0)] });
    expect(stopped(s)).toEqual([]);
    s.pass(250, { c1: [s.beat(0, 0)], c2: [s.beat(1, 0)] });
    expect(stopped(s)).toEqual(['0.0@1', '1.0@2']);
    expect(s.view()).toMatchObject({ state: 'paused', reason: 'has no checkpoints; will resume from the logs' });
  });

  it('D9: whatever happens to a rank meanwhile is no fault, and one that has left stays away', () => {
    const s = running();
    s.send('pause', { job: J(), waitMs: 10_000 });
    s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(0), event: 'crashed' });
    s.send('goodbye', { connection: 'c2', reason: 'closed' });
    expect(s.view()).toMatchObject({ state: 'paused', faults: [] });
    s.come(3, 4);
    s.pass(5000, { c3: [] });
    expect(s.assigned()).toHaveLength(2);
    // A zombie of it.
    s.come(1, 1, { claimed: N(1), session: 's1', holds: [held(0, 0)] });
    expect(s.of('welcome').at(-1)!.drop).toEqual([held(0, 0)]);
    s.send('heartbeat', { connection: 'c1', tasks: [s.beat(0, 0)] });
    expect(s.of('revoke').at(-1)).toMatchObject({ task: 0, error: { code: 'FENCED', message: 'The job is paused.' } });
    expect(s.view().state).toBe('paused');
  });

  it('is kept by a restart of the server; who held a rank is told to stop', () => {
    const s = running();
    s.send('pause', { job: J(), waitMs: 10_000 });
    s.crash();
    expect(s.view()).toMatchObject({ state: 'paused', faults: [] });
    expect(s.of('openJob').at(-1)).toEqual({ type: 'openJob', job: J() }); // its logs stay
    s.come(1, 1, { claimed: N(1), session: 's1', holds: [held(0, 0)] });
    expect(s.of('welcome').at(-1)!.drop).toEqual([held(0, 0)]);
    s.pass(20_000, { c1: [] });
    expect(s.view()).toMatchObject({ state: 'paused', faults: [] });
    s.come(2);
    s.send('resume', { job: J() });
    expect(s.assigned().slice(2).sort()).toEqual(['0.1@1', '1.1@2']);
  });

  it('of a job that waits keeps it out of the queue; it does not begin, and others do', () => {
    const s = new Stage();
    s.send('submit', { job: job(2) });
    s.send('pause', { job: J(), waitMs: 10_000 });
    s.send('submit', { job: job(2, { id: J(1) }) });
    s.come(1, 2);
    expect(s.view()).toMatchObject({ state: 'paused' });
    expect(s.view(J(1)).state).toBe('running');
    s.exit(0, { code: 0 }, J(1));
    s.exit(1, { code: 0 }, J(1));
    s.crash();
    s.come(1, 2);
    expect(s.view().state).toBe('paused');
    s.send('resume', { job: J() });
    expect(s.view()).toMatchObject({ state: 'running' });
    expect(s.view().pausedMs).toBeUndefined();
  });

  it('does not stop what ends by itself, and can be cancelled', () => {
    const s = running();
    s.send('pause', { job: J(), waitMs: 10_000 });
    s.exit(0);
    expect(s.view()).toMatchObject({ state: 'pausing', reason: 'waiting for a checkpoint of rank 1' });
    s.exit(1);
    expect(s.view()).toMatchObject({ state: 'done', exitCode: 0 });
    const c = running();
    c.send('pause', { job: J(), waitMs: 0 });
    c.pass(250);
    c.send('cancel', { job: J() });
    expect(c.view().state).toBe('cancelled');
    c.send('resume', { job: J() });
    expect(c.view().state).toBe('cancelled');
  });

  it('is nothing for the protocol that keeps nothing', () => {
    const s = running({ protocol: 'none' });
    s.send('pause', { job: J(), waitMs: 0 });
    expect(s.view().state).toBe('running');
  });
});

describe('resume', () => {
  it('waits for slots for all ranks that have not ended, then fences and goes on from the images', () => {
    const s = running();
    s.exit(1);
    s.send('pause', { job: J(), waitMs: 0 });
    s.images.set(`${J()}/0`, image(0, 1));
    s.send('image', image(0, 1));
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    s.send('goodbye', { connection: 'c2', reason: 'closed' });
    s.send('resume', { job: J() });
    expect(s.view()).toMatchObject({ state: 'waiting', reason: 'needs 1 slot; none available' });
    s.crash(); // on the way back, too
    expect(s.view()).toMatchObject({ state: 'waiting', faults: [] });
    const before = s.effects.length;
    s.come(3);
    expect(s.effects.slice(before).map((e) => e.type)).toEqual([
      'welcome',
      'persist',
      'jobChanged',
      'nodesChanged',
      'openJob',
      'fenceCs',
      'fenceCm',
      'fenceCm',
      'assign',
      'jobChanged',
    ]);
    expect(s.of('assign').at(-1)).toMatchObject({ task: 0, incarnation: 1, image: image(0, 1).image });
    expect(s.view()).toMatchObject({ state: 'running', faults: [] });
    s.exit(0);
    expect(s.view().state).toBe('done');
  });

  it('before all have left: who is still there goes on, the others come back', () => {
    const s = running();
    s.send('pause', { job: J(), waitMs: 10_000 });
    s.send('image', image(0, 1));
    s.send('resume', { job: J() });
    expect(s.assigned()).toEqual(['0.0@1', '1.0@2', '0.1@1']);
    s.send('image', image(1, 1));
    s.pass(20_000, { c1: [s.beat(0, 1)], c2: [s.beat(1, 0)] });
    expect(stopped(s)).toEqual(['0.0@1']);
    expect(s.view()).toMatchObject({ state: 'running', faults: [] });
  });

  it('D10: time of a pause counts for no limit and no recovery', () => {
    const s = running({ timeLimitMs: 10_000 });
    s.send('kill', { job: J(), task: T(0) });
    s.pass(1000, { c1: [s.beat(0, 1)], c2: [s.beat(1, 0)] });
    s.send('pause', { job: J(), waitMs: 0 });
    s.pass(60_000, { c1: [], c2: [] });
    s.send('resume', { job: J() });
    s.pass(8000, { c1: [s.beat(0, 2)], c2: [s.beat(1, 1)] });
    expect(s.view()).toMatchObject({ state: 'running', pausedMs: 60_000 });
    s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(2), event: 'recovered' });
    expect(s.view().faults[0]).toMatchObject({ cause: 'killed', pausedMs: 60_000, recoveredAfterMs: 9000 });
    s.pass(3000, { c1: [s.beat(0, 2)], c2: [s.beat(1, 1)] });
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'TIME_LIMIT' } });
  });
});
