/** Ranks of which nothing comes (stragglers.ts), at the borders: replay, pauses, and who is doubted how often. */
import type { RankActivity } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { nodeViews } from '../../src/index.ts';
import { J, job, N, Stage, T } from './stage.ts';

const node = (s: Stage, task = 0): number | undefined => {
  const at = s.dispatcher.core.find(J(), T(task))!.node;
  return at === undefined ? undefined : Number(at.slice(4));
};
const quarantined = (s: Stage): number[] =>
  nodeViews(s.dispatcher).flatMap((v) => (v.quarantinedUntil === undefined ? [] : [Number(v.id.slice(4))]));

/** Time passes: whatever is assigned begins (unless `idle`), and every node says the same of its ranks. */
function pass(
  s: Stage,
  ms: number,
  activity: (task: number) => Partial<RankActivity> = () => ({}),
  idle = false,
): void {
  for (let t = 0; t < ms; t += 250) {
    s.now += 250;
    for (const [connection, n] of [...s.dispatcher.core.connections])
      s.send('heartbeat', {
        connection,
        tasks: [...n.tasks].map((o) => ({ ...s.beat(o.task, o.incarnation!, activity(o.task)), started: !idle })),
      });
    s.send('progress', {
      job: J(),
      tasks: s.view().tasks.map((_, task) => ({ task: T(task), sends: 0, arrivals: 0, consumed: 0, underWay: false })),
    });
    s.send('tick', {});
  }
}
const settings = { stuckAfterMs: 5000, stuckFactor: 1, startAfterMs: 5000 };

describe('stragglers', () => {
  it.each([false, true])('S2: replay may take as long as the rank had run before (a pause: %s)', (paused) => {
    const s = new Stage(settings);
    s.come(1);
    s.send('submit', { job: job(1) });
    pass(s, 20_000, () => ({ state: 'waiting' }));
    if (paused) s.send('pause', { job: J(), waitMs: 0 });
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    s.come(2);
    s.come(3);
    if (paused) s.send('resume', { job: J() });
    pass(s, 24_000, () => ({ state: 'replaying' }));
    expect(node(s)).toBe(2);
    pass(s, 2000, () => ({ state: 'replaying' }));
    expect(node(s)).toBe(3);
  });

  it.each([false, true])(
    'what was compared before a pause is not held against anybody after it (paused: %s)',
    (paused) => {
      const s = new Stage(settings);
      s.come(1);
      s.send('submit', { job: job(1) });
      s.come(2);
      pass(s, 5500, undefined, true);
      expect(s.view().faults).toMatchObject([{ cause: 'compared', node: N(1) }]);
      if (paused) {
        s.send('pause', { job: J(), waitMs: 0 });
        s.send('resume', { job: J() });
      }
      expect(node(s)).toBe(2);
      pass(s, 250);
      expect(quarantined(s)).toEqual(paused ? [] : [1]);
    },
  );

  it('S4: a rank that waits at a stranger is doubted once, where nobody has a record', () => {
    const s = new Stage({ ...settings, crashLimit: 2 });
    for (let n = 1; n <= 8; n++) s.come(n);
    s.send('submit', { job: job(2) });
    pass(s, 60_000, (task) => ({ state: task === 0 ? 'computing' : 'waiting' }));
    const { faults } = s.view();
    expect(faults.filter((f) => f.task === 0).length).toBeGreaterThan(4);
    expect(faults.filter((f) => f.task === 1)).toHaveLength(1);
  });
});
