/**
 * Marks of jobs whose folder is being made or removed, so that a crash in between is finished at the next start, and
 * nothing else is ever removed because the registry does not know it.
 *
 * Owns the registry keys `making/<job>` and `removing/<job>`.
 *  Z1  `making` is durable before the first file of a job is written, and goes after the dispatcher has the job
 *      durably. What it names and the dispatcher does not know was never accepted.
 *  Z2  `removing` is durable before the first file or record of an ended job goes, and goes after the last.
 */
import type { ImageStore, MessageLog, Registry } from '@mayfly/storage/ports';
import { jobId, type JobId } from '@mayfly/wire';
import type { Logger } from '../logger.ts';
import type { JobStore } from './job-store.ts';

export class JobMarks {
  readonly #registry: Registry;
  readonly #log: MessageLog;
  readonly #images: ImageStore;
  readonly #store: JobStore;
  readonly #logger: Logger;

  constructor(deps: { registry: Registry; log: MessageLog; images: ImageStore; store: JobStore; logger: Logger }) {
    this.#registry = deps.registry;
    this.#log = deps.log;
    this.#images = deps.images;
    this.#store = deps.store;
    this.#logger = deps.logger;
  }

  /** Makes the folder of a new job (Z1). What fails leaves none. @throws what `make` throws */
  async making<T>(job: JobId, make: () => Promise<T>): Promise<T> {
    await this.#registry.commit([[`making/${job}`, { at: Date.now() }]]);
    try {
      return await make();
    } catch (error) {
      await this.#unmake(job);
      throw error;
    }
  }

  /** Hands the job over to the dispatcher (Z1). @throws what `submit` throws; then there is no such job */
  async made(job: JobId, submit: () => Promise<void>): Promise<void> {
    try {
      await submit();
    } catch (error) {
      // Unless it was taken before something else failed.
      if ((await this.#registry.get(`job/${job}`)) === undefined) await this.#unmake(job);
      throw error;
    }
    // Nothing waits for it. If it fails, the next start sees that the job is known.
    this.#registry.commit([[`making/${job}`, undefined]]).catch(() => undefined);
  }

  async #unmake(job: JobId): Promise<void> {
    try {
      await this.#store.remove(job);
      await this.#registry.commit([[`making/${job}`, undefined]]);
    } catch (error) {
      this.#logger.warn({ err: error, job }, 'the folder of a job that was not accepted goes at the next start');
    }
  }

  /** Removes all of an ended job (Z2). `forget` makes the dispatcher forget it, durably. */
  async removing(job: JobId, forget: () => Promise<void>): Promise<void> {
    await this.#registry.commit([
      [`removing/${job}`, { at: Date.now() }],
      [`shared/${job}`, undefined], // rest/reports.ts
    ]);
    await forget();
    await this.#removeAll(job);
  }

  async #removeAll(job: JobId): Promise<void> {
    for (const name of await this.#log.list(`${job}/`)) await this.#log.remove(name);
    for (const image of await this.#images.list(`${job}-`)) await this.#images.removeManifest(image);
    await this.#store.remove(job);
    await this.#registry.commit([[`removing/${job}`, undefined]]);
  }

  /**
   * At the start, before anything is recovered: finishes what a crash left. @returns the entries without the records of
   * what is gone
   */
  async finish(entries: [string, unknown][]): Promise<[string, unknown][]> {
    const marked = (kind: string): JobId[] =>
      entries.flatMap(([key]) => (key.startsWith(`${kind}/`) ? [jobId(key.slice(kind.length + 1))] : []));
    const known = new Set(entries.flatMap(([key]) => (key.startsWith('job/') ? [key.slice(4)] : [])));
    const gone = new Set<string>();
    for (const job of marked('making')) {
      if (!known.has(job)) {
        this.#logger.info({ job }, 'the folder of a job that was never accepted is removed');
        await this.#store.remove(job);
      }
      await this.#registry.commit([[`making/${job}`, undefined]]);
    }
    for (const job of marked('removing')) {
      this.#logger.info({ job }, 'the removal of a job goes on');
      const records = entries
        .filter(([key]) => /^(?:job|task|fault|image|trimmed|shared)\//.test(key) && key.split('/')[1] === job)
        .map(([key]) => [key, undefined] as const);
      await this.#registry.commit(records);
      await this.#removeAll(job);
      gone.add(job);
    }
    return entries.filter(([key]) => !/^(?:making|removing)\//.test(key) && !gone.has(key.split('/')[1] ?? ''));
  }
}
