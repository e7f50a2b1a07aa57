/**
 * After a start of the server: jobs, tasks and faults from the registry. "A server restart loses no job."
 *
 * An assigned task waits `away` for its node: it may still run there. A node that comes back in time with the same
 * incarnation keeps it; the other tasks restart with a higher one. This includes a task whose restart was under way
 * when the server died: the Hello of its node does not list it. The ranks of a paused job are ordered to stop (D9).
 */
import type { JobId, TaskId } from '@mayfly/wire';
import { endJob } from './end.ts';
import { done, finishIfDone } from './jobs.ts';
import { absentNode } from './nodes.ts';
import { recoverReputations } from './reputation.ts';
import { occupy } from './slots.ts';
import { showTeams } from './teams.ts';
import { ended, newJob, recoveryOf, type Core, type Job } from './state.ts';
import { type DispatcherEvent, type FaultRecord, type JobRecord, type TaskRecord } from './events.ts';
import { unitIsOver, unitOf } from './unit.ts';
import { ALIVE_KEY, ALIVE_MS, jobKey, SHARES_KEY } from './keys.ts';
import { recoverShares, sharesRecord, type SharesRecord } from './shares.ts';

export function recover(core: Core, e: Extract<DispatcherEvent, { type: 'recover' }>): void {
  const records = e.entries.filter(([k]) => k.startsWith('job/')).map(([, v]) => v as JobRecord);
  for (const record of records.sort((a, b) => a.order - b.order)) {
    core.jobs.set(record.spec.id, newJob({ ...record }));
    core.nextOrder = Math.max(core.nextOrder, record.order + 1);
  }
  const faults = new Map<JobId, [number, FaultRecord][]>();
  for (const [key, value] of e.entries) {
    const [kind, job, n] = key.split('/') as [string, JobId, string];
    if (kind === 'task') recoverTask(core, core.jobs.get(job), Number(n) as TaskId, value as TaskRecord);
    else if (kind === 'fault') faults.set(job, [...(faults.get(job) ?? []), [Number(n), value as FaultRecord]]);
  }
  for (const [id, list] of faults) {
    const job = core.jobs.get(id);
    if (!job) continue;
    // A fault number is used once. If there is a gap (there should be none), the later records move up and are written
    // again.
    list
      .sort((a, b) => a[0] - b[0])
      .forEach(([n, f], at) => {
        if (n !== at) job.dirtyFaults.add(at);
        job.faults.push({ ...f });
        if (f.recoveredAfterMs === undefined) job.tasks[f.task]?.openFaults.push(at);
      });
  }
  recoverReputations(core, e.entries);
  recoverShares(core, e.entries.find(([k]) => k === SHARES_KEY)?.[1] as SharesRecord | undefined);
  away(core, e.entries.find(([k]) => k === ALIVE_KEY)?.[1] as { at: number } | undefined);
  for (const i of e.images) {
    const t = core.find(i.job, i.task);
    if (t) t.newest = { image: i.image, serial: i.serial };
  }
  for (const job of core.jobs.values()) {
    job.movedAt = core.now; // for all that is known
    reopen(core, job);
  }
  core.reschedule = true;
}

/** So that the next start knows since when no server ran, and what owners used lately. */
export function stillHere(core: Core): void {
  if (
    core.stopped !== undefined ||
    core.now - core.aliveAt < ALIVE_MS ||
    ![...core.jobs.values()].some((j) => j.record.state === 'running')
  )
    return;
  core.aliveAt = core.now;
  core.persist({ kind: 'nothing' }, [[ALIVE_KEY, { at: core.now }], sharesRecord(core)]);
}

/**
 * What the server did not see is not the jobs' time. Where a server left no word of when it went, the
 * last that is known of a job is.
 */
function away(core: Core, alive: { at: number } | undefined): void {
  for (const job of core.jobs.values()) {
    const { record } = job;
    if (record.state !== 'running') continue;
    const startedAt = record.startedAt ?? core.now;
    const counted = (record.pausedMs ?? 0) + (record.awayMs ?? 0);
    const ms = Math.min(
      core.now - Math.max(startedAt, alive?.at ?? 0, ...job.faults.map((f) => f.at)),
      core.now - startedAt - counted,
    );
    if (ms <= 0) continue;
    record.awayMs = (record.awayMs ?? 0) + ms;
    core.persist({ kind: 'nothing' }, [[jobKey(record.spec.id), { ...record }]]);
  }
}

function recoverTask(core: Core, job: Job | undefined, task: TaskId, r: TaskRecord): void {
  const t = job?.tasks[task];
  if (!job || !t) return;
  t.incarnation = r.incarnation;
  t.lastNode = r.node;
  t.strikes = r.strikes;
  t.reach = { ...r.reach };
  t.fencedSends = r.reach.sends;
  if (r.exit) {
    t.exit = r.exit;
    t.phase = 'done';
  } else if (recoveryOf(core, job).together)
    job.rolling = 'all'; // its scheduler says where to
  else if (job.record.state === 'running') {
    const { restartGraceMs } = core.settings;
    t.phase = 'away';
    t.since = core.time + Math.max(restartGraceMs, job.record.spec.graceMs ?? 0);
    absentNode(core, r.node);
    occupy(core, t, r.node);
  }
}

function reopen(core: Core, job: Job): void {
  const { spec, state } = job.record;
  if (ended(job.record)) {
    // The work after the end may have been cut short; the host's part of it is idempotent.
    const { error } = job.record;
    const how = state as 'done' | 'failed' | 'cancelled';
    core.emit(
      error ? { type: 'jobEnded', job: spec.id, state: how, error } : { type: 'jobEnded', job: spec.id, state: how },
    );
    return;
  }
  // Never begun; what is paused, or waits to begin again, has logs.
  if (state !== 'running' && job.tasks.every((t) => t.incarnation === undefined)) return;
  core.emit({ type: 'openJob', job: spec.id });
  showTeams(core, job);
  for (const t of job.tasks)
    if (t.phase === 'done' && (!unitIsOver(core, t) || unitOf(core, t)[0] === t)) done(core, t);
  const end = recoveryOf(core, job).serverRestarted();
  if (end) endJob(core, job, 'failed', end);
  else {
    // An abort is durable before the end of its job is.
    const aborted = job.tasks.find((t) => t.exit?.abort);
    if (aborted?.exit?.abort) {
      job.culprit = aborted.task;
      endJob(
        core,
        job,
        'failed',
        { code: aborted.exit.abort.code, message: `rank ${aborted.task}: ${aborted.exit.abort.message}` },
        aborted.exit.code || 1,
      );
    } else finishIfDone(core, job);
  }
}
