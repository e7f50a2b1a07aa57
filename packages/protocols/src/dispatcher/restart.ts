/**
 * The way of an incarnation from its slot (schedule.ts) to its assignment, and the loss of one.
 *
 * Order at a restart (docs/incarnations.md): raise the incarnation durably → fence the CS → choose the image → every CM
 * fences the old incarnation and answers → assign. The first incarnation takes the same steps. A task that is lost
 * during any of them starts again with a higher number, so late answers are recognised by their incarnation. Members of
 * a team take these steps together (unit.ts).
 */
import type { ErrorBody, Incarnation, NodeId } from '@mayfly/wire';
import type { Progress } from '../channel-memory/events.ts';
import { endJob } from './end.ts';
import { cameBack, failed, weigh } from './failures.ts';
import { began } from './comparison.ts';
import { bury } from './bury.ts';
import { occupy, release } from './slots.ts';
import { showTeams, teamsOfJob } from './teams.ts';
import { quarantinedUntil } from './reputation.ts';
import { addFault, faultChanges, reached, recovered } from './fault-list.ts';
import {
  clusterOf,
  kindOfJob,
  over,
  paused,
  recoveryOf,
  taskChange,
  type Core,
  type Job,
  type Node,
  type Task,
} from './state.ts';
import type { Dissolved } from '../contract/dissolved.ts';
import { apartFrom, dissolve, fitsElsewhere } from './dissolve.ts';
import { apartAgain, isBecomingTeam, makeTeam, mergedFrom } from './make-team.ts';
import { allFenced, matesOf, runsAgain, unattended, unitOf } from './unit.ts';
import type { FaultCause } from './events.ts';
import type { LossDetail } from './suspicions.ts';
import { jobKey } from './keys.ts';

/** D2: the next incarnations of tasks that have just got their slots, in one commit. */
export function raise(core: Core, tasks: Task[], starts: Job[], teams: readonly Job[]): void {
  // D28: whoever serves them has to hear of it before a member is fenced, and answers to commits come in any order.
  const formed = [...new Set([...teams, ...tasks.flatMap(({ job }) => (job.dissolving ? [job] : []))])];
  const counted = tasks.flatMap(({ job }) => (job.moreFaultsDirty ? [job] : []));
  for (const job of counted) job.moreFaultsDirty = false;
  const changes: (readonly [string, unknown])[] = [...new Set([...starts, ...formed, ...counted])].map((j) => [
    jobKey(j.record.spec.id),
    { ...j.record },
  ]);
  const jobs = new Set<Job>();
  for (const t of tasks) {
    if (t.resumable !== undefined) {
      tellToDrop(core, t, t.resumable, {
        code: 'FENCED',
        message: 'This node was away too long; its rank restarts elsewhere.',
      });
      t.resumable = undefined;
    }
    t.incarnation = ((t.incarnation ?? -1) + 1) as Incarnation; // D2
    t.phase = 'raising';
    t.stays = undefined;
    delete t.activity;
    t.lastNode = t.node!;
    changes.push(taskChange(t));
    jobs.add(t.job);
  }
  for (const j of jobs) changes.push(...faultChanges(j));
  core.persist(
    { kind: 'raise', tasks: tasks.map((task) => ({ task, incarnation: task.incarnation! })), starts, formed },
    changes,
  );
}

/**
 * Durable: fence the Checkpoint Server first, so that no image of the old incarnation becomes the newest one behind our
 * back.
 */
export function raised(
  core: Core,
  tasks: readonly { task: Task; incarnation: Incarnation }[],
  starts: readonly Job[],
  formed: readonly Job[],
): void {
  for (const j of starts) if (!over(j)) core.emit({ type: 'openJob', job: j.record.spec.id });
  for (const j of formed) if (!over(j)) showTeams(core, j);
  for (const { task: t, incarnation } of tasks) {
    if (over(t.job) || t.phase !== 'raising' || t.incarnation !== incarnation) continue;
    t.phase = 'choosing';
    core.emit({ type: 'fenceCs', job: t.job.record.spec.id, task: t.task, incarnation });
  }
}

export function imageChosen(
  core: Core,
  t: Task,
  image: Task['image'],
  position = recoveryOf(core, t.job).start,
  ended?: true,
): void {
  t.image = image;
  t.stays = ended;
  t.phase = 'fencing';
  const { id, channelMemories } = t.job.record.spec;
  t.fence = { waiting: new Set(), sends: 0, consumed: 0, position, logs: [] };
  for (let cm = 0; cm < channelMemories; cm++) {
    t.fence.waiting.add(cm);
    core.emit({ type: 'fenceCm', job: id, task: t.task, incarnation: t.incarnation!, cm });
  }
}

export function fencedCm(core: Core, t: Task, cm: number, { sends, consumed, logs }: Progress): void {
  if (!t.fence?.waiting.delete(cm)) return;
  t.fence.sends += sends;
  t.fence.consumed = Math.max(t.fence.consumed, consumed);
  t.fence.logs.push(logs);
  const unit = unitOf(core, t);
  if (!allFenced(unit)) return; // D23
  if (!isBecomingTeam(t)) return allAreFenced(core, unit);
  const made = mergedFrom(core, unit);
  if (made) return fencedAsOne(core, unit, made);
  apartAgain(core, t);
  // As they were, where they are.
  for (const u of new Set(unit.map((m) => unitOf(core, m)[0]!)))
    if (u.phase === 'fencing') allAreFenced(core, unitOf(core, u));
}

/** D30. */
function fencedAsOne(core: Core, unit: readonly Task[], made: Dissolved): void {
  const came = unit.map((m) => [m, settle(core, m)] as const);
  if (over(unit[0]!.job) || !weigh(core, came)) return;
  makeTeam(core, unit, made);
}

function allAreFenced(core: Core, unit: readonly Task[]): void {
  const begin = unit.filter((m) => !m.stays);
  const apart = begin.length < unit.length ? undefined : apartFrom(core, unit);
  const came = begin.map((m) => [m, settle(core, m)] as const);
  if (over(unit[0]!.job) || !weigh(core, came)) return;
  if (apart) return dissolve(core, unit, apart);
  for (const m of unit)
    if (m.stays) {
      endAgain(core, m);
      unattended(core, m);
    }
  if (!begin.every((m) => mayBegin(core, m)) || fitsElsewhere(core, unit)) return lose(core, begin[0]!, 'disconnected');
  for (const m of begin) assign(core, m); // D1: everyone has fenced
}

/** It has ended, as before: it gives its slot back (D25). */
export function endAgain(core: Core, t: Task): void {
  t.phase = 'done';
  t.stays = t.oversubscribed = undefined;
  recovered(core, t);
  delete t.fence;
  delete t.activity;
  release(core, t);
}

/** All Channel Memories have fenced the task. @returns arrivals that it has consumed */
function settle(core: Core, t: Task): number {
  const fence = t.fence!;
  t.fencedSends = fence.sends;
  // No rank has consumed more than came, whatever its heartbeats claimed. Otherwise no later incarnation could appear
  // to get further.
  const arrivals = Math.max(
    fence.consumed,
    Math.min(t.arrivalsSeen, Math.max(0, ...fence.logs.map((l) => l.arrivals))),
  );
  const lost = recoveryOf(core, t.job).lacks(fence.position, fence.logs);
  delete t.fence;
  if (lost !== undefined && !over(t.job)) {
    // D11: what the logs lost no incarnation will find there.
    t.job.culprit = t.task;
    endJob(core, t.job, 'failed', { code: 'LOST_LOG', message: `rank ${t.task}: the logs lost ${lost}` });
  }
  return arrivals;
}

/** Its node can still take it. */
function mayBegin(core: Core, t: Task): boolean {
  const node = t.node === undefined ? undefined : core.nodes.get(t.node);
  if (!node) return false;
  // It may have fewer slots by now: D3. A team that found too few took what was free beside the others.
  const fits = t.oversubscribed
    ? node.slots > 0
    : [...node.tasks].filter((o) => !o.oversubscribed).length <= node.slots;
  return (
    fits &&
    node.connection !== undefined &&
    !node.presence.left &&
    node.runs.includes(kindOfJob(t.job)) /* D20 */ &&
    quarantinedUntil(core, node.id) === undefined /* R2 */
  );
}

function assign(core: Core, t: Task): void {
  const node = core.nodes.get(t.node!)!;
  t.phase = 'assigned';
  t.parkedAt = t.parked = undefined;
  t.since = core.time;
  t.worked = false;
  t.missed = 0;
  reached(core, t, 'assignedAfterMs');
  const effect = {
    type: 'assign' as const,
    connection: node.connection!,
    node: node.id,
    job: t.job.record.spec.id,
    task: t.task,
    incarnation: t.incarnation!,
  };
  const teams = teamsOfJob(t.job);
  const ended = unitOf(core, t).filter((m) => m.phase === 'done');
  core.emit({
    ...effect,
    ...(t.image === undefined ? {} : { image: t.image }),
    ...(t.team === undefined ? {} : { team: t.team }),
    ...(ended.length === 0 ? {} : { ended: ended.map((m) => m.task) }),
    ...(teams.length === 0 ? {} : { teams }),
  });
  core.changed(t.job);
}

/** The rank has begun (perhaps to replay). A first incarnation has nothing to replay. */
export function started(core: Core, t: Task): void {
  if (t.phase !== 'assigned') return;
  t.phase = 'running';
  t.avoid = undefined;
  began(core, t);
  reached(core, t, 'startedAfterMs');
  askForImage(core, t);
  core.changed(t.job);
}

/**
 * Asks the node of a running rank for an image; `last`: it does nothing more behind it, or (false) no such image is
 * wanted any more; `atCall`: a script takes it at this call of checkpoint.here. For a rank that does not run yet, this
 * happens when it starts.
 */
export function askForImage(core: Core, t: Task, last?: boolean, atCall?: number): void {
  if ((t.wanted === undefined && last === undefined) || t.phase !== 'running' || t.node === undefined) return;
  // One member asks for all: a team takes its images together.
  if (unitOf(core, t).find((m) => m.phase === 'running' && !runsAgain(m)) !== t) return;
  const node = core.nodes.get(t.node);
  if (node?.connection !== undefined)
    core.emit({
      type: 'checkpoint',
      connection: node.connection,
      node: node.id,
      job: t.job.record.spec.id,
      task: t.task,
      ...(last === undefined ? {} : { last }),
      ...(atCall === undefined ? {} : { atCall }),
    });
}

/**
 * The node is back, or was merely silent, with the highest incarnation, before another was raised: the rank continues.
 */
export function resume(core: Core, t: Task, node: Node): void {
  const lost = t.phase === 'idle';
  if (lost) occupy(core, t, node.id);
  t.resumable = undefined;
  t.phase = 'running';
  t.callAt = t.seenAt = t.beganAt = core.time;
  cameBack(core, t);
  t.missed = 0;
  askForImage(core, t);
  core.changed(t.job);
  if (lost) recovered(core, t);
}

/** D5: a node is ordered to stop every incarnation that is not the acting one. */
export function tellToDrop(core: Core, t: Task, where: NodeId, error: ErrorBody): void {
  const node = core.nodes.get(where);
  if (node?.connection === undefined || t.incarnation === undefined) return;
  core.emit({
    type: 'revoke',
    connection: node.connection,
    node: node.id,
    job: t.job.record.spec.id,
    task: t.task,
    incarnation: t.incarnation,
    error,
  });
}

/**
 * The task's incarnation is lost, and with it those of its team (D22). An incarnation that was never assigned leaves no
 * fault.
 */
export function lose(core: Core, t: Task, cause: FaultCause, detail: LossDetail = {}): void {
  if (t.phase === 'exiting' || t.phase === 'done') return;
  const mates = matesOf(core, t);
  apartAgain(core, t);
  loseOne(core, t, cause, detail);
  for (const m of mates) {
    if (m.node !== undefined && m.phase !== 'exiting' && m.phase !== 'done')
      tellToDrop(core, m, m.node, { code: 'FENCED', message: `Rank ${t.task} of its team was lost.` });
    loseOne(core, m, 'team', { hearsay: detail.hearsay });
  }
}

function loseOne(core: Core, t: Task, cause: FaultCause, detail: LossDetail): void {
  if (t.phase === 'idle' || t.phase === 'ended' || t.phase === 'exiting' || t.phase === 'done' || over(t.job)) return;
  const lived = t.phase === 'assigned' || t.phase === 'running' || t.phase === 'away';
  const { together, tells } = recoveryOf(core, t.job);
  if (lived && together) goesBack(core, t, cause);
  if (paused(t.job)) return leave(core, t); // D9
  const node = t.node;
  if (lived) {
    const fault = addFault(core, t, cause, detail);
    failed(core, t, cause, fault, detail.code);
    if (t.phase === 'running') t.ranMs += core.time - t.beganAt;
    const alone = !together && !tells && t.team === undefined;
    if (alone && (cause === 'disconnected' || cause === 'silent' || cause === 'restart')) t.resumable = node;
    // D5: when the node is heard again, the next incarnation may begin there.
    else if (cause === 'silent' && node !== undefined)
      tellToDrop(core, t, node, { code: 'FENCED', message: 'The node was silent for too long.' });
    if (cause === 'crashed' || cause === 'refused' || cause === 'clone' || cause === 'killed' || cause === 'doubted')
      t.avoid = node;
    core.emit({
      type: 'log',
      level: 'warn',
      message: `rank ${t.task} lost: ${cause}${detail.why === undefined ? '' : `. ${detail.why}`}`,
      job: t.job.record.spec.id,
      task: t.task,
      incarnation: t.incarnation!,
      ...(node === undefined ? {} : { node }),
    });
  }
  if (lived && tells && cause !== 'declined') {
    const message = `rank ${t.task} was lost (${cause})`;
    return bury(core, t, { code: 1, abort: { code: 'LOST_NODES', message } });
  }
  t.phase = t.exit ? 'done' : 'idle';
  t.oversubscribed = undefined;
  delete t.fence;
  release(core, t);
  core.reschedule = true;
  core.changed(t.job);
  const end = lived ? recoveryOf(core, t.job).lost(t.task, cause) : undefined;
  if (end) {
    t.job.culprit = t.task;
    endJob(core, t.job, 'failed', end);
  }
}

/** D15 (together.ts). */
export function goesBack(core: Core, t: Task, cause: FaultCause | 'paused'): void {
  const cluster = clusterOf(t);
  if (cluster === undefined) t.job.rolling = 'all';
  else if (t.job.rolling !== 'all') t.job.rolling = new Set([...(t.job.rolling ?? []), cluster]);
  core.emit({ type: 'goesBack', job: t.job.record.spec.id, task: t.task, cause });
}

/** A rank that runs restarts, without a fault. Its node reads why. */
export function stopToRestart(core: Core, t: Task, message: string): void {
  tellToDrop(core, t, t.node!, { code: 'FENCED', message });
  leave(core, t);
}

/** D9: it has no slot any more, and neither node nor program is to blame. */
export function leave(core: Core, t: Task): void {
  if (t.phase === 'running') t.ranMs += core.time - t.beganAt;
  t.phase = t.exit ? 'done' : 'idle';
  t.oversubscribed = undefined;
  t.resumable = undefined;
  t.wanted = undefined;
  t.parkedAt = t.parked = undefined;
  t.pending = undefined;
  t.comparisons = [];
  delete t.fence;
  delete t.activity;
  release(core, t);
  core.changed(t.job);
}
