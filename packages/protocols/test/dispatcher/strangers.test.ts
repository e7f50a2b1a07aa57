/** Strangers among honest nodes: whom a failure is held against (failures.ts, reputation.ts). */
import { describe, expect, it } from 'vitest';
import { nodeViews } from '../../src/index.ts';
import { I, J, job, N, Stage, T } from './stage.ts';
import { veteran, crash, at, node, quarantined, pass, submit } from './strangers.ts';

describe('nodes are blamed before programs (B1–B4)', () => {
  it(
    'strangers that report crashes end no job: each is put into quarantine, and the rank ends up at the honest ' +
      'node',
    () => {
      const s = new Stage();
      for (let n = 1; n <= 6; n++) s.come(n);
      submit(s);
      s.come(7);
      for (let i = 0; i < 6; i++) expect(crash(s)).toBeLessThan(7);
      expect(at(s)).toBe(7);
      expect(quarantined(s)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(s.view().faults.at(-1)).toMatchObject({
        cause: 'crashed',
        newcomer: true,
        quarantineMs: 5000,
        error: 'INTERNAL: gone',
      });
      expect(s.view().reason).toBe('rank 0 failed at 6 nodes, which are in quarantine for 5 s; restarting elsewhere');
      s.exit(0);
      expect(s.view().state).toBe('done');
    },
  );

  it('where only strangers in quarantine are left, a job waits for as long as it had got on before, and says why', () => {
    const s = new Stage();
    for (let n = 1; n <= 3; n++) s.come(n);
    submit(s);
    s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(0), event: 'started' });
    pass(s, 300_000);
    s.logged.set(T(0), { sends: 4, consumed: 0 });
    s.send('progress', { job: J(), tasks: [{ task: T(0), sends: 4, arrivals: 0, consumed: 0, underWay: false }] });
    while (at(s) !== undefined) crash(s);
    expect(s.view()).toMatchObject({ state: 'stalled' });
    expect(s.view().reason).toMatch(
      /^rank 0 waits for a slot; only nodes in quarantine are free; rank 0 failed at 3 nodes, which are in quarantine for \d+ s$/,
    );
    const tryAll = (ms: number): void => {
      for (let i = 0; i < ms; i += 5000) {
        pass(s, 5000);
        if (at(s) !== undefined) crash(s);
      }
    };
    tryAll(290_000);
    expect(s.view().state).not.toBe('failed');
    tryAll(300_000);
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'KEEPS_CRASHING' } });
  });

  it('a node that comes into quarantine while a rank is raised for it does not get that rank', () => {
    const s = new Stage();
    s.come(1, 2);
    submit(s);
    s.hold.add('fenceCs');
    s.send('submit', { job: job(1, { id: J(2) }) });
    crash(s);
    s.come(2, 2);
    expect(quarantined(s)).toEqual([1]);
    s.release();
    expect(
      s
        .of('assign')
        .filter((a) => a.job === J(2))
        .map((a) => a.node),
    ).toEqual([N(2)]);
    expect(s.view(J(2)).faults).toEqual([]);
  });

  it('who was in quarantine is tried after those who never were, also where they came later', () => {
    const s = new Stage();
    s.come(1);
    s.come(2);
    submit(s);
    crash(s);
    crash(s);
    expect(at(s)).toBeUndefined();
    pass(s, 6000);
    expect(at(s)).toBe(1);
    s.exit(0);
    // Both are free again, and one has made good for it.
    s.come(3);
    s.send('submit', { job: job(1, { id: J(2) }) });
    s.send('submit', { job: job(1, { id: J(3) }) });
    const where = (id: number): number => Number(s.dispatcher.core.find(J(id), T(0))!.node!.slice(4));
    expect([where(2), where(3)]).toEqual([1, 3]);
  });

  it('each quarantine lasts twice as long as the one before', () => {
    const s = new Stage({ quarantineMaxMs: 30_000, strangersMs: 1e9 });
    s.come(1);
    submit(s);
    const lengths: number[] = [];
    for (let i = 0; i < 5; i++) {
      crash(s);
      lengths.push(node(s, 1).quarantinedUntil! - s.now);
      pass(s, lengths.at(-1)! + 250);
      expect(at(s)).toBe(1);
    }
    expect(lengths).toEqual([5000, 10_000, 20_000, 30_000, 30_000]);
  });

  it('a program that fails on nodes with a record ends its job, and no node is blamed for it', () => {
    const s = new Stage();
    for (let n = 1; n <= 4; n++) veteran(s, n);
    s.come(9);
    submit(s);
    const first = at(s);
    crash(s);
    crash(s);
    expect(s.view().state).toBe('running');
    crash(s);
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'KEEPS_CRASHING' } });
    expect(s.view().error!.message).toMatch(
      /^Rank 0 failed at the same place on 3 nodes tab \d, tab \d, tab \d, which have completed other work, so the program is the likely cause\. The last error reported: INTERNAL: gone$/,
    );
    expect(s.view().faults.map((f) => f.excused)).toEqual([true, true, true]);
    expect(first).toBeLessThan(5);
    expect(quarantined(s)).toEqual([]);
  });

  it.each(['first', 'last'])(
    'B5: a job whose rank waited goes on, when a program that takes all memory takes the page down with it ' +
      '(heard of %s)',
    (order) => {
      const s = new Stage({ quarantineMs: 250, quarantineMaxMs: 250, strangersMs: 1000 });
      s.come(1, 2);
      submit(s);
      s.send('submit', { job: job(1, { id: J(2) }) });
      let ended = 0;
      for (let i = 0; i < 40; i++) {
        pass(s, 250);
        const down = [J(), J(2)]
          .map((id) => s.dispatcher.core.find(id, T(0))!)
          .filter((t) => t.node !== undefined && t.incarnation !== undefined);
        if (order === 'last') down.reverse();
        for (const t of down)
          s.send('report', {
            connection: 'c1',
            job: t.job.record.spec.id,
            task: T(0),
            incarnation: t.incarnation!,
            event: 'started',
          });
        s.send('heartbeat', {
          connection: 'c1',
          tasks: down.map((o) =>
            s.beat(
              0,
              o.incarnation!,
              { state: o.job.record.spec.id === J() ? 'waiting' : 'computing' },
              o.job.record.spec.id,
            ),
          ),
        });
        for (const t of down)
          s.send('report', {
            connection: 'c1',
            job: t.job.record.spec.id,
            task: T(0),
            incarnation: t.incarnation!,
            event: 'crashed',
            error: { code: 'INTERNAL', message: 'the frame crashed' },
          });
        if (s.view(J(2)).state === 'failed') {
          ended = i;
          break;
        }
      }
      expect(ended).toBeGreaterThan(2);
      expect(s.view(J(2)).error).toMatchObject({ code: 'KEEPS_CRASHING' });
      expect(s.view().state).not.toBe('failed');
      expect(s.view().faults.length).toBeGreaterThan(2);
      pass(s, 1000);
      expect(at(s)).toBe(1);
      s.exit(0);
      expect(s.view().state).toBe('done');
    },
  );

  it(
    'what strangers fail at counts for nothing towards the end, and is taken back when a node with a record ' +
      'fails there, too',
    () => {
      const s = new Stage();
      for (let n = 1; n <= 3; n++) s.come(n);
      submit(s);
      for (let i = 0; i < 3; i++) crash(s);
      for (let n = 4; n <= 5; n++) veteran(s, n);
      expect(at(s)).toBe(4);
      crash(s);
      expect(s.view().state).toBe('running');
      expect(quarantined(s)).toEqual([]);
      expect(s.view().faults.map((f) => f.excused ?? false)).toEqual([true, true, true, false]);
    },
  );

  it(
    '… and is held against them again once the rank gets further elsewhere; a node with a record that was ' +
      'wrong has it no more',
    () => {
      const s = new Stage();
      s.come(1);
      submit(s);
      crash(s);
      veteran(s, 2);
      crash(s);
      veteran(s, 3);
      crash(s);
      expect(at(s)).toBe(3);
      expect(quarantined(s)).toEqual([]);
      s.send('report', { connection: 'c3', job: J(), task: T(0), incarnation: I(3), event: 'started' });
      s.send('progress', { job: J(), tasks: [{ task: T(0), sends: 1, arrivals: 0, consumed: 0, underWay: false }] });
      expect(quarantined(s)).toEqual([1]);
      expect(node(s, 2).record).toBeUndefined();
      expect(node(s, 3).record).toBe(true);
    },
  );

  it('another error in between is another failure', () => {
    const s = new Stage();
    for (let n = 1; n <= 5; n++) veteran(s, n);
    submit(s);
    crash(s, 'INTERNAL');
    crash(s, 'INTERNAL');
    crash(s, 'BAD_FRAME');
    expect(s.view().state).toBe('running');
  });

  it('one node with a record ends no job as long as another one could take the rank', () => {
    const s = new Stage();
    veteran(s, 1);
    submit(s);
    veteran(s, 2);
    s.send('submit', { job: job(1, { id: J(2) }) }); // node 2 is busy, with another job
    expect(at(s)).toBe(1);
    for (let i = 0; i < 3; i++) crash(s);
    expect(s.view().state).toBe('running');
    s.exit(0, { code: 0 }, J(2));
    crash(s);
    expect(at(s)).toBe(2);
  });

  it('where nobody has a record, a job ends that failed at its very start on every node, again and again', () => {
    const s = new Stage();
    s.come(1);
    s.come(2);
    submit(s);
    const crashes: number[] = [];
    for (let i = 0; i < 60 && s.view().state !== 'failed'; i++) {
      if (at(s) !== undefined) crashes.push(crash(s));
      pass(s, 1000);
    }
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'KEEPS_CRASHING' } });
    expect(s.view().error!.message).toContain(
      'failed at the same place on every node that could run it: 2 nodes tab 1, tab 2. None of them has ' +
        'completed other work yet.',
    );
    expect(crashes.length).toBeGreaterThanOrEqual(3);
    expect(quarantined(s)).toEqual([]);
  });

  it('… but not while a node is here that was not tried, also a busy one', () => {
    const s = new Stage();
    s.come(1);
    submit(s);
    s.come(2);
    s.send('submit', { job: job(1, { id: J(2) }) });
    s.send('report', { connection: 'c2', job: J(2), task: T(0), incarnation: I(0), event: 'started' });
    for (let i = 0; i < 60; i++) {
      if (at(s) !== undefined) crash(s);
      pass(s, 1000);
    }
    expect(s.view().state).not.toBe('failed');
  });

  it('a person who closes and opens tabs is not blamed for the first ones, but who does nothing else waits', () => {
    const s = new Stage();
    s.come(1);
    submit(s);
    for (let i = 0; i < 3; i++) {
      s.send('goodbye', { connection: 'c1', reason: 'closed' });
      s.come(1, 1, { claimed: N(1), session: `page ${i}` });
      expect(at(s)).toBe(1);
    }
    for (let i = 0; i < 5; i++) {
      s.send('goodbye', { connection: 'c1', reason: 'closed' });
      s.come(1, 1, { claimed: N(1), session: `again ${i}` });
    }
    expect(quarantined(s)).toEqual([1]);
  });
});

describe('records and addresses (R1–R4)', () => {
  it('a rank goes to a node with a record first; a class of fresh tabs starts at once all the same', () => {
    const s = new Stage();
    s.come(1);
    veteran(s, 2);
    submit(s);
    expect(at(s)).toBe(2);
    const fresh = new Stage();
    for (let n = 1; n <= 30; n++) fresh.come(n, 1, { address: '10.0.0.1' });
    submit(fresh, 30);
    expect(fresh.assigned()).toHaveLength(30);
  });

  it('R1: an exit that an incarnation before has sent makes no record for the node that has the rank now', () => {
    const s = new Stage();
    s.come(1, 2);
    submit(s, 2, { team: 2 });
    s.come(2, 2);
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    expect(s.assigned()).toEqual(['0.0@1', '1.0@1', '0.1@2', '1.1@2']);
    // The log had it before the fence, and it is durable only now.
    s.exit(1, { code: 0 }, J(), 0);
    expect(node(s, 2).record).toBeUndefined();
    crash(s);
    expect(quarantined(s)).toEqual([2]);
    pass(s, 6000);
    s.exit(0);
    expect(s.view().state).toBe('done');
    expect(node(s, 2).record).toBe(true);
  });

  it('a record survives a restart of the server, and is worth something then', () => {
    const s = new Stage();
    veteran(s, 2);
    s.crash();
    s.come(1);
    s.come(2, 1, { claimed: N(2), connection: 'd2' });
    expect(nodeViews(s.dispatcher).map((v) => v.record ?? false)).toEqual([false, true]);
    submit(s);
    expect(at(s)).toBe(2);
  });

  it(
    'R4: an address most of whose identities fail makes later newcomers wait; neither who was there before, ' +
      'nor who has a record',
    () => {
      const s = new Stage();
      veteran(s, 50, 1, { address: 'A' });
      s.send('slots', { connection: 'c50', slots: 0 });
      s.come(40, 1, { address: 'A' });
      s.send('slots', { connection: 'c40', slots: 0 });
      submit(s);
      for (let n = 1; n <= 5; n++) {
        s.come(n, 1, { address: 'A' });
        if (at(s) === n) crash(s);
      }
      s.come(6, 1, { address: 'A' });
      s.come(7, 1, { address: 'B' });
      expect(quarantined(s)).toContain(6);
      expect(quarantined(s)).not.toContain(7);
      expect(quarantined(s)).not.toContain(40);
      expect(quarantined(s)).not.toContain(50);
      s.come(50, 1, { address: 'A', claimed: N(50) });
      expect(quarantined(s)).not.toContain(50);
      expect(at(s)).toBe(7);
    },
  );

  it('a class behind one address does not wait for its few who fail', () => {
    const s = new Stage();
    submit(s);
    for (let n = 10; n <= 30; n++) s.come(n, 0, { address: 'A' });
    for (let n = 1; n <= 4; n++) {
      s.come(n, 1, { address: 'A' });
      crash(s);
    }
    s.come(31, 1, { address: 'A' });
    expect(at(s)).toBe(31);
  });
});
