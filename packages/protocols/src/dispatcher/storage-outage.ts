/**
 * A server whose storage cannot be written for a while: a full disk, a file system that became read-only.
 *
 * Owns: the stop of all new work meanwhile, and the time that it took. The host reports the start and the end; it also
 * stops the logs of all jobs (their ranks keep their slots, compute what they can, and wait where they need a message),
 * and repeats commits until they are durable, in their order.
 *
 * This is not a pause on request (pause.ts): no record holds it, a job that was paused by hand stays paused, and after
 * a restart the host reports it again.
 *
 *  D13 While storage is stopped nothing is raised, assigned or begun, and no rank is held to a time: neither to start,
 *  nor to call (stragglers.ts), nor for its job's limit.
 *  D14 That time counts for no limit and for no recovery, as that of a pause (D10).
 */
import type { ErrorBody } from '@mayfly/wire';
import { over, type Core, type Job } from './state.ts';
import { jobKey } from './keys.ts';

/** `error`: why it is stopped, in words for people; undefined: it can be written again. */
export function storage(core: Core, error: ErrorBody | undefined): void {
  const before = core.stopped;
  core.stopped = error;
  for (const job of core.jobs.values()) core.changed(job);
  if (error !== undefined) {
    if (before === undefined) for (const job of core.jobs.values()) stopTime(core, job);
    return;
  }
  if (before === undefined) return;
  for (const job of core.jobs.values()) {
    if (job.stoppedAt === undefined) continue;
    timeAfterStop(core, job);
    if (!over(job)) core.persist({ kind: 'nothing' }, [[jobKey(job.record.spec.id), { ...job.record }]]);
    // What was on its way to a node could not get any further, and what ran waited for the logs.
    for (const t of job.tasks)
      if (t.phase === 'assigned') t.since = core.time;
      else if (t.phase === 'running') t.callAt = t.seenAt = core.time;
  }
  core.reschedule = true;
}

/** A job that runs, while storage is stopped: its time stands still from now on. */
export function stopTime(core: Core, job: Job): void {
  if (core.stopped !== undefined && job.record.state === 'running' && !over(job)) job.stoppedAt = core.now;
}

/** D14. */
export function timeAfterStop(core: Core, job: Job): void {
  if (job.stoppedAt === undefined) return;
  const ms = Math.max(0, core.now - job.stoppedAt);
  delete job.stoppedAt;
  job.record.pausedMs = (job.record.pausedMs ?? 0) + ms;
  for (const t of job.tasks)
    for (const n of t.openFaults) {
      const f = job.faults[n]!;
      // A rank that was lost meanwhile has waited since then only.
      f.pausedMs = (f.pausedMs ?? 0) + Math.min(ms, Math.max(0, core.now - f.at));
      job.dirtyFaults.add(n);
    }
}
