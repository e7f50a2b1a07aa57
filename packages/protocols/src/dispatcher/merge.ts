/**
 * Which ranks become one team: ranks that are alone, and teams that are smaller than the job asks for, where a node has
 * room for all of them (D30, last-images.ts). Until they are fenced everywhere, this is in memory only; the commit has
 * their images as the first set of the team, and says how many arrivals each log had.
 */
import { rooms, takesRanks } from './free-slots.ts';
import { suits, wantedByUnit } from './placement.ts';
import { quarantinedUntil } from './reputation.ts';
import { groupOf, kindOfJob, type Core, type Job, type Task } from './state.ts';
import { mapByOf, mostOf } from './teams.ts';
import { mayStop, unitOf } from './unit.ts';

/** Consecutive units of one world that fit on a node together; undefined: there are none. */
export function together(core: Core, job: Job): Task[] | undefined {
  const most = mostOf(core, job);
  if (most < 2 || mapByOf(core, job) !== 'slot') return undefined;
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

/** Of a script the node has to say which call of checkpoint.here is its next (common-call.ts). */
const mayMerge = (t: Task): boolean =>
  mayStop(t) && !t.oversubscribed && (kindOfJob(t.job) === 'wasm' || t.callsSeen !== undefined);

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
