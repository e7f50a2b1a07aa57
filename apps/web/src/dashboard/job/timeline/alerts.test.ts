import { describe, expect, it } from 'vitest';
import type { TimelineEvent } from '@mayfly/wire';
import { alertsOf, arrowOf, lanesOf } from './alerts.ts';
import type { Plot } from './plot.ts';

const back = (at: number, cluster: number, alertedBy?: number[]): TimelineEvent => ({
  at,
  kind: 'rollback',
  cluster,
  wave: 1,
  ...(alertedBy && { alertedBy }),
});
const plot: Plot = {
  left: 10,
  top: 20,
  width: 100,
  height: 80,
  firstRow: 0,
  rowHeight: 20,
  from: 0,
  to: 1000,
  since: 0,
};

describe('alerts', () => {
  it('go from the newest rollback of the cluster that took another one back, also along a chain', () => {
    const events = [back(100, 1), back(500, 1), back(510, 0, [1]), back(520, 2, [0, 1]), back(900, 1)];
    expect(alertsOf(events)).toEqual([
      { from: 1, to: 0, left: 500, arrived: 510 },
      { from: 0, to: 2, left: 510, arrived: 520 },
      { from: 1, to: 2, left: 500, arrived: 520 },
    ]);
  });
  it('are arrows between the middles of lanes, as far as both can be seen', () => {
    const clusters = [
      [0, 1],
      [2, 3],
    ];
    const [alert] = alertsOf([back(500, 1), back(600, 0, [1])]);
    expect(arrowOf(plot, clusters, alert!)).toEqual({ x0: 60, y0: 80, x1: 70, y1: 40 });
    expect(arrowOf({ ...plot, from: 700 }, clusters, alert!)).toBeUndefined();
    expect(arrowOf(plot, [], alert!)).toBeUndefined();
    expect(lanesOf(plot, [3, 0, 1])).toEqual([
      [20, 60],
      [80, 100],
    ]);
    expect(lanesOf({ ...plot, firstRow: 2 }, [0, 1, 2])).toEqual([[20, 40]]);
  });
});
