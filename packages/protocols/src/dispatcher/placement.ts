/**
 * Which node takes which rank. Greedy, one rank after the other: not the node where it just died (nor if it says that it has an image), then
 * a node that has the rank's newest image on its own disk (the restart needs no download), then the node with the fewest ranks of the same job (one closed tab should take
 * few ranks with it), then the one with the most free slots, then the one that is here longest. O(ranks × nodes).
 */
import type { JobId, NodeId, TaskId } from '@mayfly/wire';

export interface Room {
  id: NodeId;
  /** Code of the room (of people) that the node serves. */
  code: string | undefined;
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
}

/** Takes one slot of the best room for the rank and returns it; undefined when every slot is taken. */
export function takeRoom(wanted: Wanted, rooms: readonly Room[]): NodeId | undefined {
  let best: Room | undefined;
  let bestKey: readonly number[] = [];
  for (const room of rooms) {
    if (room.free <= 0 || room.code !== wanted.code) continue;
    const key = [
      room.id === wanted.avoid ? 1 : 0,
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
