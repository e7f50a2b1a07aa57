/** A clock of leases that goes as the test wants. */
import type { LeaseClock } from '../src/index.ts';

export class ManualClock implements LeaseClock {
  #now = 0;
  readonly #alarms = new Set<{ at: number; ring: () => void }>();

  now(): number {
    return this.#now;
  }
  after(ms: number, ring: () => void): () => void {
    const alarm = { at: this.#now + ms, ring };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }
  pass(ms: number): void {
    this.#now += ms;
    for (const alarm of [...this.#alarms].filter((a) => a.at <= this.#now)) {
      this.#alarms.delete(alarm);
      alarm.ring();
    }
  }
}
