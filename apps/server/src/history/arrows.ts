/**
 * A sample of messages as they are logged, for viewers who draw arrows. Exists only while somebody looks.
 *
 * Owns: a ring of the newest RING messages (160 KB); a cap of MOST_PER_SECOND. When more pass, every n-th is kept, n
 * from the second before: so the sample is even, and `oneIn` says how thin it is.
 */
import type { Arrow } from '@mayfly/wire';

const RING = 4096;
const FIELDS = 5;
const MOST_PER_SECOND = 1000;

export class Arrows {
  readonly #ring = new Float64Array(RING * FIELDS);
  /** Messages taken since the beginning: the next goes to `taken % RING`. */
  taken = 0;
  #seen = 0;
  #kept = 0;
  #stride = 1;
  #second = 0;
  #oneIn = 1;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get oneIn(): number {
    return this.#oneIn;
  }

  readonly add = (src: number, dst: number, bytes: number, tag: number): void => {
    const now = this.#now();
    if (now >= this.#second + 1000) this.#turn(now);
    if (this.#seen++ % this.#stride !== 0 || this.#kept >= MOST_PER_SECOND) return;
    this.#kept++;
    const o = (this.taken++ % RING) * FIELDS;
    const r = this.#ring;
    r[o] = now;
    r[o + 1] = src;
    r[o + 2] = dst;
    r[o + 3] = bytes;
    r[o + 4] = tag;
  };

  #turn(now: number): void {
    this.#oneIn = this.#kept === 0 ? 1 : Math.max(1, Math.round(this.#seen / this.#kept));
    this.#stride = Math.max(1, Math.ceil(this.#seen / MOST_PER_SECOND));
    this.#seen = this.#kept = 0;
    this.#second = now;
  }

  /** Those after number `from` with an end in these lanes. */
  since(from: number, first: number, last: number): Arrow[] {
    const out: Arrow[] = [];
    const r = this.#ring;
    for (let n = Math.max(from, this.taken - RING); n < this.taken; n++) {
      const o = (n % RING) * FIELDS;
      const [src, dst] = [this.#ring[o + 1]!, this.#ring[o + 2]!];
      if ((src >= first && src <= last) || (dst >= first && dst <= last))
        out.push([r[o]!, src, dst, r[o + 3]!, r[o + 4]!]);
    }
    return out;
  }
}
