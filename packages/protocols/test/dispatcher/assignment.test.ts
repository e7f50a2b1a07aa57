import { describe, expect, it } from 'vitest';
import { runTime } from '@mayfly/wire';
import { nodeViews } from '../../src/index.ts';
import { I, image, J, job, N, Stage, T } from './stage.ts';

describe('the queue', () => {
  it('D4: waits until all ranks have a slot, and says how many are missing', () => {
    const s = new Stage();
    s.come(1, 3);
    s.send('submit', { job: job(4) });
    expect(s.view()).toMatchObject({ state: 'waiting', reason: 'needs 4 slots; 3 available' });
    expect(s.assigned()).toEqual([]);
    s.come(2, 1);
    expect(s.view().state).toBe('running');
    expect(s.view().reason).toBeUndefined();
    // "During the initialization, the dispatcher launches a set of tasks on participating nodes, each task
    // instantiating a MPI process." (§3.1)
    expect(s.assigned().sort()).toEqual(['0.0@1', '1.0@2', '2.0@1', '3.0@1']);
  });

  it('D4: is first come, first served, also when a later job would fit', () => {
    const s = new Stage();
    s.come(1, 1);
    s.send('submit', { job: job(2, { id: J(1) }) });
    s.send('submit', { job: job(1, { id: J(2) }) });
    expect(s.view(J(1)).reason).toBe('needs 2 slots; 1 available');
    expect(s.view(J(2)).reason).toBe('waits behind 1 job; needs 1 slot; 1 of 1 is free');
    s.send('cancel', { job: J(1) });
    expect(s.view(J(1))).toMatchObject({ state: 'cancelled', error: { code: 'CANCELLED' } });
    expect(s.view(J(2)).state).toBe('running');
  });

  it('D4: a lost rank comes before the queue', () => {
    const s = new Stage();
    s.come(1);
    s.come(2);
    s.send('submit', { job: job(2) });
    s.send('submit', { job: job(1, { id: J(1) }) });
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    expect(s.view()).toMatchObject({ state: 'stalled', reason: 'rank 0 waits for a slot' });
    s.come(3);
    expect(s.assigned()).toEqual(['0.0@1', '1.0@2', '0.1@3']);
    expect(s.view(J(1)).state).toBe('waiting');
  });
});

describe('what a rank does', () => {
  it('has a beginning: the first heartbeat that said the same', () => {
    const s = new Stage();
    s.come(1);
    s.send('submit', { job: job(1) });
    const waits = { state: 'waiting', call: 'MPI_Recv', peer: T(0), tag: 7 };
    const say = (a: object) => s.send('heartbeat', { connection: 'c1', tasks: [s.beat(0, 0, a)] });
    say(waits);
    const first = s.now;
    s.now += 5000;
    say(waits);
    expect(s.view().tasks[0]!.activitySince).toBe(first);
    say({ ...waits, arrivals: 1 });
    expect(s.view().tasks[0]!.activitySince).toBe(s.now);
  });
});

describe('an image on demand', () => {
  it(
    'is asked for when the rank runs, also when it was wanted before, and again of its next incarnation until ' +
      'one is complete',
    () => {
      const s = new Stage();
      const asked = (): string[] => s.of('checkpoint').map((c) => `${c.task}@${Number(c.node.slice(4))}`);
      s.send('submit', { job: job(2) });
      s.send('checkpoint', { job: J(), task: T(0) });
      s.come(1);
      s.come(2);
      expect(asked()).toEqual([]);
      s.send('heartbeat', { connection: 'c1', tasks: [s.beat(0, 0)] });
      s.send('heartbeat', { connection: 'c2', tasks: [s.beat(1, 0)] });
      expect(asked()).toEqual(['0@1']);
      // Lost before the image was complete: the next incarnation owes it.
      s.come(3);
      s.send('goodbye', { connection: 'c1', reason: 'closed' });
      s.send('heartbeat', { connection: 'c3', tasks: [s.beat(0, 1)] });
      expect(asked()).toEqual(['0@1', '0@3']);
      s.send('image', image(0, 1));
      s.come(4);
      s.send('goodbye', { connection: 'c3', reason: 'closed' });
      s.send('heartbeat', { connection: 'c4', tasks: [s.beat(0, 2)] });
      expect(s.assigned().at(-1)).toBe('0.2@4');
      expect(asked()).toEqual(['0@1', '0@3']);
      // One image is there; another is wanted. A rank that has ended owes none.
      s.send('checkpoint', { job: J(), task: T(0) });
      expect(asked()).toEqual(['0@1', '0@3', '0@4']);
      s.exit(1);
      s.send('checkpoint', { job: J(), task: T(1) });
      expect(asked()).toHaveLength(3);
    },
  );
});

describe('rooms', () => {
  it('D4: nodes of a room serve its jobs and no others, and each room has a queue of its own', () => {
    const s = new Stage();
    s.send('submit', { job: job(2, { id: J(1), room: 'BLUE' }) });
    s.send('submit', { job: job(1, { id: J(2) }) });
    s.come(1, 2);
    // The first job waits for its room, and holds up nobody else's.
    expect(s.view(J(1))).toMatchObject({
      state: 'waiting',
      room: 'BLUE',
      reason: 'needs 2 slots; none available in room BLUE',
    });
    expect(s.view(J(2)).state).toBe('running');
    s.come(2, 1, { room: 'BLUE' });
    expect(s.view(J(1)).reason).toBe('needs 2 slots; 1 available in room BLUE');
    s.come(3, 1, { room: 'BLUE' });
    expect(s.view(J(1)).state).toBe('running');
    expect(s.assigned().sort()).toEqual(['0.0@1', '0.0@2', '1.0@3']);
    // A lost rank stays in its room, although the other one has a slot.
    s.send('goodbye', { connection: 'c3', reason: 'closed' });
    expect(s.view(J(1))).toMatchObject({ state: 'stalled', reason: 'rank 1 waits for a slot' });
    expect(nodeViews(s.dispatcher).map((n) => [n.room, n.faults])).toEqual([
      [undefined, 0],
      ['BLUE', 0],
      ['BLUE', 1],
    ]);
    s.come(4, 1, { room: 'BLUE' });
    expect(s.assigned().at(-1)).toBe('1.1@4');
  });
});

describe('placement', () => {
  it('spreads the ranks of a job over the nodes', () => {
    const s = new Stage();
    for (const n of [1, 2, 3]) s.come(n, 4);
    s.send('submit', { job: job(6) });
    const perNode = [1, 2, 3].map((n) => s.assigned().filter((a) => a.endsWith(`@${n}`)).length);
    expect(perNode).toEqual([2, 2, 2]);
  });

  it('prefers the node that has the newest image on its own disk', () => {
    const s = new Stage();
    s.come(1);
    s.send('submit', { job: job(1) });
    const i = image(0, 3);
    s.images.set(`${J()}/0`, i);
    s.send('image', i);
    s.come(2, 8);
    s.come(3, 1, { images: [i] });
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    expect(s.assigned()).toEqual(['0.0@1', '0.1@3']);
    expect(s.of('assign').at(-1)!.image).toBe(i.image);
  });

  it('does not give a task back to the node where its worker just died, if there is another', () => {
    const s = new Stage({ trustNewcomers: true });
    s.come(1, 4);
    s.send('submit', { job: job(1) });
    s.come(2, 1);
    s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(0), event: 'crashed' });
    expect(s.assigned()).toEqual(['0.0@1', '0.1@2']);
    s.send('report', { connection: 'c2', job: J(), task: T(0), incarnation: I(1), event: 'crashed' });
    expect(s.assigned().at(-1)).toBe('0.2@1');
  });

  it('D3: gives nothing to a node without free slots, also when it has fewer by now', () => {
    const s = new Stage();
    s.come(1, 2);
    s.hold.add('fenceCm');
    s.send('submit', { job: job(2) });
    s.send('slots', { connection: 'c1', slots: 1 });
    s.release();
    expect(s.assigned()).toHaveLength(1);
    expect(s.view().reason).toMatch(/^rank \d waits for a slot$/);
    s.send('slots', { connection: 'c1', slots: 2 });
    expect(s.assigned()).toHaveLength(2);
    expect(nodeViews(s.dispatcher)).toMatchObject([{ id: N(1), slots: 2, busy: 2, state: 'here' }]);
  });
});

describe('results', () => {
  it('D6: a task is done once its exit is durable, and a job when all of its tasks are', () => {
    const s = new Stage();
    s.come(1, 2);
    s.send('submit', { job: job(2) });
    s.hold.add('persist');
    s.exit(0);
    expect(s.of('taskDone')).toEqual([]);
    s.release();
    expect(s.of('taskDone')).toHaveLength(1);
    expect(nodeViews(s.dispatcher)[0]!.busy).toBe(1);
    s.exit(1, { code: 3 });
    expect(s.view()).toMatchObject({ state: 'done', exitCode: 3 });
    expect(s.of('jobEnded')).toMatchObject([{ state: 'done' }]);
    expect(s.of('revoke')).toEqual([]);
  });

  it('an exit that was logged counts, even when its node is gone by then', () => {
    const s = new Stage();
    s.come(1);
    s.send('submit', { job: job(1) });
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    s.exit(0);
    expect(s.view()).toMatchObject({ state: 'done', exitCode: 0 });
  });

  it('D8: an abort is a result, not a fault: the job fails with it and all others are revoked', () => {
    const s = new Stage();
    s.come(1, 3);
    s.send('submit', { job: job(3) });
    s.exit(1, { code: 7, abort: { code: 'ABORTED', message: 'MPI_Abort(7)' } });
    expect(s.view()).toMatchObject({
      state: 'failed',
      exitCode: 7,
      faults: [],
      error: { code: 'ABORTED', message: 'rank 1: MPI_Abort(7)' },
    });
    expect(
      s
        .of('revoke')
        .map((r) => r.task)
        .sort(),
    ).toEqual([0, 2]);
    expect(nodeViews(s.dispatcher)[0]!.busy).toBe(0);
  });

  it('what a task may say about its end is limited to results', () => {
    const s = new Stage();
    s.come(1);
    s.send('submit', { job: job(1) });
    s.exit(0, { code: 0, abort: { code: 'INTERNAL', message: 'I am the server' } });
    expect(s.view()).toMatchObject({ exitCode: 1, error: { code: 'PROGRAM_ERROR' } });
  });

  it('time and output have limits', () => {
    const s = new Stage();
    s.come(1, 2);
    s.send('submit', { job: job(1, { timeLimitMs: 5000 }) });
    s.send('submit', { job: job(1, { id: J(1), outputLimitBytes: 100 }) });
    s.send('output', { job: J(1), bytes: 101 });
    expect(s.view(J(1)).error?.code).toBe('OUTPUT_LIMIT');
    s.pass(5500, { c1: [s.beat(0, 0)] });
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'TIME_LIMIT' } });
  });

  it(
    'what a server was away for is no job’s running time; a directory that does not say since when takes the ' +
      'last that is known',
    () => {
      const DAY = 86_400_000;
      const s = new Stage();
      s.come(1, 2);
      s.send('submit', { job: job(1, { timeLimitMs: 60_000 }) });
      s.pass(25_000, { c1: [s.beat(0, 0)] });
      s.crash(DAY);
      const away = s.view().awayMs!;
      expect([away >= DAY, away <= DAY + 10_000]).toEqual([true, true]); // 'alive' is as old as that
      s.registry.delete('alive');
      s.crash(DAY);
      expect([s.view().state, runTime(s.view(), s.now)]).toEqual(['running', 0]);
      s.come(1, 2);
      s.pass(70_000, { c1: [s.beat(0, s.view().tasks[0]!.incarnation)] });
      expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'TIME_LIMIT' } });
    },
  );

  it('D6: a job that is cancelled before its start is durable opens no logs', () => {
    const s = new Stage();
    s.come(1);
    s.hold.add('persist');
    s.send('submit', { job: job(1) });
    s.send('cancel', { job: J() });
    s.release();
    expect(s.view().state).toBe('cancelled');
    expect(s.of('openJob')).toEqual([]);
    expect(s.of('fenceCs')).toEqual([]);
  });

  it('the end of a job leaves what its ranks came to: those that had ended are done, the others are nowhere', () => {
    const s = new Stage();
    s.come(1, 2);
    s.send('submit', { job: job(2) });
    s.send('heartbeat', { connection: 'c1', tasks: [s.beat(0, 0), s.beat(1, 0)] });
    s.exit(0);
    s.send('cancel', { job: J() });
    expect(s.view().tasks.map((t) => t.state)).toEqual(['done', 'unassigned']);
  });

  it('a node that does not come back after a restart of the server is forgotten in its time', () => {
    const s = new Stage({ forgetMs: 20_000, restartGraceMs: 5000 });
    s.come(1);
    s.send('submit', { job: job(1) });
    s.pass(500, { c1: [s.beat(0, 0)] });
    s.crash();
    expect(nodeViews(s.dispatcher).map((n) => n.id)).toEqual([N(1)]);
    s.pass(19_000);
    expect(nodeViews(s.dispatcher)).toHaveLength(1);
    s.pass(2000);
    expect(nodeViews(s.dispatcher)).toEqual([]);
  });

  it('forgets an ended job, never a running one', () => {
    const s = new Stage();
    s.come(1);
    s.send('submit', { job: job(1) });
    s.send('forget', { job: J() });
    expect(s.view()).toBeDefined();
    s.exit(0);
    s.send('forget', { job: J() });
    expect([...s.registry.keys()].filter((k) => !k.startsWith('reputation/'))).toEqual([]);
  });
});
