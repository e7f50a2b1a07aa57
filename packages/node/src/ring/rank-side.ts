/** The rank's end of a rank memory: it may block. */
import { CONTROL_BYTES, DATA, LINGER, SAFETY_MS, SPACE, W, open, wake } from './memory.ts';
import { RingReader, RingWriter } from './rings.ts';

export class RankSide {
  readonly words: Int32Array;
  readonly up: RingWriter;
  readonly down: RingReader;
  private readonly ring: (() => void) | undefined;

  /** `wakeComm` is for a comm side that cannot wait on memory. */
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

  /** One of {@link Ask}'s bits is set, as far as this thread has heard. */
  wanted(bit: number): boolean {
    return (this.words[W.ask]! & bit) !== 0;
  }

  /** Takes one of {@link Ask}'s bits, if it is set. */
  asked(bit: number): boolean {
    return (Atomics.load(this.words, W.ask) & bit) !== 0 && (Atomics.and(this.words, W.ask, ~bit) & bit) !== 0;
  }
}
