/**
 * W9 of the checkpoint scheduler: which waves have all their images at the server (level 2), and which may leave them
 * with the nodes, protected by parity (level 1, `near`). Pure; {@link Waves} owns everything else.
 */
import { isWhole, type WaveRecord } from '../contract/waves.ts';

/** A wave that is kept; undefined: the start of the program. */
type Kept = readonly (WaveRecord | undefined)[];

export class Levels {
  readonly #wholeEvery: number;
  /** The next wave is to be a whole one. */
  #wantsWhole = false;
  /** Near ones since the last whole one. */
  #near = 0;

  constructor(wholeEvery = 1) {
    this.#wholeEvery = wholeEvery;
  }

  /** Somebody waits for a wave: what it releases has to be at the server. */
  ask(): void {
    this.#wantsWhole = true;
  }

  /** The number of the next wave, `next` at least. */
  number(next: number): number {
    const whole = this.#wantsWhole || this.#near + 1 >= this.#wholeEvery;
    let number = next;
    while (isWhole(number, this.#wholeEvery) !== whole) number++;
    return number;
  }

  /** `asked`: somebody waits for one more. */
  committed({ near }: Pick<WaveRecord, 'near'>, asked: boolean): void {
    this.#near = near ? this.#near + 1 : 0;
    if (!near) this.#wantsWhole = asked;
  }

  /** All images of the newest wave are at the server now. */
  madeWhole({ near, ...whole }: WaveRecord): WaveRecord {
    if (near) this.#near = 0;
    return whole;
  }
}

/** Of these waves, oldest first, those that stay: the newest two that are whole, and the newest (W3). */
export function stay<T extends Pick<WaveRecord, 'near'> | undefined>(kept: readonly T[]): T[] {
  const whole = kept.filter((w) => !w?.near).slice(-2);
  return kept.filter((w, i) => whole.includes(w) || i === kept.length - 1);
}

/**
 * Of the waves of the registry, with the start of the program where it is a way back. `alone`: the wave beside which
 * there is none.
 */
export function withStart(waves: readonly WaveRecord[], alone: number | undefined): Kept {
  const whole = waves.filter((w) => !w.near);
  return whole.length < 2 && whole[0]?.wave !== (alone ?? -1) ? [undefined, ...waves] : waves;
}
