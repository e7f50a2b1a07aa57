/**
 * What the data directory holds, by kind. Measuring looks at every file of every job, which takes a minute where many
 * are kept: so one measurement serves all who ask meanwhile, and nobody but retention waits for its end.
 *
 * Owns: the last measurement, and the one under way.
 */
import type { StorageUsage } from '@mayfly/storage/ports';
import { clock } from './clock.ts';

/** A measurement serves those who look for so long, ms, and for so many times as long as it took. */
const FRESH_MS = 10_000;
const SHARE = 20;
/** Who looks waits so long for a measurement: a small directory has its sizes at once. */
const PATIENCE_MS = 1000;

export interface StorageSizes extends StorageUsage {
  /** ms since 1970. */
  readonly at: number;
}

export class MeasuredStorage {
  readonly #usage: () => Promise<StorageUsage>;
  #last: { readonly sizes: StorageSizes; readonly ended: number; readonly tookMs: number } | undefined;
  #underWay: Promise<StorageSizes> | undefined;

  constructor(usage: () => Promise<StorageUsage>) {
    this.#usage = usage;
  }

  /** As they are now. @throws MayflyError */
  measure(): Promise<StorageSizes> {
    this.#underWay ??= this.#measure().finally(() => (this.#underWay = undefined));
    return this.#underWay;
  }

  /** As they were measured last. Undefined: the first measurement is under way, or failed. */
  async look(): Promise<StorageSizes | undefined> {
    const last = this.#last;
    if (last && performance.now() - last.ended < Math.max(FRESH_MS, SHARE * last.tookMs)) return last.sizes;
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
    await Promise.race([this.measure().catch(() => undefined), enough]);
    clearTimeout(timer);
    return this.#last?.sizes;
  }

  async #measure(): Promise<StorageSizes> {
    const began = performance.now();
    const sizes = { at: clock(), ...(await this.#usage()) };
    const ended = performance.now();
    this.#last = { sizes, ended, tookMs: ended - began };
    return sizes;
  }
}
