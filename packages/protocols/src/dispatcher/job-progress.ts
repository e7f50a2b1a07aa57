/**
 * How far a job is, by what its program states (`comm.progress`, `MPIX_Progress`): the least of what its ranks state.
 * For people; nothing is decided by it, and a server that restarts measures from there.
 *
 * Owns: `Task.stated`, `Job.pace`.
 *
 *  G1 A rank that repeats work takes the job back by nothing: what an earlier incarnation stated counts until this one
 *     has reached it. Meanwhile the view names the rank. Only the program itself, within an incarnation, goes back.
 *  G2 An estimate needs 5 % and ten seconds of measured progress. Time in which the job was paused does not count, nor
 *     time in which a rank waited for a slot; while one waits, there is no estimate: nobody knows how long it will.
 *  G3 No estimate outlives its grounds. It goes when no rank has got further for a minute and for three times as long
 *     as the longest of such times before; its change is a change of the view even when no node reports anything.
 */
import type { Incarnation, JobProgress } from '@mayfly/wire';
import { over, paused, type Core, type Job, type Task } from './state.ts';

const LEAST_FRACTION = 0.05;
const LEAST_MS = 10_000;
const STILL_MS = 60_000;
/** So many times the longest time without progress that was followed by some. */
const STILL_FACTOR = 3;

/** A heartbeat reports it, or that the incarnation has stated nothing yet. */
export function stated(core: Core, t: Task, incarnation: Incarnation, fraction: number | undefined): void {
  if (fraction === undefined) return;
  const was = t.stated;
  const repeats = was !== undefined && (was.incarnation !== incarnation || was.fraction < was.reached);
  t.stated = { incarnation, fraction, reached: repeats ? Math.max(was.reached, fraction) : fraction };
  if (t.job.pace && t.stated.reached > (was?.reached ?? 0)) moves(core, t.job, t.job.pace);
  // All ranks are looked at only where this one may have brought the job back.
  if (t.job.pace && t.stated.reached >= t.job.pace.from) return;
  const least = leastOf(t.job)!;
  if (!t.job.pace || least < t.job.pace.from)
    t.job.pace = { at: ranMs(core, t.job), from: least, waited: 0, moved: 0, longest: 0 };
}

type Pace = NonNullable<Job['pace']>;

/** Time of the rate, ms. */
const measured = (core: Core, job: Job, pace: Pace): number => ranMs(core, job) - pace.at - pace.waited;

function moves(core: Core, job: Job, pace: Pace): void {
  const now = measured(core, job, pace);
  pace.longest = Math.max(pace.longest, now - pace.moved);
  pace.moved = now;
}

/** With each tick: waiting for slots is left out of the rate (G2), and a change of the estimate is shown (G3). */
export function passTime(core: Core, job: Job): void {
  const { pace } = job;
  if (!pace || over(job)) return;
  const waiting = waits(job) && !paused(job) && job.stoppedAt === undefined;
  if (waiting && pace.waitsSince !== undefined) pace.waited += Math.max(0, core.now - pace.waitsSince);
  pace.waitsSince = waiting ? core.now : undefined;
  const left = remaining(core, job, leastOf(job) ?? 0);
  if (left === pace.shown) return;
  pace.shown = left;
  core.changed(job);
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

/** G2, G3. */
function remaining(core: Core, job: Job, least: number): number | undefined {
  if (!job.pace || paused(job) || job.stoppedAt !== undefined || waits(job)) return undefined;
  const ms = measured(core, job, job.pace);
  const covered = least - job.pace.from;
  if (ms < LEAST_MS || covered < LEAST_FRACTION) return undefined;
  if (ms - job.pace.moved > Math.max(STILL_MS, STILL_FACTOR * job.pace.longest)) return undefined;
  return Number((((1 - least) / covered) * ms).toPrecision(2));
}
