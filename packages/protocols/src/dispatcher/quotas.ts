/**
 * Quotas of slots by owner. The host says what they are; what else it limits (jobs, bytes) is no concern of the
 * dispatcher.
 *
 *  D26 A job starts, and a running one spawns, only within its owner's quota. Slots in use are those of all tasks of
 *      running jobs that have not ended, with one or waiting for one, so that a lost rank always is within the quota. A
 *      job that waits for its owner's quota holds back later jobs of that owner only, and nobody if it is larger than
 *      the whole quota. A quota that is lowered stops nothing that runs.
 */
import { FIRST_TOKEN } from '@mayfly/wire';
import type { JobSpec, SlotQuotas } from './events.ts';
import { ended, over, type Core, type Job } from './state.ts';

/** Name of the token that submitted it. */
export const ownerOf = (spec: Pick<JobSpec, 'owner'>): string => spec.owner ?? FIRST_TOKEN;

/** Infinity: no limit. */
export const quotaOf = (quotas: SlotQuotas, owner: string): number =>
  (quotas.of.has(owner) ? quotas.of.get(owner) : quotas.each) ?? Infinity;

/** Slots of a job that count against its owner's quota. */
export function slotsOfJob(job: Job): number {
  const { state } = job.record;
  if (ended(job.record) || state === 'waiting') return 0;
  // A paused one until its last rank has left: until then it may go on at once.
  const claims = !over(job) && (state === 'running' || job.tasks.some((t) => t.node !== undefined));
  let n = 0;
  for (const t of job.tasks)
    if (t.node !== undefined || (claims && t.phase !== 'done' && t.phase !== 'ended' && t.phase !== 'exiting')) n++;
  return n;
}

/** By owner, as it is when this is made and with what is added since. */
export class SlotsInUse {
  readonly #quotas: SlotQuotas;
  readonly #used = new Map<string, number>();
  /** Owners one of whose jobs waits for the quota. */
  readonly #full = new Set<string>();

  constructor(core: Core) {
    this.#quotas = core.quotas;
    for (const job of core.jobs.values()) this.add(ownerOf(job.record.spec), slotsOfJob(job));
  }

  get byOwner(): ReadonlyMap<string, number> {
    return this.#used;
  }

  of(owner: string): number {
    return this.#used.get(owner) ?? 0;
  }

  add(owner: string, slots: number): void {
    if (slots > 0) this.#used.set(owner, this.of(owner) + slots);
  }

  /** How many more it may use. */
  left(owner: string): number {
    return Math.max(0, quotaOf(this.#quotas, owner) - this.of(owner));
  }

  /** Whether a job of so many ranks has to wait for its owner's quota (D26). */
  waits(owner: string, slots: number): boolean {
    if (slots <= this.left(owner) && !this.#full.has(owner)) return false;
    if (slots <= quotaOf(this.#quotas, owner)) this.#full.add(owner);
    return true;
  }
}
