/**
 * The messages of one rank to another: one connection, so one at a time and in their order.
 *
 * Owns: what waits behind the message under way, and when the last one arrives.
 */
import type { Agenda } from '../agenda.ts';
import type { Network } from './network.ts';
import type { Route } from './platform.ts';

export class Channel {
  readonly #waiting: { number: number; bytes: number }[] = [];
  /** Sent and not arrived. */
  #open = 0;
  #sends = false;
  #last = 0;
  #emptied: (() => void) | undefined;

  constructor(
    private readonly agenda: Agenda,
    private readonly network: Network,
    private readonly route: Route,
    /** Communication daemons that it passes. */
    private readonly daemon: { readonly latency: number; readonly rate: number } | undefined,
    private readonly arrives: (number: number, bytes: number) => void,
  ) {}

  get empty(): boolean {
    return this.#open === 0;
  }

  whenEmpty(f: () => void): void {
    this.#emptied = f;
  }

  /** What is sent from now on arrives later than `at`: behind a marker. */
  behind(at: number): void {
    this.#last = Math.max(this.#last, at);
  }

  send(number: number, bytes: number): void {
    this.#open++;
    if (this.#sends) this.#waiting.push({ number, bytes });
    else this.#start(number, bytes);
  }

  #start(number: number, bytes: number): void {
    this.#sends = true;
    const { links, own, latency } = this.route;
    this.network.start(
      links,
      bytes,
      () => {
        const through = this.daemon ? this.daemon.latency + bytes / this.daemon.rate : 0;
        const at = Math.max(this.#last, this.agenda.now + latency + through);
        this.#last = at;
        this.agenda.after(at - this.agenda.now, () => this.#arrived(number, bytes));
        const next = this.#waiting.shift();
        this.#sends = false;
        if (next) this.#start(next.number, next.bytes);
      },
      own,
    );
  }

  #arrived(number: number, bytes: number): void {
    this.#open--;
    this.arrives(number, bytes);
    if (this.#open === 0) this.#emptied?.();
  }
}
