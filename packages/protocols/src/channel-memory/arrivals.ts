/**
 * The index of one receiver's log: where each arrival lies. Compact, since it has an entry for every message not yet
 * trimmed: one float for the LSN of the last chunk and one for the size; the other chunks' LSNs only of messages that
 * have several.
 *
 * Invariant A1: `lsnOf(n)` grows with n (the last chunk gets the arrival number).
 */
import { checkedLength } from '@mayfly/wire';
import type { Replays } from '../contract/position.ts';

/** Each has a record of 64 bytes at least, and the logs of a job have 32 GiB. */
const MOST_SLOTS = 2 ** 29;

interface Kept {
  readonly lsns: readonly number[];
  readonly size: number;
}

export class ArrivalIndex {
  /** Highest arrival number so far. */
  count = 0;
  /** Arrival of slot 0. */
  #first = 1;
  #lsn = new Float64Array(64);
  #size = new Float64Array(64);
  /** All chunks of arrivals with several, from #first on. */
  readonly #chunks = new Map<number, readonly number[]>();
  /** Arrivals below #first that trimming spared: prologue and held. */
  readonly #kept = new Map<number, Kept>();

  /** The next arrival. `lsns`: its chunks when there are several. */
  add(lsn: number, size: number, lsns?: readonly number[]): number {
    this.restore(this.count + 1, lsn, size, lsns);
    return this.count;
  }

  /** At recovery, in ascending order of `arrival`. */
  restore(arrival: number, lsn: number, size: number, lsns?: readonly number[]): number {
    const slot = arrival - this.#first;
    if (slot < 0) {
      this.#kept.set(arrival, { lsns: lsns ?? [lsn], size });
      return arrival;
    }
    if (slot >= this.#lsn.length) this.#grow(slot + 1);
    for (let s = this.count + 1 - this.#first; s < slot; s++) if (s >= 0) this.#lsn[s] = -1;
    this.#lsn[slot] = lsn;
    this.#size[slot] = size;
    if (lsns !== undefined && lsns.length > 1) this.#chunks.set(arrival, lsns);
    this.count = Math.max(this.count, arrival);
    return arrival;
  }

  /** Entries: arrivals from the first that trimming did not take, and those before it that it spared. */
  get held(): number {
    return this.count - this.#first + 1 + this.#kept.size;
  }

  /** At recovery from a BASE record. */
  atLeast(count: number): void {
    if (count <= this.count) return;
    const slots = count + 1 - this.#first;
    if (slots > this.#lsn.length) this.#grow(slots);
    this.#lsn.fill(-1, Math.max(0, this.count + 1 - this.#first), slots);
    this.count = count;
  }

  /** Arrivals behind `count` never came. Those before it must be here. */
  cutBack(count: number): void {
    for (let a = count + 1; a <= this.count; a++) this.#chunks.delete(a);
    this.count = Math.min(this.count, count);
  }

  /** LSN of the last chunk, -1 when it is trimmed. */
  lsnOf(arrival: number): number {
    if (arrival >= this.#first) return arrival <= this.count ? this.#lsn[arrival - this.#first]! : -1;
    const k = this.#kept.get(arrival);
    return k === undefined ? -1 : k.lsns[k.lsns.length - 1]!;
  }

  sizeOf(arrival: number): number {
    return arrival >= this.#first ? this.#size[arrival - this.#first]! : (this.#kept.get(arrival)?.size ?? 0);
  }

  /** LSNs of all chunks, undefined when there is just the one of {@link lsnOf}. */
  chunksOf(arrival: number): readonly number[] | undefined {
    if (arrival >= this.#first) return this.#chunks.get(arrival);
    const k = this.#kept.get(arrival);
    return k !== undefined && k.lsns.length > 1 ? k.lsns : undefined;
  }

  /**
   * Forgets arrivals in (prologue, image] except the held ones. Returns the LSNs that may go: [from, to) without
   * `keep`. `open`: LSNs of chunks of messages that are not whole yet. Cost: linear in what is left of the index.
   */
  trim(replays: Replays, open: Iterable<number>): { from: number; to: number; keep: Set<number> } {
    const image = Math.min(replays.image, this.count);
    const held = new Set(replays.held);
    const spared = (a: number): boolean => a <= replays.prologue || held.has(a);
    for (const a of this.#kept.keys()) if (!spared(a)) this.#kept.delete(a);
    let last = -1;
    for (let a = this.#first; a <= image; a++) {
      const lsn = this.lsnOf(a);
      if (lsn < 0) continue;
      last = lsn;
      if (spared(a)) this.#kept.set(a, { lsns: this.#chunks.get(a) ?? [lsn], size: this.sizeOf(a) });
      this.#chunks.delete(a);
    }
    if (image >= this.#first) {
      this.#lsn.copyWithin(0, image + 1 - this.#first, this.count + 1 - this.#first);
      this.#size.copyWithin(0, image + 1 - this.#first, this.count + 1 - this.#first);
      this.#first = image + 1;
    }
    const keep = new Set<number>(open);
    for (const k of this.#kept.values()) for (const l of k.lsns) keep.add(l);
    for (const lsns of this.#chunks.values()) for (const l of lsns) if (l <= last) keep.add(l);
    return { from: 0, to: last + 1, keep };
  }

  #grow(slots: number): void {
    const n = Math.max(checkedLength(slots, MOST_SLOTS), this.#lsn.length * 2);
    const lsn = new Float64Array(n);
    const size = new Float64Array(n);
    lsn.set(this.#lsn);
    size.set(this.#size);
    this.#lsn = lsn;
    this.#size = size;
  }
}
