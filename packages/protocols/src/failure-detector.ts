/**
 * The failure detector: what silence means. "The dispatcher monitors the participating nodes considering the 'alive'
 * signal; it detects a potential failure when an 'alive' signal is timed out, whatever is the reason: either a node or
 * a network failure (the dispatcher makes no difference between those two error origins)" (MPICH-V §3.1).
 *
 * Owns: the observer's clock, and per node when it was last heard and when its socket closed. Does not own: what
 * follows from it.
 *
 * Invariants
 *  F1 A node that is heard within its limits is never gone. It may be suspect: then it gets nothing new, and keeps what
 *  it has.
 *  F2 A pause of the observer itself (suspended laptop, blocked process), and a clock set back, is not held against any
 *  node.
 *  F3 The verdict depends on the record and the observer's clock only: the same for every one that asks.
 */

/** Monotonic time of the observer, ms; stands still while the observer itself does not run. */
export class ObserverClock {
  /** ms since the start of the observer, without its pauses. */
  time = 0;
  readonly tickMs: number;
  readonly #longest: number;
  #last: number | undefined;

  /**
   * `tickMs`: how often {@link advance} is called at least. A gap of more than max(4 ticks, 2 s) counts as one tick.
   */
  constructor(tickMs: number) {
    this.tickMs = tickMs;
    this.#longest = Math.max(4 * tickMs, 2000);
  }

  /** @param now wall clock, ms. Returns `time`. */
  advance(now: number): number {
    const passed = this.#last === undefined ? 0 : now - this.#last;
    this.#last = now;
    if (passed > this.#longest)
      this.time += this.tickMs; // F2
    else if (passed > 0) this.time += passed;
    return this.time;
  }
}

/** What is known of one node, in the observer's time. */
export interface Presence {
  heard: number;
  /** When its control socket closed; absent while it is open. */
  closed?: number;
  /** It sent a goodbye. */
  left?: boolean;
}

export interface Patience {
  heartbeatMs: number;
  /** After the socket closed. */
  graceMs: number;
  /** Without a word over an open socket. */
  silentMs: number;
}

export type Verdict = 'here' | 'suspect' | 'gone';

/** A socket that is open and silent for so many heartbeats makes its node suspect. */
const SUSPECT_HEARTBEATS = 3;

/**
 * The job's own grace, when it has one, replaces both defaults; silence alone needs at least 2.5 heartbeats to mean
 * anything.
 */
export function patienceOf({ heartbeatMs, graceMs, silentMs }: Patience, jobGraceMs: number | undefined): Patience {
  return {
    heartbeatMs,
    graceMs: jobGraceMs ?? graceMs,
    silentMs: Math.max(jobGraceMs ?? silentMs, 2.5 * heartbeatMs),
  };
}

/** When the node's ranks are lost if nothing more is heard, in the observer's time. */
export function deadline(p: Presence, patience: Patience): number {
  if (p.left) return 0;
  const silent = p.heard + patience.silentMs;
  return p.closed === undefined ? silent : Math.min(p.closed + patience.graceMs, Math.max(silent, p.closed));
}

export function judge(p: Presence, time: number, patience: Patience): Verdict {
  if (p.left) return 'gone';
  if (time >= deadline(p, patience)) return 'gone';
  return p.closed !== undefined || time - p.heard > SUSPECT_HEARTBEATS * patience.heartbeatMs ? 'suspect' : 'here';
}
