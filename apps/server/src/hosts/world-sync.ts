/**
 * When a Channel Memory may forget output: it is synced in `out/` first, in batches every two seconds (H4 of its host).
 *
 * Owns: which task's newest message to the world is not known durable there.
 */
import type { LogCore } from '@mayfly/protocols';
import type { TaskId } from '@mayfly/wire';
import type { Logger } from '../logger.ts';

const EVERY_MS = 2000;

export interface WorldSyncDeps {
  /** Makes durable what was written for this task. */
  sync(task: TaskId): Promise<void>;
  /** The core as it is now. Syncs for an earlier core are not reported. */
  core(): LogCore | undefined;
  synced(task: TaskId, channel: number): void;
  logger: Logger;
}

export class WorldSync {
  readonly #deps: WorldSyncDeps;
  readonly #newest = new Map<TaskId, number>();
  #at = 0;
  #busy = false;

  constructor(deps: WorldSyncDeps) {
    this.#deps = deps;
  }

  wrote(task: TaskId, channel: number): void {
    this.#newest.set(task, channel);
  }

  tick(now: number): void {
    if (this.#newest.size === 0 || this.#busy || now - this.#at <= EVERY_MS) return;
    this.#at = now;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { sync, core, synced, logger } = this.#deps;
    this.#busy = true;
    const batch = [...this.#newest];
    this.#newest.clear();
    const before = core();
    try {
      for (const [task, channel] of batch) {
        await sync(task);
        if (before === core()) synced(task, channel);
      }
    } catch (error) {
      // Those that were synced are so again; what is newer stands.
      for (const [task, channel] of batch) if (!this.#newest.has(task)) this.#newest.set(task, channel);
      logger.warn({ err: error }, 'output could not be synced; retrying');
    } finally {
      this.#busy = false;
    }
  }
}
