/**
 * Simulated time: a queue of things to do, in order of time and, at the same time, of insertion. Owns the clock;
 * nothing in a simulated run reads another one.
 */
interface Item {
  at: number;
  order: number;
  run: () => void;
}

export class Agenda {
  /** Milliseconds since the start of the run. */
  now = 0;
  private order = 0;
  private readonly heap: Item[] = [];

  after(delay: number, run: () => void): void {
    const item = { at: this.now + Math.max(0, delay), order: this.order++, run };
    const h = this.heap;
    let i = h.push(item) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(item, h[parent]!)) break;
      h[i] = h[parent]!;
      i = parent;
    }
    h[i] = item;
  }

  /** Does the next thing; false when nothing is left. */
  step(): boolean {
    const h = this.heap;
    const top = h[0];
    if (!top) return false;
    const last = h.pop()!;
    if (h.length > 0) {
      let i = 0;
      for (;;) {
        let child = 2 * i + 1;
        if (child >= h.length) break;
        if (child + 1 < h.length && before(h[child + 1]!, h[child]!)) child++;
        if (!before(h[child]!, last)) break;
        h[i] = h[child]!;
        i = child;
      }
      h[i] = last;
    }
    this.now = top.at;
    top.run();
    return true;
  }
}

const before = (a: Item, b: Item): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
