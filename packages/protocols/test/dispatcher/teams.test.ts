/** Which ranks form teams, and how ranks are spread over nodes (docs/teams.md). */
import { describe, expect, it } from 'vitest';
import type { JobSpec } from '../../src/index.ts';
import { held, I, image, J, job, N, Stage, T } from './stage.ts';

/** Nodes with so many slots, a job, and where its ranks went: their nodes, and their teams. */
function placed(slots: readonly number[], size: number, over: Partial<JobSpec>): [node: number, team: string][] {
  const s = new Stage();
  slots.forEach((n, i) => s.come(i + 1, n));
  s.send('submit', { job: job(size, { protocol: 'none', ...over }) });
  return s.of('assign').map((e) => [slots.findIndex((_, i) => N(i + 1) === e.node) + 1, (e.team ?? []).join(' ')]);
}

describe('teams', () => {
  it('consecutive ranks fill the slots of a node, the one with the most first, and form its team', () => {
    expect(placed([2, 3], 5, {})).toEqual([
      [2, '0 1 2'],
      [2, '0 1 2'],
      [2, '0 1 2'],
      [1, '3 4'],
      [1, '3 4'],
    ]);
  });

  it('mapped by node, ranks take one node after the other; those of one node form its team', () => {
    expect(placed([2, 2], 4, { mapBy: 'node' })).toEqual([
      [1, '0 2'],
      [2, '1 3'],
      [1, '0 2'],
      [2, '1 3'],
    ]);
  });

  it('D21: a team has at most so many members as the job allows; a rank alone has none', () => {
    expect(placed([5], 5, { team: 2 }).map(([, team]) => team)).toEqual(['0 1', '0 1', '2 3', '2 3', '']);
    expect(placed([3], 3, { team: 1 }).map(([, team]) => team)).toEqual(['', '', '']);
    expect(placed([1, 1], 2, {}).map(([, team]) => team)).toEqual(['', '']);
    expect(placed([40], 34, {}).map(([, team]) => team.split(' ').length)).toEqual([
      ...Array<number>(32).fill(32),
      2,
      2,
    ]);
  });

  it('a protocol that logs every message has none, and spreads its ranks unless it is asked not to', () => {
    expect(placed([2, 2], 4, { protocol: 'pessimistic' })).toEqual([
      [1, ''],
      [2, ''],
      [1, ''],
      [2, ''],
    ]);
    expect(placed([2, 2], 4, { protocol: 'pessimistic', mapBy: 'slot' })).toEqual([
      [1, ''],
      [1, ''],
      [2, ''],
      [2, ''],
    ]);
  });

  it('a lost member ends the job: all its teammates are revoked', () => {
    const s = new Stage();
    s.come(1, 3);
    s.send('submit', { job: job(3, { protocol: 'none' }) });
    s.send('report', {
      connection: 'c1',
      job: J(),
      task: T(1),
      incarnation: I(0),
      event: 'crashed',
      error: { code: 'INTERNAL', message: '' },
    });
    expect(s.of('jobEnded').at(-1)?.error?.code).toBe('LOST_NODES');
    expect(new Set(s.of('revoke').map((e) => e.task))).toEqual(new Set([0, 2]));
  });
});

describe('teams that restart', () => {
  /** A team of three, on the node with the most slots. */
  function running(slots = [3, 4], size = 3): Stage {
    const s = new Stage();
    slots.forEach((n, i) => s.come(i + 1, n));
    s.send('submit', { job: job(size, { team: 3 }) });
    return s;
  }
  const crash = (s: Stage, task: number, n: number, inc = 0): void => {
    s.send('report', {
      connection: `c${n}`,
      job: J(),
      task: T(task),
      incarnation: I(inc),
      event: 'crashed',
      error: { code: 'INTERNAL', message: '' },
    });
  };
  const raises = (s: Stage) =>
    s
      .of('persist')
      .map((p) => p.changes.flatMap(([key]) => (key.startsWith('task/') ? [key.split('/')[2]] : [])).join(''));

  it('D22: the loss of one raises all in one commit; all begin on one node, and one is to blame', () => {
    const s = running();
    expect(s.assigned()).toEqual(['0.0@2', '1.0@2', '2.0@2']);
    const t = s.of('teams');
    expect(t).toMatchObject([{ teams: [[0, 1, 2]] }]);
    s.effects.length = 0;
    s.hold.add('fenceCm');
    crash(s, 1, 2);
    expect(raises(s).filter(Boolean)).toEqual(['012']);
    expect(s.of('revoke').map((e) => e.task)).toEqual([0, 2]);
    expect(
      s
        .view()
        .faults.map((f) => f.cause)
        .sort(),
    ).toEqual(['crashed', 'team', 'team']);
    s.release();
    // Not where it crashed.
    expect(s.assigned()).toEqual(['0.1@1', '1.1@1', '2.1@1']);
    expect(s.of('assign').every((e) => String(e.team) === '0,1,2')).toBe(true);
  });

  it('D5: a node that is silent is ordered to drop the whole team: it may be the one that gets it again', () => {
    const s = running([3]);
    s.pass(10_250);
    expect(s.view().faults.map((f) => f.cause)).toEqual(['silent', 'team', 'team']);
    expect(s.of('revoke').map((e) => `${e.task}.${e.incarnation}`)).toEqual(['0.0', '1.0', '2.0']);
  });

  it('D23: nobody is assigned before every member is fenced everywhere', () => {
    const s = running();
    s.effects.length = 0;
    s.hold.add('fenceCm');
    crash(s, 1, 2);
    const fences = s.of('fenceCm');
    expect(fences).toHaveLength(6);
    for (const [i, e] of fences.entries()) {
      expect(s.assigned()).toEqual([]);
      if (i === 5) s.hold.clear();
      for (const event of s.answer(e)) s.send(event.type, event as never);
    }
    expect(s.assigned()).toHaveLength(3);
  });

  it('T8: where no node has enough free slots, the one with the most takes the team, and people see it', () => {
    const s = running([3, 2]);
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    expect(s.assigned().slice(3)).toEqual(['0.1@2', '1.1@2', '2.1@2']);
    expect(s.view().reason).toMatch(/ranks 0, 1, 2 share 2 slots of node tab 2/);
  });

  it('D24: teams are known after a restart of the server, and their ranks go on where all are left', () => {
    const s = running();
    s.crash();
    expect(s.of('teams')).toHaveLength(2);
    s.come(2, 4, { claimed: N(2), holds: [held(0, 0), held(1, 0), held(2, 0)] });
    expect(s.of('welcome').at(-1)!.drop).toEqual([]);
    expect(s.assigned()).toHaveLength(3);
    // One that is not there takes the others with it.
    s.crash();
    s.come(1, 3);
    s.come(2, 4, { claimed: N(2), holds: [held(0, 0), held(2, 0)] });
    expect(
      s
        .of('welcome')
        .at(-1)!
        .drop.map((h) => h.task),
    ).toEqual([0, 2]);
    expect(
      s
        .assigned()
        .slice(3)
        .map((a) => a.slice(0, 3)),
    ).toEqual(['0.1', '1.1', '2.1']);
  });

  it('D25: a member that has ended restarts with its team, unless it had where the others go back to', () => {
    const s = running();
    s.exit(1);
    expect(s.of('exitedInTeam').map((e) => e.task)).toEqual([1]);
    expect(s.of('taskDone')).toEqual([]);
    crash(s, 0, 2);
    expect(
      s
        .assigned()
        .slice(3)
        .map((a) => a.slice(0, 3)),
    ).toEqual(['0.1', '1.1', '2.1']);
    s.exit(0);
    s.exit(2);
    expect(s.of('taskDone').map((e) => e.task)).toEqual([0, 1, 2]);
    expect(s.view().state).toBe('done');
  });

  it('D25: the log of a member that is at no node waits for no comm worker, also after a restart of the server', () => {
    const s = running();
    s.exit(1);
    expect(s.of('unattended')).toEqual([]);
    s.endedBefore.add(T(1));
    crash(s, 0, 2);
    expect(s.assigned().slice(3)).toEqual(['0.1@1', '2.1@1']);
    expect(s.of('unattended').map((e) => e.task)).toEqual([1]);
    for (const holds of [
      [held(0, 1), held(2, 1)],
      [held(0, 1), held(1, 1), held(2, 1)],
    ]) {
      s.crash();
      s.effects.length = 0;
      s.come(1, 3, { claimed: N(1), holds });
      expect(s.of('welcome').at(-1)!.drop).toEqual([]);
      expect(s.of('unattended').map((e) => e.task)).toEqual(holds.length === 2 ? [1] : []);
    }
  });

  it('D25: a member that ends again is still at its node, whose comm worker speaks for it', () => {
    const s = running();
    s.exit(1);
    crash(s, 0, 2);
    s.pass(250, { c1: [0, 1, 2].map((t) => s.beat(t, 1)) });
    expect(s.view().tasks[1]!.state).not.toBe('done');
    s.pass(2000, { c1: [0, 2].map((t) => s.beat(t, 1)) });
    expect(s.view().tasks[1]!.state).toBe('done');
    expect(s.of('unattended')).toEqual([]);
  });

  it('a pause: all members leave when the last image of their wave is complete', () => {
    const s = running();
    s.pass(250, { c2: [0, 1, 2].map((t) => s.beat(t, 0)) });
    s.effects.length = 0;
    s.send('pause', { job: J(), waitMs: 60_000 });
    expect(s.of('checkpoint').map((e) => e.task)).toEqual([0]);
    for (const t of [0, 1]) s.send('image', image(t, 1));
    expect(s.of('revoke')).toEqual([]);
    s.send('image', image(2, 1));
    expect(s.of('revoke').map((e) => e.task)).toEqual([0, 1, 2]);
    s.send('resume', { job: J() });
    expect(s.assigned().map((a) => a.slice(0, 3))).toEqual(['0.1', '1.1', '2.1']);
  });
});
