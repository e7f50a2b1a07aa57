/**
 * When a server that stands by may take the storage of a server that shares it over. Pure: {@link Takeover} sees the
 * lease from time to time and decides; the adapter of the storage looks and acts (storage/src/postgres/ownership.ts),
 * and so does the simulator (simulator/src/owners).
 *
 * Owns: since when the owner shows no sign of life.
 *
 * Nothing here keeps two owners from writing: every write expects the epoch of its opening, which taking raises. What
 * follows keeps a living owner from losing its storage to an impatient one.
 *
 *  T1  A lease that its owner gave up can be taken at once; by that owner, if it was drained, only after `yieldMs`.
 *  T2  Otherwise the owner must seem dead for `graceMs`, in each look: its session is gone, or its lease has ended by
 *      the clock of the storage. A lease that was renewed in between is a sign of life.
 *  T3  What this server did not see proves nothing: what kept it from looking may have kept the owner from renewing,
 *      too. After a pause, of failed looks or of all of them, the time begins again.
 *  T4  What was seen is what is taken: the storage refuses when the lease has changed since.
 *  T5  The clock of the storage may be set forward, and every lease ends. So the end counts only if the lease was not
 *      renewed for half of its length by the clock of the one that looks.
 */

/** Between two looks, ms. */
export const TAKEOVER_LOOK_MS = 250;
/** T2, ms. */
export const TAKEOVER_GRACE_MS = 1000;

/** The lease, as one look shows it. */
export interface Sight {
  readonly epoch: string;
  /** As text of the storage; another one than before: it was renewed. */
  readonly until: string;
  /** Its owner gave it up. */
  readonly released: boolean;
  /** Its time has passed, by the clock of the storage. */
  readonly ended: boolean;
  /** The session that its owner keeps open is gone. */
  readonly alone: boolean;
}

export interface TakeoverTimes {
  graceMs: number;
  /** Of every server of the storage, ms. */
  leaseMs: number;
  /** So long others may take what was given up, ms. Default 0. */
  yieldMs?: number;
}

export class Takeover {
  readonly #times: TakeoverTimes;
  /** The lease that was seen last, since when it was seen like that, and when that was. */
  #lease: { epoch: string; until: string; since: number; last: number } | undefined;
  #deadSince: number | undefined;
  /** The lease that it gave up itself, as far as it knows (T1). */
  #own: { epoch: string; since: number } | undefined;

  constructor(times: TakeoverTimes) {
    this.#times = times;
  }

  /** @param now ms, of a clock that only goes forward. @returns whether this lease may be taken now */
  saw({ epoch, until, released, ended, alone }: Sight, now: number): boolean {
    const { graceMs, leaseMs, yieldMs = 0 } = this.#times;
    this.#own ??= { epoch, since: now };
    if (released) return epoch !== this.#own.epoch || now - this.#own.since >= yieldMs; // T1
    const before = this.#lease;
    const paused = before !== undefined && now - before.last > 2 * graceMs; // T3
    if (before?.epoch !== epoch || before.until !== until || paused) {
      this.#deadSince = undefined;
      this.#lease = { epoch, until, since: now, last: now };
    } else before.last = now;
    if (!ended && !alone) this.#deadSince = undefined;
    else this.#deadSince ??= now;
    const dead = this.#deadSince !== undefined && now - this.#deadSince >= graceMs; // T2
    return dead && (alone || now - this.#lease!.since >= leaseMs / 2); // T5
  }
}
