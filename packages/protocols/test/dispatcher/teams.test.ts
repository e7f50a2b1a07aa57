/** Which ranks form teams, and how ranks are spread over nodes (docs/teams.md). */
import { describe, expect, it } from 'vitest';
import type { JobSpec } from '../../src/index.ts';
import { I, J, job, N, Stage, T } from './stage.ts';

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
