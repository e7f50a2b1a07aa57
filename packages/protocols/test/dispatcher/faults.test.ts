import { describe, expect, it } from 'vitest';
import { nodeViews } from '../../src/index.ts';
import { held, I, J, job, N, NOTHING, Stage, T } from './stage.ts';

const running = (settings = {}, over = {}): Stage => {
  const s = new Stage(settings);
  s.come(1);
  s.send('submit', { job: job(1, over) });
  s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(0), event: 'started' });
  return s;
};

describe('restart', () => {
  it('D1, D2: raise durably → fence the CS → choose the image → every CM fences → assign', () => {
    const s = running();
    s.come(2);
    s.effects.length = 0;
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    const order = s.effects.map((e) => e.type).filter((t) => ['persist', 'fenceCs', 'fenceCm', 'assign'].includes(t));
    expect(order).toEqual(['persist', 'fenceCs', 'fenceCm', 'fenceCm', 'assign']);
    expect(s.record(0)).toMatchObject({ incarnation: 1, node: N(2) });
  });

  it('D1: one CM that has not answered holds the assignment back; a late answer of an older attempt does not count', () => {
    const s = running();
    s.come(2);
    s.hold.add('fenceCm');
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    const fences = s.of('fenceCm').filter((f) => f.incarnation === 1);
    s.send('fencedCm', { job: J(), task: T(0), incarnation: I(1), cm: 0, sends: 0, consumed: 0, logs: NOTHING });
    s.send('fencedCm', { job: J(), task: T(0), incarnation: I(1), cm: 0, sends: 0, consumed: 0, logs: NOTHING });
    expect(fences).toHaveLength(2);
    expect(s.assigned()).toEqual(['0.0@1']);
    s.send('goodbye', { connection: 'c2', reason: 'closed' });
    s.come(3);
    s.send('fencedCm', { job: J(), task: T(0), incarnation: I(1), cm: 1, sends: 0, consumed: 0, logs: NOTHING });
    expect(s.assigned()).toEqual(['0.0@1']);
    s.release();
    expect(s.assigned()).toEqual(['0.0@1', '0.2@3']);
  });

  it('notes the fault, the phases of the recovery and the time to the first new step (D7)', () => {
    const s = running();
    s.come(2);
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    s.now += 300;
    s.send('report', { connection: 'c2', job: J(), task: T(0), incarnation: I(1), event: 'started' });
    expect(s.view().tasks[0]).toMatchObject({ state: 'recovering', incarnation: 1 });
    expect(s.view().faults).toMatchObject([{ assignedAfterMs: 0, startedAfterMs: 300 }]);
    s.now += 100;
    s.send('report', { connection: 'c2', job: J(), task: T(0), incarnation: I(1), event: 'recovered' });
    expect(s.view().tasks[0]!.state).toBe('running');
    expect(s.view().faults).toMatchObject([
      { task: 0, incarnation: 0, node: N(1), cause: 'goodbye', recoveredAfterMs: 400 },
    ]);
  });

  it('a heartbeat with a message that no earlier incarnation sent is a new step, too', () => {
    const s = running();
    s.come(2);
    s.logged.set(T(0), { sends: 5, consumed: 0 });
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    s.send('heartbeat', { connection: 'c2', tasks: [s.beat(0, 1, { sends: 5 })] });
    expect(s.view().faults[0]!.recoveredAfterMs).toBeUndefined();
    s.send('heartbeat', { connection: 'c2', tasks: [s.beat(0, 1, { sends: 6 })] });
    expect(s.view().faults[0]!.recoveredAfterMs).toBe(0);
  });

  it('a new server hears of a recovery from the heartbeat when the report died with the old one', () => {
    const s = running();
    s.come(2);
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    s.send('heartbeat', { connection: 'c2', tasks: [s.beat(0, 1)] });
    s.crash();
    s.come(2, 1, { connection: 'c2b', claimed: N(2), holds: [held(0, 1)] });
    s.send('heartbeat', { connection: 'c2b', tasks: [s.beat(0, 1)] });
    expect(s.view().tasks[0]!.state).toBe('recovering');
    s.send('heartbeat', { connection: 'c2b', tasks: [{ ...s.beat(0, 1), recovered: true }] });
    expect(s.view().tasks[0]!.state).toBe('running');
    expect(s.view().faults).toMatchObject([{ incarnation: 0, recoveredAfterMs: 500 }]);
  });

  it('the kill button revokes the rank and restarts it; it may not come back', () => {
    const s = running();
    s.send('kill', { job: J(), task: T(0) });
    expect(s.of('revoke')).toMatchObject([{ task: 0, incarnation: 0 }]);
    expect(s.assigned()).toEqual(['0.0@1', '0.1@1']);
    expect(s.view().faults[0]!.cause).toBe('killed');
  });

  it('`none` cannot restart: the job fails and says so', () => {
    const s = running({}, { protocol: 'none' });
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'LOST_NODES' } });
    expect(s.view().error!.message).toContain('"none" keeps no log');
    expect(s.view().tasks[0]!.state).toBe('failed');
  });

  it('images that are all damaged end the job with the error of the Checkpoint Server', () => {
    const s = running();
    s.come(2);
    s.hold.add('fenceCs');
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    s.send('imageLost', { job: J(), task: T(0), incarnation: I(1), error: { code: 'LOST_LOG', message: 'damaged' } });
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'LOST_LOG' } });
  });
});

describe('silence', () => {
  it('a socket that closes without goodbye: suspect, then lost after the grace of 3 s', () => {
    const s = running();
    s.come(2);
    s.send('disconnected', { connection: 'c1' });
    expect(s.view().tasks[0]!.state).toBe('suspect');
    s.pass(2750, { c2: [] });
    expect(s.assigned()).toEqual(['0.0@1']);
    s.pass(500, { c2: [] });
    expect(s.assigned()).toEqual(['0.0@1', '0.1@2']);
    expect(s.view().faults[0]!.cause).toBe('disconnected');
  });

  it('what was not assigned yet needs no grace, and leaves no fault', () => {
    const s = new Stage();
    s.come(1);
    s.come(2);
    s.hold.add('fenceCm');
    s.send('submit', { job: job(1) });
    s.send('disconnected', { connection: 'c1' });
    s.release();
    expect(s.assigned()).toEqual(['0.1@2']);
    expect(s.view().faults).toEqual([]);
  });

  it('a node that is back within the grace keeps its ranks', () => {
    const s = running();
    s.come(2);
    s.send('disconnected', { connection: 'c1' });
    s.pass(2000, { c2: [] });
    s.come(1, 1, { connection: 'c1b', claimed: N(1), holds: [held(0, 0)] });
    expect(s.of('welcome').at(-1)).toMatchObject({ node: N(1), isNew: false, drop: [] });
    s.pass(5000, { c1b: [s.beat(0, 0)], c2: [] });
    expect(s.assigned()).toEqual(['0.0@1']);
    expect(s.view().faults).toEqual([]);
  });

  it(
    'with a short grace for ranks that another slot is free for: as many go as there are slots, and at once; ' +
      'the others wait for their node',
    () => {
      const s = new Stage({ briefGraceMs: 500 });
      s.come(1, 3);
      s.send('submit', { job: job(3) });
      for (const t of [0, 1, 2])
        s.send('report', { connection: 'c1', job: J(), task: T(t), incarnation: I(0), event: 'started' });
      s.come(2, 2);
      s.send('disconnected', { connection: 'c1' });
      s.pass(250, { c2: [] });
      expect(s.assigned()).toHaveLength(3);
      s.pass(500, { c2: [] });
      expect(s.assigned()).toEqual(['0.0@1', '1.0@1', '2.0@1', '0.1@2', '1.1@2']);
      s.come(1, 3, { connection: 'c1b', claimed: N(1), holds: [held(0, 0), held(1, 0), held(2, 0)] });
      expect(s.of('welcome').at(-1)!.drop).toEqual([held(0, 0), held(1, 0)]);
      expect(s.view().faults.map((f) => [f.task, f.cause])).toEqual([
        [0, 'disconnected'],
        [1, 'disconnected'],
      ]);
    },
  );

  it('… and does not wait for the next tick: the host is asked for one when either grace ends', () => {
    const s = running({ briefGraceMs: 100 });
    s.come(2);
    s.send('disconnected', { connection: 'c1' });
    expect(s.of('wake').map((w) => w.afterMs)).toEqual([100, 3000]);
    s.now += 100;
    s.send('tick', {});
    expect(s.assigned()).toEqual(['0.0@1', '0.1@2']);
  });

  it('… which a job with a grace of its own does not have', () => {
    const s = running({ briefGraceMs: 500 }, { graceMs: 30_000 });
    s.come(2);
    s.send('disconnected', { connection: 'c1' });
    expect(s.of('wake')).toEqual([]);
    s.pass(29_500, { c2: [] });
    expect(s.assigned()).toHaveLength(1);
  });

  it(
    '"it detects a potential failure when an \'alive\' signal is timed out, whatever is the reason" (§3.1): an ' +
      'open socket, silent for 10 s',
    () => {
      const s = running();
      s.come(2);
      s.pass(9750, { c2: [] });
      expect(s.assigned()).toEqual(['0.0@1']);
      expect(nodeViews(s.dispatcher)[0]!.state).toBe('suspect');
      s.pass(500, { c2: [] });
      expect(s.assigned()).toEqual(['0.0@1', '0.1@2']);
      expect(s.view().faults[0]!.cause).toBe('silent');
    },
  );

  it("the job's own grace replaces both", () => {
    const s = running({}, { graceMs: 30_000 });
    s.come(2);
    s.send('disconnected', { connection: 'c1' });
    s.pass(29_500, { c2: [] });
    expect(s.assigned()).toHaveLength(1);
    s.pass(1000, { c2: [] });
    expect(s.assigned()).toHaveLength(2);
  });

  it('D3: a suspect node gets nothing new', () => {
    const s = running();
    s.come(2, 4);
    s.pass(4000, { c1: [s.beat(0, 0)] });
    s.send('submit', { job: job(1, { id: J(1) }) });
    expect(s.view(J(1)).state).toBe('waiting');
    s.send('heartbeat', { connection: 'c2', tasks: [] });
    expect(s.view(J(1)).state).toBe('running');
  });

  it(
    'heartbeats that were sent before an assignment arrived cost it nothing; one that never names it is lost ' +
      'after 10 s',
    () => {
      const s = new Stage();
      s.come(1);
      s.send('submit', { job: job(1) });
      for (let i = 0; i < 8; i++) s.send('heartbeat', { connection: 'c1', tasks: [] });
      expect(s.view().faults).toEqual([]);
      s.pass(10_000, { c1: [] });
      expect(s.view().faults).toMatchObject([{ task: 0, incarnation: 0, cause: 'crashed' }]);
      // The assignment may arrive later still.
      expect(s.of('revoke')).toMatchObject([{ node: N(1), task: T(0), incarnation: I(0) }]);
    },
  );

  it('F2: a pause of the server is not held against the nodes', () => {
    const s = running();
    s.come(2);
    s.now += 3_600_000;
    s.send('tick', {});
    s.send('heartbeat', { connection: 'c1', tasks: [s.beat(0, 0)] });
    s.send('tick', {});
    expect(s.view().faults).toEqual([]);
  });

  it('no spare slot: stalled is shown, and the old node may still come back and go on', () => {
    const s = running();
    s.send('disconnected', { connection: 'c1' });
    s.pass(60_000);
    expect(s.view()).toMatchObject({ state: 'stalled', reason: 'rank 0 waits for a slot; no node is connected' });
    s.come(1, 1, { connection: 'c1b', claimed: N(1), holds: [held(0, 0)] });
    expect(s.of('welcome').at(-1)!.drop).toEqual([]);
    expect(s.view()).toMatchObject({ state: 'running', faults: [{ cause: 'disconnected' }] });
    expect(s.assigned()).toEqual(['0.0@1']);
    expect(s.view().faults[0]!.recoveredAfterMs).toBeGreaterThan(50_000);
  });

  it('an assigned rank that its node does not name any more has crashed; one that never starts, too', () => {
    const s = running({ trustNewcomers: true, startAfterMs: 120_000 });
    s.come(2);
    s.pass(1000, { c1: [], c2: [] });
    expect(s.view().faults[0]!.cause).toBe('crashed');
    expect(s.assigned().at(-1)).toBe('0.1@2');
    const never = { ...s.beat(0, 1), started: false };
    s.pass(121_000, { c1: [], c2: [never] });
    expect(s.assigned().at(-1)).toBe('0.2@1');
  });
});

describe('zombies and clones', () => {
  it(
    '"If the faulty node reconnect the system, two instances of the same MPI process (two clones) could run at ' +
      'the same time" (§3.1): the older is told to drop (D5)',
    () => {
      const s = running();
      s.come(2);
      s.send('disconnected', { connection: 'c1' });
      s.pass(3500, { c2: [] });
      s.come(1, 1, { connection: 'c1b', claimed: N(1), holds: [held(0, 0)] });
      expect(s.of('welcome').at(-1)!.drop).toEqual([held(0, 0)]);
      s.send('heartbeat', { connection: 'c1b', tasks: [s.beat(0, 0)] });
      expect(s.of('revoke').at(-1)).toMatchObject({ node: N(1), incarnation: 0, error: { code: 'FENCED' } });
      s.send('report', { connection: 'c1b', job: J(), task: T(0), incarnation: I(0), event: 'crashed' });
      expect(s.view().faults).toHaveLength(1);
      expect(s.assigned()).toEqual(['0.0@1', '0.1@2']);
    },
  );

  it('a node that claims what another holds gets nothing (D5)', () => {
    const s = running();
    s.come(2, 1, { holds: [held(0, 0)] });
    expect(s.of('welcome').at(-1)!.drop).toEqual([held(0, 0)]);
    s.send('report', { connection: 'c2', job: J(), task: T(0), incarnation: I(0), event: 'crashed' });
    expect(s.view().faults).toEqual([]);
  });

  it(
    '"When a node receives an error code for a connection tentative, it kills the current job and re-contacts ' +
      'the dispatcher" (§3.1): a refused clone is restarted with a higher incarnation',
    () => {
      const s = running();
      s.come(2);
      s.send('report', {
        connection: 'c1',
        job: J(),
        task: T(0),
        incarnation: I(0),
        event: 'refused',
        error: { code: 'CLONE', message: '' },
      });
      expect(s.assigned()).toEqual(['0.0@1', '0.1@2']);
      expect(s.view().faults[0]!.cause).toBe('clone');
    },
  );

  it('a second tab with the same node id becomes a node of its own', () => {
    const s = running();
    s.come(9, 1, { claimed: N(1), session: 'another' });
    expect(s.of('welcome').at(-1)).toMatchObject({ node: N(9), isNew: true });
    expect(nodeViews(s.dispatcher).map((n) => n.id)).toEqual([N(1), N(9)]);
    expect(s.view().faults).toEqual([]);
  });

  it('the same session on a new socket replaces the old one', () => {
    const s = running();
    s.come(1, 1, { connection: 'c1b', claimed: N(1), holds: [held(0, 0)] });
    expect(s.of('close')).toEqual([{ type: 'close', connection: 'c1' }]);
    s.send('disconnected', { connection: 'c1' });
    s.send('goodbye', { connection: 'c1', reason: 'late' });
    expect(s.view()).toMatchObject({ state: 'running', faults: [] });
  });

  it('a reload loses the ranks at once, and may get them back as new incarnations', () => {
    const s = running();
    s.send('disconnected', { connection: 'c1' });
    s.come(1, 1, { connection: 'c1b', claimed: N(1), session: 'new page' });
    expect(s.view().faults[0]!.cause).toBe('reloaded');
    expect(s.assigned()).toEqual(['0.0@1', '0.1@1']);
  });

  it('a reload with goodbye comes back before its old socket has closed', () => {
    const s = running();
    s.send('goodbye', { connection: 'c1', reason: 'pagehide' });
    s.come(1, 1, { connection: 'c1b', claimed: N(1), session: 'new page' });
    s.send('disconnected', { connection: 'c1' });
    expect(s.of('welcome').at(-1)!.node).toBe(N(1));
    expect(s.assigned()).toEqual(['0.0@1', '0.1@1']);
  });
});

describe('a task that keeps crashing', () => {
  const crash = (s: Stage, inc: number): void => {
    s.send('report', {
      connection: 'c1',
      job: J(),
      task: T(0),
      incarnation: I(inc),
      event: 'crashed',
      error: { code: 'INTERNAL', message: 'out of memory' },
    });
  };

  it('ends its job after three crashes in a row without progress', () => {
    const s = running({ trustNewcomers: true });
    crash(s, 0);
    crash(s, 1);
    expect(s.view().state).toBe('running');
    crash(s, 2);
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'KEEPS_CRASHING' } });
    expect(s.view().error!.message).toContain('INTERNAL: out of memory');
    expect(s.view().tasks[0]!.state).toBe('failed');
  });

  it('messages, arrivals or images beyond the earlier incarnations are progress', () => {
    const s = running({ trustNewcomers: true });
    for (let i = 0; i < 12; i++) {
      if (i % 3 === 0) s.logged.set(T(0), { sends: i + 1, consumed: 0 });
      if (i % 3 === 1) s.logged.set(T(0), { sends: i, consumed: i });
      if (i % 3 === 2) s.send('image', { job: J(), task: T(0), image: `${J()}-0-0-${i}` as never, serial: i });
      crash(s, i);
    }
    expect(s.view().state).toBe('running');
  });

  it('tabs that a person closes are no crashes, nor are those under a rank that only waited', () => {
    const s = running({ trustNewcomers: true });
    for (let i = 0; i < 20; i++) {
      s.send('heartbeat', { connection: 'c1', tasks: [s.beat(0, i, { state: 'waiting' })] });
      if (i % 2) s.send('goodbye', { connection: 'c1', reason: 'closed' });
      else s.send('disconnected', { connection: 'c1' });
      s.come(1, 1, { claimed: N(1), session: `page ${i}` });
    }
    expect(s.view().state).toBe('running');
  });
});

describe('restart of the server', () => {
  it('nodes that come back in time keep their ranks; the others are restarted after the grace', () => {
    const s = new Stage();
    s.come(1);
    s.come(2);
    s.send('submit', { job: job(2) });
    s.crash();
    expect(s.view().tasks.map((t) => t.state)).toEqual(['suspect', 'suspect']);
    expect(s.view().reason).toBe('after a restart of the server: waiting for the nodes of ranks 0, 1');
    s.come(1, 1, { connection: 'd1', claimed: N(1), holds: [held(0, 0)] });
    s.come(3);
    s.pass(9500, { d1: [s.beat(0, 0)], c3: [] });
    expect(s.assigned()).toEqual(['0.0@1', '1.0@2']);
    s.pass(1000, { d1: [s.beat(0, 0)], c3: [] });
    expect(s.assigned()).toEqual(['0.0@1', '1.0@2', '1.1@3']);
    expect(s.view().faults).toMatchObject([{ task: 1, cause: 'restart', node: N(2) }]);
  });

  it('a node that comes back without its rank has lost it at once', () => {
    const s = running();
    s.crash();
    s.come(1, 1, { connection: 'd1', claimed: N(1), session: 'reloaded' });
    expect(s.assigned()).toEqual(['0.0@1', '0.1@1']);
  });

  it('a hold of an incarnation that was never made durable for this node is dropped', () => {
    const s = running();
    s.crash();
    s.come(2, 1, { holds: [held(0, 0)] });
    expect(s.of('welcome').at(-1)!.drop).toEqual([held(0, 0)]);
    s.come(1, 1, { connection: 'd1', claimed: N(1), holds: [held(0, 1)] });
    expect(s.of('welcome').at(-1)!.drop).toEqual([held(0, 1)]);
  });

  it('keeps the queue, what is done, the faults, and the end of jobs', () => {
    const s = new Stage();
    s.come(1, 2);
    s.send('submit', { job: job(2) });
    s.send('submit', { job: job(1, { id: J(1) }) });
    s.send('submit', { job: job(1, { id: J(2) }) });
    s.send('cancel', { job: J(2) });
    s.send('kill', { job: J(), task: T(1) });
    s.exit(0);
    s.crash();
    expect(s.view().tasks[0]).toMatchObject({ state: 'done', exitCode: 0 });
    expect(s.view().faults).toHaveLength(1);
    expect(s.view(J(1)).state).toBe('running');
    expect(s.view(J(2)).state).toBe('cancelled');
    expect(s.of('taskDone').length).toBeGreaterThanOrEqual(2);
    s.exit(1);
    expect(s.view().state).toBe('done');
  });

  it('`none` does not survive it, and says so', () => {
    const s = running({}, { protocol: 'none' });
    s.crash();
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'SERVER_RESTARTED' } });
  });

  it('an end that was being made durable when the server died is made again', () => {
    const s = running();
    s.hold.add('persist');
    s.exit(0);
    s.crash();
    s.hold.clear();
    expect(s.view().state).toBe('running');
    s.exit(0); // the CM finds it in its log
    expect(s.view().state).toBe('done');
  });
});
