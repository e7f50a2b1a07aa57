/**
 * How the time of a node's slots was spent, over the last minutes: amounts by column and kind in a ring of fixed size.
 * Pure.
 *
 *  S1  An amount is added to the columns over which it spreads, in proportion; what lies before the ring's oldest
 *      column is left out.
 *  S2  Columns begin at multiples of WIDTH_MS of the wall clock, so that those of all nodes fit each other. If a clock
 *      is set back by more than the ring holds, the ring starts again.
 *
 * A column to which nothing was added means: unknown. Adding costs O(columns that the span touches), and allocates
 * nothing.
 */
import { SLOT_KINDS } from '@mayfly/wire';

export const WIDTH_MS = 5000;
/** Ten minutes, and the column that is not over. */
export const COLUMNS = 121;
export const KINDS = SLOT_KINDS.length;

export class SlotRing {
  readonly #ms = new Float32Array(COLUMNS * KINDS);
  /** The highest level that was reported in each column, and 0. */
  readonly #levels = new Float32Array(COLUMNS);
  /** The newest column that has a place, counted from the epoch. */
  #newest = -Infinity;

  /** `ms` of slots' time of this kind, spread evenly over [from, to). */
  add(kind: number, from: number, to: number, ms: number): void {
    if (!(ms > 0) || !(to > from)) return;
    const last = Math.ceil(to / WIDTH_MS) - 1;
    this.#reach(last);
    for (let c = Math.max(Math.floor(from / WIDTH_MS), this.#newest - COLUMNS + 1); c <= last; c++) {
      const part = Math.min(to, (c + 1) * WIDTH_MS) - Math.max(from, c * WIDTH_MS);
      this.#ms[(c % COLUMNS) * KINDS + kind]! += (ms * part) / (to - from);
    }
  }

  /** A level that is so high at this moment. */
  level(at: number, n: number): void {
    const c = Math.floor(at / WIDTH_MS);
    this.#reach(c);
    this.#levels[c % COLUMNS] = Math.max(this.#levels[c % COLUMNS]!, n);
  }

  #reach(column: number): void {
    if (this.#has(column)) return;
    if (column < this.#newest || column - this.#newest >= COLUMNS) {
      this.#ms.fill(0);
      this.#levels.fill(0);
    } else
      for (let c = this.#newest + 1; c <= column; c++) {
        this.#ms.fill(0, (c % COLUMNS) * KINDS, (c % COLUMNS) * KINDS + KINDS);
        this.#levels[c % COLUMNS] = 0;
      }
    this.#newest = column;
  }

  #has(column: number): boolean {
    return column <= this.#newest && column > this.#newest - COLUMNS;
  }

  /**
   * The mean number of slots by [column][kind], in hundredths, into `into` from `at` on; `first`: a column counted from
   * the epoch.
   */
  read(first: number, columns: number, into: Uint16Array, at: number): void {
    for (let i = 0; i < columns; i++) {
      const c = first + i;
      const here = this.#has(c);
      for (let k = 0; k < KINDS; k++)
        into[at + i * KINDS + k] = here
          ? Math.min(65_535, Math.round((100 * this.#ms[(c % COLUMNS) * KINDS + k]!) / WIDTH_MS))
          : 0;
    }
  }

  /** The highest level of each column; null: none was reported. */
  levels(first: number, columns: number): (number | null)[] {
    return Array.from({ length: Math.min(columns, COLUMNS) }, (_, i) =>
      this.#has(first + i) ? this.#levels[(first + i) % COLUMNS]! || null : null,
    );
  }
}
