/**
 * The programs of a job: one for all tasks, or several, each with a range of the tasks that the job is started with
 * (MPMD, MPI-4.1 §11.5). A spawned task runs the program of the task that asked for it.
 */
import { partAt, type TaskId } from '@mayfly/wire';
import { groupOf } from './state.ts';
import type { JobPart, JobRecord, JobSpec } from './events.ts';

/** At least one. */
export const partsOf = (spec: Pick<JobSpec, 'program' | 'args' | 'size' | 'parts'>): readonly JobPart[] =>
  spec.parts ?? [{ program: spec.program, args: spec.args, count: spec.size }];

/** Number of the part of the job that a task runs the program of. */
export function partOfTask(record: Pick<JobRecord, 'spec' | 'spawned'>, task: TaskId): number {
  const { spec } = record;
  if (!spec.parts) return 0;
  const group = groupOf(record, task);
  // A root is older than the tasks that it asked for, so this ends.
  return group ? partOfTask(record, group.root) : Math.max(0, partAt(spec.parts, task));
}
