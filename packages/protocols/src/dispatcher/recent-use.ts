/** What each owner used lately (fair-share.ts): slot-time that decays. */
import { decayed } from './fair-share.ts';

/** Less is nothing: a slot for a second. */
const LEAST = 1000;
const MOST = 1000;

export class Shares {
  readonly #halfLifeMs: number;
  /** Observer's time up to which `#recent` counts. */
  #at: number;
  #recent: Map<string, number>;
  /** Slots in use since then. */
  #inUse: ReadonlyMap<string, number> = new Map();
  readonly #startedAt = new Map<string, number>();

  constructor(halfLifeMs: number, time: number, recent: readonly (readonly [string, number])[] = []) {
    this.#halfLifeMs = halfLifeMs;
    this.#at = time;
    this.#recent = new Map(recent);
  }

  recent(owner: string): number {
    return this.#recent.get(owner) ?? 0;
  }

  /** Wall clock; 0: nothing of it has started yet. */
  startedAt(owner: string): number {
    return this.#startedAt.get(owner) ?? 0;
  }

  started(owner: string, now: number): void {
    this.#startedAt.set(owner, Math.max(now, this.startedAt(owner)));
  }

  /** Slots were in use as they were noted last, until now. */
  pass(time: number): void {
    this.#count(time - this.#at, this.#inUse);
    this.#at = time;
  }

  /** Slots in use from now on. Call `pass` before. */
  note(inUse: ReadonlyMap<string, number>): void {
    this.#inUse = new Map(inUse);
  }

  /** So much time passed with nothing in use. */
  fade(ms: number): void {
    this.#count(ms, new Map());
  }

  /** Those with the most. */
  entries(time: number): [string, number][] {
    this.pass(time);
    return [...this.#recent].sort((a, b) => b[1] - a[1]).slice(0, MOST);
  }

  #count(ms: number, inUse: ReadonlyMap<string, number>): void {
    if (ms <= 0) return;
    const after = new Map<string, number>();
    for (const owner of new Set([...this.#recent.keys(), ...inUse.keys()])) {
      const recent = decayed(this.recent(owner), inUse.get(owner) ?? 0, ms, this.#halfLifeMs);
      if (recent >= LEAST || inUse.has(owner)) after.set(owner, recent);
    }
    this.#recent = after;
  }
}
