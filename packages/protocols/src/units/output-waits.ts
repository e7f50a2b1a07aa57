/**
 * When output that waits asks for a checkpoint: when it has waited for {@link WAITS_MS}, or {@link WAITS_BYTES} of it
 * wait, as far as checkpoints then take no more than one part in {@link SHARE} of the time; at once when a task waits
 * for an answer of the file service, or very much waits.
 */
import type { ServedLog } from '../service/served-log.ts';

/** Output waits about so long, or until there is so much of it. */
const WAITS_MS = 5000;
const WAITS_BYTES = 1 << 20;
/** It waits in memory. */
const MOST_BYTES = 32 << 20;
/** Before a wave that is asked for: at least so long since the last one, and so many times what that one took. */
const APART_MS = 1000;
const SHARE = 20;

export class OutputWaits {
  #since: number | undefined;
  #beganAt = 0;
  /** When the last checkpoint ended, and how long the last one took that was committed. */
  #overAt = -Infinity;
  #tookMs = 0;

  waveBegins(now: number): void {
    this.#beganAt = now;
  }

  waveOver(now: number, committed: boolean): void {
    this.#overAt = now;
    if (committed) this.#tookMs = now - this.#beganAt;
  }

  /** Now and then. */
  wants(now: number, logs: readonly ServedLog[], underWay: boolean): boolean {
    const waits = logs.map((log) => log.core?.unshown() ?? { output: 0, bytes: 0, requests: 0 });
    const sum = (of: 'output' | 'bytes' | 'requests'): number => waits.reduce((n, w) => n + w[of], 0);
    if (sum('output') === 0) {
      this.#since = undefined;
      return false;
    }
    this.#since ??= now;
    if (underWay) return false;
    const bytes = sum('bytes');
    const wanted = now - this.#since >= WAITS_MS || bytes >= WAITS_BYTES;
    return sum('requests') > 0 || bytes >= MOST_BYTES || (this.rested(now) && wanted);
  }

  /** One more checkpoint takes no more than its share of the time. */
  rested(now: number): boolean {
    return now - this.#overAt >= Math.max(APART_MS, SHARE * this.#tookMs);
  }
}
