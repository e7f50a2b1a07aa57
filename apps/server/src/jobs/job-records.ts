/**
 * When the files of a job are sealed with what the registry has of it (JobFiles.seal): `mayfly check` can then verify
 * them, and take the job in again from them alone.
 *
 *  V1  They are sealed before the dispatcher hears of the job, those that never change (F2), and once more when the job
 *      has ended, all of them.
 *  V2  The history and the times of the ranks are written some seconds after the end: they are sealed LAST_WORDS_MS
 *      later, or at the next start.
 */
import type { JobSpec } from '@mayfly/protocols';
import type { JobFiles, Registry, SealedFiles } from '@mayfly/storage/ports';
import type { JobId } from '@mayfly/wire';
import type { Logger } from '../logger.ts';

/** They are written within 5 s of the end. */
const LAST_WORDS_MS = 10_000;

export class JobRecords {
  readonly #files: Pick<JobFiles, 'seal' | 'sealed'>;
  readonly #registry: Registry;
  readonly #logger: Logger;
  readonly #writing = new Map<JobId, Promise<void>>();
  readonly #timers = new Map<JobId, NodeJS.Timeout>();
  #filling: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(files: Pick<JobFiles, 'seal' | 'sealed'>, registry: Registry, logger: Logger) {
    this.#files = files;
    this.#registry = registry;
    this.#logger = logger;
  }

  /** V1. @throws as the file system does */
  async submitted(job: JobSpec): Promise<void> {
    await this.#files.seal(job.id, { job }, 'submitted');
  }

  /** V1. Nothing of the job is written any more, and its end is durable in the registry. */
  ended(job: JobSpec): Promise<void> {
    const under = this.#writing.get(job.id);
    if (under) return under;
    clearTimeout(this.#timers.get(job.id));
    const work = this.#ended(job, 'ended')
      .catch((error: unknown) =>
        this.#logger.warn(
          { err: error, job: job.id },
          'the record of an ended job could not be written; the next start tries again',
        ),
      )
      .finally(() => this.#writing.delete(job.id));
    this.#writing.set(job.id, work);
    // V2
    this.#timers.set(job.id, setTimeout(() => void this.#late(job), LAST_WORDS_MS).unref());
    return work;
  }

  async #late(job: JobSpec): Promise<void> {
    // One at a time: two that replace one file would mix.
    for (let under; (under = this.#writing.get(job.id));) await under;
    if (this.#closed) return;
    this.#timers.delete(job.id);
    const work = this.#ended(job, 'all')
      .catch(() => undefined)
      .finally(() => this.#writing.delete(job.id));
    this.#writing.set(job.id, work);
    await work;
  }

  async #ended(job: JobSpec, of: SealedFiles): Promise<void> {
    const { id } = job;
    const state = await this.#registry.get(`job/${id}`);
    if (state === undefined) return;
    const records: [string, unknown][] = [
      [`job/${id}`, state],
      ...(await this.#registry.entries(`task/${id}/`)),
      ...(await this.#registry.entries(`fault/${id}/`)),
    ];
    await this.#files.seal(id, { job, records }, of);
  }

  /** At the start, one after the other: of those that ended just before a crash. */
  fill(jobs: readonly JobSpec[]): void {
    this.#filling = this.#filling.then(async () => {
      for (const job of jobs) {
        if (this.#closed) return;
        const known = await this.#files.sealed(job.id);
        // A damaged one is left for the operator to see.
        if (known !== 'damaged' && known !== 'all') await this.#late(job);
      }
    });
  }

  /** Resolves when nothing is written to the job's folder any more. */
  async settled(job: JobId): Promise<void> {
    clearTimeout(this.#timers.get(job));
    this.#timers.delete(job);
    await this.#writing.get(job);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const t of this.#timers.values()) clearTimeout(t);
    await this.#filling;
    await Promise.all(this.#writing.values());
  }
}
