/** Runs of one job that are compared: GET /api/jobs/:id/comparison. */
import { Type, type Static } from 'typebox';
import { CountSchema, JobIdSchema } from './schema.ts';
import { JobState } from './job.ts';

/**
 * Another run of the same program with the same input and the same seed (POST /api/jobs/:id/again), as seen from the
 * job that was asked for.
 */
export const ComparedRun = Type.Object({
  job: JobIdSchema,
  name: Type.String(),
  state: JobState,
  /** Ranks that were lost in it. */
  faults: CountSchema,
  /** Absent: one of the two runs did not end of its own accord, so nothing was compared. */
  same: Type.Optional(Type.Boolean()),
  /** Where they differ, in sentences; the first ones of many. */
  differences: Type.Array(Type.String()),
});
export type ComparedRun = Static<typeof ComparedRun>;

export const ComparisonView = Type.Object({
  job: JobIdSchema,
  /**
   * What was compared, byte for byte by SHA-256, besides how it ended: standard output of so many ranks, and result
   * files.
   */
  streams: CountSchema,
  files: CountSchema,
  bytes: CountSchema,
  runs: Type.Array(ComparedRun),
});
export type ComparisonView = Static<typeof ComparisonView>;
