/** Tasks that a job starts while it runs (MPI_Comm_spawn): what the root asks the world for, and what is kept of it. */
import { Type, type Static } from 'typebox';
import { TaskIdSchema } from './schema.ts';

/** Processes with the same arguments, one behind the other: one command of MPI_Comm_spawn_multiple. */
export const SpawnPart = Type.Object({
  args: Type.Array(Type.String({ maxLength: 65536 }), { maxItems: 1024 }),
  count: Type.Integer({ minimum: 1, maximum: 65536 }),
});
export type SpawnPart = Static<typeof SpawnPart>;

/** Data of a SPAWN request, as JSON. */
export const SpawnRequest = Type.Array(SpawnPart, { minItems: 1, maxItems: 1024 });
export type SpawnRequest = Static<typeof SpawnRequest>;

/** One spawn that was granted: tasks from `first` on, a world of their own. */
export const SpawnGroup = Type.Object({
  first: TaskIdSchema,
  /** The task that asked: children's rank 0 meets it. */
  root: TaskIdSchema,
  parts: SpawnRequest,
  /** FT-MPI: the one new task takes the rank of `root`, which is lost. */
  replaces: Type.Optional(Type.Literal(true)),
});
export type SpawnGroup = Static<typeof SpawnGroup>;

export const spawnedTasks = (parts: readonly SpawnPart[]): number => parts.reduce((n, p) => n + p.count, 0);

/** Number of the part (MPI_APPNUM) that process `at` of all parts belongs to, counted from 0; -1: it is behind them. */
export function partAt(parts: readonly Pick<SpawnPart, 'count'>[], at: number): number {
  let end = 0;
  return parts.findIndex((p) => at < (end += p.count));
}

/** Number of the part (MPI_APPNUM) that a task of the group belongs to. */
export const partOf = (group: SpawnGroup, task: number): number => partAt(group.parts, task - group.first);

/**
 * Why a spawn was refused; the first value of an answer with an error. LEAVING: slots are not free, but other spawned
 * tasks of the job hold enough of them and may be about to end (after MPI_Comm_disconnect they do). The answer comes
 * when that has changed, or after a while, and the task asks again.
 */
export const SpawnRefusal = { SLOTS: 1, LIMIT: 2, MALFORMED: 3, COMMAND: 4, LEAVING: 5 } as const;
