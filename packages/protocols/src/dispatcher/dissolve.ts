/**
 * A team whose members cannot all have slots on one node is dissolved: its ranks restart alone, wherever slots are
 * free.
 *
 *  D28 (T9) "Dissolve at an image with nothing after it." When every Channel Memory has fenced every member, nothing
 *      can come of any of them any more, and the logs know all that anybody has seen. Where they end at the images with
 *      which the members are to begin (or at the start of their programs), these images are all of the team's history,
 *      whatever its ranks did behind them. One commit has the images and ends the team; the members are then as lost
 *      tasks without teammates. A node that leaves stops its ranks at their last images, so this is the rule there.
 *
 *      The team stays as it is if not all of its members would get a slot, if one of them has ended, if its programs
 *      are scripts (their prologues belong to the whole team), or if a task has ended of which the logs cannot tell
 *      any more what was sent to it.
 */
import type { Dissolved } from '../contract/dissolved.ts';
import { rooms } from './free-slots.ts';
import { suits, wantedByUnit } from './placement.ts';
import { release } from './slots.ts';
import { kindOfJob, over, recoveryOf, type Core, type Job, type Task } from './state.ts';
import { mapByOf, showTeams } from './teams.ts';
import { jobKey } from './keys.ts';

/** D28, of a team that is fenced everywhere: where its members begin alone; undefined: it begins as a team. */
export function apartFrom(core: Core, unit: readonly Task[]): Dissolved['from'] | undefined {
  const [{ job, oversubscribed }] = unit as readonly [Task, ...Task[]];
  const { endsAt } = recoveryOf(core, job);
  if (unit.length < 2 || !endsAt || !oversubscribed || over(job) || kindOfJob(job) !== 'wasm') return undefined;
  // One after the other: who hears of one hears of all.
  if (job.dissolving) return undefined;
  if (unit.some((m) => m.exit) || !hasRoomForEach(core, unit)) return undefined;
  const from: Dissolved['from'][number][] = [];
  for (const { task, image, fence } of unit) {
    const sends = endsAt(fence!.position, fence!.logs);
    if (!sends) return undefined;
    from.push({ task, sends, ...(image === undefined ? {} : { image }) });
  }
  return from;
}

/** With what the team's node has for it. */
function hasRoomForEach(core: Core, unit: readonly Task[]): boolean {
  const node = core.nodes.get(unit[0]!.node!);
  const wanted = wantedByUnit(unit, mapByOf(core, unit[0]!.job));
  const elsewhere = rooms(core).reduce((n, r) => n + (r.id !== node?.id && suits(r, wanted) ? r.free : 0), 0);
  const here = node ? Math.max(0, node.slots - (node.tasks.size - unit.length)) : 0;
  return elsewhere > 0 && elsewhere + here >= unit.length;
}

/** D28. */
export function dissolve(core: Core, unit: readonly Task[], from: Dissolved['from']): void {
  const { job } = unit[0]!;
  const { record } = job;
  const team = unit.map((m) => m.task);
  record.teams = record.teams!.filter((t) => t[0] !== team[0]);
  job.dissolving = true;
  record.dissolved = [...(record.dissolved ?? []), { team, from }];
  for (const m of unit) {
    m.team = m.oversubscribed = undefined;
    m.phase = 'idle';
    release(core, m);
  }
  // They may get slots before this is durable, but no incarnation is fenced: its commit comes after this one.
  core.persist({ kind: 'dissolve', job }, [[jobKey(record.spec.id), { ...record }]]);
  core.emit({
    type: 'log',
    level: 'info',
    message: `no node has room for ranks ${team.join(', ')} together: they restart on several nodes`,
    job: record.spec.id,
    task: team[0]!,
  });
  core.reschedule = true;
  core.changed(job);
}

/** Durable: whoever serves the job hears of it, unless a later commit has been answered before (raise). */
export function dissolved(core: Core, job: Job): void {
  if (job.dissolving && !over(job)) showTeams(core, job);
}
