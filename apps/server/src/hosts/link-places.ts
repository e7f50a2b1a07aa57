/**
 * Places for sockets of one kind: so many in all, and of one network (serve/address.ts) no more than its share, so that
 * nobody takes the places of everybody else.
 */
import type { ServerLimits } from '../options.ts';

export type LinkLimits = Pick<ServerLimits, 'dataSockets' | 'dataSocketsPerNetwork'>;

export class LinkPlaces {
  readonly #most: number;
  readonly #perNetwork: number;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor({ dataSockets, dataSocketsPerNetwork }: LinkLimits) {
    this.#most = dataSockets;
    this.#perNetwork = dataSocketsPerNetwork;
  }

  /** How many are taken. */
  get taken(): number {
    return this.#all;
  }

  /** Takes a place. @returns gives it back, once; undefined: there is none */
  take(network: string): (() => void) | undefined {
    const here = this.#taken.get(network) ?? 0;
    if (this.#all >= this.#most || here >= this.#perNetwork) return undefined;
    this.#all++;
    this.#taken.set(network, here + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#all--;
      const left = this.#taken.get(network)! - 1;
      if (left > 0) this.#taken.set(network, left);
      else this.#taken.delete(network);
    };
  }
}
