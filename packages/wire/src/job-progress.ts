import { Type, type Static } from 'typebox';
import { CountSchema, TaskIdSchema } from './schema.ts';

/** How far a job is, by what its program states. */
export const JobProgress = Type.Object({
  /** The least of what its ranks state, 0 to 1 in steps of a thousandth. A rank that repeats work counts as before. */
  fraction: Type.Number({ minimum: 0, maximum: 1 }),
  /** Ranks that were lost and have not reached again what they had stated. */
  repeating: Type.Array(TaskIdSchema),
  /**
   * Estimate of the time left by the mean rate so far, ms, to two digits; pauses and waiting for slots are not in the
   * rate. Absent: it is paused or waits for a slot, less than 5 % or ten seconds were measured, or no rank has got
   * further for much longer than before.
   */
  remainingMs: Type.Optional(CountSchema),
});
export type JobProgress = Static<typeof JobProgress>;
