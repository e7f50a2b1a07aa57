/**
 * Teams as one unit of failure, placement and restart, under protocols that log messages between teams
 * ({@link RecoveryPolicy.teams} is `unit`). A task without teammates is a unit of its own: nothing here changes what
 * becomes of it.
 *
 * Owns: who belongs to a unit, and when all its members may be assigned. Does not own: how teams are formed (teams.ts),
 * the way of one task to its assignment (restart.ts).
 *
 *  D22 (T1) The loss of a member is the loss of its team. All members get their next incarnations in one commit. The
 *      others leave a fault of their own, with the cause `team`, and neither they nor their node are blamed for it.
 *  D23 (T1, T8) All members are assigned in one step, to one node, once every Channel Memory has fenced every member.
 *      The node has as many free slots as the team has members; if none has, the one with the most takes the team
 *      oversubscribed. That one gets nothing else until slots are free.
 *  D24 A team is durable with the first incarnations of its members. Only a commit of dissolve.ts ends it.
 *  D25 (T12) A member whose EXIT is durable restarts with its team, unless it had ended where the others go back to.
 *      Its logs and images go when all members have ended. Until then its log takes messages, at a node or not.
 */
import type { TaskId } from '@mayfly/wire';
import { recoveryOf, type Core, type Job, type Task } from './state.ts';

/** The members of a task's team; a task without teammates alone. What is to become a team is one unit (D30). */
export function unitOf(core: Core, t: Task): readonly Task[] {
  const { regrouping } = t.job;
  if (regrouping?.fencing && regrouping.tasks.includes(t)) return regrouping.tasks;
  return t.team === undefined || recoveryOf(core, t.job).teams !== 'unit' ? [t] : t.team.map((m) => t.job.tasks[m]!);
}

export const matesOf = (core: Core, t: Task): readonly Task[] => unitOf(core, t).filter((m) => m !== t);

/** Its EXIT is durable; under D25 it may run again all the same. */
export const hasExited = (t: Task): boolean => t.phase === 'done' || (t.exit !== undefined && t.phase !== 'exiting');

/** It is at its node, or on its way there, though its EXIT is durable. */
export const runsAgain = (t: Task): boolean => t.exit !== undefined && t.phase !== 'exiting' && t.phase !== 'done';

/** D25: no member will ever restart. */
export const unitIsOver = (core: Core, t: Task): boolean => unitOf(core, t).every(hasExited);

/**
 * Tasks that wait for slots, together with those that get them in the same step. A team waits until the exits of its
 * members are durable that are being made so.
 */
export function waitingUnits(core: Core, job: Job): Task[][] {
  const out: Task[][] = [];
  const seen = new Set<TaskId>();
  for (const t of job.tasks) {
    if (t.phase !== 'idle' || seen.has(t.task)) continue;
    const unit = unitOf(core, t);
    for (const m of unit) seen.add(m.task);
    if (unit.every((m) => m.phase === 'idle' || m.phase === 'done')) out.push([...unit]);
  }
  return out;
}

/** D23: every Channel Memory has answered for every member. */
export const allFenced = (unit: readonly Task[]): boolean =>
  unit.every((t) => t.phase === 'fencing' && t.fence?.waiting.size === 0);

/** It runs, has repeated what earlier incarnations did, and does not stand still. */
export const runsFreely = (t: Task): boolean =>
  t.phase === 'running' && t.openFaults.length === 0 && !t.exit && t.parkedAt === undefined;

/**
 * D30: it can be asked for a last image. One that never had an image would stand in the way of the others, and would
 * restart from its beginning. So would a script whose team got none lately.
 */
export const mayStop = (t: Task): boolean =>
  runsFreely(t) && t.newest !== undefined && (t.activity?.local?.skipped ?? 0) === 0;

/** D25: no comm worker speaks for this member, whose log its team's senders may need. */
export const unattended = (core: Core, t: Task): void =>
  core.emit({ type: 'unattended', job: t.job.record.spec.id, task: t.task });

/** A heartbeat, a Hello: a member that has ended may still be at its node, for its teammates. */
export const staysForTeam = (core: Core, t: Task): boolean =>
  t.phase === 'done' && matesOf(core, t).some((m) => !hasExited(m));
