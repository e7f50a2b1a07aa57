/**
 * What the time of nodes' slots went to: the columns that are here, their sums, their picture and their words. Pure.
 */
import { SLOT_KINDS, type SlotKind } from '@mayfly/wire';
import { HEIGHT as TALL } from '../job/charts/plot.ts';
import { KINDS as LANES } from '../job/timeline/kinds.ts';
import { percent } from '../../shared/format.ts';

export const K = SLOT_KINDS.length;
/** Columns that are drawn: ten minutes. */
export const SHOWN = 120;

export interface SlotLook {
  kind: SlotKind;
  label: string;
  /** What it means, for the legend. */
  title: string;
  light: string;
  dark: string;
}
const OTHERS: Record<string, Omit<SlotLook, 'kind'>> = {
  starting: {
    label: 'starting',
    title: 'a rank has the slot and loads its program or checkpoint',
    light: '#98a6a0',
    dark: '#6c7a75',
  },
  idle: { label: 'idle', title: 'the slot has no rank', light: '#f4eedd', dark: '#2d2a1d' },
  silent: { label: 'silent', title: 'no data from the node', light: '#b3261e', dark: '#ff8f86' },
};
/** What a rank accounts for itself has the colours of the job's time line. */
export const LOOKS: readonly SlotLook[] = SLOT_KINDS.map((kind) => ({
  kind,
  ...(OTHERS[kind] ?? LANES.find((l) => l.kind === kind)!),
}));

/** Hundredths of a slot by [column][kind]. */
export type Cells = Uint16Array;

/** SHOWN columns of some nodes, up to the newest that is over. */
export interface Sheet {
  until: number;
  widthMs: number;
  byNode: ReadonlyMap<string, Cells>;
  /** Of one node: bytes by column; null where nobody said. */
  memory: readonly (number | null)[];
}

/** Columns as the server tells them. */
export interface Told {
  from: number;
  widthMs: number;
  columns: number;
  nodes: readonly string[];
  slots: Uint16Array;
  memory?: readonly (number | null)[];
}

/** What was here, and what has come; a node of which nothing is left in the window goes. */
export function merged(before: Sheet | undefined, t: Told): Sheet {
  const until = t.from + t.columns * t.widthMs;
  if (before && (before.widthMs !== t.widthMs || until < before.until)) return merged(undefined, t);
  if (before && t.columns === 0) return before;
  const byNode = new Map<string, Cells>();
  const moved = before ? Math.round((until - before.until) / t.widthMs) : 0;
  for (const [id, cells] of before?.byNode ?? []) {
    const kept = new Uint16Array(SHOWN * K);
    if (moved < SHOWN) kept.set(cells.subarray(moved * K));
    byNode.set(id, kept);
  }
  const columns = Math.min(SHOWN, t.columns);
  t.nodes.forEach((id, n) => {
    const cells = byNode.get(id) ?? new Uint16Array(SHOWN * K);
    cells.set(t.slots.subarray(((n + 1) * t.columns - columns) * K, (n + 1) * t.columns * K), (SHOWN - columns) * K);
    byNode.set(id, cells);
  });
  for (const [id, cells] of byNode) if (!cells.some((x) => x > 0) && !t.nodes.includes(id)) byNode.delete(id);
  const memory = [
    ...new Array<null>(SHOWN).fill(null),
    ...(before?.memory ?? []),
    ...new Array<null>(Math.min(SHOWN, moved)).fill(null),
  ].slice(-SHOWN);
  (t.memory ?? []).slice(-columns).forEach((bytes, c, { length }) => (memory[SHOWN - length + c] = bytes));
  return { until, widthMs: t.widthMs, byNode, memory };
}

/** All of them together. A sum may be more than a Uint16 holds. */
export function sumOf(all: Iterable<ArrayLike<number>>): Float64Array {
  const sum = new Float64Array(SHOWN * K);
  for (const cells of all) for (let i = 0; i < sum.length; i++) sum[i]! += cells[i]!;
  return sum;
}

/** Slots, by kind, that were known in the columns [first, last], in the mean over them; and their sum. */
export function meanOf(cells: ArrayLike<number>, first = 0, last = SHOWN - 1): { by: number[]; known: number } {
  const by = new Array<number>(K).fill(0);
  for (let c = first; c <= last; c++)
    for (let k = 0; k < K; k++) by[k]! += cells[c * K + k]! / 100 / (last - first + 1);
  return { by, known: by.reduce((n, x) => n + x, 0) };
}

const knownIn = (cells: ArrayLike<number>, c: number): number => {
  let sum = 0;
  for (let k = 0; k < K; k++) sum += cells[c * K + k]!;
  return sum;
};

/** The newest column of which something is known; -1: none is. */
export function lastKnown(cells: ArrayLike<number>): number {
  for (let c = SHOWN - 1; c >= 0; c--) if (knownIn(cells, c) > 0) return c;
  return -1;
}

/** Most slots that were known at once. */
export function mostSlots(cells: ArrayLike<number>): number {
  let most = 0;
  for (let c = 0; c < SHOWN; c++) most = Math.max(most, knownIn(cells, c));
  return most / 100;
}

/** 'computing 71 %, waiting 20 %', the most first. */
export function sharesText({ by, known }: { by: readonly number[]; known: number }): string {
  return LOOKS.map((l, k) => ({ label: l.label, x: by[k]! }))
    .filter(({ x }) => x > 0)
    .sort((a, b) => b.x - a.x)
    .map(({ label, x }) => `${label} ${percent(x, known)}`)
    .join(', ');
}

const spanText = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} minutes`;

/** 'computing 71 %, waiting 20 %, idle 9 % over the last 10 minutes': a picture in words. */
export function pictureText(cells: ArrayLike<number> | undefined, widthMs: number): string {
  let [first, columns] = [-1, 0];
  if (cells)
    for (let c = 0; c < SHOWN; c++)
      if (knownIn(cells, c) > 0) {
        if (first < 0) first = c;
        columns++;
      }
  if (!cells || columns === 0) return 'no data for the last minutes';
  const all = SHOWN - first;
  const when =
    columns === all
      ? `over the last ${spanText(all * widthMs)}`
      : `in ${spanText(columns * widthMs)} of the last ${spanText(all * widthMs)}`;
  return `${sharesText(meanOf(cells))} ${when}`;
}

/**
 * A path for each kind that there is, stacked in the order of the kinds from below: x in columns, y in TALL. `top`:
 * slots at full height.
 */
export function stackOf(cells: ArrayLike<number>, top: number): { look: SlotLook; d: string }[] {
  const paths = LOOKS.map(() => [] as string[]);
  const scale = TALL / (100 * Math.max(0.01, top));
  const at = (n: number): number => Math.round((TALL - Math.min(TALL, n * scale)) * 10) / 10;
  /** Where each kind's run began, and its lower and upper side. */
  const runs = LOOKS.map(() => ({ from: 0, low: 0, high: 0 }));
  for (let c = 0; c <= SHOWN; c++) {
    let below = 0;
    for (let k = 0; k < K; k++) {
      const amount = c < SHOWN ? cells[c * K + k]! : 0;
      const [low, high] = amount > 0 ? [at(below), at(below + amount)] : [0, 0];
      below += amount;
      const run = runs[k]!;
      if (run.low === low && run.high === high && c < SHOWN) continue;
      if (run.low > run.high) paths[k]!.push(`M${run.from} ${run.low}V${run.high}H${c}V${run.low}Z`);
      Object.assign(run, { from: c, low, high });
    }
  }
  return LOOKS.flatMap((look, k) => (paths[k]!.length > 0 ? [{ look, d: paths[k]!.join('') }] : []));
}
