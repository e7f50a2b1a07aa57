/**
 * Wrong guesses at tokens and at the codes of rooms. What is right always passes, from wherever it comes: behind one
 * address there may be a whole class, and one of them must not be able to lock out the others. So nothing here is asked
 * before a guess has turned out to be wrong.
 *
 *  W1  Of wrong guesses an address gets so many answered as such in a minute, all addresses together EVERYWHERE times
 *      as many; the rest get TOO_MANY.
 *  W2  Bounded memory: at most MOST addresses are counted; the rest counts as one.
 */
import { networkOf } from './address.ts';

const MINUTE = 60_000;
const EVERYWHERE = 100;
const MOST = 100_000;

export class WrongGuesses {
  readonly perMinute: number;
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();
  #began = -Infinity;
  #everywhere = 0;

  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.perMinute = perMinute;
    this.#now = now;
  }

  /** Notes a wrong one. False: there were too many (W1). */
  add(address: string): boolean {
    // A coarse window is enough against guessing: a minute from the first one.
    const now = this.#now();
    if (now - this.#began >= MINUTE) {
      this.#began = now;
      this.#counts.clear();
      this.#everywhere = 0;
    }
    const network = networkOf(address);
    const key = this.#counts.size < MOST || this.#counts.has(network) ? network : '';
    const n = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, n);
    return n <= this.perMinute && ++this.#everywhere <= this.perMinute * EVERYWHERE;
  }
}
