/** The rank's end of a rank memory: it may block. */
import { CONTROL_BYTES, DATA, Doorbell, LINGER, SAFETY_MS, SPACE, W, bellOfRank, open } from './memory.ts';
import { RingReader, RingWriter } from './rings.ts';

/** So often a look is thorough. */
const THOROUGH = 64;
/** After this many waits, a rank for which looking did not pay off tries it again. */
const SPIN_AGAIN = 32;

export class RankSide {
  readonly words: Int32Array;
  readonly up: RingWriter;
  readonly down: RingReader;
  /** Where the comm worker sleeps. */
  readonly comm: Doorbell;
  private readonly bell: Doorbell;
  /**
   * How often it looks for what it waits for before it sleeps; 0: never. What comes soon then costs no wake-up. While
   * that mostly fails, because the other side has no core or takes long, it sleeps at once.
   */
  spin = 0;
  /** So long it sleeps in {@link block} without looking, ms. */
  nap = SAFETY_MS;
  /**
   * How often looking was successful, lately: 0 to 1; and how often it was left out. It begins as a fraction, because
   * an engine that has seen whole numbers here would make its code again with the first other one.
   */
  private luck = 0.75;
  private passed = 0;

  /** `wakeComm` is for a comm side that cannot wait on memory. `bell`: where this side sleeps, if it has teammates. */
  constructor(memory: SharedArrayBuffer, wakeComm?: () => void, bell?: Doorbell) {
    const { words, up, down } = open(memory);
    this.words = words;
    this.bell = bell ?? bellOfRank(words);
    this.comm = new Doorbell(words, W.commBell, W.commAsleep, words[W.wakeByMessage] === 1 ? wakeComm : undefined);
    this.up = new RingWriter(words, CONTROL_BYTES, up, W.upHead, W.upTail, this.comm);
    this.down = new RingReader(words, CONTROL_BYTES + up, down, W.downHead, W.downTail, this.comm);
  }

  /**
   * Blocks until `ready()`; it is asked after every wake-up. `forSpace`: also wakes when a ring that it writes drains.
   * `goesOn`: called when nothing has rung for {@link nap}. `nothing`: what is not ready mostly, and quicker to ask.
   */
  block(ready: () => boolean, forSpace: boolean, goesOn?: () => void, nothing?: () => boolean): void {
    if (this.spin > 0 && this.comes(ready, nothing)) return;
    for (;;) {
      const count = this.bell.count;
      this.bell.mask = forSpace ? DATA | SPACE : DATA;
      if (ready()) break;
      if (this.comm.mask === LINGER) this.comm.wake();
      const how = this.bell.wait(count, this.nap);
      if (ready()) {
        if (how === 'timed-out' && this.bell.count !== count) Atomics.add(this.words, W.lostByRank, 1);
        break;
      }
      if (how === 'timed-out') goesOn?.();
    }
    this.bell.mask = 0;
  }

  private comes(ready: () => boolean, nothing = (): boolean => !ready()): boolean {
    if (this.luck < 0.5 && ++this.passed % SPIN_AGAIN !== 0) return false;
    let came = false;
    for (let i = 0; i < this.spin && !came; i++) came = i % THOROUGH === 0 ? ready() : !nothing();
    this.luck += ((came ? 1 : 0) - this.luck) / 8;
    return came;
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

  /** From the beginning of an image to that of the next, ms; 0: nothing is known. */
  get spacing(): number {
    return Atomics.load(this.words, W.spacing);
  }

  /** Sleeps for `ms` at most, or until `stop()`, which is asked after every wake-up. */
  pause(ms: number, stop: () => boolean, now: () => number): void {
    const end = now() + ms;
    for (;;) {
      const count = this.bell.count;
      const left = end - now();
      if (left <= 0 || stop()) return;
      this.bell.wait(count, Math.min(left, SAFETY_MS));
    }
  }

  /** Sleeps a while, for a rank that has nothing more to do. */
  park(): void {
    this.bell.wait(this.bell.count, 60_000);
  }

  /** Offset of a record of this length in the up ring, blocking in `wait` while it is full. */
  reserve(length: number, wait = (ready: () => boolean): void => this.block(ready, true)): number {
    const at = this.up.reserve(length);
    if (at >= 0) return at;
    this.up.publish();
    wait(() => this.up.hasRoom(length));
    return this.up.reserve(length);
  }

  /** Makes the comm worker look at the status words now; if it does not sleep, it looks before it does. */
  nudge(): void {
    this.comm.wake();
  }

  /** The call of checkpoint.here at which a script takes its last image, 32 bits; 0: any. */
  get lastCall(): number {
    return Atomics.load(this.words, W.lastCall);
  }

  /** One of {@link Ask}'s bits is set, as far as this thread has heard. */
  wanted(bit: number): boolean {
    return (this.words[W.ask]! & bit) !== 0;
  }

  /** Takes one of {@link Ask}'s bits, if it is set. */
  asked(bit: number): boolean {
    return (Atomics.load(this.words, W.ask) & bit) !== 0 && (Atomics.and(this.words, W.ask, ~bit) & bit) !== 0;
  }
}
