/**
 * One stream of the message log: append-only segment files in a directory of its own.
 *
 * Owns: the segments of the stream, their index, which records are known to be durable, which may go.
 * Durable: the segment files. Losable: index (built by scanning), tail cache, the set of trimmed records (a trimmed
 * segment may come back after a crash, until it is trimmed again).
 *
 * I1  A record is in the kernel before append returns; records of one stream are written in LSN order.
 * I2  Segment n+1, and its directory entry, are never synced explicitly before segment n is: a missing segment was
 *     trimmed, not lost.
 * I3  `synced` never exceeds what an fdatasync that began later than the append of that record has confirmed.
 * I4  A segment is deleted only when every record of it was trimmed, and what was appended before the trim is durable
 *     (but for `trimsUnsynced`).
 * I5  After an error of a write or a sync other than "disk full" nothing is accepted any more: what the kernel still
 *     holds is unknown. The next open of the stream returns what reads back whole, written once more
 *     (stream-recovery.ts), and DAMAGED_LOG if that is less than was synced.
 */
import { ftruncateSync, readFileSync, readSync, unlinkSync, writeSync, fdatasync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MayflyError } from '@mayfly/wire';
import type { LogStream, Lsn } from '../ports/index.ts';
import type { FilePool, PooledFile } from './file-pool.ts';
import { Intervals } from './intervals.ts';
import {
  encodeHead,
  finishRecord,
  HEAD_BYTES,
  MAX_RECORD_BYTES,
  readRecord,
  recordBytes,
  RECORD_HEAD_BYTES,
  scanSegment,
} from './segment-format.ts';
import { syncDirectory } from './durable-file.ts';
import { damaged, drawSalt, segmentName, storageError, type Segment } from './segment.ts';
import type { Recovered } from './stream-recovery.ts';
import { StreamTail } from './stream-tail.ts';
import type { TailCache } from './tail-cache.ts';

const sync = promisify(fdatasync);

export interface StreamHost {
  readonly pool: FilePool;
  readonly cache: TailCache;
  /** Size at which a segment is closed. */
  readonly segmentBytes: number;
  readonly trimsUnsynced: boolean;
  /** Makes the entries of the directory that holds the streams durable. */
  syncRoot(): Promise<void>;
  closed(stream: FileStream): void;
}

export class FileStream implements LogStream {
  readonly name: string;
  readonly directory: string;
  readonly #host: StreamHost;
  readonly #segments: Segment[];
  readonly #tail: StreamTail;
  readonly #gone = new Intervals();
  /** Segments wholly trimmed, which go once everything below `after` is durable (I4). */
  readonly #doomed: { segment: Segment; after: Lsn }[] = [];
  #next: Lsn;
  #synced: Lsn;
  #bytes = 0;
  #directoryDirty = true;
  #rootDirty = true;
  #failure: MayflyError | undefined;
  #closed = false;
  #syncing: Promise<void> | undefined;
  #queued: Promise<void> | undefined;

  constructor(name: string, directory: string, host: StreamHost, recovered: Recovered) {
    this.name = name;
    this.directory = directory;
    this.#host = host;
    this.#segments = recovered.segments;
    this.#next = recovered.next;
    this.#synced = recovered.synced;
    this.#tail = new StreamTail(host.cache);
    for (const s of this.#segments) this.#bytes += s.size;
  }

  get next(): Lsn {
    return this.#next;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Records below are durable (I3). */
  get synced(): Lsn {
    return this.#synced;
  }

  /** For {@link Recovered}: files report their write-back errors here. */
  readonly fileFailed = (error: Error): void => {
    this.#fail(error, 'fdatasync failed');
  };

  append(...parts: Uint8Array[]): Lsn {
    this.#check();
    let length = 0;
    for (const p of parts) length += p.length;
    if (length > MAX_RECORD_BYTES)
      throw new MayflyError('TOO_LARGE', `a record of ${length} bytes; the longest is ${MAX_RECORD_BYTES}`);
    const need = recordBytes(length);
    let active = this.#segments.at(-1);
    if (!active || active.sealed || (active.count > 0 && active.size + need > this.#host.segmentBytes))
      active = this.#roll();
    const block = this.#tail.room(active, need);
    const at = block.used;
    let o = at + RECORD_HEAD_BYTES;
    for (const p of parts) {
      block.bytes.set(p, o);
      o += p.length;
    }
    const lsn = this.#next;
    finishRecord(block.bytes, block.view, at, length, active.salt, lsn, lsn - this.#synced);
    const offset = active.size;
    this.#write(active, block.bytes, at, need);
    block.used = at + need;
    if (active.count === active.offsets!.length) active.offsets = grown(active.offsets!);
    active.offsets![active.count++] = offset;
    this.#next = lsn + 1;
    return lsn;
  }

  /** Writes at the end of the segment, whole or not at all. @throws MayflyError */
  #write(segment: Segment, bytes: Uint8Array, from: number, length: number): void {
    try {
      const fd = this.#host.pool.use(segment.file);
      segment.file.dirty = true;
      for (let done = 0; done < length;) done += writeSync(fd, bytes, from + done, length - done, segment.size + done);
    } catch (error) {
      throw this.#undo(segment, error);
    }
    segment.size += length;
    this.#bytes += length;
  }

  /** After a failed write: takes half-written bytes back. Only a full disk leaves the stream in use (I5). */
  #undo(segment: Segment, error: unknown): MayflyError {
    const reason = storageError(error, `stream ${this.name}: append failed`);
    if (reason.code !== 'DISK_FULL') return this.#fail(error as Error, 'append failed');
    try {
      if (segment.file.fd >= 0) ftruncateSync(segment.file.fd, segment.size);
    } catch (again) {
      return this.#fail(again as Error, 'append failed, and taking it back failed too');
    }
    return reason;
  }

  /** Seals the active segment and begins the next. Neither is synced here: see I2. */
  #roll(): Segment {
    const old = this.#segments.at(-1);
    if (old && !old.sealed) {
      const seal = new Uint8Array(RECORD_HEAD_BYTES);
      finishRecord(seal, new DataView(seal.buffer), 0, 0, old.salt, this.#next, this.#next - this.#synced, true);
      this.#write(old, seal, 0, seal.length);
      old.sealed = true;
      old.offsets = old.offsets!.slice(0, old.count);
    }
    const salt = drawSalt();
    const file = this.#host.pool.file(join(this.directory, segmentName(this.#next, salt)), this.fileFailed);
    const segment: Segment = {
      base: this.#next,
      salt,
      file,
      size: 0,
      count: 0,
      offsets: new Uint32Array(256),
      sealed: false,
    };
    try {
      this.#host.pool.use(file, 'wx+');
      this.#directoryDirty = true;
      this.#write(segment, encodeHead(segment), 0, HEAD_BYTES);
    } catch (error) {
      this.#host.pool.forget(file);
      try {
        unlinkSync(file.path);
      } catch {
        // It was never made, or recovery drops it as an empty twin.
      }
      throw storageError(error, `stream ${this.name}: cannot begin a segment`);
    }
    this.#segments.push(segment);
    return segment;
  }

  read(lsn: Lsn): Uint8Array | undefined {
    if (lsn >= this.#next || lsn < 0) return undefined;
    const segment = this.#segmentOf(lsn);
    if (!segment) return undefined;
    const offsets = this.#indexed(segment);
    const i = lsn - segment.base;
    if (i >= segment.count) return undefined;
    const offset = offsets[i]!;
    const cached = this.#tail.read(segment, offset);
    if (cached) return cached;
    const end =
      i + 1 < segment.count ? offsets[i + 1]! : segment.sealed ? segment.size - RECORD_HEAD_BYTES : segment.size;
    const bytes = new Uint8Array(end - offset);
    const fd = this.#host.pool.use(segment.file);
    for (let done = 0; done < bytes.length;) {
      const n = readSync(fd, bytes, done, bytes.length - done, offset + done);
      if (n === 0) break;
      done += n;
    }
    const head = readRecord(bytes, new DataView(bytes.buffer), 0, segment.salt, lsn);
    if (!head) throw damaged(this.name, `record ${lsn} in ${segment.file.path} is damaged`);
    return bytes.subarray(RECORD_HEAD_BYTES, RECORD_HEAD_BYTES + head.length);
  }

  #segmentOf(lsn: Lsn): Segment | undefined {
    let low = 0;
    let high = this.#segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#segments[middle]!.base <= lsn) low = middle + 1;
      else high = middle;
    }
    return this.#segments[low - 1];
  }

  /** The offsets of a segment, scanning it the first time. @throws MayflyError DAMAGED_LOG when it is damaged */
  #indexed(segment: Segment): Uint32Array {
    if (!segment.offsets) this.#load(segment);
    return segment.offsets!;
  }

  #load(segment: Segment): Uint8Array {
    // By path: reading a file whole needs no descriptor of the pool.
    const file = readFileSync(segment.file.path);
    const bytes = new Uint8Array(file.buffer, file.byteOffset, file.length);
    const scan = scanSegment(bytes, segment);
    const sealed = segment.offsets ? segment.sealed : true;
    const count = segment.offsets ? segment.count : scan.offsets.length;
    if (scan.sealed !== sealed || scan.torn || scan.offsets.length !== count)
      throw damaged(this.name, `record ${scan.next} in ${segment.file.path} is damaged`);
    if (!segment.offsets) {
      segment.offsets = scan.offsets;
      segment.count = count;
      segment.sealed = true;
    }
    return bytes;
  }

  *scan(): Generator<{ lsn: Lsn; bytes: Uint8Array }> {
    const limit = this.#next;
    for (const segment of [...this.#segments]) {
      if (segment.base >= limit || segment.count === 0) continue;
      const bytes = this.#load(segment);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      const n = Math.min(segment.count, limit - segment.base);
      for (let i = 0; i < n; i++) {
        const o = segment.offsets![i]! + RECORD_HEAD_BYTES;
        yield { lsn: segment.base + i, bytes: bytes.subarray(o, o + view.getUint32(o - RECORD_HEAD_BYTES, true)) };
      }
    }
  }

  sync(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#closed) return Promise.reject(this.#closedError());
    if (!this.#syncing) return (this.#syncing = this.#syncNow().finally(() => (this.#syncing = undefined)));
    // One is under way and may have begun before the last append: all callers from now on share the one after it (I3).
    return (this.#queued ??= this.#syncing.then(
      () => this.#startQueued(),
      () => this.#startQueued(),
    ));
  }

  #startQueued(): Promise<void> {
    this.#queued = undefined;
    return this.sync();
  }

  async #syncNow(): Promise<void> {
    const target = this.#next;
    const pinned: PooledFile[] = [];
    try {
      if (this.#rootDirty) {
        await this.#host.syncRoot();
        this.#rootDirty = false;
      }
      // Files in order, and their directory entries before them (I2); those that are about to go too, or a crash could
      // leave a torn
      // one in front of what was synced.
      const dirty = [...this.#doomed.map((d) => d.segment), ...this.#segments]
        .filter((s) => s.file.dirty)
        .sort((a, b) => a.base - b.base);
      for (const { file } of dirty) {
        if (this.#directoryDirty) {
          this.#directoryDirty = false;
          await syncDirectory(this.directory);
        }
        const fd = this.#host.pool.use(file);
        file.pins++;
        pinned.push(file);
        file.dirty = false;
        await sync(fd);
      }
      this.#synced = Math.max(this.#synced, target);
    } catch (error) {
      throw this.#fail(error as Error, 'fdatasync failed');
    } finally {
      for (const file of pinned) file.pins--;
    }
    if (this.#failure) throw this.#failure;
    this.#deleteDoomed();
  }

  trim(from: Lsn, to: Lsn, keep: ReadonlySet<Lsn> = new Set()): void {
    this.#check();
    to = Math.min(to, this.#next);
    let start = from;
    for (const k of [...keep].filter((k) => k >= from && k < to).sort((a, b) => a - b)) {
      this.#gone.add(start, k);
      start = k + 1;
    }
    this.#gone.add(start, to);
    this.#rollIfMostlyGone();
    for (let i = 0; i < this.#segments.length - 1; i++) {
      const segment = this.#segments[i]!;
      // Unscanned: its successor's base is a bound, and what lies between them was trimmed (I2).
      const end = segment.count >= 0 ? segment.base + segment.count : this.#segments[i + 1]!.base;
      if (!this.#gone.covers(segment.base, end)) continue;
      this.#segments.splice(i--, 1);
      this.#doomed.push({ segment, after: this.#next });
      this.#tail.drop(segment);
    }
    this.#deleteDoomed();
  }

  /**
   * A small stream would else keep its first 8 MB for ever: begins a segment early when half of a sizeable one was
   * trimmed.
   */
  #rollIfMostlyGone(): void {
    const active = this.#segments.at(-1);
    if (!active || active.sealed || active.count === 0 || active.size < this.#host.segmentBytes / 8) return;
    if (this.#gone.count(active.base, this.#next) * 2 < active.count) return;
    try {
      this.#roll();
    } catch (error) {
      if (!(error instanceof MayflyError) || error.code !== 'DISK_FULL') throw error;
    }
  }

  #deleteDoomed(): void {
    for (let i = 0; i < this.#doomed.length; i++) {
      const { segment, after } = this.#doomed[i]!;
      if ((after > this.#synced && !this.#host.trimsUnsynced) || segment.file.pins > 0) continue;
      this.#doomed.splice(i--, 1);
      this.#host.pool.forget(segment.file);
      this.#bytes -= segment.size;
      try {
        unlinkSync(segment.file.path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          throw this.#fail(error as Error, 'cannot delete a trimmed segment');
      }
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      if (!this.#failure) await this.sync();
    } finally {
      this.#release();
    }
  }

  /** Closes without a sync and deletes everything. */
  async discard(): Promise<void> {
    await this.#syncing?.catch(() => undefined);
    const segments = [...this.#segments, ...this.#doomed.map((d) => d.segment)];
    this.#release();
    for (const { file } of segments) unlinkSync(file.path);
  }

  #release(): void {
    this.#closed = true;
    for (const { file } of [...this.#segments, ...this.#doomed.map((d) => d.segment)]) this.#host.pool.forget(file);
    this.#tail.clear();
    this.#host.closed(this);
  }

  #check(): void {
    if (this.#failure) throw this.#failure;
    if (this.#closed) throw this.#closedError();
  }

  #closedError(): MayflyError {
    return new MayflyError('CONFLICT', `stream ${this.name} is closed`);
  }

  #fail(error: Error, what: string): MayflyError {
    if (this.#failure) return this.#failure;
    const reason = storageError(error, `stream ${this.name} is out of use, ${what}`);
    return (this.#failure = new MayflyError(
      reason.code,
      `${reason.message}; what was appended from record ${this.#synced} on may not be on the disk`,
      reason.detail,
    ));
  }
}

function grown(offsets: Uint32Array): Uint32Array {
  const larger = new Uint32Array(Math.max(256, offsets.length * 2));
  larger.set(offsets);
  return larger;
}
