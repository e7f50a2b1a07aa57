/** Nodes: coming, going, being silent, and what they say of the ranks that they hold. */
import {
  PROGRAM_KINDS,
  type ErrorBody,
  type Hold,
  type ImageId,
  type Incarnation,
  type JobId,
  type NodeId,
  type RankActivity,
  type TaskId,
} from '@mayfly/wire';
import { deadline, judge, patienceOf, type Patience, type Verdict } from '../failure-detector.ts';
import { callsSeen } from './common-call.ts';
import { rooms, takesFor, type Room } from './free-slots.ts';
import { takeRoomForUnit, wantedByUnit } from './placement.ts';
import { stated } from './job-progress.ts';
import { came } from './reputation.ts';
import { hasParked } from './last-images.ts';
import { endAgain, lose, resume, started, tellToDrop } from './restart.ts';
import { mapByOf } from './teams.ts';
import { recovered } from './fault-list.ts';
import { kindOfJob, over, paused, recoveryOf, type Core, type Job, type Node, type Task } from './state.ts';
import { matesOf, runsAgain, staysForTeam, unattended, unitOf } from './unit.ts';
import type { DispatcherEvent } from './events.ts';
import type { LossDetail } from './suspicions.ts';

type Of<T extends DispatcherEvent['type']> = Extract<DispatcherEvent, { type: T }>;

/** Heartbeats in a row without a task before it counts as crashed. */
const MISSED_LIMIT = 3;
/** An Assignment needs a moment to arrive, and a busy node's heartbeats from before it may come in a bunch. */
const ARRIVAL_MS = 10_000;
/** D31: images that a node may name in its Hello, and of a task that are kept. */
const MAX_IMAGES = 256;
const IMAGES_OF_TASK = 2;
/** D33. */
const MAX_REVOKED = 32;
/** Characters of a reported error that a fault keeps. */
const MAX_WHY = 200;
const MAX_ERROR = 4096;

export function hello(core: Core, e: Of<'hello'>): void {
  // D31.
  const own = core.connections.get(e.connection)?.id;
  let id = own ?? e.claimed ?? e.fresh;
  let isNew = own === undefined && e.claimed === undefined;
  const known = core.nodes.get(id);
  if (
    known?.connection !== undefined &&
    known.connection !== e.connection &&
    !known.presence.left &&
    e.session !== known.session
  ) {
    // Two living sessions cannot be one node: a duplicated tab becomes a node of its own. (A reload whose old socket
    // still hangs does,
    // too; the old one is then lost by silence.)
    id = e.fresh;
    isNew = true;
  }
  const node = core.nodes.get(id) ?? newNode(core, id);
  const sameSession = e.session !== undefined && e.session === node.session;
  if (node.connection !== undefined && node.connection !== e.connection) {
    core.connections.delete(node.connection);
    core.emit({ type: 'close', connection: node.connection });
  }
  if (node.connection === undefined) {
    node.earlierMs += node.lastSeen - node.since;
    node.since = core.now;
  }
  Object.assign(node, {
    name: e.name,
    engine: e.engine,
    slots: e.slots,
    cores: e.cores,
    runs: e.runs ?? PROGRAM_KINDS,
    room: e.room,
    connection: e.connection,
    session: e.session,
    lastSeen: core.now,
  });
  node.presence = { heard: core.time };
  node.images = new WeakMap();
  for (const { job, task, image } of e.images.slice(0, MAX_IMAGES)) {
    const t = core.find(job, task);
    if (t && !over(t.job)) addImage(node, t, image);
  }
  core.connections.set(e.connection, node);

  came(core, id, e.address);
  const drop: Hold[] = [];
  const held = new Set<Task>();
  for (const h of e.holds) {
    const t = core.find(h.job, h.task);
    if (t && !isNew && claim(core, t, node, h.incarnation)) held.add(t);
    else drop.push(h); // D5
  }
  for (const t of [...node.tasks])
    if (!held.has(t) && lived(t)) {
      if (sameSession && t.phase === 'running' && runsAgain(t)) endAgain(core, t);
      else if (!sameSession) lose(core, t, 'reloaded');
      else if (t.phase === 'assigned') lose(core, t, 'disconnected');
      else lose(core, t, 'crashed', { why: 'The node reconnected without this rank.' });
    }
  // D22: the others of their teams are lost with those that it has not any more.
  for (const h of e.holds) {
    const t = core.find(h.job, h.task);
    if (t && held.has(t) && !lived(t) && t.phase !== 'exiting' && !staysForTeam(core, t)) drop.push(h);
  }
  const mates = new Set([...held].flatMap((t) => matesOf(core, t)));
  for (const m of mates) if (!held.has(m) && staysForTeam(core, m)) unattended(core, m);
  // Ranks that were lost with this node cannot go on once it is back without them.
  for (const job of core.jobs.values())
    for (const t of job.tasks) if (t.resumable === id && !held.has(t)) t.resumable = undefined;
  core.emit({ type: 'welcome', connection: e.connection, node: id, isNew, drop });
  core.nodesChanged = true;
  core.reschedule = true;
}

/** Its loss would undo what its ranks did since their checkpoint. Those that checkpoint alone it asks itself. */
export function foresees(core: Core, node: Node): void {
  const byJob = new Map<Job, TaskId[]>();
  for (const { job, task, phase } of node.tasks)
    if (phase === 'running' && recoveryOf(core, job).together) byJob.set(job, [...(byJob.get(job) ?? []), task]);
  for (const [job, tasks] of byJob)
    if (!over(job) && !paused(job)) core.emit({ type: 'wantsWave', job: job.record.spec.id, for: tasks });
}

function newNode(core: Core, id: NodeId): Node {
  const node: Node = {
    id,
    name: '',
    engine: '',
    slots: 0,
    runs: PROGRAM_KINDS,
    faults: 0,
    earlierMs: 0,
    connection: undefined,
    session: undefined,
    presence: { heard: core.time },
    tasks: new Set(),
    images: new WeakMap(),
    since: core.now,
    lastSeen: core.now,
    verdict: 'here',
  };
  core.nodes.set(id, node);
  return node;
}

/** D31. The task has this image on the disk of the node. */
export function addImage(node: Node, t: Task, image: ImageId): void {
  node.images.set(t, [...(node.images.get(t) ?? []).filter((i) => i !== image), image].slice(-IMAGES_OF_TASK));
}

/** At recovery: the place of a node that has not come back yet. */
export function absentNode(core: Core, id: NodeId): Node {
  const node = core.nodes.get(id) ?? newNode(core, id);
  if (node.connection === undefined) node.presence.closed = core.time;
  return node;
}

/** Assigned to a node, so that its worker may be alive there. */
const lived = (t: Task): boolean => t.phase === 'assigned' || t.phase === 'running' || t.phase === 'away';

/**
 * Is (task, incarnation) the acting one, and this node's? If it was lost only by silence and not replaced, it
 * continues.
 */
function claim(core: Core, t: Task, node: Node, incarnation: Incarnation): boolean {
  if (over(t.job) || t.incarnation !== incarnation) return false;
  if (t.phase === 'away' && t.node === node.id) resume(core, t, node);
  else if (t.phase === 'idle' && t.resumable === node.id) resume(core, t, node);
  if (staysForTeam(core, t)) return t.lastNode === node.id;
  return (lived(t) || t.phase === 'exiting') && t.node === node.id;
}

export function heard(core: Core, node: Node): void {
  if (core.time - node.presence.heard >= takesFor(core)) {
    core.reschedule = true;
    core.nodesChanged = true;
  }
  node.presence.heard = core.time;
  node.lastSeen = core.now;
}

export function heartbeat(core: Core, node: Node, e: Of<'heartbeat'>): void {
  if (e.rttMs !== undefined) node.rttMs = e.rttMs;
  if (e.speed !== undefined) node.speed = e.speed;
  const named = new Set<Task>();
  let revoked = 0;
  for (const h of e.tasks) {
    const t = core.find(h.job, h.task);
    if (!t || !claim(core, t, node, h.incarnation)) {
      if (++revoked <= MAX_REVOKED) refuse(core, node, h.job, h.task, h.incarnation, t);
      continue;
    }
    named.add(t);
    t.missed = 0;
    if (!sameActivity(t.activity, h.activity)) t.activitySince = core.now;
    t.activity = h.activity;
    t.callsSeen = callsSeen(t.callsSeen, h.activity.checkpointCalls, core.time);
    t.parkedAt = h.parked === undefined ? undefined : (t.parkedAt ?? core.time);
    t.parked = h.parked;
    stated(core, t, h.incarnation, h.activity.progress);
    t.arrivalsSeen = Math.max(t.arrivalsSeen, h.activity.arrivals);
    if (h.started) started(core, t);
    // A message that no earlier incarnation sent; or a report that a server which was killed had not made durable.
    if (h.recovered === true || h.activity.sends > t.fencedSends) recovered(core, t);
    core.changed(t.job);
  }
  for (const t of [...node.tasks])
    if (
      (t.phase === 'assigned' || t.phase === 'running') &&
      !named.has(t) &&
      ++t.missed >= MISSED_LIMIT &&
      (t.phase === 'running' || core.time - t.since >= ARRIVAL_MS)
    ) {
      if (runsAgain(t)) endAgain(core, t);
      else loseUnseen(core, t, node, unnamed(t));
    }
  for (const t of named) if (t.parked) hasParked(core, t);
}

/** Its node is here, and may run it all the same (D5). */
function loseUnseen(core: Core, t: Task, node: Node, why: string): void {
  tellToDrop(core, t, node.id, { code: 'FENCED', message: why });
  lose(core, t, 'crashed', { why });
}

/** Heartbeats of its node do not name it. */
const unnamed = (t: Task): string =>
  t.phase === 'running' || t.activity ? 'The node no longer reported this rank.' : 'The node never reported this rank.';

const sameActivity = (a: RankActivity | undefined, b: RankActivity): boolean =>
  a?.state === b.state &&
  a.call === b.call &&
  a.peer === b.peer &&
  a.tag === b.tag &&
  a.arrivals === b.arrivals &&
  a.sends === b.sends &&
  a.local?.arrivals === b.local?.arrivals &&
  a.local?.sends === b.local?.sends;

function refuse(core: Core, node: Node, job: JobId, task: TaskId, incarnation: Incarnation, t: Task | undefined): void {
  const ended = !t || over(t.job) || t.phase === 'done';
  const error: ErrorBody = ended
    ? { code: 'UNKNOWN_JOB', message: 'The job, or this rank of it, has ended.' }
    : {
        code: 'FENCED',
        message: paused(t.job) ? 'The job is paused.' : `Incarnation ${t.incarnation ?? 0} of this rank is running.`,
      };
  core.emit({ type: 'revoke', connection: node.connection!, node: node.id, job, task, incarnation, error });
}

export function report(core: Core, node: Node, e: Of<'report'>): void {
  const t = core.find(e.job, e.task);
  // The report of a zombie changes nothing (D5).
  if (!t || !claim(core, t, node, e.incarnation)) {
    if (e.event === 'started' || e.event === 'recovered') refuse(core, node, e.job, e.task, e.incarnation, t);
    return;
  }
  if (e.event === 'started') started(core, t);
  else if (e.event === 'recovered') {
    started(core, t);
    recovered(core, t);
  } else {
    const detail = { ...noteReason(t, e.error), hearsay: true };
    // D11: also when it reports LOST_LOG. The fence of the next incarnation asks the logs themselves.
    if (e.event === 'crashed') lose(core, t, 'crashed', detail);
    else if (e.error?.code === 'PROGRAM_REFUSED') {
      // D20: the node knows best what it runs. Nothing of the kind goes there again before its next Hello.
      node.runs = node.runs.filter((k) => k !== kindOfJob(t.job));
      core.nodesChanged = true;
      lose(core, t, 'declined', detail);
    } else lose(core, t, e.error?.code === 'CLONE' || e.error?.code === 'FENCED' ? 'clone' : 'refused', detail);
  }
}

/** Notes the reason of a loss that a node, or a Channel Memory, reports. */
function noteReason(t: Task, error: ErrorBody | undefined): LossDetail {
  if (!error) return { why: 'The node reported no reason.' };
  t.lastError = `${error.code}: ${error.message}`.slice(0, MAX_ERROR);
  return { code: error.code, why: t.lastError.slice(0, MAX_WHY) };
}

/** A Channel Memory has ended this incarnation: its node need not say so, and may have reasons not to. */
export function refused(core: Core, t: Task, incarnation: Incarnation, error: ErrorBody): void {
  if (over(t.job) || t.incarnation !== incarnation || !lived(t)) return;
  const detail = noteReason(t, error);
  if (t.node !== undefined) tellToDrop(core, t, t.node, error);
  lose(core, t, 'refused', detail);
}

export function goodbye(core: Core, node: Node): void {
  node.presence.left = true;
  for (const t of [...node.tasks]) lose(core, t, 'goodbye');
  core.nodesChanged = true;
}

export function disconnected(core: Core, node: Node, connection: string): void {
  core.connections.delete(connection);
  node.connection = undefined;
  node.presence.closed = core.time;
  // What was not yet assigned needs no grace: nothing of it is there.
  for (const t of [...node.tasks]) if (!lived(t)) lose(core, t, 'disconnected');
  for (const t of node.tasks) core.changed(t.job);
  // A job's own grace is a matter of seconds: the ticks will do.
  if ([...node.tasks].some((t) => t.job.record.spec.graceMs === undefined))
    for (const afterMs of new Set([briefOf(core), core.settings.graceMs])) core.emit({ type: 'wake', afterMs });
  core.nodesChanged = true;
}

const briefOf = (core: Core): number => core.settings.briefGraceMs ?? core.settings.graceMs;
const defaults = (core: Core): Patience => core.settings;

/** Verdicts of time: silence, a restart of the server, an assignment that never began. */
export function watch(core: Core): void {
  const brief = briefOf(core);
  /** Free slots for which this tick has not taken a rank from its node yet. */
  let spare: Room[] | undefined;
  for (const node of core.nodes.values()) {
    for (const t of [...node.tasks]) {
      const { graceMs: grace } = t.job.record.spec;
      if (t.phase === 'away') {
        if (core.time >= t.since) lose(core, t, 'restart');
      } else if (core.time >= deadline(node.presence, patienceOf(defaults(core), grace)))
        lose(core, t, node.presence.closed === undefined ? 'silent' : 'disconnected');
      else if (grace === undefined && node.presence.closed !== undefined && core.time >= node.presence.closed + brief) {
        const unit = unitOf(core, t);
        const wanted = wantedByUnit(unit, mapByOf(core, t.job));
        if (!takeRoomForUnit(wanted, unit.length, (spare ??= rooms(core)), true)) continue;
        lose(core, t, 'disconnected');
      } else if (
        t.phase === 'assigned' &&
        core.stopped === undefined &&
        node.connection !== undefined &&
        core.time - t.since > core.settings.startMs
      ) {
        loseUnseen(core, t, node, 'The rank did not start in time.');
      }
    }
    const verdict = verdictOf(core, node);
    if (verdict !== node.verdict) {
      node.verdict = verdict;
      core.nodesChanged = true;
      for (const t of node.tasks) core.changed(t.job);
    }
    // D32.
    const { connection, presence } = node;
    const quietSince = connection === undefined ? (presence.closed ?? core.time) : presence.heard;
    if (node.tasks.size > 0 || core.time - quietSince <= core.settings.forgetMs) continue;
    core.nodes.delete(node.id);
    if (connection !== undefined) {
      core.connections.delete(connection);
      core.emit({ type: 'close', connection });
    }
    core.nodesChanged = true;
  }
}

/** As the dashboard shows it; jobs with a grace of their own may still hold ranks of a node that is gone. */
export const verdictOf = (core: Core, node: Node): Verdict => judge(node.presence, core.time, defaults(core));
