/** Report of a run: GET /api/jobs/:id/report, and without a token GET /api/reports/:id while its owner shares it. */
import { ParityOption } from './parity.ts';
import { Type, type Static } from 'typebox';
import { ERRORS } from './errors.ts';
import { ComparedRun } from './comparison.ts';
import { RankProfile } from './history.ts';
import { CountSchema, ErrorBody, HashSchema, JobIdSchema, TaskIdSchema } from './schema.ts';
import { WavesView } from './waves.ts';
import { Durability, ProtocolName } from './job-options.ts';
import { JobState, PartView, ProgramView, TaskState } from './job.ts';

/** Rises when a field changes its meaning or goes; new fields may come without. */
export const REPORT_VERSION = 1;

const Digest = Type.Object({
  path: Type.String(),
  bytes: CountSchema,
  rank: TaskIdSchema,
  /** Of the whole content; only when the job has ended. */
  sha256: Type.Optional(Type.String()),
});

export const JobReport = Type.Object(
  {
    format: Type.Literal('mayfly-report'),
    version: CountSchema,
    /** When the report was made, ms since the epoch, as all times. */
    at: CountSchema,
    server: Type.Object({ version: Type.String() }),
    job: Type.Object({
      id: JobIdSchema,
      name: Type.String(),
      /** What it is for, in its owner's words. */
      about: Type.Optional(Type.String()),
      state: JobState,
      /** Hash (BLAKE3) of what the nodes execute. */
      program: ProgramView,
      args: Type.Array(Type.String()),
      /** All programs of a job that has several; the first is `program` with `args`. */
      parts: Type.Optional(Type.Array(PartView)),
      size: CountSchema,
      inputs: Type.Array(Type.Object({ path: Type.String(), bytes: CountSchema, hash: HashSchema })),
      /** Of the job's random draws: the same program with the same seed draws the same. */
      seed: CountSchema,
      options: Type.Object({
        protocol: ProtocolName,
        durability: Durability,
        /** 0 under `vcl`: found from the cost of a checkpoint and the losses. */
        checkpointMs: CountSchema,
        /** Under `hc3i`, by cluster; null: no timer. Absent: `checkpointMs` holds for all. */
        clusterCheckpointMs: Type.Optional(Type.Array(Type.Union([CountSchema, Type.Null()]))),
        parity: Type.Optional(ParityOption),
        graceMs: Type.Optional(CountSchema),
        stuckAfterMs: Type.Optional(CountSchema),
        stuckFactor: Type.Optional(Type.Number()),
        timeLimitMs: Type.Optional(CountSchema),
        memoryBytes: CountSchema,
        channelMemories: CountSchema,
      }),
      submittedAt: CountSchema,
      startedAt: Type.Optional(CountSchema),
      endedAt: Type.Optional(CountSchema),
      /** Without pauses. */
      runMs: CountSchema,
      pausedMs: CountSchema,
      exitCode: Type.Optional(Type.Integer()),
      error: Type.Optional(ErrorBody),
    }),
    ranks: Type.Array(
      Type.Object({
        rank: TaskIdSchema,
        state: TaskState,
        exitCode: Type.Optional(Type.Integer()),
        incarnations: CountSchema,
        messagesIn: CountSchema,
        bytesIn: CountSchema,
        messagesOut: CountSchema,
        bytesOut: CountSchema,
        images: CountSchema,
        imageBytes: CountSchema,
      }),
    ),
    /**
     * Where ranks ran, as far as this start of the server has seen it. A shared report has no names, and the registry's
     * words for an error instead of its own.
     */
    nodes: Type.Array(
      Type.Object({ name: Type.Optional(Type.String()), engine: Type.String(), ranks: Type.Array(TaskIdSchema) }),
    ),
    /**
     * Phases in ms from the loss: a slot was found and everybody had fenced the old incarnation; the image was there
     * and the rank began; it did something new. `recoveredAfterMs` is their sum (recovery.ts).
     */
    faults: Type.Array(
      Type.Object({
        at: CountSchema,
        rank: TaskIdSchema,
        incarnation: CountSchema,
        cause: Type.String(),
        /** As in Fault. A shared report does not have it. */
        error: Type.Optional(Type.String()),
        slotMs: Type.Optional(CountSchema),
        startMs: Type.Optional(CountSchema),
        replayMs: Type.Optional(CountSchema),
        recoveredAfterMs: Type.Optional(CountSchema),
      }),
    ),
    totals: Type.Object({
      messages: CountSchema,
      bytes: CountSchema,
      images: CountSchema,
      imageBytes: CountSchema,
      incarnations: CountSchema,
      faults: CountSchema,
      /**
       * Time of ranks, ms, by what they did; `usefulMs` is all but replay. As far as this start of the server has seen
       * it.
       */
      usefulMs: Type.Number(),
      replayedMs: Type.Number(),
      spentMs: Type.Record(Type.String(), Type.Number()),
    }),
    /** Under coordinated checkpointing: checkpoints of all ranks together, and rollbacks to them. */
    waves: Type.Optional(WavesView),
    /** Where the time of each rank went; absent in reports of an older server. */
    profile: Type.Optional(Type.Array(RankProfile)),
    outputs: Type.Object({ stdout: Type.Array(Digest), stderr: Type.Array(Digest), files: Type.Array(Digest) }),
    /**
     * Other runs of the same program with the same input and seed, and whether they wrote the same; of runs that can be
     * compared. A shared report does not say which jobs they are.
     */
    comparisons: Type.Optional(
      Type.Array(
        Type.Object({
          job: Type.Optional(JobIdSchema),
          faults: ComparedRun.properties.faults,
          same: Type.Boolean(),
          differences: ComparedRun.properties.differences,
        }),
      ),
    ),
  },
  { description: 'Report of a run' },
);
export type JobReport = Static<typeof JobReport>;

/**
 * For people without a token. Only the owner may know the volunteers. The text of an error may contain output of the
 * program or a path of the server: its code stays, with the text of the registry. Of a fault the cause stays.
 */
export function publicReport(r: JobReport): JobReport {
  const { error, ...job } = r.job;
  return {
    ...r,
    job: {
      ...job,
      ...(error === undefined
        ? {}
        : {
            error: {
              code: error.code,
              message: (ERRORS as Partial<Record<string, { advice: string }>>)[error.code]?.advice ?? '',
            },
          }),
    },
    faults: r.faults.map(({ error: _, ...f }) => f),
    nodes: r.nodes.map(({ engine, ranks }) => ({ engine, ranks })),
    ...(r.waves && { waves: { ...r.waves, recent: r.waves.recent.map(({ reason: _, ...w }) => w) } }),
    ...(r.comparisons === undefined
      ? {}
      : { comparisons: r.comparisons.map(({ faults, same, differences }) => ({ faults, same, differences })) }),
  };
}
