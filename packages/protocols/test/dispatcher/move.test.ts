/** D29: a team that found too few slots moves once a node has room for all of it. */
import { describe, expect, it } from 'vitest';
import { I, J, job, N, Stage, T } from './stage.ts';

const RANKS = [0, 1, 2];

/** A team of three on the two slots of node 2; node 4 has come, with three. */
function crowded(recovered = true): Stage {
  const s = new Stage();
  s.come(1, 3);
  s.come(2, 2);
  s.send('submit', { job: job(3, { team: 3 }) });
  s.send('goodbye', { connection: 'c1', reason: 'closed' });
  expect(s.assigned().slice(3)).toEqual(['0.1@2', '1.1@2', '2.1@2']);
  s.come(4, 3);
  pass(s, 250, recovered);
  s.effects.length = 0;
  return s;
}
function pass(s: Stage, ms: number, recovered = true, inc = 1, at = 'c2'): void {
  const beats = RANKS.map((t) => ({ ...s.beat(t, inc), recovered }));
  s.pass(ms, { c2: [], c4: [], [at]: beats });
}
const image = (s: Stage, task: number, serial = 1): void => {
  s.send('image', { job: J(), task: T(task), image: `i${task}-${serial}` as never, serial });
};

describe('a team on too few slots', () => {
  it('moves when all its images are complete, in one step and without a fault', () => {
    const s = crowded();
    const faults = s.view().faults.length;
    pass(s, 9_000);
    expect(s.of('checkpoint')).toEqual([]);
    expect(s.view().reason).toMatch(
      /share 2 slots of node tab 2: .* which moves when one has, or is dissolved when several together have$/,
    );
    pass(s, 2_000);
    // One of them asks for all.
    expect(s.of('checkpoint').map((e) => [e.node, e.task])).toEqual([[s.record(0).node, 0]]);
    for (const t of [0, 1]) image(s, t);
    expect(s.of('revoke')).toEqual([]);
    image(s, 2);
    expect(s.of('revoke').map((e) => [e.connection, e.task, e.incarnation])).toEqual(RANKS.map((t) => ['c2', t, I(1)]));
    expect(s.assigned()).toEqual(['0.2@4', '1.2@4', '2.2@4']);
    expect(s.view().faults).toHaveLength(faults);
    expect(s.of('log').at(-1)!.message).toMatch(/ranks 0, 1, 2 share too few slots and move/);
    const change = { at: s.now, what: 'moved', ranks: RANKS, teams: [RANKS] };
    expect(s.view().teamChanges).toEqual([change]);
    s.crash();
    expect(s.view().teamChanges).toEqual([change]);
    s.come(4, 3, { claimed: N(4), holds: RANKS.map((t) => ({ job: J(), task: T(t), incarnation: I(2) })) });
    pass(s, 250, true, 2, 'c4');
    expect(s.view().reason).toBeUndefined();
  });

  it('not while it repeats what was done before', () => {
    const s = crowded(false);
    pass(s, 30_000, false);
    expect(s.of('checkpoint')).toEqual([]);
    pass(s, 11_000);
    expect(s.of('checkpoint')).toHaveLength(1);
  });

  it('not when the room has gone meanwhile, and not while the job is paused', () => {
    const s = crowded();
    pass(s, 11_000);
    s.send('slots', { connection: 'c4', slots: 2 });
    for (const t of RANKS) image(s, t);
    expect(s.of('revoke')).toEqual([]);
    s.send('slots', { connection: 'c4', slots: 3 });
    s.send('pause', { job: J(), waitMs: 60_000 });
    pass(s, 11_000);
    for (const t of [0, 1]) image(s, t, 2);
    expect(s.of('revoke')).toEqual([]);
  });

  it('stays without images in time, and is asked again later', () => {
    const s = crowded();
    pass(s, 31_000);
    expect(s.of('checkpoint')).toHaveLength(1);
    for (const t of RANKS) image(s, t);
    expect(s.of('revoke')).toEqual([]);
    pass(s, 60_000);
    expect(s.of('checkpoint')).toHaveLength(2);
    for (const t of RANKS) image(s, t, 2);
    expect(s.assigned()).toEqual(['0.2@4', '1.2@4', '2.2@4']);
  });
});
