/** What of a history is drawn: columns of shares, and the matrix in bins. Pure. */
import { LANE_KINDS, type Columns } from '@mayfly/wire';
import type { JobHistory } from './job-history.ts';

/** One answer has no more bytes than this (before deflate); wider columns are given instead. */
const MOST_BYTES = 2 << 20;

/**
 * Columns begin at multiples of their width since the history began, and the width is a second times a power of two: so
 * they fit each other.
 */
export function columnsOf(
  h: JobHistory,
  asked: { from: number; to: number; first: number; last: number; widthMs: number },
): Columns {
  const first = Math.min(asked.first, h.size - 1);
  const last = Math.max(first, Math.min(asked.last, h.size - 1));
  const cell = (last - first + 1) * LANE_KINDS.length;
  const to = Math.max(h.since, Math.min(asked.to, h.until));
  const from = Math.max(h.since, Math.min(asked.from, to));
  let widthMs = h.buckets.unitMs;
  while (widthMs < asked.widthMs || ((to - from) / widthMs + 1) * cell > MOST_BYTES) widthMs *= 2;
  const begin = h.since + Math.floor((from - h.since) / widthMs) * widthMs;
  const columns = Math.ceil((to - begin) / widthMs);
  // The last one is as wide as the job has left it.
  const lastMs = h.ended && to === h.until ? to - (begin + (columns - 1) * widthMs) : widthMs;
  return {
    from: begin,
    widthMs,
    columns,
    first,
    last,
    shares: sharesOf(h.buckets.read(begin, widthMs, columns, first, last).sums, widthMs, cell, lastMs),
  };
}

/** Of the width of each column; a share that is there at all is at least 1. */
function sharesOf(ms: Float64Array, widthMs: number, cell: number, lastMs: number): Uint8Array {
  const shares = new Uint8Array(ms.length);
  for (let i = 0; i < ms.length; i++)
    if (ms[i]! > 0)
      shares[i] = Math.min(255, Math.max(1, Math.round((255 * ms[i]!) / (i < ms.length - cell ? widthMs : lastMs))));
  return shares;
}

export interface Rows {
  /** [messages, bytes] by source. */
  to(dst: number): Float64Array;
}

export interface Bins {
  src: [number, number];
  dst: [number, number];
  binned: number;
  /** Bins of destinations: cell (s, d) stands at 2 × (s × wide + d): messages, bytes. */
  wide: number;
  cells: Float64Array;
}

/** The matrix of all Channel Memories together, at most `bins` bins each way. */
export function binsOf(
  parts: readonly Rows[],
  size: number,
  asked: { src: readonly [number, number]; dst: readonly [number, number]; bins: number },
): Bins {
  const clip = ([a, b]: readonly [number, number]): [number, number] => {
    const first = Math.min(a, size - 1);
    return [first, Math.max(first, Math.min(b, size - 1))];
  };
  const [src, dst] = [clip(asked.src), clip(asked.dst)];
  let binned = 1;
  while (Math.ceil((Math.max(src[1] - src[0], dst[1] - dst[0]) + 1) / binned) > asked.bins) binned *= 2;
  const wide = Math.ceil((dst[1] - dst[0] + 1) / binned);
  const high = Math.ceil((src[1] - src[0] + 1) / binned);
  const cells = new Float64Array(2 * wide * high);
  for (const p of parts)
    for (let d = dst[0]; d <= dst[1]; d++) {
      const row = p.to(d);
      if (row.length === 0) continue;
      const column = Math.floor((d - dst[0]) / binned);
      for (let s = src[0]; s <= src[1]; s++) {
        if (row[2 * s]! === 0 && row[2 * s + 1]! === 0) continue;
        const at = 2 * (Math.floor((s - src[0]) / binned) * wide + column);
        cells[at]! += row[2 * s]!;
        cells[at + 1]! += row[2 * s + 1]!;
      }
    }
  return { src, dst, binned, wide, cells };
}

/**
 * [source bin, destination bin, messages, bytes] where there is something; with `before`, where something has changed.
 */
export function cellsOf(b: Bins, before?: Float64Array): [number, number, number, number][] {
  const out: [number, number, number, number][] = [];
  for (let i = 0; i < b.cells.length; i += 2) {
    const [messages, bytes] = [b.cells[i]!, b.cells[i + 1]!];
    if (before ? messages === before[i] && bytes === before[i + 1] : messages === 0 && bytes === 0) continue;
    out.push([Math.floor(i / 2 / b.wide), (i / 2) % b.wide, messages, bytes]);
  }
  return out;
}
