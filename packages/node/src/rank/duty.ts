/**
 * The share of a processor that a volunteer gives. A rank is synchronous and its thread cannot be slowed from outside,
 * so it rests inside MPI calls: after computing for a while it owes rest, waiting for others counts as rest, and what
 * is then still owed is slept off at the next call. A program that computes for minutes without a call keeps its core
 * for so long; the rest follows.
 *
 * A rest consumes no arrival, sends nothing and reads no clock of the job: it leaves no trace in the program's history.
 */
import type { RankSide } from '../ring/index.ts';
import { RankState, type StatusWriter } from '../status.ts';

/** Rest below this is not worth a sleep. */
const LEAST_MS = 20;
/** One rest lasts no longer, so that a rank that is asked to leave hears it soon. */
const MOST_MS = 500;
/** Rest that a long wait may save up. */
const CREDIT_MS = 1000;
/** A step of the clock that is none of the program's doing. */
const ABSURD_MS = 600_000;

export class DutyCycle {
  /** ms of rest owed; below zero: saved up. */
  private debt = 0;
  /** Since when the rank computes; undefined: it is not measured. */
  private since: number | undefined;

  constructor(
    private readonly side: Pick<RankSide, 'share' | 'pause'>,
    private readonly status: Pick<StatusWriter, 'state'>,
    /** The engine's own clock, ms. */
    private readonly now: () => number,
  ) {}

  /** At the entry of an MPI call: rests when enough is owed. Returns to the state `after`. */
  call(after: () => number): void {
    const { share } = this.side;
    if (share >= 100) {
      this.since = undefined;
      this.debt = 0;
      return;
    }
    const now = this.now();
    if (this.since === undefined) {
      this.since = now;
      return;
    }
    const ran = now - this.since;
    this.since = now;
    if (ran > 0 && ran < ABSURD_MS) this.debt += (ran * (100 - share)) / share;
    if (this.debt < LEAST_MS) return;
    this.status.state(RankState.RESTING);
    this.side.pause(Math.min(this.debt, MOST_MS), () => false, this.now);
    this.rested(now);
    this.status.state(after());
  }

  /** It blocked since `from`: that was rest too. */
  rested(from: number): void {
    if (this.since === undefined) return;
    this.since = this.now();
    const rest = this.since - from;
    if (rest > 0 && rest < ABSURD_MS) this.debt = Math.max(-CREDIT_MS, this.debt - rest);
  }
}
