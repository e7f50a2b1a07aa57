/** Retention: deletes ended jobs by age, number and disk space. */
import { isOver } from '@mayfly/protocols';
import type { Storage } from '@mayfly/storage/ports';
import type { JobId } from '@mayfly/wire';
import type { Logger } from './logger.ts';
import type { Retention } from './options.ts';
import type { Runtime } from './runtime.ts';

/** Which ended jobs go, oldest first. Pure: sizes are only asked for when the directory is too full. */
export function expired(
  ended: readonly { job: JobId; endedAt: number }[],
  r: Pick<Retention, 'ageMs' | 'endedJobs'>,
  now: number,
): JobId[] {
  const oldestFirst = [...ended].sort((a, b) => a.endedAt - b.endedAt);
  const surplus = Math.max(0, oldestFirst.length - r.endedJobs);
  return oldestFirst.filter((e, i) => i < surplus || now - e.endedAt > r.ageMs).map((e) => e.job);
}

export class RetentionKeeper {
  readonly #runtime: Runtime;
  readonly #storage: Storage;
  readonly #retention: Retention;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(runtime: Runtime, storage: Storage, retention: Retention, logger: Logger) {
    this.#runtime = runtime;
    this.#storage = storage;
    this.#retention = retention;
    this.#logger = logger;
  }

  start(): void {
    this.#timer = setInterval(() => void this.round(), this.#retention.everyMs);
    this.#timer.unref();
  }

  round(): Promise<void> {
    this.#running ??= this.#round()
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'retention failed'))
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #round(): Promise<void> {
    const ended = (): { job: JobId; endedAt: number }[] =>
      this.#runtime.jobs().flatMap((job) => {
        const r = this.#runtime.dispatcher.core.core.jobs.get(job)?.record;
        return r && isOver(r.state) ? [{ job, endedAt: r.endedAt ?? r.spec.submittedAt }] : [];
      });
    for (const job of expired(ended(), this.#retention, Date.now())) await this.#remove(job, 'age or number');
    let used = (await this.#storage.usage()).total;
    if (used > this.#retention.diskBytes)
      for (const { job } of ended().sort((a, b) => a.endedAt - b.endedAt)) {
        used -= await this.#storage.usageOf(job);
        await this.#remove(job, 'disk space');
        if (used <= this.#retention.diskBytes) break;
      }
  }

  async #remove(job: JobId, why: string): Promise<void> {
    this.#logger.info({ job, why }, 'ended job forgotten');
    await this.#runtime.intake.remove(job);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
