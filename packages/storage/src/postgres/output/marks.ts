/**
 * What of a job's local files the database does not hold as it is now.
 *
 * Owns: for each file, the parts that were written since they were last taken.
 */

/** Bytes of a part of a file. */
export const PART = 64 * 1024;

export interface Change {
  /** All of it is to be replaced, or is gone. */
  whole: boolean;
  parts: Set<number>;
}

export class Marks {
  readonly #files = new Map<string, Change>();

  /** Bytes [from, to) were written. Where they end the file may end now. */
  written(name: string, from: number, to: number): void {
    const { parts } = this.#of(name);
    for (let part = Math.floor(from / PART); part * PART < Math.max(to, from + 1); part++) parts.add(part);
  }

  /** It is another file, or none. */
  replaced(name: string): void {
    this.#of(name).whole = true;
  }

  get empty(): boolean {
    return this.#files.size === 0;
  }

  /** Takes what is marked of some files. */
  take(wanted: (name: string) => boolean): Map<string, Change> {
    const taken = new Map([...this.#files].filter(([name]) => wanted(name)));
    for (const name of taken.keys()) this.#files.delete(name);
    return taken;
  }

  /** It did not get there. */
  putBack(taken: ReadonlyMap<string, Change>): void {
    for (const [name, { whole, parts }] of taken) {
      const now = this.#of(name);
      now.whole ||= whole;
      for (const part of parts) now.parts.add(part);
    }
  }

  #of(name: string): Change {
    let change = this.#files.get(name);
    if (!change) this.#files.set(name, (change = { whole: false, parts: new Set() }));
    return change;
  }
}
