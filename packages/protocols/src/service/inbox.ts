/** Events for one core. The core is never entered while the effects of its last event are being performed. */
export class Inbox<E> {
  #waiting: E[] = [];
  /** Where the next one stands: taking the first of many off an array costs as much as all of them. */
  #head = 0;
  #busy = false;

  /** @param take steps the core and performs the effects */
  constructor(private readonly take: (event: E) => void) {}

  put(event: E): void {
    this.#waiting.push(event);
    if (this.#busy) return;
    this.#busy = true;
    try {
      while (this.#head < this.#waiting.length) {
        const event = this.#waiting[this.#head++]!;
        if (this.#head === this.#waiting.length) this.clear();
        this.take(event);
      }
    } finally {
      this.#busy = false;
    }
  }

  clear(): void {
    this.#waiting = [];
    this.#head = 0;
  }
}

/** …of a part's core. What it throws is a defect, of which the host hears. */
export class CoreInbox<Event extends { readonly type: string }, Effect> extends Inbox<Event> {
  constructor(
    step: (event: Event) => readonly Effect[],
    perform: (effect: Effect) => void,
    defect: (event: string, error: unknown) => void,
  ) {
    super((event) => {
      let effects: readonly Effect[];
      try {
        effects = step(event);
      } catch (error) {
        return defect(event.type, error);
      }
      for (const e of effects) perform(e);
    });
  }
}
