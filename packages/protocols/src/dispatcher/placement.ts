/**
 * Which node takes which rank. Only nodes of the job's room that run programs of its kind are asked. Greedy, one rank after the other: not the node where it just
 * died (nor if it says that it has an image), then a node that has the rank's newest image on its own disk (the restart needs no download), then the node with the
 * fewest ranks of the same job (one closed tab should take few ranks with it), then the one with the most free slots, then the one that is here longest. While work of
 * another kind waits in the room, nodes that run fewer kinds come before all but the first of this: the others may be all that this work can have. O(ranks × nodes).
 */
import type { JobId, NodeId, ProgramKind, TaskId } from '@mayfly/wire';

export interface Room {
  id: NodeId;
  /** Code of the room (of people) that the node serves. */
  code: string | undefined;
  /** Kinds of programs that the node runs. */
  runs: readonly ProgramKind[];
  /** Slots that are free now. */
  free: number;
  /** Ranks of each job that it has. */
  ranks: Map<JobId, number>;
  has(job: JobId, task: TaskId): boolean;
  /** When it came, for a stable order. */
  since: number;
}

export interface Wanted {
  job: JobId;
  task: TaskId;
  avoid: NodeId | undefined;
  /** Code of its job's room: only nodes of the same one are asked. */
  code: string | undefined;
  /** Of its program: only nodes that run it are asked. */
  kind: ProgramKind;
  /** Kinds whose jobs wait for slots already: nodes that run one of them are left to them (D4). */
  held: ReadonlySet<ProgramKind>;
  /** Work of another kind waits in the room. */
  contested: boolean;
}

/** The node may take this rank, as far as its room and its kind of programs go. */
export const suits = (room: Pick<Room, 'code' | 'runs'>, wanted: Pick<Wanted, 'code' | 'kind' | 'held'>): boolean =>
  room.code === wanted.code && room.runs.includes(wanted.kind) && !room.runs.some((k) => wanted.held.has(k));

/** Takes one slot of the best room for the rank and returns it; undefined when every slot is taken. */
export function takeRoom(wanted: Wanted, rooms: readonly Room[]): NodeId | undefined {
  let best: Room | undefined;
  let bestKey: readonly number[] = [];
  for (const room of rooms) {
    if (room.free <= 0 || !suits(room, wanted)) continue;
    const key = [
      room.id === wanted.avoid ? 1 : 0,
      wanted.contested ? room.runs.length : 0,
      room.has(wanted.job, wanted.task) ? 0 : 1,
      room.ranks.get(wanted.job) ?? 0,
      -room.free,
      room.since,
    ];
    if (!best || less(key, room.id, bestKey, best.id)) {
      best = room;
      bestKey = key;
    }
  }
  if (!best) return undefined;
  best.free--;
  best.ranks.set(wanted.job, (best.ranks.get(wanted.job) ?? 0) + 1);
  return best.id;
}

function less(a: readonly number[], aId: string, b: readonly number[], bId: string): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! < b[i]!;
  return aId < bId;
}
