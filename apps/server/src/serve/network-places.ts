/**
 * Places that strangers hold (connections of nodes), and which network has how many. Owns: who holds one. Pure but for
 * `now`.
 *
 *  P1  At most `most` hold a place. While some are free, every network may have them: behind one address there may be
 *      a whole computer room.
 *  P2  When none is free, one that comes takes the place of an idle holder: of a network that has at least two more
 *      than the newcomer's, the one with the most; else that of a holder which offered nothing for a while, if its
 *      network has more than the newcomer's. So no network locks out another.
 *  P3  A holder that works keeps its place.
 */
export interface Holder {
  readonly network: string;
  /** Nothing: it has not said what it offers, or offers no slots. */
  use(): 'nothing' | 'idle' | 'works';
}

/** P2: who comes needs a moment to say what it offers, ms. */
const SETTLES_MS = 5000;

export class NetworkPlaces<T extends Holder> {
  readonly #most: number;
  readonly #now: () => number;
  /** Since when, by holder, in the order in which they came. */
  readonly #holders = new Map<T, number>();
  readonly #networks = new Map<string, number>();

  constructor(most: number, now: () => number = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  get size(): number {
    return this.#holders.size;
  }

  /** False: there is no place for it. Otherwise it has one, and `gives` hears who has to go for it. */
  take(newcomer: T, gives: (holder: T) => void): boolean {
    const victim = this.#holders.size < this.#most ? undefined : this.#victim(newcomer.network);
    if (this.#holders.size >= this.#most && !victim) return false;
    if (victim) {
      this.leave(victim);
      gives(victim);
    }
    this.#holders.set(newcomer, this.#now());
    this.#networks.set(newcomer.network, this.#of(newcomer.network) + 1);
    return true;
  }

  /** Idempotent. */
  leave(holder: T): void {
    if (!this.#holders.delete(holder)) return;
    const left = this.#of(holder.network) - 1;
    if (left > 0) this.#networks.set(holder.network, left);
    else this.#networks.delete(holder.network);
  }

  #of(network: string): number {
    return this.#networks.get(network) ?? 0;
  }

  /** P2, P3. Of those of one network: the one that offers nothing, then the newest. */
  #victim(network: string): T | undefined {
    const own = this.#of(network);
    let best: { holder: T; rank: number } | undefined;
    for (const [holder, since] of this.#holders) {
      const has = this.#of(holder.network);
      const use = has > own ? holder.use() : 'works';
      if (use === 'works') continue;
      const idler = use === 'nothing';
      if (has <= own + 1 && !(idler && this.#now() - since >= SETTLES_MS)) continue;
      const rank = 2 * has + (idler ? 1 : 0);
      if (best === undefined || rank >= best.rank) best = { holder, rank };
    }
    return best?.holder;
  }
}
