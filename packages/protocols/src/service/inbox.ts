/** Events for one core. The core is never entered while the effects of its last event are being performed. */
export class Inbox<E> {
  #waiting: E[] = [];
  #busy = false;

  /** @param take steps the core and performs the effects */
  constructor(private readonly take: (event: E) => void) {}

  put(event: E): void {
    this.#waiting.push(event);
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let e = this.#waiting.shift(); e !== undefined; e = this.#waiting.shift()) this.take(e);
    } finally {
      this.#busy = false;
    }
  }

  clear(): void {
    this.#waiting = [];
  }
}
