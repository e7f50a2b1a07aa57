/** The advised checkpoint interval against Young's formula, and the limits within which it is believed. */
import { SPENT, type Heartbeat } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { adviceOf, ImageCosts } from '../src/checkpoint-advice.ts';

const HOUR = 3_600_000;

describe('the advised checkpoint interval', () => {
  it('is √(2·C·M)', () => {
    // C = 0.5 s, M = 1 h: √(2 · 0.5 · 3600) = 60 s.
    expect(adviceOf(500, 10, 10 * HOUR)).toMatchObject({ checkpointMs: 60_000, measured: true, mtbfMs: HOUR });
    // Nobody was lost in two hours: M is taken as those two hours, not as infinite.
    expect(adviceOf(500, 0, 2 * HOUR)).toMatchObject({ checkpointMs: 85_000, measured: true });
  });
  it('stays the default while too little is known, and within five seconds and an hour', () => {
    expect(adviceOf(undefined, 50, 10 * HOUR)).toMatchObject({ checkpointMs: 30_000, measured: false });
    expect(adviceOf(500, 2, HOUR / 10)).toMatchObject({ checkpointMs: 30_000, measured: false });
    expect(adviceOf(1, 1000, HOUR)).toMatchObject({ checkpointMs: 5000, measured: true });
    expect(adviceOf(60_000, 0, 10_000 * HOUR)).toMatchObject({ checkpointMs: HOUR, measured: true });
  });
  it('takes the cost from what ranks say they spent at checkpoints, by room', () => {
    const costs = new ImageCosts();
    const beat = (ms: number, incarnation = 0) =>
      ({
        tasks: [
          {
            job: 'abcdefghijkl',
            task: 0,
            incarnation,
            started: true,
            activity: { state: 'computing', arrivals: 0, sends: 0 },
            spent: SPENT.map((s) => (s === 'checkpointing' ? ms : 7)),
          },
        ],
      }) as unknown as Heartbeat;
    for (const ms of [0, 100, 100, 300]) costs.heard(beat(ms), () => 'BLUE');
    // Two images, of 100 and 200 ms.
    expect(costs.of('BLUE')).toBeCloseTo(110);
    costs.heard(beat(110, 1), () => 'BLUE');
    expect(costs.of('BLUE')).toBeCloseTo(110);
    expect(costs.of(undefined)).toBeUndefined();
  });
});
