/**
 * A simulated connection: ordered, with a random delay each way, broken at any moment. What is under way when it breaks
 * is lost, as TCP loses it; the two sides learn of it at different times, or, half-open, one side does not learn of it
 * for long. While it is held nothing gets through and nothing is lost; while it doubles every message comes twice.
 */
import type { Agenda } from './agenda.ts';
import type { Random } from './random.ts';

export interface LinkEnds<Up, Down> {
  up: (m: Up) => void;
  down: (m: Down) => void;
  upClosed: () => void;
  downClosed: () => void;
}

/** The cores patch frames in place: what is delivered twice are two copies. */
const copy = <T>(m: T): T => (m instanceof Uint8Array ? (m.slice() as T) : m);

export class Link<Up, Down> {
  private open = true;
  private upAt = 0;
  private downAt = 0;
  private heldUntil = 0;
  private doubledUntil = 0;
  private onHeld: (() => void) | undefined;
  private onDoubled: (() => void) | undefined;

  constructor(
    private readonly agenda: Agenda,
    private readonly random: Random,
    private readonly maxDelay: number,
    private readonly ends: LinkEnds<Up, Down>,
  ) {}

  get alive(): boolean {
    return this.open;
  }

  /** Until `until` nothing arrives; `hit` is called when this held a message back. */
  hold(until: number, hit: () => void): void {
    this.heldUntil = Math.max(this.heldUntil, until);
    this.onHeld = hit;
  }

  /** Until `until` every message arrives twice. */
  double(until: number, hit: () => void): void {
    this.doubledUntil = Math.max(this.doubledUntil, until);
    this.onDoubled = hit;
  }

  /** volunteer → server */
  up(m: Up): void {
    if (!this.open) return;
    this.upAt = this.due(this.upAt);
    this.carry(this.upAt, m, this.ends.up);
  }

  /** server → volunteer */
  down(m: Down): void {
    if (!this.open) return;
    this.downAt = this.due(this.downAt);
    this.carry(this.downAt, m, this.ends.down);
  }

  private due(before: number): number {
    const { now } = this.agenda;
    const at = Math.max(before, now + this.random.next() * this.maxDelay);
    if (at >= this.heldUntil) return at;
    this.onHeld?.();
    this.onHeld = undefined;
    return this.heldUntil;
  }

  private carry<T>(at: number, m: T, deliver: (m: T) => void): void {
    const { now } = this.agenda;
    this.agenda.after(at - now, () => this.open && deliver(m));
    if (now >= this.doubledUntil) return;
    const again = copy(m);
    this.agenda.after(at - now, () => {
      if (!this.open) return;
      this.onDoubled?.();
      this.onDoubled = undefined;
      deliver(again);
    });
  }

  /** Breaks it; each side notices after its own delay (undefined: never). */
  break(tellServerAfter: number | undefined, tellVolunteerAfter: number | undefined): void {
    if (!this.open) return;
    this.open = false;
    if (tellServerAfter !== undefined) this.agenda.after(tellServerAfter, this.ends.upClosed);
    if (tellVolunteerAfter !== undefined) this.agenda.after(tellVolunteerAfter, this.ends.downClosed);
  }
}
