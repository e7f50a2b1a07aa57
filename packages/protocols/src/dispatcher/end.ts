/**
 * The one way in which a job ends: its record first, everything else once that is durable (`endPersisted` in jobs.ts).
 */
import type { ErrorBody } from '@mayfly/wire';
import { faultChanges } from './fault-list.ts';
import { over, timeGoesOn, type Core, type Job } from './state.ts';
import { timeAfterStop } from './storage-outage.ts';
import { type JobRecord } from './events.ts';
import { jobKey } from './keys.ts';

export function endJob(
  core: Core,
  job: Job,
  state: 'done' | 'failed' | 'cancelled',
  error?: ErrorBody,
  exitCode?: number,
): void {
  if (over(job)) return;
  timeGoesOn(core, job);
  timeAfterStop(core, job);
  job.ending = { state };
  if (error) job.ending.error = error;
  if (exitCode !== undefined) job.ending.exitCode = exitCode;
  const record: JobRecord = { ...job.record, ...job.ending, endedAt: core.now };
  core.persist({ kind: 'end', job }, [[jobKey(record.spec.id), record], ...faultChanges(job)]);
  core.reschedule = true;
  core.changed(job);
}
