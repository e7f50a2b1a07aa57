/**
 * The determinants of one task that are not durable yet, and who has logged which.
 *
 * D1  Every determinant in [base, end) is kept until it is durable at some Channel Memory; those from `frontier` on are
 *     logged by none that is known of, and travel with every frame.
 * D2  [base, frontier) is covered by segments, each logged by one Channel Memory. A block sent to any CM begins at the
 *     frontier or before it, so an ACK of [first, end) with first ≤ frontier moves the frontier to end.
 */
import { encodeDeterminants, type Determinant } from '@mayfly/wire';

interface Segment {
  from: number;
  to: number;
  cm: number;
}

export class DeterminantStore {
  #base = 0;
  #frontier = 0;
  #entries: Determinant[] = [];
  #segments: Segment[] = [];
  readonly #synced: number[];

  constructor(channelMemories: number) {
    this.#synced = new Array<number>(channelMemories).fill(0);
  }

  /** Everything below `number` is durable: an incarnation's start. */
  begin(number: number): void {
    this.#base = this.#frontier = number;
  }

  /** Everything below is durable. */
  get base(): number {
    return this.#base;
  }

  get end(): number {
    return this.#base + this.#entries.length;
  }

  /** Determinants that no Channel Memory is known to have logged. */
  get unlogged(): number {
    return this.end - this.#frontier;
  }

  /** No determinant waits to be logged. */
  get allLogged(): boolean {
    return this.#frontier === this.end;
  }

  /** Everything logged is durable. */
  get durable(): boolean {
    return this.#base === this.#frontier;
  }

  /** New ones from the rank; what is known already is skipped. @throws RangeError when some are missing in between. */
  add(first: number, entries: readonly Determinant[]): void {
    const skip = this.end - first;
    if (skip < 0) throw new RangeError(`determinants ${this.end} to ${first} never came from the rank`);
    for (let i = skip; i < entries.length; i++) this.#entries.push(entries[i]!);
  }

  /** True when a frame whose own block is [first, first + count) needs no other one. */
  suffices(first: number, count: number): boolean {
    return this.allLogged || (first <= this.#frontier && first + count === this.end);
  }

  /** All that no Channel Memory has logged. */
  block(consumed: number, openPolls: number): Uint8Array {
    return encodeDeterminants({
      first: this.#frontier,
      consumed,
      openPolls,
      entries: this.#entries.slice(this.#frontier - this.#base),
    });
  }

  acknowledged(cm: number, first: number, appended: number, synced: number): void {
    const to = Math.min(appended, this.end);
    if (first <= this.#frontier && to > this.#frontier) {
      this.#segments.push({ from: this.#frontier, to, cm });
      this.#frontier = to;
    }
    this.#synced[cm] = Math.max(this.#synced[cm]!, synced);
    this.#release();
  }

  /** A Channel Memory came back with `held`: what it lost counts as never logged, and everything behind it. */
  returned(cm: number, held: readonly (readonly [number, number])[]): void {
    for (let i = 0; i < this.#segments.length; i++) {
      const g = this.#segments[i]!;
      if (g.cm !== cm) continue;
      const range = held.find(([a, b]) => a <= g.from && g.from < b);
      const to = Math.min(g.to, range?.[1] ?? g.from);
      if (to === g.to) continue;
      this.#frontier = to;
      this.#segments.length = i;
      if (to > g.from) this.#segments.push({ from: g.from, to, cm });
      return;
    }
  }

  #release(): void {
    let to = this.#base;
    while (this.#segments.length > 0) {
      const g = this.#segments[0]!;
      to = Math.max(to, Math.min(g.to, this.#synced[g.cm]!));
      if (to < g.to) {
        g.from = Math.max(g.from, to);
        break;
      }
      this.#segments.shift();
    }
    if (to > this.#base) {
      this.#entries.splice(0, to - this.#base);
      this.#base = to;
    }
  }
}
