/** The comm worker's end of a rank memory: it never blocks, but for {@link CommSide.linger}. */
import { Ask, CONTROL_BYTES, DATA, LINGER, SPACE, W, bellOfRank, open, type Doorbell } from './memory.ts';
import { RingReader, RingWriter } from './rings.ts';

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

export class CommSide {
  readonly words: Int32Array;
  readonly up: RingReader;
  readonly down: RingWriter;
  /** Wake-ups that the engine lost and {@link look} found. */
  lost = 0;
  /** The rank may wait for this side although neither ring shows it: it does not sleep then. */
  wanted: (() => boolean) | undefined;
  private readonly rank: Doorbell;
  private generation = 0;
  /** Value of the bell that the engine's promise waits for; it stays outstanding until the bell rings. */
  private awaited: number | undefined;
  private armed = false;
  private stopped = false;
  private mask = 0;
  private suspicious = false;

  /**
   * `onWake` is called when the rank wrote records, or drained the down ring after {@link sleep}(true). `bell`: where
   * the rank sleeps, if it has teammates.
   */
  constructor(
    memory: SharedArrayBuffer,
    private readonly onWake: () => void,
    private readonly wait: WaitAsync | undefined = waitAsync,
    bell?: Doorbell,
  ) {
    const { words, up, down } = open(memory);
    this.rank = bell ?? bellOfRank(words);
    this.words = words;
    if (!wait) words[W.wakeByMessage] = 1;
    this.up = new RingReader(words, CONTROL_BYTES, up, W.upHead, W.upTail, this.rank);
    this.down = new RingWriter(words, CONTROL_BYTES + up, down, W.downHead, W.downTail, this.rank);
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
    if ((forData && !this.up.empty) || (forSpace && this.down.hasRoom(spaceFor)) || this.wanted?.()) {
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
    if (this.up.empty && this.rank.mask === 0) Atomics.wait(words, W.lingerBell, bell, ms);
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
    this.rank.ring();
  }

  /** …for its last image: soon, or at this call of checkpoint.here. */
  askForLast(atCall: number | undefined): void {
    Atomics.store(this.words, W.lastCall, (atCall ?? 0) | 0);
    this.ask(atCall === undefined ? Ask.CHECKPOINT | Ask.LEAVE : Ask.LEAVE);
  }

  /** …it is not asked for that any more. */
  unask(bits: number): void {
    Atomics.and(this.words, W.ask, ~bits);
  }

  /** The rank hands an image over, or has. */
  get imageUnderWay(): boolean {
    return Atomics.load(this.words, W.imageUnderWay) !== 0;
  }

  /** The image that the rank handed over last is gone from this side: it may take the next. */
  imageDone(): void {
    Atomics.store(this.words, W.imageUnderWay, 0);
    if (Atomics.load(this.words, W.ask) !== 0) this.rank.ring();
  }

  set spacing(ms: number) {
    Atomics.store(this.words, W.spacing, Math.min(ms, 2 ** 31 - 1));
  }

  get lostByRank(): number {
    return Atomics.load(this.words, W.lostByRank);
  }

  close(): void {
    this.stopped = true;
    this.generation++;
  }
}
