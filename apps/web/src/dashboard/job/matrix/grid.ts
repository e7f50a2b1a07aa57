/**
 * The matrix that is shown: cells of bins of ranks, corrected by news. Pure.
 *  G1  News of other bins or of other ranks change nothing.
 */
export interface GridPart {
  src: [number, number];
  dst: [number, number];
  binned: number;
  cells: Iterable<readonly [number, number, number, number]>;
}
export type Metric = 'messages' | 'bytes';

export class Grid {
  readonly src: [number, number];
  readonly dst: [number, number];
  readonly binned: number;
  /** Bins of sources (rows) and of destinations. */
  readonly high: number;
  readonly wide: number;
  readonly #cells: Float64Array;

  constructor(p: GridPart) {
    this.src = p.src;
    this.dst = p.dst;
    this.binned = p.binned;
    this.high = Math.ceil((p.src[1] - p.src[0] + 1) / p.binned);
    this.wide = Math.ceil((p.dst[1] - p.dst[0] + 1) / p.binned);
    this.#cells = new Float64Array(2 * this.high * this.wide);
    this.take(p);
  }

  /** True: something has changed (G1). */
  take(p: GridPart): boolean {
    if (p.binned !== this.binned || p.src.join() !== this.src.join() || p.dst.join() !== this.dst.join()) return false;
    for (const [s, d, messages, bytes] of p.cells) {
      if (s >= this.high || d >= this.wide) continue;
      this.#cells[2 * (s * this.wide + d)] = messages;
      this.#cells[2 * (s * this.wide + d) + 1] = bytes;
    }
    return true;
  }

  at(s: number, d: number): { messages: number; bytes: number } {
    const o = 2 * (s * this.wide + d);
    return { messages: this.#cells[o] ?? 0, bytes: this.#cells[o + 1] ?? 0 };
  }

  /** The greatest value of a cell. */
  most(metric: Metric): number {
    let most = 0;
    for (let i = metric === 'bytes' ? 1 : 0; i < this.#cells.length; i += 2) most = Math.max(most, this.#cells[i]!);
    return most;
  }

  /** Ranks of a bin, first and last. */
  ranks(of: 'src' | 'dst', bin: number): [number, number] {
    const [first, last] = this[of];
    return [first + bin * this.binned, Math.min(last, first + (bin + 1) * this.binned - 1)];
  }

  /** Cells with something in them, the greatest first. */
  list(metric: Metric): { s: number; d: number; messages: number; bytes: number }[] {
    const out: { s: number; d: number; messages: number; bytes: number }[] = [];
    for (let s = 0; s < this.high; s++)
      for (let d = 0; d < this.wide; d++) {
        const v = this.at(s, d);
        if (v.messages > 0 || v.bytes > 0) out.push({ s, d, ...v });
      }
    return out.sort((a, b) => b[metric] - a[metric]);
  }
}

/**
 * Where on the scale from 0 to 1 a value stands, logarithmically: 1 is visibly more than nothing, the greatest is 1.
 */
export const shade = (value: number, most: number): number =>
  value <= 0 || most <= 0 ? 0 : 0.15 + 0.85 * (most <= 1 ? 1 : Math.log(Math.max(1, value)) / Math.log(most));

/** f64 × 4 each. */
export function cellsFrom(bytes: Uint8Array): [number, number, number, number][] {
  const f = new Float64Array(new Uint8Array(bytes).buffer);
  return Array.from({ length: Math.floor(f.length / 4) }, (_, i) => [
    f[4 * i]!,
    f[4 * i + 1]!,
    f[4 * i + 2]!,
    f[4 * i + 3]!,
  ]);
}

export const csvOf = (g: Grid): string =>
  [
    'source,destination,messages,bytes',
    ...g.list('messages').map((c) => `${g.ranks('src', c.s)[0]},${g.ranks('dst', c.d)[0]},${c.messages},${c.bytes}`),
    '',
  ].join('\n');
