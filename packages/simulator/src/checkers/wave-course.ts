/**
 * The course of waves and rollbacks in time.
 *
 *  Q8 One wave at a time. Within one life of the server and one epoch their numbers rise.
 *  Q10 While no wave is under way no message is held back.
 *  Q11 Each wave ends, and so does each rollback. Only a wave after one that took too long may take longer.
 *
 * Owns: the wave and the rollback under way, and since when.
 */
import { Violation } from '../violation.ts';

/** The first wave that takes longer is abandoned; each time the limit doubles. */
const WAVE_MS = 60_000;
/** Its commit may have to wait for space on a disk. */
const COMMIT_MS = 30_000;
/** Losses in the middle of a rollback begin it again, and faults strike for 30 s. */
const ROLLBACK_MS = 90_000;

export class WaveCourse {
  private wave: { readonly number: number; readonly since: number } | undefined;
  private last = 0;
  private waveMs = WAVE_MS;
  private rollingSince: number | undefined;

  constructor(private readonly now: () => number) {}

  serverBegins(): void {
    this.wave = this.rollingSince = undefined;
    this.last = 0;
    this.waveMs = WAVE_MS;
  }

  begins(number: number): void {
    if (this.wave) throw new Violation(`Q8: wave ${number} begins while wave ${this.wave.number} is under way`);
    if (number <= this.last) throw new Violation(`Q8: wave ${number} begins after wave ${this.last}`);
    this.last = number;
    this.wave = { number, since: this.now() };
  }

  ends(number: number): void {
    if (this.wave?.number !== number) return;
    if (this.now() - this.wave.since > this.waveMs) this.waveMs *= 2;
    this.wave = undefined;
  }

  rollsBack(): void {
    this.rollingSince ??= this.now();
  }

  goesOn(): void {
    this.rollingSince = undefined;
  }

  /** Now and then. */
  holdsBack(cm: number, messages: number): void {
    if (!this.wave && messages > 0)
      throw new Violation(`Q10: Channel Memory ${cm} holds ${messages} messages back, and no wave is under way`);
    if (this.wave && this.now() - this.wave.since > this.waveMs + COMMIT_MS)
      throw new Violation(`Q11: wave ${this.wave.number} has not ended after ${this.waveMs + COMMIT_MS} ms`);
    if (this.rollingSince !== undefined && this.now() - this.rollingSince > ROLLBACK_MS)
      throw new Violation(`Q11: a rollback has not ended after ${ROLLBACK_MS} ms`);
  }
}
