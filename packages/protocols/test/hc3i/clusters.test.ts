/** The scheduler of a job's clusters on real nodes: who takes part in a CLC, and when exits are final. */
import { imageId, jobId, taskId, type Cut, type TaskId } from '@mayfly/wire';
import { expect, test } from 'vitest';
import type { ClusterEffect, ClusterEvent } from '../../src/contract/clusters.ts';
import { START_OF_TASK } from '../../src/contract/waves.ts';
import { Clusters } from '../../src/hc3i/clusters.ts';
import type { Timeless } from '../../src/service/timeless.ts';

const T = taskId;
const TASKS = [[T(0), T(1)], [T(2)]];

class Bench {
  now = 0;
  readonly clusters: Clusters;
  effects: ClusterEffect[] = [];

  constructor(timers?: (number | null)[]) {
    this.clusters = new Clusters({
      job: jobId('abcdefghijkl'),
      tasks: TASKS,
      settings: { periodMs: 100, waveMs: 5000 },
      timers,
    });
    this.clusters.begin(0);
  }

  /** Commits are durable at once. */
  tell(e: Timeless<ClusterEvent>): this {
    for (const effect of this.clusters.step({ ...e, now: this.now } as ClusterEvent)) {
      this.effects.push(effect);
      if (effect.type === 'commit') this.tell({ type: 'committed', commit: effect.commit });
    }
    return this;
  }

  after(ms: number): this {
    this.now += ms;
    return this.tell({ type: 'tick' });
  }

  take<K extends ClusterEffect['type']>(type: K): Extract<ClusterEffect, { type: K }>[] {
    const taken = this.effects.filter((e): e is Extract<ClusterEffect, { type: K }> => e.type === type);
    this.effects = this.effects.filter((e) => e.type !== type);
    return taken;
  }

  /** Every member cuts, and all is durable but what `but` names. */
  wave(
    cluster: number,
    wave: number,
    but: 'sent' | 'recorded' | 'stored' | 'none' = 'none',
    cut: Cut = START_OF_TASK,
  ): this {
    for (const task of TASKS[cluster]!) {
      this.tell({ type: 'cut', wave, task, cut });
      if (but !== 'stored') this.tell({ type: 'stored', wave, task, image: imageId(`image-${task}-${wave}`) });
      if (but !== 'recorded') this.tell({ type: 'recorded', wave, task });
    }
    this.tell({ type: 'marked', cluster, wave });
    if (but !== 'sent') this.tell({ type: 'sent', cluster, wave, to: 1 - cluster });
    return this;
  }
}

const began = (b: Bench, ...tasks: TaskId[]): Bench => {
  for (const task of tasks) b.tell({ type: 'began', task });
  return b;
};
const all = TASKS.flat();

test.each(['sent', 'recorded', 'stored'] as const)('H1 a CLC does not count before it is %s', (but) => {
  const b = began(new Bench(), ...all).after(200);
  const begins = b.take('begin');
  expect(begins.map((e) => [e.cluster, e.sn, e.forced])).toEqual([
    [0, 2, false],
    [1, 2, false],
  ]);
  b.wave(0, 2, but);
  expect(b.take('commit')).toEqual([]);
  if (but === 'sent') b.tell({ type: 'sent', cluster: 0, wave: 2, to: 1 });
  else b.wave(0, 2);
  expect(b.take('over').map((e) => e.record?.sn)).toEqual([2]);
});

test('H1 an inconsistent cut is abandoned, and its number is not used again', () => {
  const b = began(new Bench(), ...all).after(200);
  b.wave(0, 2, 'none', { ...START_OF_TASK, arrivals: 1, receives: [[T(1), 1]] });
  expect(b.take('over')).toMatchObject([{ cluster: 0, sn: 2, reason: expect.stringContaining('INCONSISTENT_WAVE') }]);
  b.effects = [];
  expect(b.after(2000).take('begin')).toMatchObject([{ cluster: 0, sn: 3 }]);
});

test('G9, N1 a message that waits forces a CLC of its own cluster at once', () => {
  const b = began(new Bench(), ...all).after(1);
  b.tell({ type: 'force', cluster: 1, from: 0, interval: 1 });
  expect(b.take('begin').map((e) => [e.cluster, e.forced])).toEqual([[1, true]]);
  b.wave(1, 2);
  expect(b.take('over')[0]!.record).toMatchObject({ cluster: 1, ddv: [1, 2], forced: true });
});

test('a cluster without a timer takes the CLCs that messages force, and those that somebody asks for', () => {
  const b = began(new Bench([300, null]), ...all);
  expect([b.clusters.due(0), b.clusters.due(1)]).toEqual([
    { at: 300, periodMs: 300 },
    { at: Infinity, periodMs: Infinity },
  ]);
  expect(b.after(200).take('begin')).toEqual([]);
  expect(b.after(200).take('begin')).toMatchObject([{ cluster: 0, sn: 2, forced: false }]);
  b.wave(0, 2).after(86_400_000);
  expect(b.take('begin')).toMatchObject([{ cluster: 0, sn: 3, forced: false }]);
  b.tell({ type: 'force', cluster: 1, from: 0, interval: 2 });
  expect(b.take('begin')).toMatchObject([{ cluster: 1, sn: 2, forced: true }]);
  b.wave(1, 2);
  expect(b.clusters.due(1).at).toBe(Infinity);
  b.tell({ type: 'ask' });
  expect(b.take('begin')).toMatchObject([{ cluster: 1, sn: 3, forced: false }]);
});

test('unit.2 a cluster that went back waits with its next CLC for all that come back to an image', () => {
  const b = began(new Bench(), ...all)
    .after(200)
    .wave(0, 2);
  b.tell({ type: 'lost', clusters: [0] });
  const check = b.take('check').at(-1)!;
  b.tell({ type: 'checked', check: check.check, damaged: [] });
  const line = b.take('line').at(-1)!;
  expect([line.epoch, line.clusters]).toEqual([1, [0]]);
  b.tell({ type: 'committed', commit: line.commit });
  expect(b.take('goBack')).toMatchObject([{ epoch: 1, rolled: [{ cluster: 0, to: 2, alias: { sn: 3, images: 2 } }] }]);
  b.tell({ type: 'wentBack', cluster: 0, epoch: 1 });
  expect(b.take('assign')).toEqual([{ type: 'assign', cluster: 0, ended: [] }]);
  b.take('begin');
  began(b.after(200), T(0));
  expect(b.take('begin').filter((e) => e.cluster === 0)).toEqual([]);
  began(b, T(1));
  expect(b.take('begin').filter((e) => e.cluster === 0)).toMatchObject([{ sn: 4, starting: [] }]);
});

test('H5 exits are final when every cluster has a CLC of ended tasks only', () => {
  const b = began(new Bench(), ...all).after(1);
  for (const task of [T(0), T(1)]) b.tell({ type: 'ended', task });
  b.after(200);
  b.tell({ type: 'recorded', wave: 2, task: T(0) }).tell({ type: 'recorded', wave: 2, task: T(1) });
  b.tell({ type: 'marked', cluster: 0, wave: 2 }).tell({ type: 'sent', cluster: 0, wave: 2, to: 1 });
  expect(
    b
      .take('over')
      .filter((e) => e.record)
      .map((e) => e.cluster),
  ).toEqual([0]);
  expect(b.take('finished')).toEqual([]);
  b.tell({ type: 'ended', task: T(2) });
  const wave = b.clusters.clusters.underWay[1]!.sn;
  b.tell({ type: 'recorded', wave, task: T(2) });
  b.tell({ type: 'marked', cluster: 1, wave }).tell({ type: 'sent', cluster: 1, wave, to: 0 });
  expect(b.take('finished')).toHaveLength(1);
});
