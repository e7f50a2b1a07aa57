/**
 * What of a job is drawn as charts: throughput, the size of its log, the size of its images, over its whole life. Pure:
 * time comes in as `now`.
 *
 * Owns: amounts by time in Buckets (losable, 32 kB at most; written down with the lanes, store.ts).
 *  G1  Counters and levels are read about once a second; a stretch of more than GAP_MS between two readings (the server
 *      was away, or stood still) is accounted to nothing: nobody knows what was in it.
 *  G2  The first reading is a beginning, and a counter that falls begins anew: neither is throughput.
 *  G3  A level is kept as level × ms, so that it can be merged like a sum; over the ms that were seen it is the mean.
 */
import { Buckets, type BucketsRecord } from '@mayfly/protocols';
import { CHART_KINDS, type ChartsView } from '@mayfly/wire';

/**
 * Since its beginning: messages and bytes between ranks; now: bytes in the log, and of the newest image of each rank.
 */
export interface Reading {
  messages: number;
  bytes: number;
  logBytes: number;
  imageBytes: number;
}

const GAP_MS = 5000;
const [MESSAGES, BYTES, LOG, IMAGES, SEEN] = [0, 1, 2, 3, 4];
const KINDS = 5;

export class Gauges {
  readonly #buckets: Buckets;
  #last: (Reading & { at: number }) | undefined;

  constructor(origin: number, record?: BucketsRecord) {
    const restored = record?.rows === 1 && record.kinds === KINDS;
    this.#buckets = restored ? Buckets.of(record) : new Buckets({ rows: 1, kinds: KINDS, origin });
  }

  read(now: number, r: Reading): void {
    const last = this.#last;
    if (last && now <= last.at) return;
    this.#last = { ...r, at: now };
    if (!last || now - last.at > GAP_MS) return; // G1, G2
    const ms = now - last.at;
    const add = (kind: number, amount: number): void => this.#buckets.add(0, kind, last.at, now, amount);
    add(MESSAGES!, Math.max(0, r.messages - last.messages));
    add(BYTES!, Math.max(0, r.bytes - last.bytes));
    add(LOG!, Math.round(r.logBytes * ms));
    add(IMAGES!, Math.round(r.imageBytes * ms));
    add(SEEN!, ms);
  }

  record(): BucketsRecord {
    return this.#buckets.record();
  }

  /**
   * At most so many columns, each as wide as a bucket or wider; the width is a second times a power of two, so that
   * they stand still.
   */
  columns(since: number, until: number, most: number): Pick<ChartsView, 'from' | 'widthMs' | 'columns' | 'values'> {
    let widthMs = this.#buckets.unitMs;
    while (Math.ceil((until - since) / widthMs) > most || widthMs < this.#buckets.resolutionAt(since)) widthMs *= 2;
    const columns = Math.max(0, Math.ceil((until - since) / widthMs));
    const { sums } = this.#buckets.read(since, widthMs, columns);
    const values = Object.fromEntries(
      CHART_KINDS.map((name, kind) => [
        name,
        Array.from({ length: columns }, (_, c) => {
          const seen = sums[c * KINDS + SEEN!]!;
          if (seen < 1) return null;
          // Per second, or the mean level (G3).
          const value = (sums[c * KINDS + kind]! / seen) * (kind <= BYTES! ? 1000 : 1);
          return Number(value.toPrecision(4));
        }),
      ]),
    ) as ChartsView['values'];
    return { from: since, widthMs, columns, values };
  }
}
