/**
 * What a checkpoint costs, and how far apart checkpoints are at least: whatever interval a job asks for, it spends at
 * most half of the time on them.
 *
 * Owns: the last costs (losable: they are measured again). I1 The smallest of them counts: a server that was away for a
 * minute is no reason to wait for two.
 */
const KEPT = 3;

export class ImageCost {
  readonly #last: number[] = [];

  /** From the beginning of a checkpoint until it is stored, ms. */
  took(ms: number): void {
    this.#last.push(Math.max(0, ms));
    if (this.#last.length > KEPT) this.#last.shift();
  }

  /** ms; 0: none has been measured. */
  get ms(): number {
    return this.#last.length === 0 ? 0 : Math.min(...this.#last);
  }

  /** From the beginning of one checkpoint to that of the next, for a target of `interval` ms. */
  spaced(interval: number): number {
    return Math.max(interval, 2 * this.ms);
  }
}
