/**
 * Messages of teammates that a rank has in its memory and has not received, and whom it holds back. No log has them, so
 * none can be dropped and fetched again.
 *
 * Owns: how much there is, and how much of a held-back sender is let in. Does not own: rings, messages.
 *
 *  H1 A rank that has {@link BacklogLimits.held} takes nothing more from teammates for which it does not wait. Their
 *     rings fill, and their sends wait: MPI lets a send in standard mode wait for the receiver.
 *  H2 It takes what comes from those for which it waits, whatever it has: the message that it needs may lie behind. A
 *     poll waits for everybody.
 *  H3 While it waits in vain and holds somebody back, it takes {@link BacklogLimits.more} now and then. So no program
 *     stops for ever that would go on with more memory; one that sends without end becomes slow.
 *  H4 At {@link BacklogLimits.most} the program ends with an error: the host does that.
 *  H5 Nobody is held back in a replay: what the rank needs next is decided. Nor is the sender of a channel that an
 *     image records: it cannot take its own before its send ends.
 */
import type { TaskId } from '@mayfly/wire';

export interface BacklogLimits {
  /** Bytes. */
  readonly held: number;
  readonly more: number;
  readonly most: number;
  /** H3: between two times, ms. */
  readonly everyMs: number;
}

const MB = 1024 * 1024;
const LIMITS: BacklogLimits = { held: 64 * MB, more: 64 * MB, most: 512 * MB, everyMs: 1000 };

/** What a message takes besides its body, about. */
const MESSAGE_BYTES = 256;

/** A rank waits for one task, for any, or for something that is no message. `all`: it replays. */
export type Awaited = TaskId | 'any' | 'nothing' | 'all';

export class Backlog {
  awaits: Awaited = 'any';
  /** Moved out of the rings. */
  private moved = 0;
  /** At the MPI layer. */
  private kept = 0;
  private allowed: number;
  /** Since when somebody is held back. */
  private since: number | undefined;
  private closed = false;

  /** `bodies`: that were not looked for. */
  constructor(
    private readonly bodies: { readonly bytes: number },
    readonly limits: BacklogLimits = LIMITS,
  ) {
    this.allowed = limits.held;
  }

  get bytes(): number {
    return this.moved + this.kept + this.bodies.bytes;
  }

  /** So many more are moved; −1: one goes on to the MPI layer. */
  moves(messages: number, bytes: number): void {
    this.moved += messages * MESSAGE_BYTES + bytes;
  }

  /** What the MPI layer has. */
  keeps(messages: number, bytes: number): void {
    this.kept = messages * MESSAGE_BYTES + bytes;
  }

  /** H1, H2: nothing more of this teammate is taken now. */
  holds(task: TaskId): boolean {
    const { bytes, awaits, limits } = this;
    if (bytes < limits.held && !this.closed) {
      this.allowed = limits.held;
      return false;
    }
    if (this.closed) return true;
    if (awaits === 'all') return false;
    return bytes >= (awaits === 'any' || awaits === task ? limits.most : Math.min(this.allowed, limits.most));
  }

  /** H4. */
  get full(): boolean {
    return !this.closed && this.awaits !== 'all' && this.bytes >= this.limits.most;
  }

  /** The program is over: nothing is taken any more. */
  close(): void {
    this.closed = true;
  }

  /** H3: the rank looks whether it may go on. `holding`: something lies in the ring of one that is held back. */
  waits(holding: () => boolean, now: () => number): void {
    if (this.bytes < this.limits.held || this.closed || !holding()) {
      this.since = undefined;
      return;
    }
    const time = now();
    this.since ??= time;
    if (time - this.since < this.limits.everyMs) return;
    this.since = undefined;
    this.allowed = this.bytes + this.limits.more;
  }
}
