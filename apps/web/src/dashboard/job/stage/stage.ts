/**
 * The stage of a job: nodes as small windows, each with the ranks that are in it, in places that stay. Pure.
 *  S1  A node keeps its seat for as long as the job is looked at; one that came takes a free seat, or the end.
 *  S2  A node that has lost all its ranks stays as an empty window, until another one needs its seat.
 *  S3  Every rank is in exactly one window, or in the wings: the ranks that wait for a place.
 *  S4  Windows share the width of the stage: no row is wider, and on a phone two stand beside each other.
 */
import type { TaskView } from '@mayfly/wire';

export interface Seat {
  node: string;
  name: string;
  /** No rank is there any more. */
  left: boolean;
}

export interface Place {
  task: number;
  /** Undefined: in the wings. */
  seat: number | undefined;
  /** Among the ranks of its seat, or of the wings. */
  index: number;
}

type Ranked = Pick<TaskView, 'task' | 'node' | 'nodeName'>;

export function seatsOf(before: readonly Seat[], tasks: readonly Ranked[]): Seat[] {
  const here = new Map<string, string>();
  for (const t of tasks) if (t.node !== undefined) here.set(t.node, t.nodeName ?? t.node);
  const seats = before.map((s) => {
    const name = here.get(s.node);
    return { ...s, name: name ?? s.name, left: name === undefined }; // S1, S2
  });
  for (const [node, name] of here) {
    if (seats.some((s) => s.node === node)) continue;
    const free = seats.findIndex((s) => s.left);
    const seat = { node, name, left: false };
    if (free < 0) seats.push(seat);
    else seats[free] = seat;
  }
  return seats;
}

export function placesOf(seats: readonly Seat[], tasks: readonly Ranked[]): Place[] {
  const taken = new Map<number | undefined, number>();
  return tasks.map((t) => {
    const found = t.node === undefined ? -1 : seats.findIndex((s) => s.node === t.node);
    const seat = found < 0 ? undefined : found;
    const index = taken.get(seat) ?? 0;
    taken.set(seat, index + 1);
    return { task: t.task, seat, index };
  }); // S3
}

/** Sizes in px: of a rank with its gap, of a window, of the strip above them for ranks without a tab. */
export const CELL = 46;
export const WINDOW = { narrow: 148, wide: 264, head: 30, gap: 14, edge: 8 };
export const WINGS = 52;

/** How windows stand: `columns` of them in a row, each `wide` × `high` px, with `across` ranks in a row. */
export interface Grid {
  columns: number;
  wide: number;
  high: number;
  across: number;
}

/**
 * S4.
 *
 * @param width of the stage, px
 * @param most ranks that any window has had: windows do not shrink when ranks leave
 */
export function gridOf(width: number, seats: number, most: number): Grid {
  const { narrow, gap, edge, head } = WINDOW;
  const columns = Math.max(1, Math.min(seats, Math.floor((width + gap) / (narrow + gap))));
  const wide = Math.max(CELL + 2 * edge, Math.min(WINDOW.wide, Math.floor((width + gap) / columns) - gap));
  const across = Math.floor((wide - 2 * edge) / CELL);
  return { columns, wide, high: head + Math.max(1, Math.ceil(most / across)) * CELL + edge, across };
}

/** Middle of each place, px. */
export function middleOf(p: Place, grid: Grid): [number, number] {
  if (p.seat === undefined) return [100 + p.index * CELL + CELL / 2, WINGS / 2 - 4];
  const [x, y] = cornerOf(p.seat, grid);
  return [
    x + WINDOW.edge + ((p.index % grid.across) + 0.5) * CELL,
    y + WINDOW.head + WINDOW.edge / 2 + (Math.floor(p.index / grid.across) + 0.5) * CELL,
  ];
}

/** Of a window, px. */
export const cornerOf = (seat: number, { columns, wide, high }: Grid): [number, number] => [
  (seat % columns) * (wide + WINDOW.gap),
  WINGS + Math.floor(seat / columns) * (high + WINDOW.gap),
];

/** Messages from one rank to another since the last news; `n` of them. */
export interface Flow {
  from: number;
  to: number;
  n: number;
}

/**
 * What has flowed since `known`, which is brought up to date; the busiest pairs first, at most `most` of them. Nothing
 * at the first sight of a pair whose past is not known (`fresh`).
 */
export function flowsOf(
  known: Map<number, number>,
  cells: Iterable<readonly [number, number, number, number]>,
  size: number,
  fresh: boolean,
  most: number,
): Flow[] {
  const flows: Flow[] = [];
  for (const [from, to, messages] of cells) {
    const key = from * size + to;
    const n = messages - (known.get(key) ?? 0);
    known.set(key, messages);
    if (!fresh && n > 0 && from !== to) flows.push({ from, to, n });
  }
  return flows.sort((a, b) => b.n - a.n).slice(0, most);
}

/** What the picture shows, for those who do not see it. */
export function stageText(
  seats: readonly Seat[],
  places: readonly Place[],
  words: readonly { text: string }[],
): string {
  const said = (of: readonly Place[]): string => {
    const sums = new Map<string, number>();
    for (const p of of) {
      const { text } = words[p.task] ?? { text: 'unknown' };
      sums.set(text, (sums.get(text) ?? 0) + 1);
    }
    return [...sums].map(([text, n]) => `${n} ${text}`).join(', ');
  };
  const parts = seats.map((s, i) => {
    const of = places.filter((p) => p.seat === i);
    return `${s.name}: ${of.length === 0 ? 'left' : said(of)}`;
  });
  const wings = places.filter((p) => p.seat === undefined);
  if (wings.length > 0) parts.push(`without a node: ${said(wings)}`);
  return parts.join('; ');
}

/** Ranks with the node where they ended: the picture keeps what is done, and the end of the job empties no window. */
export function settled<T extends Ranked & Pick<TaskView, 'state'>>(
  last: Map<number, Ranked>,
  tasks: readonly T[],
  ended: boolean,
): Ranked[] {
  return tasks.map((t) => {
    if (t.node !== undefined) last.set(t.task, t);
    const over = ended || t.state === 'done' || t.state === 'failed';
    return (t.node === undefined && over && last.get(t.task)) || t;
  });
}
