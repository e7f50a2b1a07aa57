/** D30: a team that runs on too few slots is dissolved where several nodes together have room for its ranks. */
import { describe, expect, it } from 'vitest';
import type { JobSpec } from '../../src/index.ts';
import { I, J, job, N, NOTHING, Stage, T } from './stage.ts';

const RANKS = [0, 1, 2];
const C = { language: 'c', entry: 'm', hash: 'a' } as const;

/** A team of three on the two slots of node 2, behind its images; node 3 has come, with one slot. */
function crowded(over: Partial<JobSpec> = {}): Stage {
  const s = new Stage({ moveAfterMs: 10_000 });
  s.come(1, 3);
  s.come(2, 2);
  s.send('submit', { job: job(3, { team: 3, mapBy: 'slot', program: C, ...over }) });
  for (const t of RANKS) {
    s.logs.set(T(t), { ...NOTHING, sent: [[T(5), 1]] });
    image(s, t, 0);
  }
  s.send('goodbye', { connection: 'c1', reason: 'closed' });
  expect(s.assigned().slice(3)).toEqual(['0.1@2', '1.1@2', '2.1@2']);
  s.come(3, 1);
  s.effects.length = 0;
  return s;
}
const image = (s: Stage, t: number, serial: number): void =>
  void s.send('image', { job: J(), task: T(t), image: `i${t}-${serial}` as never, serial });
function pass(s: Stage, ms: number, parked: readonly number[] = [], recovered = true): void {
  const beats = RANKS.map((t) => ({
    ...s.beat(t, 1),
    recovered,
    ...(parked.includes(t) && { parked: true as const }),
  }));
  s.pass(ms, { c2: beats, c3: [], c4: [] });
}
/** What the logs have is in these images. */
function imaged(s: Stage): void {
  for (const t of RANKS) {
    s.images.set(`${J()}/${t}`, { job: J(), task: T(t), image: `i${t}-1` as never, serial: 1 });
    s.logs.set(T(t), NOTHING);
    image(s, t, 1);
  }
}
const asked = (s: Stage) => s.of('checkpoint').map((e) => [e.connection, e.task, e.last]);

describe('a team that shares too few slots, while several nodes together have enough', () => {
  it('stops at last images, without a fault, and goes on in several nodes', () => {
    const s = crowded();
    const faults = s.view().faults.length;
    pass(s, 9_000);
    expect(asked(s)).toEqual([]);
    expect(s.view().reason).toMatch(/which moves when one has, or is dissolved when several together have$/);
    pass(s, 2_000);
    // One of them asks for all.
    expect(asked(s)).toEqual([['c2', 0, true]]);
    imaged(s);
    expect(s.of('revoke')).toEqual([]);
    pass(s, 250, [0, 1]);
    expect(s.of('revoke')).toEqual([]);
    pass(s, 250, RANKS);
    expect(s.of('revoke').map((e) => [e.connection, e.task, e.incarnation])).toEqual(RANKS.map((t) => ['c2', t, I(1)]));
    expect(s.assigned()).toEqual(['0.3@2', '1.3@2', '2.3@3']);
    expect(s.of('assign').map((a) => [a.image, String(a.team)])).toEqual([
      ['i0-1', '0,1'],
      ['i1-1', '0,1'],
      ['i2-1', 'undefined'],
    ]);
    expect(s.view().faults).toHaveLength(faults);
    expect(s.view().teamChanges).toMatchObject([{ what: 'dissolved', ranks: RANKS, teams: [[0, 1]] }]);
    expect(s.view().reason).toBeUndefined();
  });

  it('stays a team where the logs have something behind an image, and is asked again after a minute, then two', () => {
    const s = crowded();
    pass(s, 11_000);
    imaged(s);
    s.logs.set(T(1), { ...NOTHING, sent: [[T(5), 1]] });
    pass(s, 250, RANKS);
    expect(s.assigned()).toEqual(['0.2@2', '1.2@2', '2.2@2']);
    const again = (ms: number): void =>
      s.pass(ms, { c2: RANKS.map((t) => ({ ...s.beat(t, 2), recovered: true })), c3: [] });
    again(69_000);
    expect(asked(s)).toHaveLength(1);
    again(2_000);
    expect(asked(s)).toHaveLength(2);
    expect(s.view().teamChanges ?? []).toEqual([]);
  });

  it('one without a last image in time: all restart as they were, without a fault', () => {
    const s = crowded();
    pass(s, 11_000);
    const faults = s.view().faults.length;
    pass(s, 19_000, [0, 1]);
    expect(s.of('revoke')).toEqual([]);
    pass(s, 1_500, [0, 1]);
    const stopped = s.of('revoke').slice(0, 3);
    expect(stopped.map((e) => [e.task, e.incarnation])).toEqual(RANKS.map((t) => [t, I(1)]));
    expect(s.assigned()).toEqual(['0.2@2', '1.2@2', '2.2@2']);
    expect(s.view().faults).toHaveLength(faults);
  });

  it('moves instead where one node has room for all of it', () => {
    const s = crowded();
    s.come(4, 3);
    pass(s, 11_000);
    expect(asked(s)).toEqual([['c2', 0, undefined]]);
    pass(s, 19_000);
    expect(asked(s)).toHaveLength(1);
    expect(s.record(0).node).toBe(N(2));
  });

  it('scripts, one without a last image in time: they are not asked for it any more, and go on', () => {
    const s = crowded({ program: job(1).program });
    pass(s, 11_000);
    expect(asked(s)).toEqual([['c2', 0, true]]);
    pass(s, 20_500, [0, 1]);
    expect([...new Set(asked(s).slice(1).map(String))]).toEqual(['c2,0,false']);
    pass(s, 20_000);
    expect(s.of('revoke')).toEqual([]);
    // Those that have their last images have nothing else to go on with.
    pass(s, 55_000);
    expect(asked(s).at(-1)).toEqual(['c2', 0, true]);
    imaged(s);
    pass(s, 250, RANKS);
    expect(s.assigned()).toEqual(['0.3@2', '1.3@2', '2.3@3']);
  });

  it('not of scripts that get no images together', () => {
    const s = crowded({ program: job(1).program });
    const local = { arrivals: 1, sends: 1, waiting: 0, skipped: 1 };
    const beats = RANKS.map((t) => s.beat(t, 1)).map((b) => ({
      ...b,
      recovered: true,
      activity: { ...b.activity, local },
    }));
    s.pass(15_000, { c2: beats, c3: [] });
    expect(asked(s)).toEqual([]);
  });

  it('not while it repeats what was done before, and not where a rank would get no slot', () => {
    const repeats = crowded();
    pass(repeats, 15_000, [], false);
    expect(asked(repeats)).toEqual([]);
    const full = crowded();
    full.send('slots', { connection: 'c2', slots: 1 });
    pass(full, 15_000);
    expect(asked(full)).toEqual([]);
  });
});
