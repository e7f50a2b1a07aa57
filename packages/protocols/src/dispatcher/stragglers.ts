/**
 * Stragglers: ranks of which nothing comes. MapReduce runs such a task a second time and takes the first answer; here
 * the second one fences the first, so there is one at a time, and the two are compared.
 *
 * A node that only sends heartbeats could hold a job for ever, and an honest rank may compute for hours between two
 * calls. No time limit can distinguish the two, but a comparison with another node can.
 *
 * Owns: when a rank was last seen to do something, and how long its job is patient. Does not own: deadlocks
 * (deadlock.ts, doubted-deadlock.ts), silence (failure-detector.ts).
 *
 *  S1  What a node reports of its rank's calls counts for nothing. What counts is what the Channel Memories have:
 *      messages logged, arrivals credited, images. Credit for short messages comes late, so a node's count of arrivals
 *      is taken too: never more than are logged, and not for longer than {@link WORD} times the patience. A rank that
 *      waits, and has taken all that is logged for it, is no straggler.
 *  S2  A rank that was not seen for `stuckFactor` times the longest pause of any rank of its job, and at least
 *      `stuckAfterMs`, is started on another node, where a slot is free. Only pauses at nodes with a record, or such
 *      that another node took as long, make a job patient. Replay may take as long as the rank had run before.
 *  S3  The same for an assigned rank that does not begin (program, image): at least `startAfterMs`, and at most
 *      `startMs` however patient the job is.
 *  S4  The first node is blamed only when the next one needs less time to get further. If it needs as much (of
 *      strangers: if `crashLimit` of them do), the rank's patience doubles, and ranks that wait at nodes without a
 *      record are doubted: it may be one of them that keeps the rank from getting on.
 */
import type { JobId } from '@mayfly/wire';
import { called, suspect } from './comparison.ts';
import { gotFurther } from './failures.ts';
import { rooms, type Room } from './free-slots.ts';
import { suits, wantedBy } from './placement.ts';
import { CREDIT, earn, hasRecord } from './reputation.ts';
import { lose, tellToDrop } from './restart.ts';
import { roomOf } from './rooms-of-job.ts';
import { over, paused, recoveryOf, type Core, type Job, type Task } from './state.ts';
import type { Comparison } from './suspicions.ts';
import { unitOf } from './unit.ts';
import type { JobSpec, LoggedProgress } from './events.ts';

/** For how many times the patience a rank is trusted to consume arrivals that only its node has counted. */
const WORD = 10;

const stuckAfterMs = (core: Core, spec: JobSpec): number => spec.stuckAfterMs ?? core.settings.stuckAfterMs;
const stuckFactor = (core: Core, spec: JobSpec): number => spec.stuckFactor ?? core.settings.stuckFactor;

/** The host reports this about every second, for every running job. */
export function progress(core: Core, id: JobId, tasks: readonly LoggedProgress[]): void {
  const job = core.jobs.get(id);
  if (!job || over(job) || paused(job)) return;
  for (const p of tasks) {
    const t = job.tasks[p.task];
    if (!t) continue;
    const was = t.logged;
    t.logged = {
      sends: p.sends,
      arrivals: p.arrivals,
      consumed: Math.min(p.consumed, p.arrivals),
      taken: Math.min(p.arrivals, Math.max(p.consumed, t.activity?.arrivals ?? 0)),
    };
    if (t.phase !== 'running' || t.node === undefined) continue;
    const sent = p.sends > Math.max(t.fencedSends, was?.sends ?? 0);
    const unit = unitOf(core, t);
    const local = (t.activity?.local?.arrivals ?? 0) + (t.activity?.local?.sends ?? 0);
    if (sent) {
      earn(core, t.node, CREDIT.messages);
      for (const m of unit) gotFurther(core, m);
    }
    // What a team exchanges is in no log: one of them that gets on shows that the others do.
    if (sent || t.logged.consumed > (was?.consumed ?? 0))
      for (const m of unit) {
        if (m.phase === 'running') called(core, m);
      }
    else if (waits(t, p)) t.callAt = t.seenAt = core.time;
    else if (t.logged.taken > (was?.taken ?? 0) || (unit.length > 1 && local !== t.localSeen)) t.callAt = core.time;
    t.localSeen = local;
  }
}

/** S1: its node reports that it waits, for a message that has not come or only in part. */
const waits = (t: Task, p: LoggedProgress): boolean =>
  t.activity?.state === 'waiting' && (p.underWay || t.activity.arrivals >= p.arrivals);

/** At every tick. */
export function watchStragglers(core: Core): void {
  if (core.stopped !== undefined) return; // D13
  let free: Room[] | undefined;
  for (const job of core.jobs.values()) {
    if (over(job) || job.record.state !== 'running' || !recoveryOf(core, job).restarts) continue;
    for (const t of job.tasks) {
      const given =
        t.phase === 'assigned'
          ? core.time - t.since
          : t.phase === 'running'
            ? Math.max(core.time - t.callAt, (core.time - t.seenAt) / WORD)
            : undefined;
      if (given === undefined || given <= patienceFor(core, t)) continue;
      free ??= rooms(core);
      moveElsewhere(core, t, free, t.phase === 'assigned' ? 'start' : 'call', given);
    }
  }
}

function patienceFor(core: Core, t: Task): number {
  const { spec } = t.job.record;
  if (t.phase === 'assigned')
    return Math.min(
      core.settings.startMs,
      Math.max(core.settings.startAfterMs, stuckFactor(core, spec) * (t.job.longestStart ?? 0)) * t.patience,
    );
  const patience = Math.max(stuckAfterMs(core, spec), stuckFactor(core, spec) * t.job.longestPause) * t.patience;
  return t.activity?.state === 'replaying' ? patience + t.ranMs : patience;
}

/** S2, S3. Only where a slot of another node that runs such programs is free; it is taken off the list. */
function moveElsewhere(core: Core, t: Task, free: Room[], kind: Comparison['kind'], given: number): boolean {
  const node = t.node!;
  const unit = unitOf(core, t);
  const room = free.find((r) => r.id !== node && r.free >= unit.length && suits(r, wantedBy(t, 'node')));
  if (room === undefined) return false;
  room.free -= unit.length;
  // S4: the rank made no progress on the node before either. If the nodes are strangers, it takes several of them;
  // otherwise nodes that only send heartbeats could make a job wait as long as they like.
  if (
    t.comparisons.some((c) => c.node !== node) &&
    (hasRecord(core, node) || (!othersHaveRecords(core, t) && ++t.strangers % core.settings.crashLimit === 0))
  ) {
    t.patience *= 2;
    if (kind === 'call') doubtWaiting(core, t.job, free);
  }
  tellToDrop(core, t, node, {
    code: 'FENCED',
    message:
      kind === 'start'
        ? 'The rank did not start in time; it restarts elsewhere.'
        : 'The rank made no progress for too long; it restarts elsewhere.',
  });
  const before = t.job.faults.length;
  for (const m of unit) m.comparedAt.add(node);
  lose(core, t, 'compared');
  suspect(t, {
    node,
    kind,
    took: given,
    ...(kind === 'wait' ? { arrivals: t.logged?.arrivals ?? 0 } : {}),
    fault: t.job.faults.length > before ? before : undefined,
  });
  return true;
}

const othersHaveRecords = (core: Core, t: Task): boolean =>
  [...core.nodes.values()].some(
    (n) =>
      n.id !== t.node &&
      n.connection !== undefined &&
      n.room === roomOf(t.job.record.spec, t.task) &&
      hasRecord(core, n.id),
  );

/**
 * Starts elsewhere what waits at nodes without a record: once each, or until a node with a record has it, where there
 * is one.
 */
function doubtWaiting(core: Core, job: Job, free: Room[]): void {
  for (const t of job.tasks) {
    if (t.phase !== 'running' || t.node === undefined || t.activity?.state !== 'waiting' || hasRecord(core, t.node))
      continue;
    if (t.doubted >= core.settings.crashLimit || (t.doubted > 0 && !othersHaveRecords(core, t))) continue;
    t.doubted++;
    if (!moveElsewhere(core, t, free, 'wait', Infinity)) t.doubted--;
  }
}
