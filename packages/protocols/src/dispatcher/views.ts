/**
 * What REST and the dashboard say of jobs and nodes: selectors over the dispatcher's state plus the host's counters.
 */
import {
  DEFAULT_SLOT_MS,
  spawnedTasks,
  type PartView,
  type JobId,
  type JobView,
  type NodeView,
  type ParityView,
  type ProgramKind,
  type TaskId,
  type TaskView,
  type WavesView,
} from '@mayfly/wire';
import type { Dispatcher } from './dispatcher.ts';
import { failuresOf } from './failures.ts';
import { progressOf } from './job-progress.ts';
import { hasRecord, quarantinedUntil } from './reputation.ts';
import { verdictOf } from './nodes.ts';
import { rooms, takesRanks, type Room } from './free-slots.ts';
import { ownerOf, quotaOf, SlotsInUse } from './quotas.ts';
import { NONE, suits } from './placement.ts';
import { byRoom, clusterRooms, roomOf, roomsOf } from './rooms-of-job.ts';
import { lineUp } from './shares.ts';
import { hasExited as exitedForGood } from './unit.ts';
import type { JobPart } from './events.ts';
import {
  ended,
  groupOf,
  kindOfJob,
  over,
  paused,
  type Core,
  type Job,
  type Queue,
  type Node,
  type Task,
} from './state.ts';

/** Counters of one task that the logs and the image store know. */
export type TaskCounters = Pick<
  TaskView,
  | 'messagesIn'
  | 'localIn'
  | 'localOut'
  | 'bytesIn'
  | 'messagesOut'
  | 'bytesOut'
  | 'images'
  | 'imageBytes'
  | 'lastImageAt'
  | 'uploading'
  | 'stallMs'
>;

export interface JobCounters {
  task(task: TaskId): TaskCounters;
  outputs: JobView['outputs'];
  outputBytes: number;
  /** What came of standard input while it was there; absent: not known. */
  stdinBytes?: number | undefined;
  waves?: WavesView | undefined;
  parity?: ParityView | undefined;
}

export function jobView(dispatcher: Dispatcher, id: JobId, counters: JobCounters): JobView | undefined {
  const { core } = dispatcher;
  const job = core.jobs.get(id);
  if (!job) return undefined;
  const { spec, startedAt, endedAt, pausedAt, pausedMs, awayMs, exitCode, error, teamChanges, moreFaults } = job.record;
  const since = pausedAt ?? job.stoppedAt;
  const reason = reasonOf(core, job);
  const progress = progressOf(core, job);
  return {
    id,
    name: spec.name,
    ...(spec.about === undefined ? {} : { about: spec.about }),
    state: stateOf(job),
    size: job.tasks.length,
    ...spawnedOf(job),
    protocol: spec.protocol,
    durability: spec.durability,
    program: { ...spec.program },
    args: spec.args,
    ...(spec.interactive ? { interactive: true } : {}),
    ...(spec.parts === undefined ? {} : { parts: partViews(spec.parts) }),
    owner: ownerOf(spec),
    ...(spec.room === undefined ? {} : { room: spec.room }),
    ...(spec.rooms && { rooms: clusterRooms(spec)! }),
    ...(spec.compareWith === undefined ? {} : { compareWith: spec.compareWith }),
    submittedAt: spec.submittedAt,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(since === undefined || startedAt === undefined ? {} : { pausedAt: since }),
    ...(pausedMs === undefined ? {} : { pausedMs }),
    ...(awayMs === undefined ? {} : { awayMs }),
    ...(reason === undefined ? {} : { reason }),
    ...(progress && { progress }),
    ...(stoppedOf(core, job) ? { stopped: core.stopped! } : {}),
    ...(error === undefined ? {} : { error }),
    ...(exitCode === undefined ? {} : { exitCode }),
    tasks: job.tasks.map((t) => taskView(core, t, counters.task(t.task))),
    faults: job.faults.map((f) => ({ ...f })),
    ...(moreFaults && { moreFaults: Object.values(moreFaults).reduce((a, b) => a + b, 0) }),
    ...(teamChanges && { teamChanges }),
    ...(counters.waves && { waves: counters.waves }),
    ...(counters.parity && { parity: counters.parity }),
    outputs: counters.outputs,
    outputBytes: counters.outputBytes,
  };
}

function partViews(parts: readonly JobPart[]): PartView[] {
  let first = 0;
  return parts.map(({ count: size, program, args }) => {
    const view = { first: first as TaskId, size, program: { ...program }, args };
    first += size;
    return view;
  });
}

/**
 * For how many tasks a job could get a slot now: slots free for programs of its kind in its rooms, less the ranks that
 * already wait for them, and within its owner's quota.
 */
export function slotsFor(dispatcher: Dispatcher, id: JobId): number {
  const { core } = dispatcher;
  const job = core.jobs.get(id);
  if (!job || over(job) || job.record.state !== 'running') return 0;
  const own = roomsOf(job.record.spec);
  const kind = kindOfJob(job);
  const fits = (r: Room): boolean => own.includes(r.code) && suits(r, { code: r.code, kind, held: NONE });
  let free = rooms(core).reduce((sum, r) => sum + (fits(r) ? r.free : 0), 0);
  for (const j of core.jobs.values())
    if (!over(j) && j.record.state === 'running' && kindOfJob(j) === kind)
      for (const t of j.tasks) if (t.phase === 'idle' && own.includes(roomOf(j.record.spec, t.task))) free--;
  return Math.max(0, Math.min(free, new SlotsInUse(core).left(ownerOf(job.record.spec))));
}

/** Tasks without a slot; none while the job is over, or waits with all its tasks. */
export function idleTasks({ core }: Dispatcher, id: JobId): TaskId[] {
  const job = core.jobs.get(id);
  if (!job || over(job) || paused(job) || core.stopped !== undefined) return [];
  return job.tasks.flatMap((t) => (t.phase === 'idle' ? [t.task] : []));
}

/** The job is over, or all that is left is to write so: every exit of its tasks is final. */
export function hasExited(dispatcher: Dispatcher, id: JobId): boolean {
  const job = dispatcher.core.jobs.get(id);
  return !job || over(job) || job.tasks.every(exitedForGood);
}

/** Replacements of lost tasks (FT-MPI) are none. */
function spawnedOf({ record }: Job): Pick<JobView, 'spawned'> {
  const spawned = (record.spawned ?? []).reduce((n, g) => n + (g.replaces ? 0 : spawnedTasks(g.parts)), 0);
  return spawned === 0 ? {} : { spawned };
}

/** Slots that other spawned tasks of a job hold: one that asks for more may wait for their end. */
export function spawnedSlots(dispatcher: Dispatcher, id: JobId, asking: TaskId): number {
  const job = dispatcher.core.jobs.get(id);
  return (
    job?.tasks.filter(
      (t) => t.task >= job.record.spec.size && t.task !== asking && t.node !== undefined && t.phase !== 'done',
    ).length ?? 0
  );
}

/** Newest first. */
export function jobIds(dispatcher: Dispatcher): JobId[] {
  return [...dispatcher.core.jobs.keys()].reverse();
}

export function nodeViews(dispatcher: Dispatcher): NodeView[] {
  const { core } = dispatcher;
  return [...core.nodes.values()].map((n) => ({
    id: n.id,
    name: n.name,
    engine: n.engine,
    slots: n.slots,
    busy: n.tasks.size,
    ...(n.cores === undefined ? {} : { cores: n.cores }),
    runs: [...n.runs],
    ...(n.room === undefined ? {} : { room: n.room }),
    ...(n.rttMs === undefined ? {} : { rttMs: n.rttMs }),
    ...(n.speed === undefined ? {} : { speed: n.speed }),
    faults: n.faults,
    presentMs: Math.max(0, n.earlierMs + n.lastSeen - n.since),
    ...(hasRecord(core, n.id) ? { record: true } : {}),
    ...quarantineOf(core, n),
    state: verdictOf(core, n),
    since: n.since,
    lastSeen: n.lastSeen,
  }));
}

const quarantineOf = (core: Core, n: Node): Pick<NodeView, 'quarantinedUntil'> => {
  const until = quarantinedUntil(core, n.id);
  return until === undefined ? {} : { quarantinedUntil: until };
};

/** The job would go on if storage could be written: no one else has paused it. */
const stoppedOf = (core: Core, job: Job): boolean => core.stopped !== undefined && !ended(job.record) && !paused(job);

/**
 * 'stalled' is no state of its own but an honest look at a running job: some rank has no slot. So is 'pausing': some
 * rank still has one.
 */
function stateOf(job: Job): JobView['state'] {
  const { state } = job.record;
  if (state === 'running' && !over(job) && job.stoppedAt !== undefined) return 'paused';
  if (state === 'paused' && !over(job) && job.tasks.some((t) => t.node !== undefined)) return 'pausing';
  return state === 'running' && !over(job) && job.tasks.some((t) => t.phase === 'idle') ? 'stalled' : state;
}

function taskState(core: Core, t: Task): TaskView['state'] {
  if (t.phase === 'done' || t.phase === 'exiting') return t.exit?.abort ? 'failed' : 'done';
  if (t.job.culprit === t.task && t.job.record.state === 'failed') return 'failed';
  if (t.phase === 'ended') return 'done';
  if (t.phase === 'idle') return paused(t.job) ? 'paused' : 'unassigned';
  if (t.phase === 'away') return 'suspect';
  const again = t.openFaults.length > 0;
  if (t.phase !== 'running') return again ? 'recovering' : 'assigned';
  const node = t.node === undefined ? undefined : core.nodes.get(t.node);
  if (!node || !takesRanks(core, node)) return 'suspect';
  return again ? 'recovering' : 'running';
}

function taskView(core: Core, t: Task, counters: TaskCounters): TaskView {
  const node = t.node === undefined ? undefined : core.nodes.get(t.node);
  const group = groupOf(t.job.record, t.task);
  return {
    task: t.task,
    ...(group === undefined
      ? {}
      : group.replaces
        ? { replaces: group.root }
        : {
            spawned: { by: group.root, world: [group.first, (group.first + spawnedTasks(group.parts) - 1) as TaskId] },
          }),
    state: taskState(core, t),
    incarnation: (t.incarnation ?? 0) as TaskView['incarnation'],
    ...(t.node === undefined ? {} : { node: t.node }),
    ...(node === undefined || node.name === '' ? {} : { nodeName: node.name }),
    ...(t.team === undefined ? {} : { team: t.team[0]! }),
    ...(t.activity === undefined ? {} : { activity: t.activity, activitySince: t.activitySince ?? core.now }),
    ...counters,
    ...(t.exit === undefined ? {} : { exitCode: t.exit.code }),
  };
}

const slots = (n: number): string => `${n} slot${n === 1 ? '' : 's'}`;
const are = (n: number): string => (n === 1 ? 'is' : 'are');

/** Slots of one of the job's rooms, as it sees them. */
interface Supply {
  /** At nodes that run its kind of programs. */
  here: number;
  free: number;
  /** Free at nodes that do not. */
  unfit: number;
  /** Suitable nodes that get no ranks for now. */
  quarantined: number;
  /** Kinds whose jobs compete for the free ones. */
  rivals: Set<ProgramKind>;
}

function supplyOf(core: Core, job: Job, room: string | undefined): Supply {
  const kind = kindOfJob(job);
  const s: Supply = { here: 0, free: 0, unfit: 0, quarantined: 0, rivals: new Set([kind]) };
  for (const n of core.nodes.values()) {
    if (n.room !== room || !takesRanks(core, n)) continue;
    const free = Math.max(0, n.slots - n.tasks.size);
    if (!n.runs.includes(kind)) {
      s.unfit += free;
      continue;
    }
    if (quarantinedUntil(core, n.id) !== undefined) {
      s.quarantined++;
      continue;
    }
    s.here += n.slots;
    s.free += free;
    if (free > 0) for (const k of n.runs) s.rivals.add(k);
  }
  return s;
}

const KIND: Record<ProgramKind, string> = { typescript: 'TypeScript', wasm: 'C, C++ and WebAssembly' };
/** What to do about slots that are free and do not run the program. */
const TO_DO: Record<ProgramKind, string> = {
  typescript: 'open the volunteer page in a browser, or start "mayfly volunteer" with --allow-typescript',
  wasm: 'open the volunteer page in a browser',
};

/** Why a job waits or stalls, in words: 'needs 4 slots; 3 available'. */
export function reasonOf(core: Core, job: Job): string | undefined {
  if (core.stopped !== undefined && !ended(job.record)) {
    if (job.ending) return `ends once the server can store that: ${core.stopped.message}`;
    if (!paused(job)) return core.stopped.message;
  }
  if (over(job)) return undefined;
  if (paused(job)) return pausedReason(job);
  if (job.rolling)
    return `a rank was lost: all ranks ${job.rolling === 'all' ? '' : 'of its cluster '}go back to the last checkpoint`;
  const { spec } = job.record;
  if (job.record.state === 'waiting') {
    const left = job.tasks.filter((t) => t.phase !== 'done');
    const quota = quotaReason(core, job, left.length);
    if (quota !== undefined) return quota;
    const supplies = new Map(roomsOf(spec).map((room) => [room, supplyOf(core, job, room)]));
    const ahead = aheadOf(core, job, supplies);
    const needs = [...byRoom(spec, left)].map(([room, tasks]) => needsOf(job, room, tasks.length, supplies.get(room)!));
    const lacking = needs.filter((n) => n.lacks);
    const text = (lacking.length > 0 ? lacking : needs).map((n) => n.text).join('; ');
    return `${ahead === 0 ? '' : `waits behind ${ahead} job${ahead === 1 ? '' : 's'}; `}${text}`;
  }
  const idle = job.tasks.filter((t) => t.phase === 'idle');
  if (idle.length > 0) {
    const who = [...byRoom(spec, idle)].map(([room, tasks]) => idleText(core, job, room, tasks));
    const failures = idle.flatMap((t) => failuresOf(core, t) ?? []);
    return [...who, ...failures.slice(0, 3)].join('; ');
  }
  const away = job.tasks.filter((t) => t.phase === 'away').map((t) => t.task);
  if (away.length > 0)
    return (
      `after a restart of the server: waiting for the node${away.length === 1 ? '' : 's'} of ` +
      `rank${away.length === 1 ? '' : 's'} ${list(away)}`
    );
  const failures = job.tasks.flatMap((t) => failuresOf(core, t) ?? []);
  if (failures.length === 0) return crowdedReason(core, job);
  return `${failures.slice(0, 3).join('; ')}; restarting elsewhere`;
}

/** What to do about the slots that are free in a room and do not run the job's program. */
const adviceOn = (kind: ProgramKind, unfit: number): string =>
  unfit === 0
    ? ''
    : `; ${unfit === 1 ? '1 more slot is' : `${unfit} more slots are`} free, but on volunteers that do not ` +
      `run ${KIND[kind]}: ${TO_DO[kind]}`;
const placeOf = (room: string | undefined): string => (room === undefined ? '' : ` in room ${room}`);

/** A job that waits: the slots that it needs in a room, and those that are there. */
function needsOf(
  job: Job,
  room: string | undefined,
  size: number,
  { here, free, unfit, quarantined }: Supply,
): { text: string; lacks: boolean } {
  const kind = kindOfJob(job);
  const what = unfit === 0 ? slots(size) : `${slots(size)} for ${KIND[kind]}`;
  const needs =
    here < size
      ? `needs ${what}; ${here === 0 ? 'none' : here} available${placeOf(room)}`
      : `needs ${what}; ${free} of ${here} ${are(here)} free${placeOf(room)}`;
  const without =
    quarantined === 0 ? '' : `; ${quarantined} node${quarantined === 1 ? ' is' : 's are'} in quarantine after failures`;
  return { text: `${needs}${free < size ? adviceOn(kind, unfit) : ''}${without}`, lacks: free < size };
}

/** Ranks of a job that runs, which have no slot. */
function idleText(core: Core, job: Job, room: string | undefined, tasks: readonly Task[]): string {
  const { here, unfit, quarantined } = supplyOf(core, job, room);
  const kind = kindOfJob(job);
  const who =
    tasks.length === 1
      ? `rank ${tasks[0]!.task} waits for a slot`
      : `ranks ${list(tasks.map((t) => t.task))} wait for slots`;
  const where =
    quarantined > 0
      ? `; only nodes in quarantine are free${placeOf(room)}`
      : here > 0
        ? ''
        : `; ${unfit > 0 ? `no node that runs ${KIND[kind]}` : 'no node'} is connected${placeOf(room)}`;
  return `${who}${placesOf(job, tasks)}${where}${adviceOn(kind, unfit)}`;
}

/** FT-MPI's mode rebuild: whose places they take. */
function placesOf(job: Job, tasks: readonly Task[]): string {
  const lost = tasks.flatMap((t) => {
    const group = groupOf(job.record, t.task);
    return group?.replaces ? [group.root] : [];
  });
  if (lost.length === 0) return '';
  const ms = job.record.spec.ft?.slotMs ?? DEFAULT_SLOT_MS;
  const most = ms === 0 ? '' : `, for ${ms / 1000} s at most`;
  return (
    ` to take the place of rank${lost.length === 1 ? '' : 's'} ${list(lost)}; ` +
    `the recovery of the job waits for that${most}`
  );
}

/** Jobs that come before it, and take slots that it could use. */
function aheadOf(core: Core, job: Job, supplies: ReadonlyMap<string | undefined, Supply>): number {
  let ahead = 0;
  for (const { job: j, takes } of queueOf(core).line) {
    if (j === job) break;
    if (takes && roomsOf(j.record.spec).some((room) => supplies.get(room)?.rivals.has(kindOfJob(j)))) ahead++;
  }
  return ahead;
}

/** Jobs that wait, in their order, and whether they take free slots (D26); once for the views of a step. */
function queueOf(core: Core): Queue {
  if (core.queue) return core.queue;
  const inUse = new SlotsInUse(core);
  const used = new Map(inUse.byOwner);
  const line: Queue['line'] = [];
  for (const job of lineUp(core, inUse)) {
    const size = job.tasks.filter((t) => t.phase !== 'done').length;
    line.push({ job, takes: !inUse.waits(ownerOf(job.record.spec), size) });
  }
  return (core.queue = { line, used });
}

/** D26, for people. */
function quotaReason(core: Core, job: Job, size: number): string | undefined {
  const owner = ownerOf(job.record.spec);
  const quota = quotaOf(core.quotas, owner);
  if (quota === Infinity) return undefined;
  if (size > quota)
    return (
      `needs ${slots(size)}, and the quota of ${owner} is ${slots(quota)} at once: ` +
      'ask the owner of the server for more, or submit it with fewer ranks'
    );
  const used = queueOf(core).used.get(owner) ?? 0;
  if (used + size <= quota) return undefined;
  return `needs ${slots(size)}; ${owner} uses ${used} of the ${quota} that the quota allows: starts when other jobs of ${owner} end`;
}

/** Slots that the jobs of each owner use, as quotas count them. */
export const slotsByOwner = ({ core }: Dispatcher): ReadonlyMap<string, number> => new SlotsInUse(core).byOwner;

/** D23, for people. */
function crowdedReason(core: Core, job: Job): string | undefined {
  const crowded = job.tasks.filter((t) => t.oversubscribed && t.node !== undefined);
  const node = crowded[0] && core.nodes.get(crowded[0].node!);
  if (!node) return undefined;
  const team = crowded.filter((t) => t.node === node.id);
  return (
    `ranks ${list(team.map((t) => t.task))} share ${slots(node.slots)} of node ${node.name || node.id}: ` +
    'no node had enough free slots for their team, which moves when one has, or is dissolved when several together have'
  );
}

function pausedReason(job: Job): string | undefined {
  const here = job.tasks.filter((t) => t.node !== undefined).map((t) => t.task);
  if (here.length > 0)
    return here.length === 1
      ? `waiting for a checkpoint of rank ${here[0]!}`
      : `waiting for checkpoints of ranks ${list(here)}`;
  const begun = job.tasks.filter((t) => t.phase !== 'done' && t.incarnation !== undefined);
  if (begun.length === 0) return undefined; // had not begun, or ends
  const images = begun.filter((t) => t.newest !== undefined).length;
  if (images === begun.length)
    return begun.length === 1
      ? 'will resume from its checkpoint'
      : `will resume from checkpoints of all ${begun.length} ranks`;
  return images === 0
    ? 'has no checkpoints; will resume from the logs'
    : `will resume from checkpoints of ${images} of ${begun.length} ranks, and from the logs of the others`;
}

function list(n: readonly number[]): string {
  const shown = n.slice(0, 8).join(', ');
  return n.length > 8 ? `${shown} and ${n.length - 8} more` : shown;
}
