/**
 * Which line of the page shows which rank: each keeps its line for as long as it is here, whoever comes and goes beside
 * it. Pure.
 */
import type { RankSnapshot } from '@mayfly/node/page';
import { keyOf } from './rates.ts';

export class Seats {
  #seats: (string | undefined)[] = [];

  /** The ranks by line; undefined: nobody sits there. No empty lines at the end. */
  take(ranks: readonly RankSnapshot[]): (RankSnapshot | undefined)[] {
    const here = new Map(ranks.map((r) => [keyOf(r), r]));
    this.#seats = this.#seats.map((key) => (key !== undefined && here.has(key) ? key : undefined));
    for (const key of here.keys()) {
      if (this.#seats.includes(key)) continue;
      const free = this.#seats.indexOf(undefined);
      this.#seats[free < 0 ? this.#seats.length : free] = key;
    }
    this.#seats.length = this.#seats.findLastIndex((key) => key !== undefined) + 1;
    return this.#seats.map((key) => (key === undefined ? undefined : here.get(key)));
  }
}
