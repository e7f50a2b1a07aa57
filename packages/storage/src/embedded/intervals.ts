/**
 * A set of whole numbers as sorted, disjoint, half-open intervals. Adding costs O(intervals); a lookup O(log
 * intervals).
 */
export class Intervals {
  #from: number[] = [];
  #to: number[] = [];

  get size(): number {
    return this.#from.length;
  }

  /** In order. */
  entries(): [from: number, to: number][] {
    return this.#from.map((from, i) => [from, this.#to[i]!]);
  }

  add(from: number, to: number): void {
    if (to <= from) return;
    let i = 0;
    while (i < this.#from.length && this.#to[i]! < from) i++;
    let j = i;
    while (j < this.#from.length && this.#from[j]! <= to) {
      from = Math.min(from, this.#from[j]!);
      to = Math.max(to, this.#to[j]!);
      j++;
    }
    this.#from.splice(i, j - i, from);
    this.#to.splice(i, j - i, to);
  }

  /** True when every number of [from, to) is in the set. */
  covers(from: number, to: number): boolean {
    if (to <= from) return true;
    const i = this.#find(from);
    return i >= 0 && this.#to[i]! >= to;
  }

  /** How many numbers of [from, to) are in the set. */
  count(from: number, to: number): number {
    let n = 0;
    for (let i = 0; i < this.#from.length; i++)
      n += Math.max(0, Math.min(to, this.#to[i]!) - Math.max(from, this.#from[i]!));
    return n;
  }

  /** Index of the last interval that begins at or below n, or -1. */
  #find(n: number): number {
    let low = 0;
    let high = this.#from.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#from[middle]! <= n) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
