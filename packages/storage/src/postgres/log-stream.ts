/**
 * One stream of the message log over PostgreSQL.
 *
 * Owns: its chunks, which of them are stored, which records may go; its write-ahead files.
 *
 *  L1  Records are stored in the order of their numbers, whole chunks at a time; a chunk never changes once it is being
 *      stored.
 *  L2  After a flush that failed the stream takes nothing more: whether it took effect may be unknown. Opening the
 *      stream again tells (`log_stream.opening`, message-log.ts).
 *  L3  A row is deleted when all its records were trimmed, and what was appended before the trim is stored.
 *  L4  A record is in the write-ahead files, if the stream has such, before `append` returns.
 */
import { MayflyError } from '@mayfly/wire';
import { Intervals } from '../embedded/intervals.ts';
import { damaged } from '../embedded/segment.ts';
import type { LogStream, Lsn } from '../ports/index.ts';
import { CHUNK_BYTES, ChunkBuilder, MAX_RECORD_BYTES, RECORD_HEAD, recordAt } from './log-chunk.ts';
import type { Held, Scratch } from './scratch.ts';
import type { AheadOfStream } from './write-ahead.ts';

export interface Chunk {
  readonly first: Lsn;
  readonly count: number;
  readonly offsets: ArrayLike<number>;
  readonly held: Held;
  stored: boolean;
}

/** What the stream asks of its log. */
export interface StreamOwner {
  readonly scratch: Scratch;
  /** Resolves when all that the stream has now is stored. */
  flush(stream: PostgresStream): Promise<void>;
  /** Deletes soon what {@link PostgresStream.deletable} names. */
  sweep(stream: PostgresStream): void;
  closed(stream: PostgresStream): void;
}

export interface Loaded {
  id: string;
  opening: string;
  next: Lsn;
  chunks: Chunk[];
  /** Records whose rows were deleted. */
  deleted: Intervals;
}

export class PostgresStream implements LogStream {
  readonly name: string;
  readonly id: string;
  readonly opening: string;
  readonly #owner: StreamOwner;
  /** In order; those that are stored come first. */
  #chunks: Chunk[];
  readonly #gone = new Intervals();
  readonly #deleted: Intervals;
  #doomed: { chunk: Chunk; after: Lsn }[] = [];
  #open: ChunkBuilder | undefined;
  #next: Lsn;
  #synced: Lsn;
  #bytes = 0;
  #failure: MayflyError | undefined;
  #ahead: AheadOfStream | undefined;
  #closed = false;

  constructor(name: string, owner: StreamOwner, { id, opening, next, chunks, deleted }: Loaded) {
    this.name = name;
    this.id = id;
    this.opening = opening;
    this.#owner = owner;
    this.#chunks = chunks;
    this.#deleted = deleted;
    this.#next = this.#synced = next;
    for (const c of chunks) this.#bytes += c.held.length;
  }

  get next(): Lsn {
    return this.#next;
  }
  get synced(): Lsn {
    return this.#synced;
  }
  get bytes(): number {
    return this.#bytes + (this.#open?.used ?? 0);
  }

  /** L4, from now on. */
  writeAhead(to: AheadOfStream): void {
    this.#ahead = to;
  }

  append(...parts: Uint8Array[]): Lsn {
    this.#check();
    let length = 0;
    for (const p of parts) length += p.length;
    if (length > MAX_RECORD_BYTES)
      throw new MayflyError('TOO_LARGE', `a record of ${length} bytes; the longest is ${MAX_RECORD_BYTES}`);
    if (this.#open && this.#open.used + RECORD_HEAD + length > CHUNK_BYTES) this.#seal();
    this.#ahead?.append(this.#next, parts); // L4
    this.#open ??= new ChunkBuilder(this.#next);
    this.#open.add(parts, length);
    return this.#next++;
  }

  #seal(): void {
    const open = this.#open;
    if (!open) return;
    const { first, offsets } = open;
    let held: Held;
    try {
      held = this.#owner.scratch.hold(open.bytes());
    } catch (error) {
      // Its temporary file cannot be written. The records stay where they are.
      throw this.fail(error as MayflyError);
    }
    this.#open = undefined;
    this.#chunks.push({ first, count: offsets.length, offsets: Uint32Array.from(offsets), held, stored: false });
    this.#bytes += held.length;
  }

  read(lsn: Lsn): Uint8Array | undefined {
    if (lsn < 0 || lsn >= this.#next) return undefined;
    const open = this.#open;
    if (open && lsn >= open.first) return this.#record(open.bytes(), open.offsets[lsn - open.first]!, lsn);
    const chunk = this.#chunkOf(lsn);
    return chunk && this.#record(this.#owner.scratch.read(chunk.held), chunk.offsets[lsn - chunk.first]!, lsn);
  }

  #record(bytes: Buffer, offset: number, lsn: Lsn): Uint8Array {
    const record = recordAt(bytes, offset, lsn);
    if (!record) throw damaged(this.name, `record ${lsn} is damaged in memory or in the temporary files`);
    return record;
  }

  #chunkOf(lsn: Lsn): Chunk | undefined {
    let [low, high] = [0, this.#chunks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#chunks[middle]!.first <= lsn) low = middle + 1;
      else high = middle;
    }
    const chunk = this.#chunks[low - 1];
    return chunk && lsn < chunk.first + chunk.count ? chunk : undefined;
  }

  *scan(): Generator<{ lsn: Lsn; bytes: Uint8Array }> {
    const limit = this.#next;
    this.#seal();
    for (const chunk of [...this.#chunks]) {
      if (chunk.first >= limit) continue;
      const bytes = this.#owner.scratch.read(chunk.held);
      for (let i = 0; i < chunk.count && chunk.first + i < limit; i++)
        yield { lsn: chunk.first + i, bytes: this.#record(bytes, chunk.offsets[i]!, chunk.first + i) };
    }
  }

  sync(): Promise<void> {
    try {
      this.#check();
    } catch (error) {
      return Promise.reject(error);
    }
    if (this.#synced === this.#next && this.deletable().length === 0) return Promise.resolve();
    return this.#owner.flush(this);
  }

  /** L1: what is to be stored next, at most about so many bytes. */
  take(most: number): Chunk[] {
    this.#seal();
    const out: Chunk[] = [];
    let bytes = 0;
    // The stored ones come first.
    let from = this.#chunks.length;
    while (from > 0 && !this.#chunks[from - 1]!.stored) from--;
    for (let i = from; i < this.#chunks.length && (out.length === 0 || bytes < most); i++) {
      out.push(this.#chunks[i]!);
      bytes += this.#chunks[i]!.held.length;
    }
    return out;
  }

  stored(chunks: readonly Chunk[]): void {
    for (const chunk of chunks) {
      chunk.stored = true;
      this.#synced = chunk.first + chunk.count;
    }
    try {
      this.#ahead?.stored(this.#synced);
    } catch (error) {
      // Its files cannot be written, or not deleted: the next append says so.
      this.fail(error as MayflyError);
    }
    // Trimmed meanwhile.
    if (chunks.some((c) => this.#gone.covers(c.first, c.first + c.count))) this.#doom();
  }

  trim(from: Lsn, to: Lsn, keep: ReadonlySet<Lsn> = new Set()): void {
    this.#check();
    const end = Math.min(to, this.#next);
    let start = from;
    for (const k of [...keep].filter((k) => k >= from && k < end).sort((a, b) => a - b)) {
      this.#gone.add(start, k);
      start = k + 1;
    }
    this.#gone.add(start, end);
    this.#doom();
    if (this.deletable().length > 0) this.#owner.sweep(this);
  }

  /** Stored chunks whose records were all trimmed. */
  #doom(): void {
    const kept = this.#chunks.filter((chunk) => {
      if (!chunk.stored || !this.#gone.covers(chunk.first, chunk.first + chunk.count)) return true;
      this.#doomed.push({ chunk, after: this.#next });
      this.#bytes -= chunk.held.length;
      this.#owner.scratch.release(chunk.held);
      return false;
    });
    if (kept.length < this.#chunks.length) this.#chunks = kept;
  }

  /** L3. */
  deletable(): Chunk[] {
    return this.#doomed.filter((d) => d.after <= this.#synced).map((d) => d.chunk);
  }

  /** `deleted` as it is once these are deleted. */
  deletedWith(chunks: readonly Chunk[]): Intervals {
    const all = new Intervals();
    for (const [from, to] of this.#deleted.entries()) all.add(from, to);
    for (const { first, count } of chunks) all.add(first, first + count);
    return all;
  }

  forget(chunks: readonly Chunk[]): void {
    const gone = new Set(chunks);
    this.#doomed = this.#doomed.filter((d) => !gone.has(d.chunk));
    for (const { first, count } of chunks) this.#deleted.add(first, first + count);
  }

  get usable(): boolean {
    return !this.#failure && !this.#closed;
  }

  /** L2. */
  fail(error: MayflyError): MayflyError {
    return (this.#failure ??= new MayflyError(error.code, `stream ${this.name} is out of use: ${error.message}`, {
      ...(error.detail as object | undefined),
    }));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      if (!this.#failure) await this.sync();
    } finally {
      await this.#ahead?.close(this.#synced === this.#next).catch(() => undefined);
      this.release();
    }
  }

  /** Closes without a flush. */
  release(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const chunk of this.#chunks) this.#owner.scratch.release(chunk.held);
    this.#owner.closed(this);
  }

  #check(): void {
    if (this.#failure) throw this.#failure;
    if (this.#closed) throw new MayflyError('CONFLICT', `stream ${this.name} is closed`);
  }
}
