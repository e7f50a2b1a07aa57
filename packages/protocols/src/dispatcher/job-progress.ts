/**
 * How far a job is, by what its program states (`comm.progress`, `MPIX_Progress`): the least of what its ranks state.
 * For people; nothing is decided by it, and a server that restarts measures from there.
 *
 * Owns: `Task.stated`, `Job.pace`.
 *
 *  G1 A rank that repeats work takes the job back by nothing: what an earlier incarnation stated counts until this one
 *     has reached it. Meanwhile the view names the rank. Only the program itself, within an incarnation, goes back.
 *  G2 An estimate needs 5 % and ten seconds of measured progress. Time in which the job was paused does not count.
 *     There is none while a rank waits for a slot: nobody knows how long it will.
 */
import type { Incarnation, JobProgress } from '@mayfly/wire';
import { over, paused, type Core, type Job, type Task } from './state.ts';

const LEAST_FRACTION = 0.05;
const LEAST_MS = 10_000;

/** A heartbeat reports it, or that the incarnation has stated nothing yet. */
export function stated(core: Core, t: Task, incarnation: Incarnation, fraction: number | undefined): void {
  if (fraction === undefined) return;
  const was = t.stated;
  const repeats = was !== undefined && (was.incarnation !== incarnation || was.fraction < was.reached);
  t.stated = { incarnation, fraction, reached: repeats ? Math.max(was.reached, fraction) : fraction };
  // All ranks are looked at only where this one may have brought the job back.
  if (t.job.pace && t.stated.reached >= t.job.pace.from) return;
  const least = leastOf(t.job)!;
  if (!t.job.pace || least < t.job.pace.from) t.job.pace = { at: ranMs(core, t.job), from: least };
}

export function progressOf(core: Core, job: Job): JobProgress | undefined {
  const least = over(job) ? undefined : leastOf(job);
  if (least === undefined) return undefined;
  const repeating = job.tasks.flatMap((t) =>
    t.stated && !finished(t) && !paused(job) && behind(t, t.stated) ? [t.task] : [],
  );
  const remainingMs = remaining(core, job, least);
  return {
    fraction: Math.floor(least * 1000) / 1000,
    repeating,
    ...(remainingMs === undefined ? {} : { remainingMs }),
  };
}

/** Lost, or restarted and not there again. */
const behind = (t: Task, s: NonNullable<Task['stated']>): boolean =>
  t.phase === 'idle' || s.incarnation !== t.incarnation || s.fraction < s.reached;

const finished = (t: Task): boolean => t.phase === 'done' || t.phase === 'exiting';

/** undefined: no rank has stated anything. */
function leastOf(job: Job): number | undefined {
  const all = job.tasks.flatMap((t) => (t.stated ? [finished(t) ? 1 : t.stated.reached] : []));
  return all.length === 0 ? undefined : Math.min(...all);
}

const waits = (job: Job): boolean => job.tasks.some((t) => t.phase === 'idle');

const ranMs = (core: Core, job: Job): number => core.now - (job.record.pausedMs ?? 0);

/** G2. */
function remaining(core: Core, job: Job, least: number): number | undefined {
  if (!job.pace || paused(job) || job.stoppedAt !== undefined || waits(job)) return undefined;
  const ms = ranMs(core, job) - job.pace.at;
  const covered = least - job.pace.from;
  if (ms < LEAST_MS || covered < LEAST_FRACTION) return undefined;
  return Number((((1 - least) / covered) * ms).toPrecision(2));
}
