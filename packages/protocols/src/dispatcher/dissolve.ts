/**
 * A team whose members cannot all have slots on one node is dissolved: its ranks restart wherever slots are free, as
 * smaller teams where a node has several.
 *
 *  D28 (T9) "Dissolve at an image with nothing after it." When every Channel Memory has fenced every member, nothing
 *      can come of any of them any more, and the logs know all that anybody has seen. Where they end at the images with
 *      which the members are to begin (or at the start of their programs), these images are all of the team's history,
 *      whatever its ranks did behind them. One commit has the images, ends the team and forms the smaller ones; these
 *      and the other members are then as lost tasks. A node that leaves stops its ranks at their last images, so this
 *      is the rule there.
 *
 *      The team stays as it is if one node has room for all of it by now, if not all of its members would get a slot,
 *      if one of them has ended, or if a task has ended of which the logs cannot tell any more what was sent to it.
 *
 *      Scripts are no exception: their images have copies of what they received of teammates before `checkpoint.open`
 *      (pessimistic/teams/prologue.ts), so each repeats its prologue alone.
 */
import type { TaskId } from '@mayfly/wire';
import { groupIn, type Dissolved } from '../contract/dissolved.ts';
import { rooms } from './free-slots.ts';
import { suits, wantedByUnit } from './placement.ts';
import { arrivalsOf, regroup } from './regroup.ts';
import { over, recoveryOf, type Core, type Job, type Task } from './state.ts';
import { mapByOf, noteChange, showTeams } from './teams.ts';

/** D28, of a team that is fenced everywhere: where its members begin; undefined: it begins as it is. */
export function apartFrom(core: Core, unit: readonly Task[]): Dissolved | undefined {
  const [{ job, oversubscribed }] = unit as readonly [Task, ...Task[]];
  const { endsAt } = recoveryOf(core, job);
  if (unit.length < 2 || !endsAt || !oversubscribed || over(job)) return undefined;
  // One after the other: who hears of one hears of all.
  if (job.dissolving) return undefined;
  const groups = unit.some((m) => m.exit) ? undefined : groupsOf(core, unit);
  if (!groups) return undefined;
  const from: Dissolved['from'][number][] = [];
  for (const { task, image, fence } of unit) {
    const sends = endsAt(fence!.position, fence!.logs);
    if (!sends) return undefined;
    const mates = groups.find((g) => g.includes(task))!;
    const leave = mates.length > 1 ? sends.filter(([dst]) => !mates.includes(dst)) : sends;
    from.push({
      task,
      sends: leave,
      arrivals: arrivalsOf(fence!),
      ...(image === undefined ? {} : { image }),
    });
  }
  const teams = groups.filter((g) => g.length > 1);
  return { team: unit.map((m) => m.task), from, ...(teams.length > 0 && { groups: teams }) };
}

/** A team that found too few slots: by now another node has enough for all of it. */
export const fitsElsewhere = (core: Core, unit: readonly Task[]): boolean =>
  unit.length > 1 && unit[0]!.oversubscribed === true && roomsElsewhere(core, unit).some((n) => n >= unit.length);

function roomsElsewhere(core: Core, unit: readonly Task[]): number[] {
  const wanted = wantedByUnit(unit, mapByOf(core, unit[0]!.job));
  return rooms(core).flatMap((r) => (r.id !== unit[0]!.node && suits(r, wanted) ? [r.free] : []));
}

/** A team that found too few slots: several nodes together have one for each of its ranks. */
export const fitsApart = (core: Core, unit: readonly Task[]): boolean => spread(core, unit) !== undefined;

/**
 * Consecutive ranks fill the node with the most free slots, then the next one, as long as there are any: few nodes, and
 * so few messages between them. What the team's node has for it counts. Undefined: not every rank would get a slot, or
 * no other node has one.
 */
function spread(core: Core, unit: readonly Task[]): (readonly TaskId[])[] | undefined {
  const node = core.nodes.get(unit[0]!.node!);
  const elsewhere = roomsElsewhere(core, unit);
  const here = node ? Math.max(0, node.slots - (node.tasks.size - unit.length)) : 0;
  const groups: (readonly TaskId[])[] = [];
  let at = 0;
  for (const free of [...elsewhere, here].sort((a, b) => b - a)) {
    const group = unit.slice(at, at + free).map((m) => m.task);
    if (group.length > 0) groups.push(group);
    at += free;
  }
  return elsewhere.length === 0 || at < unit.length || groups.length < 2 ? undefined : groups;
}

function groupsOf(core: Core, unit: readonly Task[]): (readonly TaskId[])[] | undefined {
  const groups = spread(core, unit);
  if (!groups) return undefined;
  // A set was damaged that may come back with a restart of the server: a smaller team would count it as its own.
  const sound = unit.every((m) => m.newest?.image === m.image);
  return sound ? groups : unit.map((m) => [m.task]);
}

/** D28. */
export function dissolve(core: Core, unit: readonly Task[], parted: Dissolved): void {
  const { job } = unit[0]!;
  const { record } = job;
  const { team, groups = [] } = parted;
  record.teams = [...record.teams!.filter((t) => t[0] !== team[0]), ...groups];
  noteChange(core, job, { what: 'dissolved', ranks: [...team], teams: groups.map((g) => [...g]) });
  for (const m of unit) {
    m.team = groupIn(parted, m.task);
    m.oversubscribed = undefined;
  }
  job.regroupsFrom = undefined;
  job.regroupsFailed = 0;
  const message =
    `no node has room for ranks ${team.join(', ')} together: they restart on several nodes` +
    groups.map((g) => `, ranks ${g.join(', ')} together`).join('');
  regroup(core, unit, parted, message);
}

/** Durable: whoever serves the job hears of it, unless a later commit has been answered before (raise). */
export function dissolved(core: Core, job: Job): void {
  if (job.dissolving && !over(job)) showTeams(core, job);
}
