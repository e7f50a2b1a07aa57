/**
 * The columns that a viewer has: shares of each kind by column and rank, grown and corrected by news. Pure.
 *
 *  S1  A column is whole: news of another width or of other ranks change nothing.
 *  S2  Columns between what is here and what comes are unknown (zero).
 */
import { LANE_KINDS, type Columns, type TimelineEvent } from '@mayfly/wire';

const K = LANE_KINDS.length;
/** Beyond this the oldest columns go: who scrolls back asks for them again. */
const MOST_COLUMNS = 4096;

export class Sheet {
  readonly widthMs: number;
  readonly first: number;
  readonly last: number;
  from: number;
  columns: number;
  #shares: Uint8Array;

  constructor(p: Columns) {
    this.widthMs = p.widthMs;
    this.first = p.first;
    this.last = p.last;
    this.from = p.from;
    this.columns = p.columns;
    this.#shares = p.shares;
  }

  get rows(): number {
    return this.last - this.first + 1;
  }
  get to(): number {
    return this.from + this.columns * this.widthMs;
  }
  /** Bytes of one column. */
  get stride(): number {
    return this.rows * K;
  }
  get shares(): Uint8Array {
    return this.#shares;
  }

  /** First column that has changed; undefined: none (S1). */
  take(p: Columns): number | undefined {
    if (p.widthMs !== this.widthMs || p.first !== this.first || p.last !== this.last || p.columns === 0)
      return undefined;
    let at = Math.round((p.from - this.from) / this.widthMs);
    if (at < 0) return undefined;
    const need = at + p.columns;
    if (need * this.stride > this.#shares.length) {
      const grown = new Uint8Array(Math.max(need, this.columns + 128) * this.stride);
      grown.set(this.#shares.subarray(0, this.columns * this.stride));
      this.#shares = grown;
    }
    this.#shares.set(p.shares.subarray(0, p.columns * this.stride), at * this.stride);
    this.columns = Math.max(this.columns, need);
    if (this.columns > MOST_COLUMNS) {
      const drop = this.columns - MOST_COLUMNS / 2;
      this.#shares = this.#shares.slice(drop * this.stride);
      this.columns -= drop;
      this.from += drop * this.widthMs;
      at = 0;
    }
    return at;
  }

  /**
   * Shares (0 to 1) of each kind of one rank in [from, to), of the time in which something is known; `known`: how much
   * of it that is.
   */
  sharesOf(rank: number, from: number, to: number): { known: number; of: number[] } {
    const of = new Array<number>(K).fill(0);
    const a = Math.max(0, Math.floor((from - this.from) / this.widthMs));
    const b = Math.min(this.columns, Math.ceil((to - this.from) / this.widthMs));
    if (rank < this.first || rank > this.last || b <= a) return { known: 0, of };
    for (let c = a; c < b; c++) {
      const o = c * this.stride + (rank - this.first) * K;
      for (let k = 0; k < K; k++) of[k]! += this.#shares[o + k]!;
    }
    const sum = of.reduce((n, x) => n + x, 0);
    return { known: Math.min(1, sum / (255 * (b - a))), of: sum === 0 ? of : of.map((x) => x / sum) };
  }
}

/** The incarnation that acted for a rank at this time, as far as the events say. */
export function incarnationAt(events: readonly TimelineEvent[], rank: number, at: number): number | undefined {
  let found: number | undefined;
  for (const e of events) {
    if (e.task !== rank || e.incarnation === undefined) continue;
    if (e.at > at) return found ?? (e.kind === 'fault' ? e.incarnation : undefined);
    found = e.kind === 'fault' ? undefined : e.incarnation;
  }
  return found;
}
