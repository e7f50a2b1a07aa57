/**
 * The history of a job in REST and on the dashboard's socket: how each rank spent its time (the time line), how much
 * each pair of ranks exchanged (the matrix), and a sample of messages (the arrows).
 */
import { Type, type Static } from 'typebox';
import { SPENT } from './control.ts';
import type { DashboardEvents, DashboardRequests } from './dashboard.ts';
import type { TeamChange } from './job.ts';
import { CountSchema, IncarnationSchema, JobIdSchema, TaskIdSchema, type ErrorBody } from './schema.ts';

/**
 * Kinds of a rank's time, in the order of `shares`: what it accounts for itself (SPENT), then what the server knows of
 * it. `starting`: an incarnation has a node, but has not reported yet; `dead`: no incarnation acts; `paused`: the owner
 * has paused the job.
 */
export const LANE_KINDS = [...SPENT, 'starting', 'dead', 'paused'] as const;
export type LaneKind = (typeof LANE_KINDS)[number];

export const TimelineEvent = Type.Object({
  at: CountSchema,
  /**
   * 'image': complete; 'server': the server started, and knows nothing of the time between its end and this; 'wave': a
   * checkpoint of all ranks together is committed; 'rollback': all ranks go back to `wave`; 'rebuilt': the image of a
   * lost rank was made again from parity; 'fellBack': it could not be, and the rank goes back to the server's images;
   * 'dissolved', 'moved', 'merged': what became of the team of `ranks`.
   */
  kind: Type.Unsafe<
    | 'fault'
    | 'assigned'
    | 'imageBegun'
    | 'image'
    | 'done'
    | 'paused'
    | 'resumed'
    | 'server'
    | 'wave'
    | 'rollback'
    | 'rebuilt'
    | 'fellBack'
    | TeamChange['what']
  >(Type.String()),
  task: Type.Optional(TaskIdSchema),
  incarnation: Type.Optional(IncarnationSchema),
  /** Of a fault, a rollback, or a recovery that fell back: why. */
  cause: Type.Optional(Type.String()),
  /** Of a wave and a rollback: its number; 0: the start of the program. */
  wave: Type.Optional(CountSchema),
  /** The cluster whose wave or rollback it is (protocol `hc3i`). Absent: of all ranks. */
  cluster: Type.Optional(CountSchema),
  /** Of a rollback of a cluster that did not fail itself: those whose rollback took it back. */
  alertedBy: Type.Optional(Type.Array(CountSchema)),
  /** How long the wave took; the work that the rollback undid, as time of all ranks, ms. */
  ms: Type.Optional(CountSchema),
  /** Of a change of a team: its ranks, and the teams that they form from then on. */
  ranks: Type.Optional(Type.Array(TaskIdSchema)),
  teams: Type.Optional(Type.Array(Type.Array(TaskIdSchema))),
});
export type TimelineEvent = Static<typeof TimelineEvent>;

/** What of a history an answer shows. */
const STRETCH = {
  /**
   * The time that the history covers, ms of the server's clock; the job's end once it has `ended`; `now`: what that
   * clock said.
   */
  since: CountSchema,
  until: CountSchema,
  now: CountSchema,
  ended: Type.Boolean(),
  /**
   * Columns of `widthMs` from `from` on; wider than asked for where the history is not so fine, or the answer would be
   * too long.
   */
  from: CountSchema,
  widthMs: CountSchema,
  columns: CountSchema,
};

/** GET /api/jobs/:id/timeline */
export const TimelineView = Type.Object({
  job: JobIdSchema,
  size: CountSchema,
  kinds: Type.Array(Type.String()),
  ...STRETCH,
  /** Ranks, both inclusive. */
  first: CountSchema,
  last: CountSchema,
  /**
   * base64 of raw deflate of one byte per [column][rank][kind]: 255 is the whole column, or of the last one as much as
   * lies before the end of the job. What is missing to 255 is not known.
   */
  shares: Type.String(),
  events: Type.Array(TimelineEvent),
  /** Older assignments and images that are not kept any more. */
  eventsLeftOut: CountSchema,
});
export type TimelineView = Static<typeof TimelineView>;

/** GET /api/jobs/:id/matrix */
export const MatrixView = Type.Object({
  job: JobIdSchema,
  size: CountSchema,
  /** Sources and destinations, first and last. */
  src: Type.Tuple([CountSchema, CountSchema]),
  dst: Type.Tuple([CountSchema, CountSchema]),
  /** Ranks in a bin: 1, 2, 4 …; bin b of sources begins at rank src[0] + b × binned. */
  binned: CountSchema,
  /** [bin of sources, bin of destinations, messages, bytes], where there was a message. */
  cells: Type.Array(Type.Tuple([CountSchema, CountSchema, CountSchema, CountSchema])),
});
export type MatrixView = Static<typeof MatrixView>;

/**
 * What the time of one rank went to, over all its incarnations, ms by kind (LANE_KINDS), and of the time that it
 * waited: in which MPI calls, longest first, and from where in the program those were made (sampled, so that their sum
 * is not quite that of the call). What it says of itself is known as far as this start of the server has heard it.
 */
export const RankProfile = Type.Object({
  rank: TaskIdSchema,
  ms: Type.Record(Type.String(), Type.Number()),
  calls: Type.Array(
    Type.Object({
      call: Type.String(),
      ms: Type.Number(),
      times: Type.Number(),
      /** 'exchange (halo.c:40)'; of programs without line numbers, the function. */
      places: Type.Array(Type.Object({ place: Type.String(), ms: Type.Number() })),
    }),
  ),
});
export type RankProfile = Static<typeof RankProfile>;

/** GET /api/jobs/:id/profile */
export const ProfileView = Type.Object({ job: JobIdSchema, ranks: Type.Array(RankProfile) });
export type ProfileView = Static<typeof ProfileView>;

/** What charts show of a job over time: per second; then levels, in bytes. */
export const CHART_KINDS = ['messages', 'bytes', 'logBytes', 'imageBytes'] as const;
const Series = Type.Array(Type.Union([Type.Number(), Type.Null()]));

/** GET /api/jobs/:id/charts */
export const ChartsView = Type.Object({
  job: JobIdSchema,
  ...STRETCH,
  /**
   * By column; null: unknown (the server was away). Messages and bytes between ranks, per second; bytes in the log of
   * messages; bytes of the newest image of each rank.
   */
  values: Type.Object({ messages: Series, bytes: Series, logBytes: Series, imageBytes: Series }),
});
export type ChartsView = Static<typeof ChartsView>;

/** The parts of the watched job's history that a viewer draws. The server sends these and no others. */
export const Look = Type.Object(
  {
    job: JobIdSchema,
    timeline: Type.Optional(
      Type.Object({
        first: TaskIdSchema,
        last: TaskIdSchema,
        /** Width of a column that is drawn. */
        widthMs: Type.Integer({ minimum: 1000, maximum: 86_400_000 }),
        /** Messages as arrows: recorded only while a viewer asks for them. */
        arrows: Type.Optional(Type.Boolean()),
      }),
    ),
    matrix: Type.Optional(
      Type.Object({
        src: Type.Tuple([TaskIdSchema, TaskIdSchema]),
        dst: Type.Tuple([TaskIdSchema, TaskIdSchema]),
        bins: Type.Integer({ minimum: 1, maximum: 64 }),
      }),
    ),
  },
  { additionalProperties: false },
);
export type Look = Static<typeof Look>;

/** A stretch of the time line of the ranks `first` to `last`: so many columns of `widthMs` each, `from` on. */
export interface Columns {
  from: number;
  widthMs: number;
  columns: number;
  first: number;
  last: number;
  /** Bytes of [column][rank][kind], as in {@link TimelineView}, not compressed. */
  shares: Uint8Array;
}

/** Columns that are new or have changed; they replace what the viewer has. */
export interface TimelineNews extends Columns {
  job: string;
  now: number;
  until: number;
  ended: boolean;
  /** New since the last news. */
  events: TimelineEvent[];
}

/**
 * Cells that have changed, in the bins of the viewer's Look: f64 × 4 each, [bin of sources, bin of destinations,
 * messages, bytes].
 */
export interface MatrixNews {
  job: string;
  src: [number, number];
  dst: [number, number];
  binned: number;
  cells: Uint8Array;
}

/** Messages as they were logged, packed (arrows.ts). */
export interface ArrowNews {
  job: string;
  from: number;
  arrows: Uint8Array;
  /** Messages of the second for each one that is here: 1 when all are. */
  oneIn: number;
}

/** The whole of the namespace /dashboard. */
export interface ViewerEvents extends DashboardEvents {
  /** To every viewer ({@link Look}), about once a second. */
  timeline: (news: TimelineNews) => void;
  matrix: (news: MatrixNews) => void;
  arrows: (news: ArrowNews) => void;
}
export interface ViewerRequests extends DashboardRequests {
  /**
   * Replaces what this socket draws of a job's history; null: nothing. After it, news only: what was before is read by
   * REST.
   */
  look: (req: Look | null, ack: (r: { ok: true } | { error: ErrorBody }) => void) => void;
}
