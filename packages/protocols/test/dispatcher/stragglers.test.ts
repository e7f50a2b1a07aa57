/** Ranks of which nothing comes (stragglers.ts, comparison.ts). */
import { describe, expect, it } from 'vitest';
import type { DispatcherSettings } from '../../src/index.ts';
import { J, N, Stage, T } from './stage.ts';
import { veteran, crash, at, quarantined, pass, submit } from './strangers.ts';

describe('stragglers (S1–S4)', () => {
  const settings: Partial<DispatcherSettings> = { stuckAfterMs: 60_000, stuckFactor: 10 };
  const begin = (s: Stage, task = 0): void => {
    const t = s.dispatcher.core.find(J(), T(task))!;
    s.send('report', {
      connection: `c${Number(t.node!.slice(4))}`,
      job: J(),
      task: T(task),
      incarnation: t.incarnation!,
      event: 'started',
    });
  };
  const logs = (s: Stage, sends: number, arrivals = 0, consumed = 0): void => {
    s.logged.set(T(0), { sends, consumed });
    s.send('progress', { job: J(), tasks: [{ task: T(0), sends, arrivals, consumed, underWay: false }] });
  };

  it('a rank of which nothing is seen is started elsewhere, whatever its node says of it', () => {
    const s = new Stage(settings);
    s.come(1);
    submit(s);
    begin(s);
    s.come(2);
    for (let i = 0; i < 59; i++) {
      pass(s, 1000, { sends: i, arrivals: i, call: `MPI_Send ${i}` });
      logs(s, 0);
    }
    expect(at(s)).toBe(1);
    pass(s, 2000, { sends: 99 });
    expect(at(s)).toBe(2);
    expect(s.of('revoke').at(-1)).toMatchObject({ node: N(1), task: 0, incarnation: 0 });
    expect(s.view().faults).toMatchObject([{ cause: 'compared', node: N(1) }]);
    expect(quarantined(s)).toEqual([]);
    begin(s);
    pass(s, 5000);
    logs(s, 1);
    expect(quarantined(s)).toEqual([1]);
    expect(s.view().faults[0]!.quarantineMs).toBe(5000);
  });

  it('… and against its node, also when nodes in between crash or come to nothing themselves', () => {
    const s = new Stage(settings);
    s.come(1);
    submit(s);
    begin(s);
    s.come(2);
    pass(s, 62_000);
    expect(at(s)).toBe(2);
    s.come(3);
    crash(s);
    expect(at(s)).toBe(3);
    begin(s);
    s.come(4);
    pass(s, 62_000);
    expect(at(s)).toBe(4);
    begin(s);
    pass(s, 5000);
    logs(s, 1);
    expect(quarantined(s)).toEqual([1, 3]);
  });

  it(
    '… but not against nodes when the next ones need as long; after a few of them the rank is given twice the ' +
      'time',
    () => {
      const s = new Stage(settings);
      for (let n = 1; n <= 5; n++) s.come(n);
      submit(s);
      for (let n = 1; n <= 4; n++) {
        expect(at(s)).toBe(n);
        begin(s);
        pass(s, 61_000);
      }
      expect(at(s)).toBe(5);
      begin(s);
      pass(s, 110_000);
      expect(at(s)).toBe(5);
      logs(s, 1);
      expect(quarantined(s)).toEqual([]);
      // It has been shown that this job computes for so long.
      pass(s, 600_000);
      expect(at(s)).toBe(5);
    },
  );

  it('ten times the longest pause of any rank: of nodes with a record, not as a stranger likes it', () => {
    for (const honest of [true, false]) {
      const s = new Stage({ ...settings, stuckFactor: 10 });
      if (honest) veteran(s, 1);
      else s.come(1);
      submit(s);
      begin(s);
      s.come(2);
      pass(s, 30_000);
      logs(s, 1);
      pass(s, 100_000);
      expect(s.view().faults).toHaveLength(honest ? 0 : 2);
      pass(s, 210_000);
      expect(s.view().faults[0]).toMatchObject({ node: N(1), cause: 'compared' });
    }
  });

  it('a job sets both', () => {
    const s = new Stage();
    s.come(1);
    submit(s, 1, { stuckAfterMs: 5000, stuckFactor: 2 });
    begin(s);
    s.come(2);
    pass(s, 4000);
    expect(at(s)).toBe(1);
    pass(s, 2000);
    expect(at(s)).toBe(2);
  });

  it('a rank that waits for what is not there is no straggler; one that leaves arrivals lie is', () => {
    const waiting = (arrivals: number): Stage => {
      const s = new Stage(settings);
      s.come(1);
      submit(s);
      begin(s);
      s.come(2);
      for (let i = 0; i < 200; i++) {
        pass(s, 1000, { state: 'waiting', call: 'MPI_Recv', arrivals: 3 });
        logs(s, 0, arrivals);
      }
      return s;
    };
    expect(at(waiting(3))).toBe(1);
    expect(waiting(4).view().faults[0]).toMatchObject({ cause: 'compared' });
  });

  it('a node that counts arrivals for a rank that does nothing else is believed for a while only', () => {
    const s = new Stage(settings);
    s.come(1);
    submit(s);
    begin(s);
    s.come(2);
    for (let i = 0; i < 62; i++) {
      pass(s, 10_000, { arrivals: i });
      logs(s, 0, 1000);
      if (i === 30) expect(at(s)).toBe(1);
    }
    expect(at(s)).toBe(2);
  });

  it('a node that does not run such programs is no place to try it, and no reason to wait for', () => {
    const s = new Stage(settings);
    s.come(1);
    submit(s);
    begin(s);
    s.come(2, 1, { runs: ['wasm'] });
    pass(s, 120_000);
    expect(at(s)).toBe(1);
    const crashing = new Stage();
    crashing.come(1);
    crashing.come(2, 1, { runs: ['wasm'] });
    submit(crashing);
    for (let i = 0; i < 90 && crashing.view().state !== 'failed'; i++) {
      if (at(crashing) !== undefined) crash(crashing);
      pass(crashing, 1000);
    }
    expect(crashing.view().error?.code).toBe('KEEPS_CRASHING');
  });

  it('with no other slot free it stays', () => {
    const s = new Stage(settings);
    s.come(1, 4);
    submit(s);
    begin(s);
    pass(s, 600_000);
    expect(at(s)).toBe(1);
  });

  it('S3: one that does not begin is tried elsewhere, at most after startMs however patient the job is', () => {
    const s = new Stage(settings);
    s.come(1);
    submit(s);
    s.come(2);
    pass(s, 29_000);
    expect(at(s)).toBe(1);
    pass(s, 2000);
    expect(at(s)).toBe(2);
    begin(s);
    expect(quarantined(s)).toEqual([1]);
  });

  const deadlock = (s: Stage): void => {
    pass(s, 3000, { state: 'waiting', call: 'MPI_Recv' });
    s.send('deadlock', { job: J(), report: 'they wait' });
  };

  it('D12: who said that a rank waits which goes on elsewhere, although nothing has come for it, is blamed', () => {
    const s = new Stage(settings);
    s.come(1);
    submit(s);
    begin(s);
    s.come(2);
    deadlock(s);
    expect(s.view().faults).toMatchObject([{ cause: 'doubted' }]);
    begin(s);
    logs(s, 1);
    expect(quarantined(s)).toEqual([1]);
    expect(s.view().state).toBe('running');
  });

  it('… but not who waited for the one that lied', () => {
    const s = new Stage(settings);
    s.come(1);
    submit(s);
    begin(s);
    s.come(2);
    deadlock(s);
    begin(s);
    logs(s, 1, 1, 1);
    expect(quarantined(s)).toEqual([]);
  });

  it('D12: a deadlock that only nodes with a record report ends the job at once', () => {
    const s = new Stage(settings);
    veteran(s, 1);
    submit(s);
    begin(s);
    s.come(2);
    deadlock(s);
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'DEADLOCK' } });
  });
});
