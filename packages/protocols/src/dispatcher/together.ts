/**
 * Jobs whose tasks go back together (coordinated checkpointing), all of them or by clusters. The checkpoint scheduler
 * decides when, and where to; the dispatcher stops the ranks, raises their incarnations in one commit, and starts them
 * again when it hears so.
 *
 *  D15 A rank that is lost takes its job or its cluster back: from then until {@link goOn} no rank of it gets a slot.
 *  D16 The scheduler's line and the new incarnations of all its ranks that have not exited for good are one commit.
 *  D17 The ranks that are stopped for a loss elsewhere leave no fault, as those of a paused job (D9).
 */
import type { Incarnation, TaskId } from '@mayfly/wire';
import { jobKey } from './keys.ts';
import { tellToDrop } from './restart.ts';
import { release } from './slots.ts';
import { faultChanges } from './fault-list.ts';
import { clusterOf, goesBackNow, over, taskChange, type Core, type Job, type Task } from './state.ts';

const final = (t: Task): boolean => t.phase === 'exiting' || t.phase === 'done';

/** D16, D17. `clusters`: that go back; absent: all tasks do. */
export function rollBack(
  core: Core,
  job: Job,
  epoch: number,
  changes: readonly (readonly [string, unknown])[],
  clusters: readonly number[] | undefined,
): void {
  if (over(job)) return;
  if (!clusters) job.rolling = 'all';
  else if (job.rolling !== 'all') job.rolling = new Set([...(job.rolling ?? []), ...clusters]);
  const all: (readonly [string, unknown])[] = [...changes];
  const whose = clusters ? 'of its cluster' : 'of the job';
  for (const t of job.tasks) {
    if (final(t) || t.incarnation === undefined || (clusters && !clusters.includes(clusterOf(t)!))) continue;
    const message = `All ranks ${whose} go back to its last checkpoint.`;
    if (t.node !== undefined) tellToDrop(core, t, t.node, { code: 'FENCED', message });
    if (t.phase === 'running') t.ranMs += core.time - t.beganAt;
    leaveNode(core, t, 'idle');
    t.incarnation = (t.incarnation + 1) as Incarnation;
    all.push(taskChange(t));
  }
  if (job.moreFaultsDirty) all.push([jobKey(job.record.spec.id), { ...job.record }]);
  job.moreFaultsDirty = false;
  core.persist({ kind: 'rollBack', job, epoch }, [...all, ...faultChanges(job)]);
  core.changed(job);
}

function leaveNode(core: Core, t: Task, phase: 'idle' | 'ended'): void {
  t.phase = phase;
  t.resumable = undefined;
  delete t.fence;
  delete t.activity;
  release(core, t);
}

export function rolledBack(core: Core, job: Job, epoch: number): void {
  if (over(job)) return;
  const acting = job.tasks.flatMap((t): [TaskId, Incarnation][] =>
    t.incarnation === undefined ? [] : [[t.task, t.incarnation]],
  );
  core.emit({ type: 'rolledBack', job: job.record.spec.id, epoch, acting });
}

/** Everybody has gone back, or this cluster has. `ended`: tasks whose EXIT is part of where the others go back to. */
export function goOn(core: Core, job: Job, ended: readonly TaskId[], cluster: number | undefined): void {
  if (over(job)) return;
  if (cluster === undefined) job.rolling = undefined;
  else {
    const left = new Set(job.rolling === 'all' ? job.record.spec.clusters : job.rolling);
    left.delete(cluster);
    job.rolling = left.size > 0 ? left : undefined;
  }
  for (const task of ended) {
    const t = job.tasks[task];
    if (t && !final(t)) t.phase = 'ended';
  }
  core.reschedule = true;
  core.changed(job);
}

/** The EXIT of the task is durable; it counts once nothing can go back behind it. */
export function endedForNow(core: Core, t: Task): void {
  if (over(t.job) || final(t) || goesBackNow(t)) return;
  leaveNode(core, t, 'ended');
}
