/**
 * A simulated connection: ordered, with a random delay each way, broken at any moment. What is under way when it breaks is lost,
 * as TCP loses it; the two sides learn of it at different times, or, half-open, one side does not learn of it for long.
 */
import type { Agenda } from './agenda.ts';
import type { Random } from './random.ts';

export class Link<Up, Down> {
  private open = true;
  private upAt = 0;
  private downAt = 0;

  constructor(
    private readonly agenda: Agenda,
    private readonly random: Random,
    private readonly maxDelay: number,
    private readonly ends: { up: (m: Up) => void; down: (m: Down) => void; upClosed: () => void; downClosed: () => void },
  ) {}

  get alive(): boolean {
    return this.open;
  }

  /** volunteer → server */
  up(m: Up): void {
    if (!this.open) return;
    this.upAt = Math.max(this.upAt, this.agenda.now + this.random.next() * this.maxDelay);
    this.agenda.after(this.upAt - this.agenda.now, () => this.open && this.ends.up(m));
  }

  /** server → volunteer */
  down(m: Down): void {
    if (!this.open) return;
    this.downAt = Math.max(this.downAt, this.agenda.now + this.random.next() * this.maxDelay);
    this.agenda.after(this.downAt - this.agenda.now, () => this.open && this.ends.down(m));
  }

  /** Breaks it; each side is told after its own delay (undefined: never). */
  break(tellServerAfter: number | undefined, tellVolunteerAfter: number | undefined): void {
    if (!this.open) return;
    this.open = false;
    if (tellServerAfter !== undefined) this.agenda.after(tellServerAfter, this.ends.upClosed);
    if (tellVolunteerAfter !== undefined) this.agenda.after(tellVolunteerAfter, this.ends.downClosed);
  }
}
