/**
 * Whose nodes run which ranks of a job: those of its one room, or for each of its clusters those of another (protocol
 * `hc3i`). A room is its code; undefined: the nodes without a room. Pure.
 */
import type { TaskId } from '@mayfly/wire';
import type { JobSpec } from './events.ts';

type Rooms = Pick<JobSpec, 'room' | 'rooms' | 'clusters'>;

/** The room whose nodes run this task. */
export const roomOf = (spec: Rooms | undefined, task: TaskId): string | undefined =>
  spec?.rooms ? (spec.rooms[spec.clusters?.[task] ?? 0] ?? undefined) : spec?.room;

/** All rooms of the job, each once. */
export const roomsOf = (spec: Rooms): (string | undefined)[] =>
  spec.rooms ? [...new Set(spec.rooms.map((code) => code ?? undefined))] : [spec.room];

/** The job's tasks by room, of those that are in `tasks`. */
export function byRoom<T extends { task: TaskId }>(spec: Rooms, tasks: readonly T[]): Map<string | undefined, T[]> {
  const out = new Map<string | undefined, T[]>();
  for (const t of tasks) {
    const room = roomOf(spec, t.task);
    const there = out.get(room);
    if (there) there.push(t);
    else out.set(room, [t]);
  }
  return out;
}

/** By cluster: its room and its tasks. Undefined: the job has one room. */
export function clusterRooms(spec: Rooms): { code?: string; ranks: TaskId[] }[] | undefined {
  return spec.rooms?.map((code, cluster) => ({
    ...(code === null ? {} : { code }),
    ranks: (spec.clusters ?? []).flatMap((c, task) => (c === cluster ? [task as TaskId] : [])),
  }));
}
