/**
 * Rank memory: the shared memory between one rank and its comm worker: two single-producer single-consumer byte rings,
 * a bell for each side, and the status words which the comm worker reads.
 *
 * Owns: the layout of the SharedArrayBuffer and the protocol of sleeping and waking. Does not own: what the records
 * mean. A record is a frame as on the wire (64-byte header, determinants, body, padded to 8), never split at the end of
 * a ring: where it does not fit a filler goes first. So both sides read and write frames in place.
 *
 * Invariants
 *  I1 `head` and `tail` run freely modulo 2³²; head − tail ≤ capacity; bytes [tail, head) are whole records, written
 *  before `head`.
 *  I2 Only the writer stores `head`, only the reader stores `tail`.
 *  I3 No lost wake-up: a sleeper loads its bell, stores its `asleep` mask, looks once more, and then waits for the bell
 *     to change; the other side stores its position, then takes the mask by exchange and rings. All of it is
 *     sequentially consistent, so either the sleeper sees the new position or the other side sees the mask. (Lost ones
 *     were seen in engines: both sides look again after {@link SAFETY_MS} and count what they find.)
 *  I4 One notify per batch: positions are published by `publish`/`release`, and the exchange in I3 lets only the first
 *  one ring.
 *  I5 A comm side that lingers has LINGER alone in its mask and blocks on a bell of its own; whoever takes the mask
 *     rings that one. It rings too when the rank blocks. Before it stops lingering it stores the mask it had and looks
 *     once more (as in I3).
 */
import { HEADER_BYTES, pad8 } from '@mayfly/wire';

/** Record kind of the gap before the end of a ring; its u32 at offset 4 is the length of the gap. */
const FILLER = 255;
/** How often a sleeper looks again by itself. */
export const SAFETY_MS = 500;

const MAGIC = 0x4d61_7966;
/** Int32 indexes; what different sides write stands on different cache lines. */
const W = {
  magic: 0,
  upCapacity: 1,
  downCapacity: 2,
  /** 1: the comm side cannot wait on memory and is woken by a message. */
  wakeByMessage: 3,
  upHead: 16,
  upTail: 32,
  downHead: 48,
  downTail: 64,
  commBell: 80,
  commAsleep: 96,
  rankBell: 112,
  rankAsleep: 128,
  lostByRank: 144,
  /** Bits of {@link Ask}, set by the comm worker. */
  ask: 160,
  /**
   * 1: an image of the rank is on its way, and its memory buffer belongs to the comm worker; the next one has to wait.
   *  Set by the rank when it hands an image over, cleared by the comm worker.
   */
  imageUnderWay: 161,
  /** Percent of a processor that the volunteer gives; 0 is all of it. Set by the comm worker. */
  share: 162,
  /** Pages (64 KiB) of the program's linear memory, as of its last calls; 0: not known. Set by the rank. */
  memory: 163,
  status: 176,
  lingerBell: 240,
  /** Times by MPI call (status.ts). */
  calls: 256,
  /** Times by place of the program (status-places.ts); up to the end of the control words. */
  places: 528,
} as const;
export const STATUS_WORD = W.status;
export const CALLS_WORD = W.calls;
export const PLACES_WORD = W.places;
export const MEMORY_WORD = W.memory;
const CONTROL_BYTES = 5120;
const DATA = 1;
const SPACE = 2;
const LINGER = 4;

/** What the comm worker asks of a rank between records. */
export const Ask = {
  /** Take an image soon. */
  CHECKPOINT: 1,
  /** After the next image do nothing more: the node leaves, and nothing done from then on would be kept. */
  LEAVE: 2,
} as const;

export const DEFAULT_RING_BYTES = 1024 * 1024;

/** Both capacities must be powers of two. A record may take at most a quarter of its ring. */
export function createRankMemory(upBytes = DEFAULT_RING_BYTES, downBytes = DEFAULT_RING_BYTES): SharedArrayBuffer {
  for (const n of [upBytes, downBytes]) if (n < 4096 || (n & (n - 1)) !== 0) throw new RangeError(`ring capacity ${n}`);
  const memory = new SharedArrayBuffer(CONTROL_BYTES + upBytes + downBytes);
  const words = new Int32Array(memory, 0, CONTROL_BYTES / 4);
  words[W.magic] = MAGIC;
  words[W.upCapacity] = upBytes;
  words[W.downCapacity] = downBytes;
  return memory;
}

/** Takes the mask of a sleeper, and rings for it. False: it does not sleep. */
function wake(words: Int32Array, asleep: number, bell: number, ring: (() => void) | undefined): boolean {
  const mask = Atomics.exchange(words, asleep, 0);
  if (mask === 0) return false;
  if (mask === LINGER) {
    Atomics.add(words, W.lingerBell, 1);
    Atomics.notify(words, W.lingerBell);
    return true;
  }
  Atomics.add(words, bell, 1);
  if (ring) ring();
  else Atomics.notify(words, bell);
  return true;
}

/** Writes records. Synchronous; who waits for space is the side's business. */
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
    private readonly bell: number,
    private readonly asleep: number,
    /** Called instead of a notify where the other side cannot wait on memory. */
    private readonly ring: (() => void) | undefined,
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
    return (
      (Atomics.load(this.words, this.asleep) & (DATA | LINGER)) !== 0 &&
      wake(this.words, this.asleep, this.bell, this.ring)
    );
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
    private readonly bell: number,
    private readonly asleep: number,
    private readonly ring: (() => void) | undefined,
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
    if ((Atomics.load(this.words, this.asleep) & SPACE) === 0) return;
    if (((Atomics.load(this.words, this.headWord) - this.tail) >>> 0) * 2 > this.capacity) return;
    wake(this.words, this.asleep, this.bell, this.ring);
  }

  get empty(): boolean {
    return Atomics.load(this.words, this.headWord) >>> 0 === this.tail;
  }
}

/** The rank's end: it may block. */
export class RankSide {
  readonly words: Int32Array;
  readonly up: RingWriter;
  readonly down: RingReader;
  private readonly ring: (() => void) | undefined;

  /** `wakeComm` is used where the comm side said that it cannot wait on memory. */
  constructor(memory: SharedArrayBuffer, wakeComm?: () => void) {
    const { words, up, down } = open(memory);
    this.words = words;
    const ring = words[W.wakeByMessage] === 1 ? wakeComm : undefined;
    this.ring = ring;
    this.up = new RingWriter(words, CONTROL_BYTES, up, W.upHead, W.upTail, W.commBell, W.commAsleep, ring);
    this.down = new RingReader(words, CONTROL_BYTES + up, down, W.downHead, W.downTail, W.commBell, W.commAsleep, ring);
  }

  /**
   * Blocks until `ready()`; it is asked after every wake-up. `forSpace`: also wakes when the up ring drains. `goesOn`:
   * called when nothing has rung for {@link SAFETY_MS}.
   */
  block(ready: () => boolean, forSpace: boolean, goesOn?: () => void): void {
    for (;;) {
      const bell = Atomics.load(this.words, W.rankBell);
      Atomics.store(this.words, W.rankAsleep, forSpace ? DATA | SPACE : DATA);
      if (ready()) break;
      if (Atomics.load(this.words, W.commAsleep) === LINGER) wake(this.words, W.commAsleep, W.commBell, undefined);
      const how = Atomics.wait(this.words, W.rankBell, bell, SAFETY_MS);
      if (ready()) {
        if (how === 'timed-out' && Atomics.load(this.words, W.rankBell) !== bell)
          Atomics.add(this.words, W.lostByRank, 1);
        break;
      }
      if (how === 'timed-out') goesOn?.();
    }
    Atomics.store(this.words, W.rankAsleep, 0);
  }

  /** Percent of a processor that this rank may use, 1 to 100. */
  get share(): number {
    return this.words[W.share] || 100;
  }

  get imageUnderWay(): boolean {
    return Atomics.load(this.words, W.imageUnderWay) === 1;
  }

  set imageUnderWay(on: boolean) {
    Atomics.store(this.words, W.imageUnderWay, on ? 1 : 0);
  }

  /** Sleeps for `ms` at most, or until `stop()`, which is asked after every wake-up. */
  pause(ms: number, stop: () => boolean, now: () => number): void {
    const end = now() + ms;
    for (;;) {
      const bell = Atomics.load(this.words, W.rankBell);
      const left = end - now();
      if (left <= 0 || stop()) return;
      Atomics.wait(this.words, W.rankBell, bell, Math.min(left, SAFETY_MS));
    }
  }

  /** Sleeps a while, for a rank that has nothing more to do. */
  park(): void {
    Atomics.wait(this.words, W.rankBell, Atomics.load(this.words, W.rankBell), 60_000);
  }

  /** Offset of a record of this length in the up ring, blocking while it is full. */
  reserve(length: number): number {
    const at = this.up.reserve(length);
    if (at >= 0) return at;
    this.up.publish();
    this.block(() => this.up.hasRoom(length), true);
    return this.up.reserve(length);
  }

  /** Makes the comm worker look at the status words now; if it does not sleep, it looks before it does. */
  nudge(): void {
    wake(this.words, W.commAsleep, W.commBell, this.ring);
  }

  /** Takes one of {@link Ask}'s bits, if it is set. */
  asked(bit: number): boolean {
    return (Atomics.load(this.words, W.ask) & bit) !== 0 && (Atomics.and(this.words, W.ask, ~bit) & bit) !== 0;
  }
}

/** Atomics.waitAsync on an Int32Array, without a timeout. */
export type WaitAsync = (
  words: Int32Array,
  index: number,
  value: number,
) => { async: false; value: unknown } | { async: true; value: Promise<unknown> };
const engineWaitAsync = (Atomics as unknown as { waitAsync?: WaitAsync }).waitAsync;
/** The engine's, if it has one. */
export const waitAsync: WaitAsync | undefined =
  engineWaitAsync && ((w, i, v) => engineWaitAsync.call(Atomics, w, i, v));

/** The comm worker's end: it never blocks, but for {@link linger}. */
export class CommSide {
  readonly words: Int32Array;
  readonly up: RingReader;
  readonly down: RingWriter;
  /** Wake-ups that the engine lost and {@link look} found. */
  lost = 0;
  private generation = 0;
  /** Value of the bell that the engine's promise waits for; it stays outstanding until the bell rings. */
  private awaited: number | undefined;
  private armed = false;
  private stopped = false;
  private mask = 0;
  private suspicious = false;

  /** `onWake` is called when the rank wrote records, or drained the down ring after {@link sleep}(true). */
  constructor(
    memory: SharedArrayBuffer,
    private readonly onWake: () => void,
    private readonly wait: WaitAsync | undefined = waitAsync,
  ) {
    const { words, up, down } = open(memory);
    this.words = words;
    if (!wait) words[W.wakeByMessage] = 1;
    this.up = new RingReader(words, CONTROL_BYTES, up, W.upHead, W.upTail, W.rankBell, W.rankAsleep, undefined);
    this.down = new RingWriter(
      words,
      CONTROL_BYTES + up,
      down,
      W.downHead,
      W.downTail,
      W.rankBell,
      W.rankAsleep,
      undefined,
    );
  }

  /** True when the rank has to wake this side by a message (`woken`). */
  get byMessage(): boolean {
    return this.words[W.wakeByMessage] === 1;
  }

  /**
   * Asks to be woken: by records (unless `forData` is false: back-pressure), and by space. Returns false when something
   * is there already (then nothing is armed).
   */
  sleep(forSpace: boolean, spaceFor = 0, forData = true): boolean {
    const bell = Atomics.load(this.words, W.commBell);
    const mask = (forData ? DATA : 0) | (forSpace ? SPACE : 0);
    Atomics.store(this.words, W.commAsleep, mask);
    if ((forData && !this.up.empty) || (forSpace && this.down.hasRoom(spaceFor))) {
      Atomics.store(this.words, W.commAsleep, 0);
      return false;
    }
    this.armed = true;
    this.mask = mask;
    this.suspicious = false;
    if (!this.wait || mask === 0 || this.awaited === bell) return true;
    const mine = ++this.generation;
    this.awaited = bell;
    const r = this.wait(this.words, W.commBell, bell);
    if (!r.async) queueMicrotask(() => this.woken(mine));
    else void r.value.then(() => this.woken(mine));
    return true;
  }

  /**
   * The rank was woken just now: blocks, for `ms` at most, until it has written or blocks again, and looks at what it
   * wrote. What answers at once is so handed over by one wake-up of this thread, where the engine's promise takes
   * several. True: there was something.
   */
  linger(ms: number): boolean {
    if (!this.armed || this.stopped || this.mask !== DATA) return false;
    const { words } = this;
    const bell = Atomics.load(words, W.lingerBell);
    Atomics.store(words, W.commAsleep, LINGER);
    if (this.up.empty && Atomics.load(words, W.rankAsleep) === 0) Atomics.wait(words, W.lingerBell, bell, ms);
    Atomics.store(words, W.commAsleep, DATA);
    if (this.up.empty) return false;
    this.stir();
    return true;
  }

  get waitsForSpace(): boolean {
    return this.armed && (this.mask & SPACE) !== 0;
  }

  /** The rank's message, or the engine's promise. */
  woken(generation = this.generation): void {
    if (!this.armed || generation !== this.generation || this.stopped) return;
    this.armed = false;
    this.onWake();
  }

  /**
   * The safety tick, called every {@link SAFETY_MS} by the host: what should have woken this side a whole tick ago was
   * lost.
   */
  look(): void {
    if (!this.armed || this.stopped || this.mask === 0) return;
    const rang = Atomics.load(this.words, W.commAsleep) === 0;
    const data = (this.mask & DATA) !== 0 && !this.up.empty;
    if (!rang && !data) this.suspicious = false;
    else if (!this.suspicious) this.suspicious = true;
    else {
      this.lost++;
      this.stir();
    }
  }

  /** Makes this side look at its rings now, whatever it waits for. */
  stir(): void {
    if (!this.armed || this.stopped) return;
    Atomics.store(this.words, W.commAsleep, 0);
    this.armed = false;
    this.onWake();
  }

  set share(percent: number) {
    Atomics.store(this.words, W.share, percent >= 100 ? 0 : Math.max(1, Math.round(percent)));
  }

  /**
   * The rank looks at what it is asked whenever its bell rings, also while it waits for records (I3: the word is set
   * before the bell).
   */
  ask(bits: number): void {
    Atomics.or(this.words, W.ask, bits);
    this.ringRank();
  }

  /** The image that the rank handed over last is gone from this side: it may take the next. */
  imageDone(): void {
    Atomics.store(this.words, W.imageUnderWay, 0);
    if (Atomics.load(this.words, W.ask) !== 0) this.ringRank();
  }

  private ringRank(): void {
    Atomics.add(this.words, W.rankBell, 1);
    Atomics.notify(this.words, W.rankBell);
  }

  get lostByRank(): number {
    return Atomics.load(this.words, W.lostByRank);
  }

  close(): void {
    this.stopped = true;
    this.generation++;
  }
}

function open(memory: SharedArrayBuffer): { words: Int32Array; up: number; down: number } {
  const words = new Int32Array(memory, 0, CONTROL_BYTES / 4);
  if (words[W.magic] !== MAGIC) throw new Error('not a rank memory');
  return { words, up: words[W.upCapacity]!, down: words[W.downCapacity]! };
}
