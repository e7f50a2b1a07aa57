/**
 * The simulated disk of one Channel Memory: streams of records that survive a killed process, and of which power loss takes
 * any un-synced suffix (per stream, independently: writes reach the platter in no order across files).
 *
 * Invariants: L1 a synced record is never lost. L2 what is left of a stream is a prefix of what was appended.
 */
import type { Random } from './random.ts';

interface Stream {
  first: number;
  records: (Uint8Array | undefined)[];
  synced: number;
}

export class FaultyLog {
  private readonly streams = new Map<string, Stream>();

  private stream(name: string): Stream {
    let s = this.streams.get(name);
    if (!s) this.streams.set(name, (s = { first: 0, records: [], synced: 0 }));
    return s;
  }

  append(name: string, bytes: Uint8Array): number {
    return this.stream(name).records.push(bytes.slice()) - 1;
  }

  next(name: string): number {
    return this.stream(name).records.length;
  }

  read(name: string, lsn: number): Uint8Array | undefined {
    return this.stream(name).records[lsn]?.slice();
  }

  /** Makes records below `upTo` durable. */
  sync(name: string, upTo: number): void {
    const s = this.stream(name);
    s.synced = Math.max(s.synced, Math.min(upTo, s.records.length));
  }

  trim(name: string, from: number, to: number, keep: ReadonlySet<number> = new Set()): void {
    const s = this.stream(name);
    for (let i = from; i < Math.min(to, s.records.length); i++) if (!keep.has(i)) s.records[i] = undefined;
  }

  /** Power loss: of every stream a random part of the un-synced suffix is gone. */
  powerLoss(random: Random): number {
    let lost = 0;
    for (const s of this.streams.values()) {
      const left = random.between(s.synced, s.records.length);
      lost += s.records.length - left;
      s.records.length = left;
    }
    return lost;
  }

  *scan(name: string): Iterable<{ lsn: number; bytes: Uint8Array }> {
    const s = this.streams.get(name);
    if (!s) return;
    for (let lsn = 0; lsn < s.records.length; lsn++) {
      const bytes = s.records[lsn];
      if (bytes) yield { lsn, bytes: bytes.slice() };
    }
  }
}
