/**
 * Which node takes which rank. Only nodes of its room (rooms-of-job.ts) that run programs of its kind are asked, and
 * none in quarantine. Greedy, one rank after the other: a node on which the rank has not failed; once it has, one with
 * a record (reputation.ts); one of which nothing is doubtful; of newcomers the one that was in quarantine least often
 * (else those whose quarantine is short are tried again and again before one that was never tried); not the node where
 * it just died (nor if it says that it has an image); one that has the rank's newest image on its own disk (the
 * restart needs no download); then the node with the fewest ranks of the same job (one closed tab should take few
 * ranks with it), where a newcomer counts as one that has a rank more, or, for a job that is mapped by slot, the one
 * with the most (consecutive ranks fill its slots); then one with a record, the one with the most free slots, and the
 * one that is here longest. While work of another kind waits in the room, nodes that run fewer kinds come before those
 * that run more, unless they are bad in one of the first five ways: the others may be all that this work can have.
 * O(ranks × nodes), for the first ranks of a job O(nodes log nodes + ranks²).
 */
import type { JobId, MapBy, NodeId, ProgramKind, TaskId } from '@mayfly/wire';
import { failedAt } from './failures.ts';
import type { Room } from './free-slots.ts';
import { roomOf } from './rooms-of-job.ts';
import { kindOfJob, type Task } from './state.ts';

export interface Wanted {
  job: JobId;
  task: TaskId;
  avoid: NodeId | undefined;
  /** Where it failed since it last got any further. */
  failed: ReadonlySet<NodeId>;
  /** Code of its room: only nodes of the same one are asked. */
  code: string | undefined;
  /** Of its program: only nodes that run it are asked. */
  kind: ProgramKind;
  /** Kinds whose jobs wait for slots already: nodes that run one of them are left to them (D4). */
  held: ReadonlySet<ProgramKind>;
  /** Work of another kind waits in the room. */
  contested: boolean;
  mapBy: MapBy;
}

/** The node may take this rank, as far as its room and its kind of programs go. */
export const suits = (room: Pick<Room, 'code' | 'runs'>, wanted: Pick<Wanted, 'code' | 'kind' | 'held'>): boolean =>
  room.code === wanted.code && room.runs.includes(wanted.kind) && !room.runs.some((k) => wanted.held.has(k));

/** No kinds. */
export const NONE: ReadonlySet<ProgramKind> = new Set();

/** What a rank asks for. `held`: see {@link Wanted}; lost ranks come before all that waits. */
export const wantedBy = (t: Task, mapBy: MapBy, held = NONE, contested = true): Wanted => ({
  job: t.job.record.spec.id,
  task: t.task,
  avoid: t.avoid,
  failed: new Set([...failedAt(t), ...t.comparedAt]),
  code: roomOf(t.job.record.spec, t.task),
  kind: kindOfJob(t.job),
  held,
  contested,
  mapBy,
});

/** What a team asks for that restarts: a node on which none of its members has failed, if there is one. */
export function wantedByUnit(unit: readonly Task[], mapBy: MapBy, held = NONE, contested = true): Wanted {
  const all = unit.map((t) => wantedBy(t, mapBy, held, contested));
  const avoid = all.find((w) => w.avoid !== undefined)?.avoid;
  return { ...all[0]!, avoid, failed: new Set(all.flatMap((w) => [...w.failed])) };
}

/**
 * D23: takes slots of one room for a team. If none has enough free ones, the room with the most takes it, `crowded`.
 * `inFull`: then it is not taken.
 */
export function takeRoomForUnit(
  wanted: Wanted,
  ranks: number,
  rooms: readonly Room[],
  inFull = false,
): { node: NodeId; crowded: boolean } | undefined {
  let most = 0;
  for (const r of rooms) if (r.free > most && suits(r, wanted)) most = r.free;
  const crowded = most < ranks;
  if (crowded && inFull) return undefined;
  const node = takeRoom(wanted, rooms, Math.min(ranks, most), ranks);
  return node === undefined ? undefined : { node, crowded };
}

/**
 * The rooms that so many ranks get if they all ask for this, one after the other: a rank changes the place of the room
 * that it takes and of no other, so the best one is always one that was taken before, or the next in this order.
 */
export const bestRooms = (wanted: Wanted, ranks: number, rooms: readonly Room[]): Room[] =>
  rooms
    .filter((r) => r.free > 0 && suits(r, wanted))
    .sort((a, b) => order(a, b, wanted))
    .slice(0, ranks);

/**
 * Takes one slot of the best room for the rank and returns it; undefined when every slot is taken. `least`: of rooms
 * with so many free ones; `ranks`: how many are taken.
 */
export function takeRoom(wanted: Wanted, rooms: readonly Room[], least = 1, ranks = 1): NodeId | undefined {
  let best: Room | undefined;
  for (const room of rooms) {
    if (room.free <= 0 || room.free < least || !suits(room, wanted)) continue;
    if (!best || order(room, best, wanted) < 0) best = room;
  }
  if (!best) return undefined;
  best.free = Math.max(0, best.free - ranks);
  best.ranks.set(wanted.job, (best.ranks.get(wanted.job) ?? 0) + ranks);
  return best.id;
}

const first = (yes: boolean): number => (yes ? 0 : 1);
const newcomer = (r: Room): number => first(r.record);

function spread(r: Room, { job, mapBy }: Wanted): number {
  const here = r.ranks.get(job) ?? 0;
  return mapBy === 'slot' ? -here : here + newcomer(r);
}

/** Negative: `a` comes before `b`. Asked for each rank and node, so it makes nothing. */
function order(a: Room, b: Room, wanted: Wanted): number {
  const { failed, avoid, job, task } = wanted;
  return (
    (failed.size > 0 && (first(!failed.has(a.id)) - first(!failed.has(b.id)) || newcomer(a) - newcomer(b))) ||
    first(!a.doubtful) - first(!b.doubtful) ||
    (a.record ? 0 : a.level) - (b.record ? 0 : b.level) ||
    first(a.id !== avoid) - first(b.id !== avoid) ||
    (wanted.contested && a.runs.length - b.runs.length) ||
    first(a.has(job, task)) - first(b.has(job, task)) ||
    spread(a, wanted) - spread(b, wanted) ||
    newcomer(a) - newcomer(b) ||
    b.free - a.free ||
    a.since - b.since ||
    (a.id < b.id ? -1 : 1)
  );
}
