/**
 * When a server that stands by may take the tables over. Pure: {@link Takeover} sees the lease from time to time and
 * decides; ownership.ts looks and acts.
 *
 * Owns: since when the owner shows no sign of life.
 *
 * Nothing here keeps two owners from writing: every write expects the epoch of its opening, which taking raises (P2 of
 * database.ts). What follows keeps a living owner from losing the tables to an impatient one.
 *
 *  T1  A lease that its owner gave up can be taken at once.
 *  T2  Otherwise the owner must seem dead for `graceMs`, in each look: its session is gone, or its lease has ended by
 *      the clock of the database. A lease that was renewed in between is a sign of life.
 *  T3  A look that failed proves nothing: the owner may be cut off in the same way, and its lease may have ended
 *      meanwhile. The time begins again.
 *  T4  What was seen is what is taken: the database refuses when the lease has changed since.
 */

/** The lease, as one look shows it. */
export interface Sight {
  readonly epoch: string;
  /** As text of the database; another one than before: it was renewed. */
  readonly until: string;
  /** Its owner gave it up. */
  readonly released: boolean;
  /** Its time has passed, by the clock of the database. */
  readonly ended: boolean;
  /** The session that its owner keeps open is gone. */
  readonly alone: boolean;
}

export class Takeover {
  readonly #graceMs: number;
  #dead: { since: number; epoch: string; until: string } | undefined;

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** @param now ms, of a clock that only goes forward. @returns whether this lease may be taken now */
  saw(sight: Sight, now: number): boolean {
    if (sight.released) return true; // T1
    const { epoch, until } = sight;
    if (!sight.ended && !sight.alone) this.#dead = undefined;
    else if (this.#dead?.epoch !== epoch || this.#dead.until !== until) this.#dead = { since: now, epoch, until };
    return this.#dead !== undefined && now - this.#dead.since >= this.#graceMs; // T2
  }

  /** T3. */
  failed(): void {
    this.#dead = undefined;
  }
}
