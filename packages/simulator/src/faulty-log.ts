/**
 * The simulated disk of one Channel Memory: streams of records with checksums that survive a killed process, and that
 * power loss, bit flips and a full disk may hit as they hit the segment files of packages/storage.
 *
 * Owns the records and how far each stream is synced. Invariants
 *  L1  A synced record is never lost; a damaged one is reported (DamagedLog), never returned.
 *  L2  What a reopened stream has is a prefix of what was appended: it ends before the first un-synced record that is
 *      not whole.
 *  L3  An append either becomes the next record or throws (DiskFull) and leaves the stream as it was.
 */
import type { Random } from './random.ts';

export class DiskFull extends Error {
  override readonly name = 'DiskFull';
}
/** A record that had been synced does not match its checksum. */
export class DamagedLog extends Error {
  override readonly name = 'DamagedLog';
}

interface Entry {
  readonly bytes: Uint8Array;
  /** Its checksum fails: torn by a power loss, flipped, or never written although later ones were. */
  bad?: boolean;
}

interface Stream {
  records: (Entry | undefined)[];
  /** In the kernel: survives the process. Behind `records.length` only while {@link FaultyLog.lazy}. */
  written: number;
  synced: number;
}

export interface PowerLoss {
  /** Records that are gone. */
  lost: number;
  /** Streams in which a later record reached the platter and an earlier one did not. */
  reordered: number;
  /** Streams whose first bad record was half written. */
  torn: number;
  /** Those that lost records. */
  streams: string[];
}

export class FaultyLog {
  private readonly streams = new Map<string, Stream>();
  full = false;
  /** For a planted bug: appends stay in the process until {@link flush}. */
  lazy = false;

  /** `cut`: called with the length of a stream after records were lost from its end. */
  constructor(private readonly cut: (stream: string, next: number) => void = () => undefined) {}

  private stream(name: string): Stream {
    let s = this.streams.get(name);
    if (!s) this.streams.set(name, (s = { records: [], written: 0, synced: 0 }));
    return s;
  }

  names(): string[] {
    return [...this.streams.keys()];
  }

  /** @throws DiskFull */
  append(name: string, bytes: Uint8Array): number {
    if (this.full) throw new DiskFull('no space is left');
    const s = this.stream(name);
    const lsn = s.records.push({ bytes: bytes.slice() }) - 1;
    if (!this.lazy) s.written = s.records.length;
    return lsn;
  }

  next(name: string): number {
    return this.stream(name).records.length;
  }

  /** Records that are durable: those below. */
  syncedTo(name: string): number {
    return this.stream(name).synced;
  }

  /** Bytes of records that are not trimmed, of one stream. */
  bytes(name: string): number {
    return this.stream(name).records.reduce((n, r) => n + (r?.bytes.length ?? 0), 0);
  }

  remove(name: string): void {
    this.streams.delete(name);
  }

  /** @throws DamagedLog */
  read(name: string, lsn: number): Uint8Array | undefined {
    const entry = this.stream(name).records[lsn];
    if (entry?.bad) throw new DamagedLog(`record ${lsn} of ${name} is damaged`);
    return entry?.bytes.slice();
  }

  flush(): void {
    for (const s of this.streams.values()) s.written = s.records.length;
  }

  /** Makes records below `upTo` durable. */
  sync(name: string, upTo: number): void {
    const s = this.stream(name);
    s.written = Math.max(s.written, Math.min(upTo, s.records.length));
    s.synced = Math.max(s.synced, Math.min(upTo, s.records.length));
  }

  trim(name: string, from: number, to: number, keep: ReadonlySet<number> = new Set()): void {
    const s = this.stream(name);
    for (let i = from; i < Math.min(to, s.records.length); i++) if (!keep.has(i)) s.records[i] = undefined;
  }

  /** The process is killed: bytes that had not reached the kernel are gone. */
  killed(): void {
    for (const [name, s] of this.streams) this.shorten(name, s, s.written);
  }

  /**
   * Power loss: of the un-synced records of each stream some reached the platter, in any order, and one may be torn.
   */
  powerLoss(random: Random): PowerLoss {
    const result: PowerLoss = { lost: 0, reordered: 0, torn: 0, streams: [] };
    for (const [name, s] of this.streams) {
      const before = s.records.length;
      if (before === s.synced) continue;
      // writes of one file mostly reach the disk in order; now and then they do not
      const orderly = random.chance(0.5);
      let end = random.between(s.synced, before);
      if (!orderly)
        for (let i = s.synced; i < before; i++)
          if (random.chance(0.4)) {
            end = i;
            if (i < before - 1) result.reordered++;
            break;
          }
      if (end < before && random.chance(0.5)) result.torn++;
      result.lost += before - end;
      if (end < before) result.streams.push(name);
      this.shorten(name, s, end);
    }
    return result;
  }

  /** One bit of one record flips. Returns where, or undefined when there is none. */
  flip(random: Random): { stream: string; lsn: number; synced: boolean } | undefined {
    const names = [...this.streams].filter(([, s]) => s.records.some((r) => r && !r.bad)).map(([n]) => n);
    if (names.length === 0) return undefined;
    const stream = random.pick(names);
    const s = this.stream(stream);
    const whole = s.records.flatMap((r, i) => (r && !r.bad ? [i] : []));
    const lsn = random.pick(whole);
    s.records[lsn] = { ...s.records[lsn]!, bad: true };
    return { stream, lsn, synced: lsn < s.synced };
  }

  /** All records left, in order; an un-synced one that is not whole ends the stream (L2). @throws DamagedLog */
  *scan(name: string): Iterable<{ lsn: number; bytes: Uint8Array }> {
    this.open(name);
    const s = this.stream(name);
    for (let lsn = 0; lsn < s.records.length; lsn++) {
      const entry = s.records[lsn];
      if (entry) yield { lsn, bytes: entry.bytes.slice() };
    }
  }

  /** What opening a stream after a crash does: checks the records and cuts the tail. @throws DamagedLog */
  open(name: string): void {
    const s = this.stream(name);
    const bad = s.records.findIndex((r) => r?.bad);
    if (bad < 0) return;
    if (bad < s.synced) throw new DamagedLog(`record ${bad} of ${name} is damaged`);
    this.shorten(name, s, bad);
  }

  private shorten(name: string, s: Stream, end: number): void {
    if (end >= s.records.length) return;
    s.records.length = end;
    s.written = Math.min(s.written, end);
    this.cut(name, end);
  }
}
