/** What is counted at the seats of a server until it reports that, and then at the owner. */
import type { SeatMetrics } from '../hosts/memory-seat.ts';
import type { Counted } from './seat-messages.ts';

const NUMBERS = ['dataBytesIn', 'dataMessagesIn', 'dataBytesOut', 'appends', 'appendBytes'] as const;

export class Tally implements SeatMetrics {
  dataBytesIn = 0;
  dataMessagesIn = 0;
  dataBytesOut = 0;
  appends = 0;
  appendBytes = 0;
  #syncs: number[] = [];
  #refused: string[] = [];
  readonly syncSeconds = { observe: (seconds: number): void => void this.#syncs.push(seconds) };

  refused(code: string): void {
    this.#refused.push(code);
  }

  /** All since the last time. */
  take(): Counted {
    const [syncs, refused] = [this.#syncs, this.#refused];
    const counted: Counted = { ...this.#numbers(), syncs, refused };
    for (const name of NUMBERS) this[name] = 0;
    [this.#syncs, this.#refused] = [[], []];
    return counted;
  }

  #numbers(): Omit<Counted, 'syncs' | 'refused'> {
    const { dataBytesIn, dataMessagesIn, dataBytesOut, appends, appendBytes } = this;
    return { dataBytesIn, dataMessagesIn, dataBytesOut, appends, appendBytes };
  }
}

export function addTo(metrics: SeatMetrics, counted: Counted): void {
  for (const name of NUMBERS) metrics[name] += counted[name];
  for (const seconds of counted.syncs) metrics.syncSeconds.observe(seconds);
  for (const code of counted.refused) metrics.refused(code);
}
