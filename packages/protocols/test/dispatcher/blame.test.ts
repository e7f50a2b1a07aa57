/**
 * Whom a failure is held against (failures.ts), at the borders: what is taken back exactly, and how much is remembered.
 */
import { describe, expect, it } from 'vitest';
import { nodeViews } from '../../src/index.ts';
import { I, J, job, N, NOTHING, Stage, T } from './stage.ts';

/** Node n comes, and does useful work first: a rank of a job in a room of its own ends there. */
function veteran(s: Stage, n: number, slots = 1): void {
  s.come(n, slots, { room: `R${n}` });
  s.send('submit', { job: job(1, { id: J(100 + n), room: `R${n}` }) });
  s.exit(0, { code: 0 }, J(100 + n));
  s.come(n, slots, { claimed: N(n) });
}
const crash = (s: Stage, id = J()): void => {
  const t = s.dispatcher.core.find(id, T(0))!;
  const error = { code: 'INTERNAL', message: 'gone' } as const;
  s.send('report', {
    connection: `c${Number(t.node!.slice(4))}`,
    job: id,
    task: T(0),
    incarnation: t.incarnation!,
    event: 'crashed',
    error,
  });
};

describe('blame', () => {
  it(
    'B5: what counted against a rank that only waited counts no more, each time that another job takes its ' +
      'node down',
    () => {
      const s = new Stage();
      veteran(s, 1, 2);
      s.send('submit', { job: job(1) });
      s.send('submit', { job: job(1, { id: J(2) }) });
      for (let i = 0; i < 3; i++) {
        const tasks = [J(), J(2)].map((id) => s.dispatcher.core.find(id, T(0))!);
        expect(tasks.map((t) => t.node)).toEqual([N(1), N(1)]);
        // Later than what counts as one with the crashes before.
        s.pass(11_000, {
          c1: tasks.map((t, k) =>
            s.beat(0, t.incarnation!, { state: k === 0 ? 'waiting' : 'computing' }, t.job.record.spec.id),
          ),
        });
        crash(s);
        crash(s, J(2));
      }
      expect(s.view(J(2)).state).toBe('failed');
      expect(s.view().state).toBe('running');
    },
  );

  it('B5: what was taken back for good is not held against the node again when the rank gets further', () => {
    const s = new Stage({ quarantineMs: 250, quarantineMaxMs: 250 });
    s.come(1, 2);
    s.send('submit', { job: job(1) });
    s.send('submit', { job: job(1, { id: J(2) }) });
    const beats = [J(), J(2)].map((id, k) => s.beat(0, 0, { state: k === 0 ? 'waiting' : 'computing' }, id));
    s.send('heartbeat', { connection: 'c1', tasks: beats });
    crash(s);
    crash(s, J(2));
    s.send('cancel', { job: J(2) });
    veteran(s, 2);
    veteran(s, 3);
    crash(s); // excuses the first one
    s.pass(1000, { c1: [], c3: [s.beat(0, 2)] });
    const quarantined = (): boolean =>
      nodeViews(s.dispatcher).find((n) => n.id === N(1))!.quarantinedUntil !== undefined;
    expect([s.record(0).node, quarantined()]).toEqual([N(3), false]);
    s.send('progress', { job: J(), tasks: [{ task: T(0), sends: 1, arrivals: 0, consumed: 0, underWay: false }] });
    expect(s.view().faults.map((f) => f.excused ?? false)).toEqual([false, false]);
    expect(quarantined()).toBe(false);
  });

  it('arrivals that the heartbeats of the lost incarnation counted are progress, as far as the logs have them', () => {
    const outcome = (arrivals: (n: number) => number): string => {
      const s = new Stage();
      for (let n = 1; n <= 4; n++) veteran(s, n);
      s.send('submit', { job: job(1) });
      for (let n = 1; n <= 4 && s.view().state === 'running'; n++) {
        const t = s.dispatcher.core.find(J(), T(0))!;
        s.logs.set(T(0), { ...NOTHING, arrivals: arrivals(n) });
        s.send('heartbeat', {
          connection: `c${Number(t.node!.slice(4))}`,
          tasks: [s.beat(0, t.incarnation!, { arrivals: 1000 * n })],
        });
        crash(s);
      }
      return s.view().state;
    };
    expect(outcome((n) => n)).toBe('running');
    expect(outcome(() => 1)).toBe('failed');
  });

  it('B1: the second node with a record that fails alike clears the first, and itself', () => {
    const s = new Stage();
    for (let n = 1; n <= 4; n++) veteran(s, n);
    s.send('submit', { job: job(1) });
    crash(s);
    expect(s.view().faults.map((f) => f.excused ?? false)).toEqual([false]);
    crash(s);
    expect(s.view().faults.map((f) => f.excused ?? false)).toEqual([true, true]);
    expect(s.view().state).toBe('running');
  });

  it('B1: a node that fails alike again clears nobody', () => {
    const s = new Stage();
    veteran(s, 1);
    s.send('submit', { job: job(1) });
    crash(s);
    crash(s);
    expect(s.view().faults.map((f) => f.excused ?? false)).toEqual([false, false]);
  });

  it('B2: a node with a record that only went away keeps its record when the rank gets further elsewhere', () => {
    const s = new Stage();
    veteran(s, 1);
    s.send('submit', { job: job(1) });
    s.pass(500, { c1: [s.beat(0, 0)] });
    s.send('disconnected', { connection: 'c1' });
    veteran(s, 2);
    s.pass(4000, { c2: [] });
    const t = s.dispatcher.core.find(J(), T(0))!;
    expect([t.node, t.incarnation]).toEqual([N(2), 1]);
    s.pass(250, { c2: [s.beat(0, 1)] });
    s.send('progress', { job: J(), tasks: [{ task: T(0), sends: 1, arrivals: 0, consumed: 0, underWay: false }] });
    s.come(1, 1, { claimed: N(1), session: 'later' });
    expect(nodeViews(s.dispatcher).map((n) => n.record)).toEqual([true, true]);
  });

  it('R2: the end of a quarantine is seen at once, and a clock that is set back makes none longer than the longest', () => {
    const s = new Stage({ quarantineMs: 2000, quarantineMaxMs: 3000 });
    const until = (): number | undefined => nodeViews(s.dispatcher)[0]!.quarantinedUntil;
    s.come(1);
    s.send('submit', { job: job(1) });
    crash(s);
    expect(until()).toBe(s.now + 2000);
    s.now -= 86_400_000;
    s.send('tick', {});
    expect(until()).toBe(s.now + 3000);
    s.now += 2999;
    expect(s.send('tick', {}).map((e) => e.type)).not.toContain('nodesChanged');
    s.send('heartbeat', { connection: 'c1', tasks: [] });
    s.now += 1;
    expect(s.send('tick', {}).map((e) => e.type)).toEqual(
      expect.arrayContaining(['persist', 'assign', 'nodesChanged']),
    );
    expect(until()).toBeUndefined();
  });

  it('a quarantine that ends with nothing to do is seen as well', () => {
    const s = new Stage({ quarantineMs: 1000 });
    s.come(1);
    s.send('submit', { job: job(1) });
    crash(s);
    s.send('cancel', { job: J() });
    s.now += 1000;
    expect(s.send('tick', {})).toEqual([{ type: 'nodesChanged' }]);
  });

  it('losses that the list of faults has no room for are counted, for the job and its node, after a restart too', () => {
    const s = new Stage({ maxFaults: 2, quarantineMs: 1, quarantineMaxMs: 1, stuckAfterMs: 1e9 });
    s.come(1);
    s.send('submit', { job: job(1) });
    for (let i = 1; i <= 5; i++) {
      crash(s);
      s.pass(250, { c1: [] });
      s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(i), event: 'started' });
      s.send('progress', { job: J(), tasks: [{ task: T(0), sends: i, arrivals: 0, consumed: 0, underWay: false }] });
      s.logged.set(T(0), { sends: i, consumed: 0 });
    }
    expect([s.view().faults.length, s.view().moreFaults]).toEqual([2, 3]);
    expect(nodeViews(s.dispatcher)[0]!.faults).toBe(5);
    s.crash();
    expect([s.view().faults.length, s.view().moreFaults]).toEqual([2, 3]);
  });

  it('where no more faults are kept, nodes are blamed all the same', () => {
    const s = new Stage({ maxFaults: 0 });
    s.come(1);
    s.send('submit', { job: job(1) });
    s.pass(250, { c1: [s.beat(0, 0, { state: 'waiting', call: 'MPI_Recv' })] });
    s.come(2);
    s.send('deadlock', { job: J(), report: 'they wait' });
    s.pass(250, { c1: [], c2: [s.beat(0, 1)] });
    s.send('progress', { job: J(), tasks: [{ task: T(0), sends: 1, arrivals: 0, consumed: 0, underWay: false }] });
    expect(nodeViews(s.dispatcher).map((n) => n.quarantinedUntil !== undefined)).toEqual([true, false]);
    expect(s.view().faults).toEqual([]);
  });

  it(
    'a hundred refuted failures of a rank are remembered, should its program turn out to crash everywhere ' +
      'after all',
    () => {
      const s = new Stage({ quarantineMs: 1, quarantineMaxMs: 1, stuckAfterMs: 1e9 });
      s.come(1);
      s.send('submit', { job: job(1) });
      for (let i = 1; i <= 102; i++) {
        crash(s);
        s.pass(250, { c1: [] });
        s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(i), event: 'started' });
        s.send('progress', { job: J(), tasks: [{ task: T(0), sends: i, arrivals: 0, consumed: 0, underWay: false }] });
        s.logged.set(T(0), { sends: i, consumed: 0 });
      }
      veteran(s, 2);
      veteran(s, 3);
      veteran(s, 4);
      for (let i = 0; i < 4; i++) crash(s);
      expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'KEEPS_CRASHING' } });
      const { faults } = s.view();
      expect(faults.map((f) => f.excused ?? false).lastIndexOf(false)).toBe(1);
      expect(faults).toHaveLength(106);
    },
  );
});
