/**
 * Ranks that are alone, and teams that are smaller than the job asks for, become one team where a node has room for all
 * of them.
 *
 *  D30 (T9) "Merge at an image with nothing after it." The room has been there for
 *      {@link DispatcherSettings.mergeAfterMs} while all of them ran and repeated nothing. Each is asked for a last
 *      image, behind which it does nothing more. When their nodes report these complete, they stop, get slots on one
 *      node, and are fenced as one unit; that is in memory only. If the logs end at these images, one commit makes the
 *      team, with these images as its first set, and says how many arrivals each log had; the team restarts as any
 *      other. If they do not, the ranks begin there as they were. So they do after a loss of one of them, and after a
 *      crash of the server before the commit.
 *
 *      What was asked for a last image does nothing more: whatever goes wrong, it restarts, without a fault. A server
 *      that comes back knows nothing of it: a rank that stands still for {@link PARKED_MS} on a node that stays
 *      restarts. Scripts are never merged (their prologues belong to the whole team), nor are jobs with parity.
 */
import { rooms, takesRanks } from './free-slots.ts';
import { later } from './make-team.ts';
import { suits, wantedByUnit } from './placement.ts';
import { quarantinedUntil } from './reputation.ts';
import { askForImage, leave, tellToDrop } from './restart.ts';
import { groupOf, kindOfJob, over, recoveryOf, type Core, type Job, type Task } from './state.ts';
import { mapByOf, mostOf } from './teams.ts';
import { unitOf } from './unit.ts';

const WAIT_MS = 20_000;
const PARKED_MS = 30_000;

/** At every tick. */
export function watchApart(core: Core, job: Job): void {
  if (over(job) || job.record.state !== 'running' || recoveryOf(core, job).teams !== 'unit') return;
  const { merge } = job;
  if (merge?.by !== undefined) {
    if (core.time >= merge.by || !merge.tasks.every((t) => t.phase === 'running')) giveUp(core, job);
    return;
  }
  if (merge?.fencing) return;
  goOn(core, job);
  if (core.time < (job.mergesFrom ?? 0) || core.stopped !== undefined) return;
  const tasks = together(core, job);
  if (!tasks) job.merge = undefined;
  else if (String(tasks.map((t) => t.task)) !== String(merge?.tasks.map((t) => t.task)))
    job.merge = { tasks, from: core.time + core.settings.mergeAfterMs };
  else if (core.time >= merge!.from) {
    job.merge = { ...merge!, by: core.time + WAIT_MS };
    for (const t of tasks) askForImage(core, t, true);
  }
}

/** Ranks that stand still, and nobody waits for it. */
function goOn(core: Core, job: Job): void {
  for (const t of job.tasks)
    if (t.phase === 'running' && t.parkedAt !== undefined && core.time - t.parkedAt >= PARKED_MS)
      again(core, unitOf(core, t));
}

/** Consecutive units of one world that fit on a node together; undefined: there are none. */
function together(core: Core, job: Job): Task[] | undefined {
  const most = mostOf(core, job);
  if (most < 2 || mapByOf(core, job) !== 'slot' || kindOfJob(job) !== 'wasm' || job.record.spec.parity)
    return undefined;
  const units = job.tasks.filter((t) => unitOf(core, t)[0] === t).map((t) => unitOf(core, t));
  for (let i = 0; i < units.length; i++) {
    let best: Task[] | undefined;
    let tasks: Task[] = [];
    for (let k = i; k < units.length; k++) {
      const unit = units[k]!;
      tasks = [...tasks, ...unit];
      if (tasks.length > most || !unit.every(mayMerge) || !oneWorld(tasks)) break;
      if (k > i && hasRoom(core, tasks)) best = tasks;
    }
    if (best) return best.sort((a, b) => a.task - b.task);
  }
  return undefined;
}

/** One that never had an image would stand in the way of the others. */
const mayMerge = (t: Task): boolean =>
  t.phase === 'running' &&
  t.newest !== undefined &&
  t.openFaults.length === 0 &&
  !t.exit &&
  !t.oversubscribed &&
  t.parkedAt === undefined;

const oneWorld = ([first, ...others]: readonly Task[]): boolean =>
  others.every((t) => groupOf(t.job.record, t.task) === groupOf(first!.job.record, first!.task));

/** A node has slots for all of them, those counted that they have there now. */
function hasRoom(core: Core, tasks: readonly Task[]): boolean {
  const wanted = wantedByUnit(tasks, 'slot');
  const free = new Map(rooms(core).map((r) => [r.id, r.free]));
  return [...core.nodes.values()].some(
    (n) =>
      takesRanks(core, n) &&
      quarantinedUntil(core, n.id) === undefined &&
      suits({ code: n.room, runs: n.runs }, wanted) &&
      (free.get(n.id) ?? 0) + tasks.filter((t) => t.node === n.id).length >= tasks.length &&
      n.slots >= tasks.length,
  );
}

/** The last image of a task is complete. */
export function mergeParked(core: Core, t: Task): void {
  const { job } = t;
  const { merge } = job;
  if (merge?.by === undefined || !merge.tasks.includes(t) || !merge.tasks.every((m) => m.parked)) return;
  if (over(job) || job.record.state !== 'running' || !merge.tasks.every((m) => m.phase === 'running'))
    return giveUp(core, job);
  again(core, merge.tasks);
  job.merge = { tasks: merge.tasks, from: merge.from, fencing: true };
}

/** They restart as they were, without a fault. */
function giveUp(core: Core, job: Job): void {
  const { tasks } = job.merge!;
  job.merge = undefined;
  later(core, job);
  for (const t of tasks) if (t.phase === 'running') again(core, unitOf(core, t));
}

function again(core: Core, tasks: readonly Task[]): void {
  for (const m of tasks) {
    m.parkedAt = m.parked = undefined;
    if (m.phase !== 'running') continue;
    tellToDrop(core, m, m.node!, { code: 'FENCED', message: 'It restarts from its last checkpoint, in another team.' });
    m.ranMs += core.time - m.beganAt;
    leave(core, m);
  }
}
