/**
 * Steps that need not be simulated. Between waves every step of a benchmark is like the one before, or a few take
 * turns. When all ranks have needed nearly the same time for each of the last steps, the run leaves out as many as fit
 * before the next wave is due: it has fewer steps to do, and its clock is ahead by their mean time.
 *
 * Owns: how many steps there are to do, how long the last ones took, the offset of the clock.
 *
 *  S1 Nothing is left out while a wave is under way or an image travels, nor in the first steps after it.
 *  S2 The steps that some rank has begun, and {@link AHEAD} more, stay.
 */

/** How alike the times of two steps have to be; the mean of those that take turns is much nearer. */
const ALIKE = 0.01;
/** Steps in a row that have to be alike. */
const ENOUGH = 4;
/** Steps that stay before the next wave, or the end. */
const AHEAD = 3;

/** How long ranks took to come from the step before to this one. */
interface Times {
  ranks: number;
  sum: number;
  least: number;
  most: number;
}

export class Steady {
  /** ms that the job's clock is ahead of the agenda. */
  offset = 0;
  /** Messages of the steps that were left out. */
  messages = 0;
  #steps: number;
  #first = 0;
  readonly #count: number[];
  readonly #began: number[];
  /** By step; complete ones go. */
  readonly #times = new Map<number, Times>();
  /** ms of the step before, and mean ms of a step since steps have been alike. */
  #before = 0;
  #mean = 0;
  #alike = 0;

  constructor(
    private readonly ranks: number,
    steps: number,
    private readonly perStep: number,
  ) {
    this.#steps = steps;
    this.#count = new Array<number>(ranks).fill(0);
    this.#began = new Array<number>(ranks).fill(0);
  }

  /** S1: something has happened that makes steps different. */
  disturbed(): void {
    this.#alike = 0;
  }

  /** A rank begins a step. False: there is none left. */
  begins(rank: number, now: number): boolean {
    if (this.#count[rank]! >= this.#steps) return false;
    const step = ++this.#count[rank]!;
    this.#first = Math.max(this.#first, step);
    const took = now - this.#began[rank]!;
    this.#began[rank] = now;
    const t = this.#times.get(step) ?? { ranks: 0, sum: 0, least: Infinity, most: 0 };
    this.#times.set(step, t);
    t.ranks++;
    t.sum += took;
    t.least = Math.min(t.least, took);
    t.most = Math.max(t.most, took);
    if (t.ranks < this.ranks) return true;
    this.#times.delete(step);
    const like = (a: number, b: number): boolean => Math.abs(a - b) <= ALIKE * b;
    this.#alike = like(t.least, t.most) && like(t.most, this.#before) ? this.#alike + 1 : 0;
    this.#before = t.most;
    this.#mean = this.#alike === 0 ? 0 : this.#mean + (t.sum / this.ranks - this.#mean) / this.#alike;
    return true;
  }

  /**
   * Leaves out what need not be simulated. True: it did.
   * @param until ms to the next wave
   */
  leavesOut(until: number): boolean {
    if (this.#alike < ENOUGH) return false;
    const fit = Math.floor(until / this.#mean);
    const steps = Math.min(this.#steps - this.#first, fit) - AHEAD;
    if (steps <= 0) return false;
    this.#steps -= steps;
    this.offset += steps * this.#mean;
    this.messages += steps * this.perStep;
    return true;
  }
}
