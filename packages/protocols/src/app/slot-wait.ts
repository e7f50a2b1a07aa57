/**
 * How long the replacement of a lost task may be without a slot (FT-MPI's mode REBUILD). All tasks that are left wait
 * for it in the recovery, so a room without another slot would keep them there for ever.
 *
 * Owns: since when each replacement has been without a slot. Does not own: who has one (the dispatcher).
 *
 *  N12 A replacement that has been without a slot for the limit, without a break, ends the job: once, and never before.
 *      With the limit 0 it may wait for ever.
 */
import type { ErrorBody, TaskId } from '@mayfly/wire';

export class SlotWait {
  /** By replacement: whose place it takes, and since when it has had no slot; undefined: it has one. */
  protected readonly waits = new Map<TaskId, { readonly root: TaskId; since: number | undefined }>();
  #ended = false;

  /** `limit`: ms; 0: none. */
  constructor(protected readonly limit: number) {}

  replaces(task: TaskId, root: TaskId): void {
    this.waits.set(task, { root, since: undefined });
  }

  /** `idle`: tasks that have no slot now. @returns why the job ends */
  tick(now: number, idle: readonly TaskId[]): ErrorBody | undefined {
    if (this.limit === 0 || this.#ended) return undefined;
    for (const [task, wait] of this.waits) {
      wait.since = this.since(wait.since, now, idle.includes(task));
      if (wait.since === undefined || now - wait.since < this.limit) continue;
      this.#ended = true;
      return {
        code: 'LOST_NODES',
        message:
          `Rank ${wait.root} was lost, and rank ${task}, which was to take its place, found no slot within ` +
          `${this.limit / 1000} s (option --ft-wait).`,
      };
    }
    return undefined;
  }

  protected since(before: number | undefined, now: number, idle: boolean): number | undefined {
    return idle ? (before ?? now) : undefined;
  }
}
