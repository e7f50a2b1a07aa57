/**
 * Tasks that fail while their job goes on without them (`recovery.tells`).
 *
 *  D18 A task that has failed is never started again. Its failure is durable before any Channel Memory fences it, and
 *      the others hear of it behind the fences (the membership service).
 *  D19 Such a job ends when each of its tasks has ended or failed: with the exit codes of those that ended. If none
 *      has, the job has failed.
 */
import type { ErrorBody, ExitReport } from '@mayfly/wire';
import { endJob } from './end.ts';
import { recoveryOf, taskChange, type Core, type Job, type Task } from './state.ts';

/** Ends of a program that are its own doing, and end the process alone. */
const CRASHES: readonly string[] = ['PROGRAM_ERROR', 'PROGRAM_TRAP'];

/** The task has left as a process that fails: it trapped, or called exit() without MPI_Finalize. */
export const isFailure = (core: Core, t: Task, report: ExitReport): boolean =>
  recoveryOf(core, t.job).tells === true &&
  (report.abort ? CRASHES.includes(report.abort.code) : report.unfinalized === true);

/** D18. */
export function bury(core: Core, t: Task, report: ExitReport): void {
  t.lost = true;
  t.pending = undefined;
  t.resumable = undefined;
  t.comparisons = [];
  t.phase = 'exiting';
  t.exit = report.abort ? report : { ...report, abort: { code: 'PROGRAM_ERROR', message: LEFT } };
  delete t.fence;
  core.emit({
    type: 'log',
    level: 'warn',
    message: `rank ${t.task} has failed: ${t.exit.abort!.message.slice(0, 200)}; the other ranks learn of it`,
    job: t.job.record.spec.id,
    task: t.task,
  });
  core.persist({ kind: 'exit', task: t }, [taskChange(t)]);
  core.changed(t.job);
}
const LEFT = 'The program left without MPI_Finalize.';

/** D19. */
export function endWithoutTasks(core: Core, job: Job): void {
  const first = job.tasks[0]!;
  job.culprit = first.task;
  const error: ErrorBody = {
    code: 'LOST_NODES',
    message: `Every rank of the job has failed; rank 0: ${first.exit?.abort?.message ?? 'lost'}`,
  };
  endJob(core, job, 'failed', error, first.exit?.code || 1);
}
