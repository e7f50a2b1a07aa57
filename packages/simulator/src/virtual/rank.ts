/**
 * A rank in virtual time: goes through the acts of its pattern, consumes what its gate pushes, and takes images when it
 * is asked. It is asked at its next MPI call, or while it waits in one, as in production.
 *
 * Owns: where it is in its pattern, the counts of its channels, what it has been asked. Does not own: channels on their
 * way (channel.ts), its gate and the wave (job.ts).
 *
 *  V1 Its cut is what it has sent and consumed at the moment at which its image begins.
 *  V2 It consumes in MPI calls only, and what came first first.
 *  V3 (`pcl`) It marks before it sends again; what it sends between mark and image waits in the production core.
 */
import { taskId, type Cut, type TaskId } from '@mayfly/wire';
import type { Freeze } from '@mayfly/protocols';
import type { Act } from './pattern.ts';

/** A message that waits in {@link Freeze}. */
export interface Sent {
  readonly to: number;
  readonly bytes: number;
  readonly channel: number;
}

export interface RankHost {
  readonly now: number;
  after(ms: number, f: () => void): void;
  transmit(from: number, message: Sent): void;
  /** (`pcl`) It has marked: the counts of its channels go to every gate. */
  marks(rank: Rank, wave: number): void;
  /** Its image has been copied: its cut goes to every gate, and its image to a server. */
  cuts(rank: Rank, wave: number, cut: Cut): void;
  consumed(rank: Rank, arrivals: number): void;
  /** Begins its next step; false: it has done all of them. */
  steps(rank: Rank): boolean;
  ends(rank: Rank): void;
}

export interface RankOptions {
  readonly rank: number;
  readonly acts: readonly Act[];
  /** ms for an operation. */
  readonly perOperation: number;
  /** ms of its processor for a message that it sends. */
  readonly callCost: number;
  /** ms that it stands still while its image is copied. */
  readonly copy: number;
  /** It asks for FLUSHED before its image (`pcl`). */
  readonly freezes: boolean;
  /** It computes again when its image is stored, not when it is copied. */
  readonly untilStored: boolean;
  readonly freeze: Freeze<Sent>;
}

export class Rank {
  readonly sends = new Map<number, number>();
  readonly receives = new Map<number, number>();
  arrivals = 0;
  ended = false;
  /** Its image is being copied, or it waits until it is stored. */
  still = false;
  /** ms that it stood still for images; ms between its marks and its images. */
  stood = 0;
  frozen = 0;
  /** Bytes that it sent between its marks and its images. */
  delayed = 0;
  readonly #inbox: { number: number; from: number }[] = [];
  readonly #used = new Map<number, number>();
  #at = 0;
  /** Of the receive that it waits in. */
  #waits: number | undefined;
  /** Processor time of calls that its next computation pays. */
  #debt = 0;
  #asked = 0;
  #marked = 0;
  #flushed = 0;
  #since = 0;

  constructor(
    readonly o: RankOptions,
    private readonly host: RankHost,
  ) {}

  get task(): TaskId {
    return taskId(this.o.rank);
  }

  get waits(): boolean {
    return this.#waits !== undefined;
  }

  start(): void {
    this.host.steps(this);
    this.#go();
  }

  // ---- what others do to it ----

  pushed(number: number, from: number): void {
    this.#inbox.push({ number, from });
    if (this.#waits !== undefined && !this.still) this.#wake();
  }

  /** WAVE. */
  asked(wave: number): void {
    if (this.ended || this.#asked >= wave) return;
    this.#asked = wave;
    if (this.#waits !== undefined && !this.still) this.#called();
  }

  /** (`pcl`) FLUSHED. */
  flushed(wave: number): void {
    this.#flushed = wave;
    if (this.#waits !== undefined && !this.still) this.#called();
  }

  /** Its image is stored. */
  stored(): void {
    if (this.still && this.o.untilStored) this.#resume();
  }

  // ---- what it does ----

  #go(): void {
    const { acts, perOperation } = this.o;
    for (;;) {
      const act = acts[this.#at];
      if (!act) {
        this.#at = 0;
        if (this.host.steps(this)) continue;
        this.ended = true;
        this.host.ends(this);
        return;
      }
      if (act.kind === 'compute') {
        this.#at++;
        const ms = act.operations * perOperation + this.#debt;
        this.#debt = 0;
        this.host.after(ms, () => this.#go());
        return;
      }
      if (this.#called()) return;
      if (act.kind === 'send') this.#send(act.to, act.bytes);
      else {
        this.#drain();
        const used = this.#used.get(act.from) ?? 0;
        if ((this.receives.get(act.from) ?? 0) <= used) {
          this.#waits = act.from;
          return;
        }
        this.#used.set(act.from, used + 1);
      }
      this.#at++;
    }
  }

  #send(to: number, bytes: number): void {
    const channel = (this.sends.get(to) ?? 0) + 1;
    this.sends.set(to, channel);
    this.#debt += this.o.callCost;
    const message = { to, bytes, channel };
    if (this.o.freeze.holds(message, bytes)) this.delayed += bytes;
    else this.host.transmit(this.o.rank, message);
  }

  /** V2. */
  #drain(): void {
    if (this.#inbox.length === 0) return;
    for (const { number, from } of this.#inbox) {
      this.arrivals = number;
      this.receives.set(from, (this.receives.get(from) ?? 0) + 1);
    }
    this.#inbox.length = 0;
    this.host.consumed(this, this.arrivals);
  }

  /** It waits, and something has come. */
  #wake(): void {
    this.#drain();
    const from = this.#waits!;
    if ((this.receives.get(from) ?? 0) <= (this.#used.get(from) ?? 0)) return;
    this.#waits = undefined;
    this.#go();
  }

  /** In an MPI call. True: its image is being taken, and it goes on later. */
  #called(): boolean {
    const wave = this.#asked;
    if (wave === 0 || this.still) return false;
    if (this.o.freezes && this.#flushed !== wave) {
      if (this.#marked === wave) return false;
      this.#marked = wave;
      this.#since = this.host.now;
      this.o.freeze.mark(wave);
      this.host.marks(this, wave);
      return false;
    }
    this.#image(wave);
    return true;
  }

  #image(wave: number): void {
    this.#drain();
    this.#asked = 0;
    this.still = true;
    const pairs = (counts: ReadonlyMap<number, number>): [TaskId, number][] =>
      [...counts].map(([t, n]) => [taskId(t), n]);
    const cut = { arrivals: this.arrivals, sends: pairs(this.sends), receives: pairs(this.receives), held: [] };
    if (this.o.freezes) this.frozen += this.host.now - this.#since;
    this.#since = this.host.now;
    this.host.after(this.o.copy, () => {
      this.host.cuts(this, wave, cut);
      for (const message of this.o.freeze.thaw()) this.host.transmit(this.o.rank, message);
      if (!this.o.untilStored) this.#resume();
    });
  }

  #resume(): void {
    this.still = false;
    this.stood += this.host.now - this.#since;
    if (this.#waits === undefined) this.#go();
    else this.#wake();
  }
}
