/** Jobs: submission, the exits of tasks, the end. */
import { spawnedTasks, type ExitReport, type Incarnation, type SpawnGroup } from '@mayfly/wire';
import { bury, endWithoutTasks, isFailure } from './bury.ts';
import { endJob } from './end.ts';
import { called } from './comparison.ts';
import { gotFurther } from './failures.ts';
import { CREDIT, earn } from './reputation.ts';
import { recovered } from './fault-list.ts';
import { addTasks, ended, newJob, over, taskChange, type Core, type Job, type Task } from './state.ts';
import { lose, tellToDrop } from './restart.ts';
import { release } from './slots.ts';
import { type JobRecord, type JobSpec } from './events.ts';
import { hasExited, matesOf, staysForTeam, unitIsOver, unitOf } from './unit.ts';
import { faultKey, jobKey, taskKey } from './keys.ts';

export function submit(core: Core, spec: JobSpec): void {
  if (core.jobs.has(spec.id)) return;
  const record: JobRecord = { spec, order: core.nextOrder++, state: 'waiting' };
  core.jobs.set(spec.id, Object.assign(newJob(record), { waitsSince: core.now }));
  // It may start before this is durable, but not be seen to: the commit that starts it comes after this one.
  core.persist({ kind: 'submit', job: spec.id }, [[jobKey(spec.id), { ...record }]]);
  core.reschedule = true;
  core.changed(core.jobs.get(spec.id)!);
}

/**
 * Adds spawned tasks to a running job. They get slots before the queue does, as lost ranks do. The exit of their
 * parents comes later than the commit of this event, so no restart takes the job for done while children still have to
 * run (D6).
 */
export function spawn(core: Core, job: Job, group: SpawnGroup): void {
  if (over(job) || group.first !== job.tasks.length) return; // said again
  job.record.spawned = [...(job.record.spawned ?? []), group];
  addTasks(job, group);
  core.persist({ kind: 'nothing' }, [[jobKey(job.record.spec.id), { ...job.record }]]);
  core.emit({
    type: 'log',
    level: 'info',
    message: group.replaces
      ? `rank ${group.first} takes the place of rank ${group.root}`
      : `rank ${group.root} spawned ${spawnedTasks(group.parts)}`,
    job: job.record.spec.id,
    task: group.root,
  });
  core.reschedule = true;
  core.changed(job);
}

/** Error codes with which a task may end its job. Any other code becomes an error of the program. */
const RESULTS: readonly string[] = ['PROGRAM_ERROR', 'PROGRAM_TRAP', 'MPI_ERROR', 'ABORTED'];

/** The exit of a task is durable at its home CM, whichever incarnation wrote it: the log is the truth. */
export function exited(core: Core, t: Task, incarnation: Incarnation, report: ExitReport): void {
  if (t.exit || over(t.job) || t.incarnation === undefined) return;
  if (isFailure(core, t, report)) return bury(core, t, report);
  recovered(core, t);
  if (!report.abort) {
    // R1: an incarnation before may have sent it, and be lost since then.
    const own = incarnation === t.incarnation;
    if (own && t.node !== undefined) earn(core, t.node, CREDIT.ended);
    gotFurther(core, t);
    if (own && t.phase === 'running') called(core, t);
  }
  t.pending = undefined;
  t.comparisons = [];
  t.phase = 'exiting';
  t.exit = report;
  t.resumable = undefined;
  delete t.fence;
  again(core, t);
  core.persist({ kind: 'exit', task: t }, [taskChange(t)]);
  core.changed(t.job);
  if (!report.abort) return;
  // "A trap or an abort is a result, not a fault": it is not restarted.
  t.job.culprit = t.task;
  const code = RESULTS.includes(report.abort.code) ? report.abort.code : 'PROGRAM_ERROR';
  const message = report.abort.stack ? `${report.abort.message}\n${report.abort.stack}` : report.abort.message;
  endJob(core, t.job, 'failed', { code, message: `rank ${t.task}: ${message}`.slice(0, 65536) }, report.code || 1);
}

/** D23: it was to restart with its teammates, and is not where they are any more: all of them do so once more. */
function again(core: Core, t: Task): void {
  const mate = matesOf(core, t).find((m) => m.phase === 'raising' || m.phase === 'choosing' || m.phase === 'fencing');
  if (mate) lose(core, mate, 'team');
}

/** D6: durable, so the slot and the logs may go. */
export function exitPersisted(core: Core, t: Task): void {
  if (t.phase !== 'exiting') return;
  t.phase = 'done';
  t.oversubscribed = undefined;
  release(core, t);
  const job = t.job.record.spec.id;
  if (t.lost) core.emit({ type: 'taskDead', job, task: t.task, above: (t.incarnation! + 1) as Incarnation });
  else done(core, t);
  core.reschedule = true; // its team may wait for this (unit.ts)
  core.changed(t.job);
  finishIfDone(core, t.job);
}

/** Nothing of the task will restart; or, with a team that goes on, it may (D25). */
export function done(core: Core, t: Task): void {
  const job = t.job.record.spec.id;
  const unit = unitOf(core, t);
  if (unit.length > 1) core.emit({ type: 'exitedInTeam', job, task: t.task });
  if (unitIsOver(core, t)) for (const m of unit) core.emit({ type: 'taskDone', job, task: m.task });
}

export function finishIfDone(core: Core, job: Job): void {
  if (over(job) || !job.tasks.every(hasExited)) return;
  const left = job.tasks.filter((t) => !t.lost);
  if (left.length === 0) return endWithoutTasks(core, job);
  endJob(core, job, 'done', undefined, Math.max(...left.map((t) => t.exit?.code ?? 0)));
}

/** The end is durable: every rank stops (D8), every slot is free. */
export function endPersisted(core: Core, job: Job): void {
  const ending = job.ending;
  if (!ending) return;
  Object.assign(job.record, ending, { endedAt: core.now });
  delete job.ending;
  const error = ending.error ?? { code: 'UNKNOWN_JOB', message: 'The job has ended.' };
  for (const t of job.tasks) {
    const where = t.node ?? t.resumable ?? (staysForTeam(core, t) ? t.lastNode : undefined);
    if (where !== undefined) tellToDrop(core, t, where, error);
    if (t.phase === 'exiting' || t.exit) t.phase = 'done';
    else if (t.phase !== 'done') t.phase = 'idle';
    t.resumable = undefined;
    delete t.fence;
    delete t.activity;
    release(core, t);
  }
  const id = job.record.spec.id;
  core.emit(
    ending.error
      ? { type: 'jobEnded', job: id, state: ending.state, error: ending.error }
      : { type: 'jobEnded', job: id, state: ending.state },
  );
  core.changed(job);
}

export function forget(core: Core, job: Job): void {
  if (!ended(job.record)) return;
  const id = job.record.spec.id;
  core.persist({ kind: 'nothing' }, [
    [jobKey(id), undefined],
    ...job.tasks.map((t) => [taskKey(id, t.task), undefined] as const),
    ...job.faults.map((_, n) => [faultKey(id, n), undefined] as const),
  ]);
  core.jobs.delete(id);
}

/** Limits that only time or output can break. */
export function checkLimits(core: Core, job: Job): void {
  if (over(job) || job.record.state !== 'running' || job.stoppedAt !== undefined) return;
  const { timeLimitMs, outputLimitBytes } = job.record.spec;
  if (
    timeLimitMs !== undefined &&
    core.now - (job.record.startedAt ?? core.now) - (job.record.pausedMs ?? 0) - (job.record.awayMs ?? 0) > timeLimitMs
  )
    endJob(core, job, 'failed', {
      code: 'TIME_LIMIT',
      message: `The job ran longer than its limit of ${timeLimitMs / 1000} s.`,
    });
  else if (outputLimitBytes !== undefined && job.outputBytes > outputLimitBytes)
    endJob(core, job, 'failed', {
      code: 'OUTPUT_LIMIT',
      message: `The job wrote more than its limit of ${outputLimitBytes} bytes.`,
    });
}
