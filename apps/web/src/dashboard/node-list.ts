/** What the table of nodes says, and its order. Pure. */
import type { NodeView } from '@mayfly/wire';
import { sortedBy, type Key } from './sorting.ts';

const HOUR_MS = 3600 * 1000;
/** Present for less, a node has no rate yet: one loss in a minute is no sixty an hour. */
const ENOUGH_MS = 10 * 60 * 1000;

/** Losses per hour of presence; undefined while it was here too briefly to tell. */
export const lossRate = (n: NodeView): number | undefined =>
  n.presentMs === undefined || n.presentMs < ENOUGH_MS ? undefined : (n.faults ?? 0) / (n.presentMs / HOUR_MS);

export function lossText(n: NodeView): string {
  const count = n.faults ?? 0;
  const rate = lossRate(n);
  if (count === 0) return 'none';
  return rate === undefined ? `${count}` : `${count} · ${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/h`;
}

export const COLUMNS = ['name', 'state', 'busy', 'engine', 'room', 'cores', 'speed', 'rtt', 'losses', 'since'] as const;
export type Column = (typeof COLUMNS)[number];

const KEYS: Record<Column, (n: NodeView) => Key> = {
  name: (n) => n.name.toLowerCase(),
  state: (n) => n.state,
  busy: (n) => n.busy,
  engine: (n) => n.engine,
  room: (n) => n.room,
  cores: (n) => n.cores,
  speed: (n) => n.speed,
  rtt: (n) => n.rttMs,
  losses: (n) => lossRate(n) ?? n.faults,
  since: (n) => n.since,
};

export const sorted = (nodes: readonly NodeView[], by: Column, down: boolean): NodeView[] =>
  sortedBy(nodes, KEYS[by], down);
