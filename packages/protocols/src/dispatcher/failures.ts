/**
 * Who is to blame for a failure: the node, or the program.
 *
 * Owns: the failures of a rank since it last got any further, and what follows from them. Does not own: credit and
 * quarantine (reputation.ts), whether an incarnation is lost at all (nodes.ts), stragglers (stragglers.ts).
 *
 *  B1  A failure is held against its node when it happens. It is taken back once a node with a record fails in the same
 *      place, with a similar error: then the program is to blame.
 *  B2  A failure is refuted once a later incarnation of the rank gets further, as the server sees for itself. What was
 *      taken back is held against the node again, and a node with a record loses half of its credit.
 *  B3  A job ends for crashing when its rank has failed in one place on {@link DispatcherSettings.crashLimit} nodes
 *      with a record. The same node counts again only where no other one could take the rank, or after `crashLimit`
 *      more failures there: a node that is busy with other jobs is not waited for while the rank takes down the free
 *      one again and again. Failures of strangers never count.
 *  B4  Where no node with a record could take the rank, that could never happen. So a job ends too once the rank has
 *      failed on every node that could take it, `crashLimit` times in all, and for as long as the job had got on before
 *      (at least {@link DispatcherSettings.strangersMs}): a job of an hour waits an hour for a better node, and one
 *      that fails at its start ends soon.
 *  B5  A rank that only waited has not failed when, within {@link TOGETHER_MS}, a rank of another job that computed
 *      crashes at the same node: the jobs of a tab share a process, and a program that takes all memory takes the
 *      others down with it.
 *
 * "The same place" means: no message logged, no arrival consumed and no image complete since.
 *
 * Durable: the weight of what counts (TaskRecord.strikes) and how far the rank came. The list itself is forgotten with
 * the process.
 */
import type { NodeId } from '@mayfly/wire';
import { endJob } from './end.ts';
import { takesRanks } from './free-slots.ts';
import { blame, hasRecord, loseCredit, quarantinedUntil, takeBack } from './reputation.ts';
import { roomOf } from './rooms-of-job.ts';
import { kindOfJob, over, type Core, type Job, type Node, type Task } from './state.ts';
import type { Failure } from './suspicions.ts';
import type { FaultCause } from './events.ts';

/**
 * A crash counts two, the vanishing of a node that may have been the task's doing one; `crashLimit` crashes end the
 * job.
 */
const CRASH = 2;
const VANISH = 1;

/**
 * What a loss costs its node. Tabs may be closed at any time. The dispatcher avoids only nodes that leave again and
 * again without useful work.
 */
const BLAME: Record<FaultCause, number> = {
  crashed: 1,
  refused: 1,
  clone: 0.5,
  disconnected: 0.25,
  silent: 0.25,
  reloaded: 0.25,
  goodbye: 0.125,
  declined: 0.125,
  killed: 0,
  restart: 0,
  doubted: 0,
  compared: 0,
  team: 0,
};
/** The incarnation had moved its rank on before it was lost. */
const AFTER_WORK = 0.25;
/** Crashes at one node within this time count as one. A frame that hangs is given up after about seven seconds. */
const TOGETHER_MS = 10_000;
/** Refuted failures of a rank that are remembered, should its program turn out to crash everywhere after all. */
const MOST_PAST = 100;

/** An incarnation that was at a node is lost. */
export function failed(core: Core, t: Task, cause: FaultCause, fault: number | undefined, code?: string): void {
  const node = t.node === undefined ? undefined : core.nodes.get(t.node);
  if (!node || t.phase === 'away' || cause === 'team') return; // the server's own doing, or a teammate's
  const crash = cause === 'crashed' || cause === 'refused';
  const weight = BLAME[cause] * (t.worked ? (crash ? AFTER_WORK : 0) : 1);
  const ms = blame(core, node.id, weight, `rank ${t.task} of job ${t.job.record.spec.id} was lost there (${cause})`);
  const f: Failure = {
    node: node.id,
    name: node.name,
    at: core.time,
    crash,
    weight,
    strike: hasRecord(core, node.id) ? strikeOf(t, cause) : 0,
    waited: t.activity?.state === 'waiting',
    collateral: false,
    code: crash ? code : undefined,
    quarantined: ms > 0,
    fault,
    excused: false,
  };
  if (fault !== undefined) {
    const record = t.job.faults[fault]!;
    if (crash && !hasRecord(core, node.id)) record.newcomer = true;
    if (ms > 0) record.quarantineMs = ms;
  }
  // Before the one before was weighed, nothing can have happened to the rank.
  if (t.pending) t.failures.push(t.pending);
  t.pending = f;
  if (crash) acquitBystanders(core, t, f);
}

/** B5, whichever of the two crashes was heard of first. */
function acquitBystanders(core: Core, t: Task, f: Failure): void {
  for (const job of core.jobs.values()) {
    if (job === t.job) continue;
    for (const o of job.tasks)
      for (const g of [...o.failures, ...(o.pending ? [o.pending] : [])]) {
        if (!g.crash || g.node !== f.node || f.at - g.at > TOGETHER_MS || f.waited === g.waited) continue;
        if (f.waited) acquit(core, t, f);
        else acquit(core, o, g);
      }
  }
}

function acquit(core: Core, t: Task, f: Failure): void {
  if (f.collateral) return;
  f.collateral = true;
  if (!f.excused) takeBack(core, f.node, f.weight, false);
  f.weight = 0;
  if (t.pending !== f) t.strikes = Math.max(0, t.strikes - f.strike);
  f.strike = 0;
}

function strikeOf(t: Task, cause: FaultCause): number {
  if (cause === 'crashed' || cause === 'refused') return CRASH;
  if (cause === 'clone') return VANISH;
  // A rank that only waited did not take its tab down.
  if (cause === 'disconnected' || cause === 'silent' || cause === 'reloaded')
    return t.activity?.state === 'waiting' ? 0 : VANISH;
  return 0;
}

/** The incarnation is alive after all and continues. */
export function cameBack(core: Core, t: Task): void {
  const f = t.pending;
  if (!f) return;
  t.pending = undefined;
  takeBack(core, f.node, f.weight, f.quarantined);
  if (f.fault !== undefined) delete t.job.faults[f.fault]?.quarantineMs;
}

/** Nodes on which the rank has failed since it last got any further. */
export const failedAt = (t: Task): ReadonlySet<NodeId> =>
  new Set([...t.failures, ...(t.pending ? [t.pending] : [])].filter((f) => f.crash).map((f) => f.node));

/**
 * Judges the failures of lost incarnations of a unit (unit.ts), with the arrivals that each consumed. All logs are
 * fenced, so its progress is known. A team gets further with any of its members: what they exchange is in no log.
 * @returns whether they may be assigned again
 */
export function weigh(core: Core, unit: readonly (readonly [Task, arrivals: number])[]): boolean {
  const moved = unit.map(([t, arrivals]) => {
    const image = t.newest?.serial ?? 0;
    const seen = t.fencedSends > t.reach.sends || image > t.reach.image;
    return { image, seen, progress: seen || arrivals > t.reach.arrivals };
  });
  const seen = moved.some((m) => m.seen);
  const progress = moved.some((m) => m.progress);
  return unit.every(([t, arrivals], i) => weighOne(core, t, { seen, progress, arrivals, image: moved[i]!.image }));
}

function weighOne(
  core: Core,
  t: Task,
  { seen, progress, arrivals, image }: { seen: boolean; progress: boolean; arrivals: number; image: number },
): boolean {
  t.reach = {
    sends: Math.max(t.reach.sends, t.fencedSends),
    arrivals: Math.max(t.reach.arrivals, arrivals),
    image: Math.max(t.reach.image, image),
  };
  if (seen) gotFurther(core, t);
  else if (progress) t.failures = []; // as its node says: nobody's word against another's
  if (progress) t.strikes = 0;
  const f = t.pending;
  t.pending = undefined;
  if (f) {
    if (progress && f.weight > AFTER_WORK && f.crash) {
      takeBack(core, f.node, f.weight - AFTER_WORK, false);
      f.weight = AFTER_WORK;
    }
    judge(core, t, f);
  }
  return !over(t.job);
}

const similar = (a: Failure, b: Failure): boolean => a.code === undefined || b.code === undefined || a.code === b.code;

function judge(core: Core, t: Task, f: Failure): void {
  if (f.strike > 0) {
    const before = t.failures.filter((e) => e.strike > 0);
    const again = before.filter((e) => e.node === f.node).length;
    if (before.length > 0 && !similar(before.at(-1)!, f)) t.strikes = 0;
    if (again === 0 || again > core.settings.crashLimit || !untried(core, t, f.node)) t.strikes += f.strike;
    if (f.crash) {
      // B1
      for (const e of t.failures) if (e.crash && e.node !== f.node && similar(e, f)) excuse(core, t.job, e);
      if (before.some((e) => e.crash && e.node !== f.node && similar(e, f))) excuse(core, t.job, f);
    }
  }
  t.failures.push(f);
  if (t.strikes >= core.settings.crashLimit * CRASH) endForCrashing(core, t);
  else endAmongStrangers(core, t);
}

/**
 * Some node that has not failed this rank could take it: it is free, or has ranks of other jobs, which end. Strangers
 * in quarantine do not count.
 */
function untried(core: Core, t: Task, last?: NodeId): boolean {
  const tried = new Set<NodeId | undefined>([...failedAt(t), last]);
  const may = (n: Node): boolean => quarantinedUntil(core, n.id) === undefined || hasRecord(core, n.id);
  return [...core.nodes.values()].some(
    (n) =>
      !tried.has(n.id) &&
      fits(core, t, n) &&
      may(n) &&
      (n.tasks.size < n.slots || [...n.tasks].some((o) => o.job !== t.job)),
  );
}

const fits = (core: Core, t: Task, n: Node): boolean =>
  n.room === roomOf(t.job.record.spec, t.task) &&
  n.slots > 0 &&
  n.runs.includes(kindOfJob(t.job)) &&
  takesRanks(core, n);

function excuse(core: Core, job: Job, f: Failure): void {
  if (f.excused) return;
  f.excused = true;
  takeBack(core, f.node, f.weight, f.quarantined);
  if (f.fault === undefined) return;
  job.faults[f.fault]!.excused = true;
  job.dirtyFaults.add(f.fault);
}

/** B2: the rank has done what none of its earlier incarnations did. */
export function gotFurther(core: Core, t: Task): void {
  t.worked = true;
  t.job.movedAt = core.now;
  t.strikes = 0;
  for (const f of t.failures) {
    if (!f.crash) continue;
    if (f.excused) {
      blame(
        core,
        f.node,
        f.weight,
        `rank ${t.task} of job ${t.job.record.spec.id} failed there, and did not fail elsewhere`,
      );
      if (f.fault !== undefined) {
        delete t.job.faults[f.fault]!.excused;
        t.job.dirtyFaults.add(f.fault);
      }
    }
    if (f.strike > 0) loseCredit(core, f.node);
    f.excused = false;
    t.past.push(f);
  }
  if (t.past.length > MOST_PAST) t.past.splice(0, t.past.length - MOST_PAST);
  t.failures = [];
}

/** B4; also at every tick, for a rank that waits for its nodes to come out of quarantine. */
export function endAmongStrangers(core: Core, t: Task): void {
  const { job } = t;
  const all = [...t.failures, ...(t.pending ? [t.pending] : [])].filter((f) => f.crash && !f.collateral);
  if (all.length < core.settings.crashLimit || over(job)) return;
  const gotOn = Math.max(0, job.movedAt - (job.record.startedAt ?? core.now));
  if (core.time - all[0]!.at < Math.max(core.settings.strangersMs, gotOn)) return;
  if (untried(core, t) || ![...core.nodes.values()].some((n) => fits(core, t, n))) return;
  endForCrashing(core, t);
}

function endForCrashing(core: Core, t: Task): void {
  const all = [...t.failures, ...(t.pending ? [t.pending] : [])];
  const counted = all.filter((f) => f.strike > 0);
  const shown = counted.length > 0 ? counted : all;
  const names = [...new Map(shown.map((f) => [f.node, f.name || f.node])).values()];
  const where = `${names.length === 1 ? 'the node' : `${names.length} nodes`} ${list(names)}`;
  const why =
    counted.length > 0
      ? `Rank ${t.task} failed at the same place on ${where}, which ${names.length === 1 ? 'has' : 'have'} ` +
        'completed other work, so the program is the likely cause.'
      : `Rank ${t.task} failed at the same place on every node that could run it: ${where}. None of them has ` +
        'completed other work yet.';
  for (const o of t.job.tasks)
    for (const f of [...o.past, ...o.failures, ...(o.pending ? [o.pending] : [])]) if (f.crash) excuse(core, t.job, f);
  t.job.culprit = t.task;
  endJob(core, t.job, 'failed', {
    code: 'KEEPS_CRASHING',
    message: `${why} ${t.lastError ? `The last error reported: ${t.lastError}` : 'Is it running out of memory?'}`,
  });
}

const list = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');

/** For people: where the rank failed, and what follows; undefined: nowhere. */
export function failuresOf(core: Core, t: Task): string | undefined {
  const at = [...failedAt(t)];
  if (at.length === 0) return undefined;
  const held = at.flatMap((n) => quarantinedUntil(core, n) ?? []);
  const times = Math.max(0, ...held.map((until) => until - core.now));
  const which = at.length === 1 ? `node ${core.nodes.get(at[0]!)?.name || at[0]!}` : `${at.length} nodes`;
  const quarantine =
    held.length === 0
      ? ''
      : held.length === at.length
        ? `, which ${at.length === 1 ? 'is' : 'are'} in quarantine for ${span(times)}`
        : `, ${held.length} of which ${held.length === 1 ? 'is' : 'are'} in quarantine for up to ${span(times)}`;
  return `rank ${t.task} failed at ${which}${quarantine}`;
}

export const span = (ms: number): string =>
  ms < 90_000 ? `${Math.max(1, Math.ceil(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`;
