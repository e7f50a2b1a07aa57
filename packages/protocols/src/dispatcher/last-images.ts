/**
 * Ranks that run are regrouped: those of merge.ts become one team, those of part.ts several.
 *
 *  D30 (T9) "When no rank of the teams concerned replays, all of them stop at an MPI call …, take images, and do
 *      nothing more." Each is asked for a last image, once there has been room for
 *      {@link DispatcherSettings.mergeAfterMs} or {@link DispatcherSettings.moveAfterMs}. When their nodes report these
 *      complete, all of them stop, get slots and are fenced: what becomes one team as one unit, a team that is
 *      dissolved as the unit that it is. If the logs end at these images, one commit makes the new teams (make-team.ts,
 *      dissolve.ts). If they do not, the ranks begin there as they were.
 *
 *      What was asked for a last image does nothing more: whatever goes wrong, it restarts, without a fault. A server
 *      that comes back knows nothing of it: a rank that stands still for {@link PARKED_MS} on a node that stays
 *      restarts. "(TypeScript: at a `here` that forms a set; else they go on)": scripts stop at a `checkpoint.here`
 *      only, those of several units at the same call (common-call.ts). It may be far, or wait for a rank that has
 *      stopped. So those that have no last image by then are not asked for it any more, and go on.
 */
import { commonCall } from './common-call.ts';
import { later } from './make-team.ts';
import { together } from './merge.ts';
import { apart } from './part.ts';
import { askForImage, stopToRestart } from './restart.ts';
import { kindOfJob, over, recoveryOf, type Core, type Job, type Regrouping, type Task } from './state.ts';
import { unitOf } from './unit.ts';

const WAIT_MS = 20_000;
const PARKED_MS = 30_000;

/** At every tick. */
export function watchRegroupings(core: Core, job: Job): void {
  if (over(job) || job.record.state !== 'running' || recoveryOf(core, job).teams !== 'unit') return;
  const { regrouping } = job;
  if (regrouping?.by !== undefined) {
    if (core.time >= regrouping.by || !regrouping.tasks.every((t) => t.phase === 'running')) giveUp(core, job);
    return;
  }
  if (regrouping?.fencing) return;
  goOn(core, job);
  if (core.time < (job.regroupsFrom ?? 0) || core.stopped !== undefined) return;
  const found = wanted(core, job);
  if (!found || !isSame(found, regrouping)) job.regrouping = found;
  else if (core.time >= regrouping!.from) {
    job.regrouping = { ...regrouping!, by: core.time + WAIT_MS };
    const atCall = found.into === 'one' ? commonCall(found.tasks, core.time) : undefined;
    for (const t of found.tasks) askForImage(core, t, true, atCall);
  }
}

function wanted(core: Core, job: Job): Regrouping | undefined {
  const crowded = apart(core, job);
  if (crowded) return { into: 'several', tasks: crowded, from: core.time + core.settings.moveAfterMs };
  const tasks = together(core, job);
  return tasks && { into: 'one', tasks, from: core.time + core.settings.mergeAfterMs };
}

const isSame = (a: Regrouping, b: Regrouping | undefined): boolean =>
  a.into === b?.into && String(a.tasks.map((t) => t.task)) === String(b.tasks.map((t) => t.task));

/** Ranks that stand still, and nobody waits for it. */
function goOn(core: Core, job: Job): void {
  for (const t of job.tasks)
    if (t.phase === 'running' && t.parkedAt !== undefined && core.time - t.parkedAt >= PARKED_MS)
      again(core, unitOf(core, t));
}

/** The last image of a task is complete. */
export function hasParked(core: Core, t: Task): void {
  const { job } = t;
  const { regrouping } = job;
  if (regrouping?.by === undefined || !regrouping.tasks.includes(t) || !regrouping.tasks.every((m) => m.parked)) return;
  if (over(job) || job.record.state !== 'running' || !regrouping.tasks.every((m) => m.phase === 'running'))
    return giveUp(core, job);
  const { into, tasks, from } = regrouping;
  again(core, tasks);
  if (into === 'one') return void (job.regrouping = { into, tasks, from, fencing: true });
  job.regrouping = undefined;
  // Until it is dissolved (D28).
  later(core, job);
  core.emit({
    type: 'log',
    level: 'info',
    message: `ranks ${tasks.map((m) => m.task).join(', ')} share too few slots and stop, to restart on several nodes`,
    job: job.record.spec.id,
    task: tasks[0]!.task,
  });
}

/** They restart as they were, without a fault, or go on. */
function giveUp(core: Core, job: Job): void {
  const { tasks } = job.regrouping!;
  job.regrouping = undefined;
  later(core, job);
  for (const t of tasks) {
    if (t.phase !== 'running') continue;
    const unit = unitOf(core, t);
    if (kindOfJob(job) === 'typescript' && !unit.every((m) => m.parked)) askForImage(core, t, false);
    else again(core, unit);
  }
}

function again(core: Core, tasks: readonly Task[]): void {
  for (const m of tasks) {
    m.parkedAt = m.parked = undefined;
    if (m.phase === 'running') stopToRestart(core, m, 'It restarts from its last checkpoint, in another team.');
  }
}
