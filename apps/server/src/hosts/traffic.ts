/**
 * Messages and bytes between tasks, by task and by pair, counted where they are logged, or reported by the node of a
 * team: for people only. Output, files and what a task asks the server for are no messages (docs/glossary.md).
 *
 * On the message path: no allocation, no map. Pairs stand in one row of doubles per destination, made when its first
 * message comes: 16 × size² bytes at most (1 MB for 256 ranks, 16 MB for 1,024).
 */
import { Flag, HEADER_BYTES, Kind, MAX_RANKS, checkedLength, pad8, type TaskId } from '@mayfly/wire';

export interface TaskTraffic {
  messagesIn: number;
  bytesIn: number;
  messagesOut: number;
  bytesOut: number;
}

/** Called for every whole message between tasks, while there is a viewer. */
export type Tap = (src: number, dst: number, bytes: number, tag: number) => void;

const NONE = new Float64Array(0);

/** What was counted elsewhere. */
export interface TrafficReport {
  /** By task: messages and bytes in, messages and bytes out. */
  tasks: Float64Array;
  /** Rows of pairs that have changed since the last report, by destination. */
  rows: [dst: number, row: Float64Array][];
}

export class Traffic {
  #size: number;
  readonly #tasks: TaskTraffic[];
  /** By destination: [messages, bytes] by source. */
  readonly #pairs: Float64Array[];
  /** Destinations whose row has changed since the last report. */
  #changed: Uint8Array;
  /** undefined: there is no viewer. */
  tap: Tap | undefined;

  constructor(size: number) {
    const ranks = checkedLength(size, MAX_RANKS);
    this.#size = size;
    this.#tasks = Array.from({ length: ranks }, nothing);
    this.#pairs = Array.from({ length: ranks }, () => NONE);
    this.#changed = new Uint8Array(ranks);
  }

  /** The job has more tasks now. */
  grow(size: number): void {
    for (; this.#size < size; this.#size++) {
      this.#tasks.push(nothing());
      this.#pairs.push(NONE);
    }
    const changed = new Uint8Array(this.#tasks.length);
    changed.set(this.#changed);
    this.#changed = changed;
    this.#pairs.forEach((row, d) => {
      if (row.length === 0 || row.length >= 2 * size) return;
      this.#pairs[d] = new Float64Array(2 * size);
      this.#pairs[d].set(row);
    });
  }

  get(task: TaskId): Readonly<TaskTraffic> | undefined {
    return this.#tasks[task];
  }
  /** [messages, bytes] by source, of what `dst` got; empty: nothing yet. */
  to(dst: number): Float64Array {
    return this.#pairs[dst] ?? NONE;
  }
  clear(): void {
    for (let t = 0; t < this.#size; t++) {
      this.#tasks[t] = nothing();
      this.#pairs[t]!.fill(0);
    }
  }

  /**
   * What `src` has sent to `dst` within their team so far, as its node reports. A report of less than is known comes
   * late, and is ignored.
   */
  total(src: number, dst: number, messages: number, bytes: number): void {
    const [from, to] = [this.#tasks[src], this.#tasks[dst]];
    if (!from || !to) return;
    const row = this.#row(dst);
    const [more, moreBytes] = [messages - row[2 * src]!, bytes - row[2 * src + 1]!];
    if (more < 0 || moreBytes < 0) return;
    row[2 * src] = messages;
    row[2 * src + 1] = bytes;
    to.messagesIn += more;
    to.bytesIn += moreBytes;
    from.messagesOut += more;
    from.bytesOut += moreBytes;
  }

  /** For the server of the dispatcher. */
  report(): TrafficReport {
    const tasks = Float64Array.from(this.#tasks.flatMap((t) => [t.messagesIn, t.bytesIn, t.messagesOut, t.bytesOut]));
    const rows: TrafficReport['rows'] = [];
    this.#changed.forEach((is, dst) => void (is && rows.push([dst, this.#pairs[dst]!])));
    this.#changed.fill(0);
    return { tasks, rows };
  }

  /** What was counted elsewhere stands here. */
  load({ tasks, rows }: TrafficReport): void {
    this.#tasks.forEach((t, n) => {
      const [messagesIn = 0, bytesIn = 0, messagesOut = 0, bytesOut = 0] = tasks.subarray(4 * n, 4 * n + 4);
      Object.assign(t, { messagesIn, bytesIn, messagesOut, bytesOut });
    });
    for (const [dst, row] of rows) if (row.length <= 2 * this.#size) this.#row(dst).set(row);
  }

  #row(dst: number): Float64Array {
    this.#changed[dst] = 1;
    const row = this.#pairs[dst]!;
    return row.length > 0 ? row : (this.#pairs[dst] = new Float64Array(2 * this.#tasks.length));
  }

  /** One record of a stream: a frame, or a record of the core's own, which is passed over. */
  count(stream: string, bytes: Uint8Array): void {
    if ((stream[0] !== 't' && stream[0] !== 'w' && stream[0] !== 'x') || bytes.length < HEADER_BYTES) return;
    const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let o = 0; o + HEADER_BYTES <= bytes.length;) {
      // The fields of the header (wire/frame.ts) that matter here, without an object for each.
      const kind = v.getUint8(o);
      if (kind !== Kind.DATA && kind !== Kind.ARRIVAL) return;
      const last = v.getUint8(o + 2) & Flag.LAST;
      const body = v.getUint32(o + 4, true);
      const src = v.getUint32(o + 8, true);
      const dst = v.getUint32(o + 12, true);
      this.#add(src, dst, last, body);
      if (last && this.tap !== undefined && src < this.#size && dst < this.#size)
        this.tap(src, dst, v.getUint32(o + 44, true), v.getInt32(o + 52, true));
      o += pad8(HEADER_BYTES + v.getUint32(o + 60, true) + body);
    }
  }

  #add(src: number, dst: number, last: number, bytes: number): void {
    // WORLD and FILES are no tasks: their numbers lie beyond.
    const [from, to] = [this.#tasks[src], this.#tasks[dst]];
    if (!from || !to) return;
    from.messagesOut += last;
    from.bytesOut += bytes;
    to.messagesIn += last;
    to.bytesIn += bytes;
    const row = this.#row(dst);
    row[2 * src]! += last;
    row[2 * src + 1]! += bytes;
  }
}

const nothing = (): TaskTraffic => ({ messagesIn: 0, bytesIn: 0, messagesOut: 0, bytesOut: 0 });
