/**
 * What the server looks after about the jobs that run, every second: how long their logs are, how far the logs say that
 * the ranks are, whether all ranks wait for each other.
 */
import { jobView, type JobService } from '@mayfly/protocols';
import { taskId, type JobId } from '@mayfly/wire';
import { clock } from '../clock.ts';
import type { ChannelMemories } from '../hosts/channel-memories.ts';
import type { WorldHost } from '../hosts/world-host.ts';
import { noCounters } from './job-counters.ts';
import type { LogQuota } from './log-quota.ts';
import { observed } from './observation.ts';
import type { OpenJobs } from './open-jobs.ts';

export interface WatchParts {
  service: JobService;
  memories: ChannelMemories;
  world: WorldHost;
  jobs: OpenJobs;
  quota: LogQuota;
  /** Ranks that a job has by now. */
  tasksOf: (job: JobId) => number;
}

/** A job whose logs are long is asked for images; one whose logs are too long ends. */
export function watchLogs({ service, memories, quota, tasksOf }: WatchParts): void {
  for (const [job, bytes] of memories.logs()) {
    const what = quota.observe(job, bytes);
    if (what === 'ask')
      for (let t = tasksOf(job) - 1; t >= 0; t--) service.dispatch({ type: 'checkpoint', job, task: taskId(t) });
    const refusal = quota.refusal(bytes);
    if (refusal) service.failed(job, { code: refusal.code, message: refusal.message });
  }
}

/** Reports the progress of the ranks, and deadlocks, to the dispatcher. */
export function watchRanks({ service, memories, world, jobs, tasksOf }: WatchParts): void {
  for (const [job, open] of jobs) {
    service.dispatch({ type: 'progress', job, tasks: service.logged(job, tasksOf(job)) });
    const view = jobView(service.dispatcher, job, { task: noCounters, outputs: [], outputBytes: 0 });
    if (view?.state !== 'running') continue;
    const tasks = observed(view, memories.of(job) ?? [], world, open.stdin.messages);
    const deadlock = tasks && open.deadlock.observe({ now: clock(), tasks, stdinOpen: !open.stdin.ended });
    if (deadlock) service.dispatch({ type: 'deadlock', job, report: deadlock.report });
  }
}
