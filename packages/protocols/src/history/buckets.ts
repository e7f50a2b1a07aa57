/**
 * A history of bounded size: amounts (milliseconds, messages, bytes) by row and kind, in buckets of time. What is young
 * is kept by the unit (a second); what grows old is merged into buckets of 2, 4, 8 … units, so that any length of
 * history fits.
 *
 *  B1  Sums are kept: whatever is merged or resampled, an amount that was added is in exactly one place (whole numbers
 *      exactly, up to 2²⁴ in a cell).
 *  B2  There are never more than `young` + `old` buckets, and never more than `cells` cells of (bucket, row): 4 bytes ×
 *      kinds each. With the defaults and nine kinds that is 9.4 MB, whatever the number of rows and the length of the
 *      history.
 *  B3  Time before `origin` belongs to the first bucket; nothing is ever refused.
 *
 * Intuition: two lists. `#young[i]` is unit `#first + i`; what falls off its front is added to `#old[floor(unit /
 * #width)]`. When that list is full, neighbours are merged and #width doubles. Adding costs O(units that the span
 * touches), merging O(1) per unit in the mean.
 */
export interface BucketOptions {
  rows: number;
  kinds: number;
  /** Start of the first unit, ms. */
  origin: number;
  unitMs?: number;
  /** Buckets of one unit, and merged ones, at most; fewer when there are many rows (B2). */
  young?: number;
  old?: number;
  cells?: number;
}

/** Amounts by column, row, kind: `sums[(column × rows + row) × kinds + kind]`. */
export interface Window {
  from: number;
  widthMs: number;
  columns: number;
  rows: number;
  sums: Float64Array;
}

/** What a history looks like at rest; `cells` in the order of `young`, then `old`, where there is a bucket. */
export interface BucketsRecord {
  rows: number;
  kinds: number;
  origin: number;
  unitMs: number;
  first: number;
  width: number;
  /** Units that have a bucket, from `first` on; then places in `old`. */
  young: number[];
  old: number[];
  length: number;
  cells: Float32Array;
}

type Bucket = Float32Array | undefined;

export class Buckets {
  #rows: number;
  readonly kinds: number;
  readonly origin: number;
  readonly unitMs: number;
  readonly #share: number;
  readonly #most: number;
  readonly #cells: number;
  #mostYoung = 0;
  #mostOld = 0;
  /** Unit of `#young[0]`. */
  #first = 0;
  #young: Bucket[] = [];
  /** Units in a merged bucket: a power of two. */
  #width = 2;
  #old: Bucket[] = [];

  constructor(o: BucketOptions) {
    this.#rows = o.rows;
    this.kinds = o.kinds;
    this.origin = o.origin;
    this.unitMs = o.unitMs ?? 1000;
    const [young, old] = [o.young ?? 600, o.old ?? 1024];
    this.#share = young / (young + old);
    this.#most = young + old;
    this.#cells = o.cells ?? 2 ** 18;
    this.#divide();
  }

  /** B2, for as many rows as there are. */
  #divide(): void {
    const buckets = Math.max(8, Math.min(this.#most, Math.floor(this.#cells / Math.max(1, this.#rows))));
    this.#mostYoung = Math.max(4, Math.floor(buckets * this.#share));
    // Pairs are merged: an even number.
    this.#mostOld = Math.max(4, (buckets - this.#mostYoung) & ~1);
  }

  get rows(): number {
    return this.#rows;
  }
  /** Adds empty rows behind the others. What exceeds the limit then is merged later. */
  grow(rows: number): void {
    if (rows <= this.#rows) return;
    this.#rows = rows;
    const wider = (b: Bucket): Bucket => {
      if (!b) return b;
      const all = new Float32Array(rows * this.kinds);
      all.set(b);
      return all;
    };
    this.#young = this.#young.map(wider);
    this.#old = this.#old.map(wider);
    this.#divide();
  }

  /** End of the newest bucket, ms. */
  get until(): number {
    return this.origin + (this.#first + this.#young.length) * this.unitMs;
  }
  /** Width of the bucket in which this moment lies, ms: finer cannot be seen. */
  resolutionAt(at: number): number {
    return this.#unit(at) >= this.#first ? this.unitMs : this.#width * this.unitMs;
  }
  get buckets(): number {
    return this.#young.length + this.#old.length;
  }

  #unit(at: number): number {
    return Math.max(0, Math.floor((at - this.origin) / this.unitMs));
  }

  /** Spreads a whole number evenly over [from, to); a moment belongs to its bucket. */
  add(row: number, kind: number, from: number, to: number, amount: number): void {
    if (amount === 0 || row < 0 || row >= this.rows || !Number.isFinite(amount)) return;
    const a = Math.max(from, this.origin);
    const b = Math.max(to, a);
    const [u, last] = [this.#unit(a), Math.max(this.#unit(a), Math.ceil((b - this.origin) / this.unitMs) - 1)];
    if (u === last) return this.#put(u, row, kind, amount);
    let given = 0;
    for (let i = u; i <= last; i++) {
      const end = Math.min(b, this.origin + (i + 1) * this.unitMs);
      const upTo = i === last ? amount : Math.round((amount * (end - a)) / (b - a));
      if (upTo !== given) this.#put(i, row, kind, upTo - given);
      given = upTo;
    }
  }

  #put(unit: number, row: number, kind: number, amount: number): void {
    const at = row * this.kinds + kind;
    if (unit >= this.#first) {
      this.#reach(unit);
      if (unit >= this.#first) {
        const b = (this.#young[unit - this.#first] ??= new Float32Array(this.rows * this.kinds));
        b[at]! += amount;
        return;
      }
    }
    const b = (this.#old[this.#slot(unit)] ??= new Float32Array(this.rows * this.kinds));
    b[at]! += amount;
  }

  /** Makes room for this unit among the young. */
  #reach(unit: number): void {
    const over = unit - this.#first + 1 - this.#mostYoung;
    if (over > 0) {
      const leave = this.#young.splice(0, Math.min(over, this.#young.length));
      leave.forEach((b, i) => b && this.#retire(this.#first + i, b));
      this.#first += over;
      // The older side always reaches up to the younger one.
      this.#slot(this.#first - 1);
    }
    while (this.#young.length <= unit - this.#first) this.#young.push(undefined);
  }

  #retire(unit: number, b: Float32Array): void {
    const slot = this.#slot(unit);
    const into = this.#old[slot];
    if (into) for (let i = 0; i < b.length; i++) into[i]! += b[i]!;
    else this.#old[slot] = b;
  }

  /** Place of a unit among the merged buckets, after as many mergers as it needs. */
  #slot(unit: number): number {
    while (Math.floor(unit / this.#width) >= this.#mostOld) {
      const merged: Bucket[] = [];
      for (let i = 0; i < this.#old.length; i += 2) {
        const [a, b] = [this.#old[i], this.#old[i + 1]];
        if (a && b) for (let k = 0; k < a.length; k++) a[k]! += b[k]!;
        merged.push(a ?? b);
      }
      this.#old = merged;
      this.#width *= 2;
    }
    const slot = Math.floor(unit / this.#width);
    while (this.#old.length <= slot) this.#old.push(undefined);
    return slot;
  }

  /**
   * Sums in `columns` columns of `widthMs`. A bucket that lies across a border is divided in proportion (B1 but for
   * rounding of doubles).
   */
  read(from: number, widthMs: number, columns: number, firstRow = 0, lastRow = this.rows - 1): Window {
    const rows = Math.max(0, lastRow - firstRow + 1);
    const sums = new Float64Array(columns * rows * this.kinds);
    const to = from + columns * widthMs;
    const { kinds } = this;
    const spread = (bucket: Float32Array, a: number, b: number): void => {
      if (b <= from || a >= to) return;
      const part = bucket.subarray(firstRow * kinds, (lastRow + 1) * kinds);
      const lastColumn = Math.min(columns - 1, Math.ceil((b - from) / widthMs) - 1);
      for (let c = Math.max(0, Math.floor((a - from) / widthMs)); c <= lastColumn; c++) {
        const share = (Math.min(b, from + (c + 1) * widthMs) - Math.max(a, from + c * widthMs)) / (b - a);
        const at = c * part.length;
        for (let i = 0; i < part.length; i++) if (part[i]! !== 0) sums[at + i]! += part[i]! * share;
      }
    };
    this.#old.forEach((b, i) => {
      if (b)
        spread(
          b,
          this.origin + i * this.#width * this.unitMs,
          this.origin + Math.min((i + 1) * this.#width, this.#first) * this.unitMs,
        );
    });
    this.#young.forEach((b, i) => {
      if (b)
        spread(b, this.origin + (this.#first + i) * this.unitMs, this.origin + (this.#first + i + 1) * this.unitMs);
    });
    return { from, widthMs, columns, rows, sums };
  }

  record(): BucketsRecord {
    const present = (list: Bucket[]): number[] => list.flatMap((b, i) => (b ? [i] : []));
    const [young, old] = [present(this.#young), present(this.#old)];
    const size = this.rows * this.kinds;
    const cells = new Float32Array((young.length + old.length) * size);
    [...young.map((i) => this.#young[i]!), ...old.map((i) => this.#old[i]!)].forEach((b, n) => cells.set(b, n * size));
    return {
      rows: this.rows,
      kinds: this.kinds,
      origin: this.origin,
      unitMs: this.unitMs,
      first: this.#first,
      width: this.#width,
      young,
      old,
      length: this.#young.length,
      cells,
    };
  }

  static of(r: BucketsRecord, more: Partial<BucketOptions> = {}): Buckets {
    const b = new Buckets({ ...more, rows: r.rows, kinds: r.kinds, origin: r.origin, unitMs: r.unitMs });
    const size = r.rows * r.kinds;
    b.#first = r.first;
    b.#width = r.width;
    b.#young = new Array<Bucket>(r.length).fill(undefined);
    r.young.forEach((i, n) => (b.#young[i] = r.cells.slice(n * size, (n + 1) * size)));
    r.old.forEach((i, n) => {
      while (b.#old.length <= i) b.#old.push(undefined);
      b.#old[i] = r.cells.slice((r.young.length + n) * size, (r.young.length + n + 1) * size);
    });
    return b;
  }
}
