/**
 * The endpoint of a rank that never runs again: channel numbers and arrival order, and nothing to repeat. Frames carry
 * no block.
 */
import { EMPTY } from '@mayfly/wire';
import { Endpoint, LIVE } from '../pessimistic/endpoint.ts';

export class PlainEndpoint extends Endpoint {
  /** What the rank has consumed is gone from the server's memory. */
  override readonly bodiesStay = false;
  #lastClock = 0;

  override block(): Uint8Array {
    return EMPTY;
  }

  override framed(): void {
    // Nothing was carried.
  }

  override get pending(): number {
    return 0;
  }

  override pollBegin(): number {
    return LIVE;
  }

  override pollEnd(): void {
    // Nobody asks later what a poll saw.
  }

  override clock(read: () => number): number {
    return (this.#lastClock = Math.max(this.#lastClock, read()));
  }

  override place(read: () => string): string {
    return read().slice(0, 16383);
  }
}
