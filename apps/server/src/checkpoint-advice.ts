/**
 * Which checkpoint interval a job should have: Young's and Daly's first order, √(2·C·M), from what was measured here. C
 * is how long a rank stands still for an image, M the mean time until a rank is lost. With message logging only the
 * lost rank rolls back, so M is that of one rank, whatever the size of the job.
 *
 * Owns: the running mean of C per room (losable: it is measured again).
 */
import { roomOf, type FaultRecord, type JobRecord } from '@mayfly/protocols';
import { SPENT, type CheckpointAdvice, type Heartbeat, type JobId, type TaskId } from '@mayfly/wire';

export const DEFAULT_CHECKPOINT_MS = 30_000;
const LEAST_MS = 5_000;
const MOST_MS = 3_600_000;
/** Older jobs show little about the nodes that come now. */
const HORIZON_MS = 7 * 86_400_000;
/** Below this much time of ranks and fewer faults, nothing is known. */
const ENOUGH_MS = 3_600_000;
const ENOUGH_FAULTS = 3;
const CHECKPOINTING = SPENT.indexOf('checkpointing');
/** Weight of the newest image in the mean. */
const NEWEST = 0.1;

/** The interval for a cost of `costMs` and `faults` losses in `rankMs` of ranks' time. */
export function adviceOf(costMs: number | undefined, faults: number, rankMs: number): CheckpointAdvice {
  const known = { ...(costMs === undefined ? {} : { costMs }), faults, rankMs };
  if (costMs === undefined || (faults < ENOUGH_FAULTS && rankMs < ENOUGH_MS))
    return { checkpointMs: DEFAULT_CHECKPOINT_MS, measured: false, ...known };
  const mtbfMs = rankMs / Math.max(1, faults);
  const best = Math.sqrt(2 * Math.max(1, costMs) * mtbfMs);
  const clamped = Math.min(MOST_MS, Math.max(LEAST_MS, best));
  return { checkpointMs: Math.round(clamped / 1000) * 1000, measured: true, mtbfMs, ...known };
}

export class ImageCosts {
  /** Mean by room ('' for none), ms. */
  readonly #means = new Map<string, number>();
  /** Time at checkpoints that each incarnation has reported so far. */
  readonly #seen = new Map<string, number>();

  heard(m: Heartbeat, roomOf: (job: JobId, task: TaskId) => string | undefined): void {
    for (const t of m.tasks) {
      const ms = t.spent?.[CHECKPOINTING] ?? 0;
      if (ms === 0) continue;
      const key = `${t.job}.${t.task}.${t.incarnation}`;
      const before = this.#seen.get(key) ?? 0;
      if (ms <= before) continue;
      this.#seen.set(key, ms);
      // An image takes less than a heartbeat as a rule: what was added since the last one is one image.
      const room = roomOf(t.job, t.task) ?? '';
      const mean = this.#means.get(room);
      this.#means.set(room, mean === undefined ? ms - before : mean + NEWEST * (ms - before - mean));
    }
  }

  forget(job: JobId): void {
    for (const key of this.#seen.keys()) if (key.startsWith(`${job}.`)) this.#seen.delete(key);
  }

  of(room: string | undefined): number | undefined {
    return this.#means.get(room ?? '');
  }
}

/**
 * What the jobs of a room say of how long a rank lives. A kill by hand is no fault of anybody. `losses`: without those
 * of ranks that were lost because a teammate was.
 */
export function lossesOf(
  jobs: Iterable<{ record: JobRecord; faults: readonly FaultRecord[] }>,
  room: string | undefined,
  now: number,
): { faults: number; losses: number; rankMs: number } {
  let faults = 0;
  let losses = 0;
  let rankMs = 0;
  for (const { record, faults: list } of jobs) {
    if (record.startedAt === undefined || now - record.startedAt > HORIZON_MS) continue;
    const there = (task: number): boolean => roomOf(record.spec, task as TaskId) === room;
    const ranks = Array.from({ length: record.spec.size }, (_, task) => task).filter(there).length;
    rankMs += Math.max(0, (record.endedAt ?? now) - record.startedAt) * ranks;
    for (const { task, cause } of list) {
      if (!there(task) || cause === 'killed' || cause === 'restart') continue;
      faults++;
      if (cause !== 'team') losses++;
    }
    // Of those beyond the list only the causes are known: they are spread over all ranks.
    for (const [cause, more] of Object.entries(record.moreFaults ?? {})) {
      if (cause === 'killed' || cause === 'restart') continue;
      const here = Math.round((more * ranks) / record.spec.size);
      faults += here;
      if (cause !== 'team') losses += here;
    }
  }
  return { faults, losses, rankMs };
}
