/**
 * What makes this page cheap beside the ranks that compute in it: what has not changed keeps its identity, so that it
 * is not rendered again, and a page that nobody sees is brought up to date once a second. Pure but for its timer.
 */
import type { VolunteerEvent } from '@mayfly/node/page';

/** The history with the objects of the one before it: snapshots are copies. The same array when nothing is new. */
export function keptHistory(before: readonly VolunteerEvent[], now: readonly VolunteerEvent[]) {
  const known = new Map(before.map((e) => [keyOf(e), e]));
  const kept = now.map((e) => known.get(keyOf(e)) ?? e);
  return kept.length === before.length && kept.every((e, i) => e === before[i]) ? before : kept;
}

const keyOf = (e: VolunteerEvent): string => `${e.at} ${e.kind} ${e.job} ${e.task} ${e.text}`;

/** Of a page that nobody sees. */
export const HIDDEN_MS = 1000;

/** Says that there is news: at once, or, while the page is hidden and nothing `urgent` came, once in HIDDEN_MS. */
export class Announcer {
  readonly #say: () => void;
  readonly #hidden: () => boolean;
  #saidAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(say: () => void, hidden: () => boolean) {
    this.#say = say;
    this.#hidden = hidden;
  }

  news(now: number, urgent = false): void {
    const rest = this.#hidden() && !urgent ? this.#saidAt + HIDDEN_MS - now : 0;
    if (rest <= 0) this.#now(now);
    else this.#timer ??= setTimeout(() => this.#now(now + rest), rest);
  }

  /** Somebody looks again. */
  seen(now: number): void {
    if (this.#timer !== undefined) this.#now(now);
  }

  #now(now: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saidAt = now;
    this.#say();
  }
}
