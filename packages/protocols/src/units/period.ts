/**
 * The time between waves: √(2·C·M), where C is what a wave costs and M the mean time between losses of the *job*, since
 * every loss costs every rank (J. W. Young, A first order approximation to the optimum checkpoint interval, 1974). The
 * paper says that "the best value for the checkpoint wave frequency is close to the MTTF" (blocking-vs-nonblocking,
 * section 6); with a wave of a second and a loss each hour that loses half an hour a
 * time, and √(2·C·M) 42 s.
 *
 * A period that the job's owner has chosen is never shorter than what a wave costs: the job computes at least half of
 * the time (ImageCost).
 */
import { ImageCost } from '../images/image-cost.ts';

/** ms */
const LEAST = 1000;
const MOST = 600_000;
/** M while nothing has been lost. */
const FIRST_M = 1_800_000;

export class Period {
  readonly #fixed: number | undefined;
  readonly #costs = new ImageCost();
  #since: number | undefined;
  #losses = 0;
  #cost = LEAST;

  /** @param fixed the job's own setting, ms */
  constructor(fixed: number | undefined) {
    this.#fixed = fixed;
  }

  /** A wave took so long. */
  took(ms: number): void {
    this.#cost = Math.max(1, ms);
    this.#costs.took(ms);
  }

  /** The job's own setting, where it was raised to what a wave costs. */
  get raisedFrom(): { askedMs?: number } {
    return this.#fixed !== undefined && this.#fixed < this.#costs.ms ? { askedMs: Math.round(this.#fixed) } : {};
  }

  lost(): void {
    this.#losses++;
  }

  ms(now: number): number {
    this.#since ??= now;
    if (this.#fixed !== undefined) return Math.max(this.#fixed, this.#costs.ms);
    const ran = now - this.#since;
    const between = this.#losses === 0 ? Math.max(FIRST_M, ran) : ran / this.#losses;
    return Math.min(MOST, Math.max(LEAST, Math.sqrt(2 * this.#cost * between)));
  }
}
