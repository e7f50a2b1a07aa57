/**
 * Retention: deletes ended jobs by age, number and disk space.
 *
 * Owns the registry key `retention/clock`: until when the clock is known to be right.
 *
 *  N1  While the server runs, a wall clock that jumps changes no age (clock.ts).
 *  N2  A server that starts more than a day after that moment was away for so long, or its clock is wrong. It deletes
 *      nothing by age before it has run for a day with that clock, also in several parts: so long a person has to set
 *      it right. Number and disk space need no clock.
 */
import { isOver } from '@mayfly/protocols';
import type { Storage } from '@mayfly/storage/ports';
import type { JobId } from '@mayfly/wire';
import { clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Retention } from './options.ts';
import type { Runtime } from './runtime.ts';
import type { MeasuredStorage } from './storage-sizes.ts';

const DAY_MS = 24 * 3600 * 1000;
const CLOCK_KEY = 'retention/clock';
/** `retention/clock` is written at most so often. */
const NOTE_MS = 10 * 60_000;

interface ClockRecord {
  /** When the clock was right, ms since the epoch. */
  at: number;
  /** N2: how long servers have run with a clock that may be wrong, ms. */
  heldMs?: number;
}

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
  readonly #sizes: MeasuredStorage;
  readonly #retention: Retention;
  readonly #logger: Logger;
  /** N2: since when, on the clock of performance.now; `beforeMs`: by earlier processes. */
  #held: { at: number; beforeMs: number; since: number } | undefined;
  #noted = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(
    of: { runtime: Runtime; storage: Storage; sizes: MeasuredStorage },
    retention: Retention,
    logger: Logger,
  ) {
    this.#runtime = of.runtime;
    this.#storage = of.storage;
    this.#sizes = of.sizes;
    this.#retention = retention;
    this.#logger = logger;
  }

  /** After the jobs have recovered. @throws MayflyError */
  async start(): Promise<void> {
    const now = clock();
    const known = (await this.#storage.registry.get(CLOCK_KEY)) as ClockRecord | undefined;
    // A new directory has nothing that is old.
    const at = known?.at ?? (this.#runtime.jobs().length === 0 ? now : 0);
    if (now - at > DAY_MS) {
      this.#held = { at, beforeMs: known?.heldMs ?? 0, since: performance.now() };
      this.#logger.warn(
        { now: new Date(now).toISOString(), ...(known && { lastRight: new Date(at).toISOString() }) },
        'this server was away for more than a day, or the clock of this machine is wrong: nothing is deleted by its ' +
          'age before the server has run for a day. If the clock is wrong, set it right and start the server again',
      );
    }
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
    const held = await this.#isHeld();
    const rule = held ? { ...this.#retention, ageMs: Infinity } : this.#retention;
    for (const job of expired(ended(), rule, clock())) await this.#remove(job, 'age or number');
    let used = (await this.#sizes.measure()).total;
    if (used > this.#retention.diskBytes)
      for (const { job } of ended().sort((a, b) => a.endedAt - b.endedAt)) {
        used -= await this.#storage.usageOf(job);
        await this.#remove(job, 'disk space');
        if (used <= this.#retention.diskBytes) break;
      }
  }

  /** N2 */
  async #isHeld(): Promise<boolean> {
    const held = this.#held;
    const heldMs = held && held.beforeMs + (performance.now() - held.since);
    if (heldMs !== undefined && heldMs >= DAY_MS) this.#held = undefined;
    if (performance.now() - this.#noted >= NOTE_MS || held !== this.#held) {
      const record: ClockRecord = this.#held ? { at: this.#held.at, heldMs: Math.round(heldMs!) } : { at: clock() };
      // A disk that is full takes it later, and the round shall make space.
      await this.#storage.registry.commit([[CLOCK_KEY, record]]).then(
        () => (this.#noted = performance.now()),
        () => undefined,
      );
    }
    return this.#held !== undefined;
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
