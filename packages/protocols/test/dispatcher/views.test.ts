/** What people read of jobs and nodes (views.ts): every field that may be absent, there and not there. */
import { describe, expect, it } from 'vitest';
import { nodeViews } from '../../src/index.ts';
import { J, job, N, Stage, T } from './stage.ts';

describe('views', () => {
  it('of a job: what its owner said of it, and nothing that nobody said', () => {
    const s = new Stage();
    s.send('submit', { job: job(1) });
    const said = { about: 'weather', interactive: true, room: 'R', compareWith: J(7), owner: 'ann' };
    s.send('submit', { job: job(1, { id: J(1), ...said }) });
    expect(s.view(J(1))).toMatchObject({ ...said, state: 'waiting', size: 1, submittedAt: 0 });
    expect(Object.keys(s.view()).sort()).toEqual([
      ...['args', 'durability', 'faults', 'id', 'name', 'outputBytes', 'outputs', 'owner', 'program', 'protocol'],
      ...['reason', 'size', 'state', 'submittedAt', 'tasks'],
    ]);
  });

  it('of a job that ran and ended: when, and with which code or error', () => {
    const s = new Stage();
    s.come(1, 2);
    s.send('submit', { job: job(1) });
    s.send('submit', { job: job(1, { id: J(1) }) });
    const began = s.now;
    s.pass(1000, { c1: [s.beat(0, 0), s.beat(0, 0, {}, J(1))] });
    expect(s.view()).toMatchObject({ state: 'running', startedAt: began });
    expect(s.view().tasks).toMatchObject([
      { state: 'running', node: N(1), nodeName: 'tab 1', activity: { state: 'computing' } },
    ]);
    expect(s.view().tasks[0]!.activitySince).toBe(began + 250);
    s.exit(0, { code: 3 });
    expect(s.view()).toMatchObject({ state: 'done', startedAt: began, endedAt: s.now, exitCode: 3 });
    expect(s.view().tasks).toMatchObject([{ state: 'done', exitCode: 3 }]);
    expect(s.view()).not.toHaveProperty('error');
    s.exit(0, { code: 0, abort: { code: 'ABORTED', message: 'stop' } }, J(1));
    expect(s.view(J(1))).toMatchObject({ state: 'failed', exitCode: 1, error: { code: 'ABORTED' } });
    expect(s.view(J(1)).tasks).toMatchObject([{ state: 'failed' }]);
  });

  it('of a node: what it said and measured, what it has, and how long it was here over all its visits', () => {
    const s = new Stage();
    s.come(1, 2);
    expect(nodeViews(s.dispatcher)).toEqual([
      {
        ...{ id: N(1), name: 'tab 1', engine: 'test', slots: 2, busy: 0, runs: ['wasm', 'typescript'], faults: 0 },
        ...{ presentMs: 0, state: 'here', since: s.now, lastSeen: s.now },
      },
    ]);
    s.come(2, 1, { cores: 8, room: 'R' });
    s.send('heartbeat', { connection: 'c2', tasks: [], rttMs: 12, speed: 34 });
    expect(nodeViews(s.dispatcher)[1]).toMatchObject({ cores: 8, room: 'R', rttMs: 12, speed: 34 });
    s.send('submit', { job: job(2) });
    expect(nodeViews(s.dispatcher).map((n) => n.busy)).toEqual([2, 0]);
    s.pass(2000, { c1: [s.beat(0, 0), s.beat(1, 0)] });
    s.send('kill', { job: J(), task: T(0) });
    s.send('report', {
      connection: 'c1',
      job: J(),
      task: T(1),
      incarnation: s.record(1).incarnation,
      event: 'crashed',
    });
    expect(nodeViews(s.dispatcher)[0]).toMatchObject({ presentMs: 2000, faults: 1 });
    s.send('disconnected', { connection: 'c1' });
    s.pass(5000);
    s.come(1, 2, { claimed: N(1), session: 'other' });
    s.pass(1000, { c1: [] });
    expect(nodeViews(s.dispatcher)[0]).toMatchObject({ presentMs: 3000, since: s.now - 1000 });
  });
});
