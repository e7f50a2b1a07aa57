/**
 * Rollbacks of clusters (protocol `hc3i`) among the lanes: which lanes each one is of, and the alerts, from the cluster
 * that went back to one that it took back. Pure.
 */
import type { TimelineEvent } from '@mayfly/wire';
import type { Plot } from './plot.ts';

/** By cluster: its ranks. */
export type Clusters = readonly (readonly number[])[];

export interface Alert {
  /** Clusters. */
  from: number;
  to: number;
  /** When each of them noticed. */
  left: number;
  arrived: number;
}

/** One for each cluster that a rollback event names as the one that took it back. */
export function alertsOf(events: readonly TimelineEvent[]): Alert[] {
  const alerts: Alert[] = [];
  for (const e of events) {
    if (e.kind !== 'rollback' || e.cluster === undefined) continue;
    // The newest rollback of the other cluster until then; they may stand in any order.
    for (const from of e.alertedBy ?? []) {
      const left = events.reduce(
        (at, o) => (o.kind === 'rollback' && o.cluster === from && o.at <= e.at ? Math.max(at, o.at) : at),
        0,
      );
      alerts.push({ from, to: e.cluster, left: left || e.at, arrived: e.at });
    }
  }
  return alerts;
}

/** Lanes of these ranks, from top to bottom: one stretch for each run of neighbours. */
export function lanesOf(
  p: Pick<Plot, 'top' | 'height' | 'firstRow' | 'rowHeight'>,
  ranks: readonly number[],
): [number, number][] {
  const runs: [number, number][] = [];
  for (const rank of [...ranks].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last?.[1] === rank) last[1] = rank + 1;
    else runs.push([rank, rank + 1]);
  }
  const y = (row: number): number =>
    Math.min(p.top + p.height, Math.max(p.top, p.top + (row - p.firstRow) * p.rowHeight));
  return runs.map(([a, b]): [number, number] => [y(a), y(b)]).filter(([a, b]) => b > a);
}

/** Where the arrow of an alert goes, from the middle of one cluster's lanes to the middle of the other's. */
export function arrowOf(
  p: Plot,
  clusters: Clusters,
  a: Alert,
): { x0: number; y0: number; x1: number; y1: number } | undefined {
  if (a.arrived < p.from || a.arrived > p.to) return undefined;
  const [from, to] = [a.from, a.to].map((c) => lanesOf(p, clusters[c] ?? [])[0]);
  if (!from || !to) return undefined;
  const x = (at: number): number => p.left + ((Math.max(at, p.from) - p.from) / (p.to - p.from)) * p.width;
  return { x0: x(a.left), y0: (from[0] + from[1]) / 2, x1: x(a.arrived), y1: (to[0] + to[1]) / 2 };
}
