/** Registry: small records by key, ordered; a `commit` is atomic and durable when it resolves. */

/** `undefined` as a value deletes the key. */
export type Change = readonly [key: string, value: unknown];
/** What a key must hold, compared as JSON; `undefined`: the key must be absent. */
export type Expectation = readonly [key: string, value: unknown];

export interface Registry {
  get(key: string): Promise<unknown>;
  /** Entries whose key begins with prefix, in key order. */
  entries(prefix: string): Promise<[string, unknown][]>;
  /**
   * All or nothing. Commits take effect in the order of their calls, and the expectations of each are compared with
   * what the commits before it have left.
   * @throws MayflyError CONFLICT when an expectation does not hold: the message and `detail.key` name the key, and
   * nothing is changed
   */
  commit(changes: readonly Change[], options?: { expect?: readonly Expectation[] }): Promise<void>;
  /**
   * Takes the lease of this name. It has one holder at a time. The record `lease/<name>` keeps its epoch.
   * @param ttlMs the lease is lost so long after it was taken or renewed, 1 to {@link LONGEST_LEASE_MS}. That of a
   * process that died can be taken then, or before when the adapter knows that the process is gone
   * @throws MayflyError CONFLICT when the lease is held: ask again later; BAD_REQUEST
   */
  lease(name: string, ttlMs: number): Promise<Lease>;
  /**
   * Changes of keys that begin with `prefix`, of commits that take effect after this call. To get the existing entries
   * too, call `entries` afterwards: a key that comes twice has its newest value in the end.
   */
  watch(prefix: string): Watch;
  /** Ends watches and leases. */
  close(): Promise<void>;
}

/** A day, in ms. */
export const LONGEST_LEASE_MS = 86_400_000;

export interface Lease {
  readonly name: string;
  /** From 1. Each holder has a greater one than all before, also after restarts. */
  readonly epoch: number;
  /** Aborts when the lease is not held any more: it was closed, its time has passed, or the registry was closed. */
  readonly lost: AbortSignal;
  /**
   * For `commit`: true until the next holder has taken the lease. A holder that was lost without noticing it cannot
   * change anything with a commit that expects this.
   */
  readonly fence: Expectation;
  /** Holds it for another `ttlMs` from now. @throws MayflyError CONFLICT when it is lost */
  renew(): Promise<void>;
  /** Gives the lease up. */
  close(): Promise<void>;
}

/**
 * Each item is the net change since the item before: what one had before it, changed by it, is what some commit left.
 * A reader that keeps up gets an item per commit. For a slow one, commits are joined: each key comes once, with its
 * newest value, and a key that came and went meanwhile does not come. So a watch holds at most the keys that its reader
 * knows and those that are there. Keys come in the order of their newest commits. One reader per watch.
 */
export interface Watch extends AsyncIterable<[key: string, value: unknown][]> {
  /** The reader gets nothing more. Leaving a `for await` loop closes as well. */
  close(): void;
}
