/**
 * Pause and resume of a job.
 *
 * Owns: when a rank of a paused job gives its slot back. The record is `paused` from the request on, so that a restart
 * of the server finds the job paused; until the last rank has left, people see it as `pausing`. Order: the record is
 * durable → every running rank is asked for an image → a rank is stopped and leaves when its image is complete or the
 * wait is over. A rank that is not on a node yet leaves at once.
 *
 *  D9  Of a paused job nothing is raised or assigned, the end of an incarnation meanwhile is not a fault, and a rank
 *      that has left stays away: a node that still holds it is ordered to stop. No such order goes out before the pause
 *      is durable.
 *  D10 Time between a pause and the next start counts for no limit and for no recovery.
 *
 * A resumed job whose ranks have all left waits in the queue for slots for all of them, at its old place among its
 * owner's (D4, D27). A rank continues from its newest image, or from its log, as after a fault, so the
 * answer is the same.
 */
import { askForImage, goesBack, leave, tellToDrop } from './restart.ts';
import { goesBackNow, over, paused, recoveryOf, timeGoesOn, type Core, type Job, type Task } from './state.ts';
import { stopTime, timeAfterStop } from './storage-outage.ts';
import { hasExited, unitOf } from './unit.ts';
import { jobKey } from './keys.ts';

/**
 * `waitMs`: how long ranks may take for an image. The host rejects the pause of a job whose protocol keeps nothing to
 * continue from.
 */
export function pauseJob(core: Core, job: Job, waitMs: number): void {
  if (over(job) || paused(job) || !recoveryOf(core, job).restarts) return;
  timeAfterStop(core, job);
  job.record.state = 'paused';
  job.record.pausedAt ??= core.now; // set already if it waits to begin again
  delete job.leaveBy;
  for (const t of job.tasks)
    if (t.phase === 'raising' || t.phase === 'choosing' || t.phase === 'fencing') leave(core, t);
  core.persist({ kind: 'pause', job, since: job.record.pausedAt, waitMs }, [
    [jobKey(job.record.spec.id), { ...job.record }],
  ]);
  core.reschedule = true;
  core.changed(job);
}

/** The pause is durable: ranks begin to leave. */
export function pausePersisted(core: Core, job: Job, waitMs: number, since: number): void {
  if (over(job) || !paused(job) || job.record.pausedAt !== since) return;
  job.leaveBy = core.time + waitMs;
  if (recoveryOf(core, job).together) return core.emit({ type: 'wantsWave', job: job.record.spec.id });
  for (const t of job.tasks)
    if (t.phase === 'running' || t.phase === 'away') {
      t.wanted = t.newest?.serial ?? 0;
      askForImage(core, t);
    }
  for (const t of job.tasks)
    // It did nothing yet that its image has not, nor did its team.
    if (t.phase === 'assigned' || t.phase === 'idle') for (const m of unitOf(core, t)) stop(core, m);
}

/** An image of the task is complete. */
export function leaveWithImage(core: Core, t: Task): void {
  if (!paused(t.job) || over(t.job) || t.job.leaveBy === undefined || t.node === undefined) return;
  const unit = unitOf(core, t);
  if (unit.every((m) => m.wanted === undefined || hasExited(m))) for (const m of unit) stop(core, m);
}

/** A wave of a job whose ranks leave together is committed. */
export function leaveWithWave(core: Core, job: Job): void {
  if (over(job) || !paused(job) || job.leaveBy === undefined) return;
  for (const t of job.tasks) stop(core, t);
}

/** At every tick: ranks whose wait for an image is over leave without one. */
export function endWait(core: Core, job: Job): void {
  if (job.leaveBy === undefined || core.time < job.leaveBy || over(job) || !paused(job)) return;
  for (const t of job.tasks) if (t.node !== undefined) stop(core, t);
}

function stop(core: Core, t: Task): void {
  if (t.phase === 'ended' || t.phase === 'exiting' || t.phase === 'done') return;
  const where = t.node ?? t.resumable;
  if (where !== undefined) tellToDrop(core, t, where, { code: 'FENCED', message: 'The job is paused.' });
  if (t.node !== undefined && !goesBackNow(t) && recoveryOf(core, t.job).together) goesBack(core, t, 'paused');
  leave(core, t);
}

export function resumeJob(core: Core, job: Job): void {
  if (over(job) || !paused(job)) return;
  delete job.leaveBy;
  // With ranks still at work it runs; the others are as lost ones, without a fault. Else it begins when there are slots
  // for all.
  if (job.tasks.some((t) => t.node !== undefined)) {
    job.record.state = 'running';
    timeGoesOn(core, job);
    stopTime(core, job);
  } else {
    job.record.state = 'waiting';
    job.waitsSince = core.now;
  }
  core.persist({ kind: 'nothing' }, [[jobKey(job.record.spec.id), { ...job.record }]]);
  core.reschedule = true;
  core.changed(job);
}
