/**
 * The two ends of one ring: records are written and read in place. Keeps I1, I2 and I4 (index.ts). Synchronous;
 * rank-side.ts and comm-side.ts do the waiting.
 */
import { HEADER_BYTES, pad8 } from '@mayfly/wire';
import { DATA, LINGER, SPACE, type Doorbell } from './memory.ts';

/** Record kind of the gap before the end of a ring; its u32 at offset 4 is the length of the gap. */
const FILLER = 255;

/** Writes records. Synchronous; each side waits for space itself. */
export class RingWriter {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Longest record that the ring takes. */
  readonly maxRecord: number;
  private head: number;
  private seenTail: number;

  constructor(
    private readonly words: Int32Array,
    base: number,
    private readonly capacity: number,
    private readonly headWord: number,
    private readonly tailWord: number,
    private readonly reader: Doorbell,
  ) {
    this.bytes = new Uint8Array(words.buffer, base, capacity);
    this.view = new DataView(words.buffer, base, capacity);
    this.maxRecord = capacity / 4;
    this.head = Atomics.load(words, headWord) >>> 0;
    this.seenTail = Atomics.load(words, tailWord) >>> 0;
  }

  /** Offset into {@link bytes} where a record of this length may be written, or −1 while there is no room. */
  reserve(length: number): number {
    const n = pad8(length);
    if (n > this.maxRecord) throw new RangeError(`a record of ${length} bytes exceeds a quarter of the ring`);
    const at = this.head & (this.capacity - 1);
    const gap = this.capacity - at < n ? this.capacity - at : 0;
    if (!this.fits(n + gap)) return -1;
    if (gap > 0) {
      this.view.setUint8(at, FILLER);
      this.view.setUint32(at + 4, gap, true);
      this.head = (this.head + gap) >>> 0;
      return 0;
    }
    return at;
  }

  private fits(n: number): boolean {
    if (((this.head - this.seenTail) >>> 0) + n <= this.capacity) return true;
    this.seenTail = Atomics.load(this.words, this.tailWord) >>> 0;
    return ((this.head - this.seenTail) >>> 0) + n <= this.capacity;
  }

  /** True when a record of this length has room now. */
  hasRoom(length: number): boolean {
    const n = pad8(length);
    const at = this.head & (this.capacity - 1);
    return this.fits(this.capacity - at < n ? n + this.capacity - at : n);
  }

  /** The record reserved last is written. */
  commit(length: number): void {
    this.head = (this.head + pad8(length)) >>> 0;
  }

  /** Makes all committed records visible to a reader that looks, and lets one sleep that sleeps. */
  show(): void {
    Atomics.store(this.words, this.headWord, this.head | 0);
  }

  /** Makes all committed records visible and wakes the reader. True: it slept. */
  publish(): boolean {
    this.show();
    return (this.reader.mask & (DATA | LINGER)) !== 0 && this.reader.wake();
  }

  /** The reader has not released half of it. */
  get crowded(): boolean {
    const half = this.capacity / 2;
    return (this.head - this.seenTail) >>> 0 >= half && this.used >= half;
  }

  /** Bytes that the reader has not released. */
  get used(): number {
    this.seenTail = Atomics.load(this.words, this.tailWord) >>> 0;
    return (this.head - this.seenTail) >>> 0;
  }
}

/** Reads records in place. */
export class RingReader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  private tail: number;
  private seenHead: number;
  private current = 0;

  constructor(
    private readonly words: Int32Array,
    base: number,
    private readonly capacity: number,
    private readonly headWord: number,
    private readonly tailWord: number,
    private readonly writer: Doorbell,
  ) {
    this.bytes = new Uint8Array(words.buffer, base, capacity);
    this.view = new DataView(words.buffer, base, capacity);
    this.tail = Atomics.load(words, tailWord) >>> 0;
    this.seenHead = Atomics.load(words, headWord) >>> 0;
  }

  /** Offset of the next record, or −1. Its length is {@link length}; `take` goes past it. */
  peek(): number {
    for (;;) {
      if (this.tail === this.seenHead) {
        this.seenHead = Atomics.load(this.words, this.headWord) >>> 0;
        if (this.tail === this.seenHead) return -1;
      }
      const at = this.tail & (this.capacity - 1);
      if (this.view.getUint8(at) !== FILLER) {
        const n = HEADER_BYTES + this.view.getUint32(at + 4, true) + this.view.getUint32(at + 60, true);
        // The other side is a rank that may have been taken over by its program: never trust a length.
        if (n > this.capacity / 4 || at + n > this.capacity || pad8(n) > (this.seenHead - this.tail) >>> 0)
          throw new Error('a record runs over its ring');
        this.current = pad8(n);
        return at;
      }
      const gap = this.view.getUint32(at + 4, true);
      if (gap !== this.capacity - at) throw new Error('a filler runs over its ring');
      this.tail = (this.tail + gap) >>> 0;
    }
  }

  /** Length with padding of the record that `peek` found. */
  get length(): number {
    return this.current;
  }

  /** Goes past the record that `peek` found; its bytes stay valid until `release`. */
  take(): void {
    this.tail = (this.tail + this.current) >>> 0;
    this.current = 0;
  }

  /**
   * Gives the bytes of all taken records back to the writer, and wakes it if it waits for space and half the ring is
   * free.
   */
  release(): void {
    if (Atomics.load(this.words, this.tailWord) >>> 0 === this.tail) return;
    Atomics.store(this.words, this.tailWord, this.tail | 0);
    if ((this.writer.mask & SPACE) === 0) return;
    if (((Atomics.load(this.words, this.headWord) - this.tail) >>> 0) * 2 > this.capacity) return;
    this.writer.wake();
  }

  get empty(): boolean {
    return Atomics.load(this.words, this.headWord) >>> 0 === this.tail;
  }

  /** So much lies in it that its writer may wait for room. */
  get crowded(): boolean {
    return ((Atomics.load(this.words, this.headWord) - this.tail) >>> 0) * 2 >= this.capacity;
  }
}
