/** REST of nodes beyond their list: how the time of their slots was spent, and one node with its ranks and losses. */
import { Type, type Static } from 'typebox';
import { SPENT } from './control.ts';
import { NodeView, RankActivity, TaskState } from './job.ts';
import { CountSchema, IncarnationSchema, JobIdSchema, NodeIdSchema, TaskIdSchema } from './schema.ts';

/**
 * What the time of a slot was spent on: what its rank accounts for itself (SPENT), then what the server knows.
 * `starting`: it has a rank, which has not begun; `idle`: it has none; `silent`: nothing was heard from the node.
 */
export const SLOT_KINDS = [...SPENT, 'starting', 'idle', 'silent'] as const;
export type SlotKind = (typeof SLOT_KINDS)[number];

/** GET /api/nodes/timeline, GET /api/nodes/:id/timeline */
export const NodesTimeline = Type.Object({
  kinds: Type.Array(Type.String()),
  /** The server's clock, ms; columns of `widthMs` from `from` on that are over; the next is there in `nextMs`. */
  now: CountSchema,
  from: CountSchema,
  widthMs: CountSchema,
  columns: CountSchema,
  nextMs: CountSchema,
  nodes: Type.Array(NodeIdSchema),
  /**
   * base64 of raw deflate of u16 (little endian) by [node][column][kind]: hundredths of a slot, in the mean over the
   * column. Of what is missing to the slots of the node nothing is known.
   */
  slots: Type.String(),
  /**
   * Of one node: bytes of the linear memories of its ranks together, by column, the most in it; null: unknown. Scripts
   * do not know theirs.
   */
  memory: Type.Optional(Type.Array(Type.Union([CountSchema, Type.Null()]))),
});
export type NodesTimeline = Static<typeof NodesTimeline>;

/** A rank that has a slot of the node now. */
const SeatedRank = Type.Object({
  job: JobIdSchema,
  /** Of the job. */
  name: Type.String(),
  task: TaskIdSchema,
  incarnation: IncarnationSchema,
  state: TaskState,
  activity: Type.Optional(RankActivity),
  activitySince: Type.Optional(CountSchema),
});
/** An incarnation that was lost at the node. */
const LostRank = Type.Object({
  at: CountSchema,
  job: JobIdSchema,
  name: Type.String(),
  task: TaskIdSchema,
  incarnation: IncarnationSchema,
  /** As in Fault. */
  cause: Type.String(),
  /** Absent: it has not recovered, or never did. */
  recoveredAfterMs: Type.Optional(CountSchema),
});

/** GET /api/nodes/:id */
export const NodeDetail = Type.Object({
  now: CountSchema,
  /** Of a node that is gone: as it was last. */
  node: NodeView,
  ranks: Type.Array(SeatedRank),
  /** Bytes of the linear memories of its ranks together, from its last heartbeat; absent: it named none. */
  memory: Type.Optional(CountSchema),
  /** Newest first, of jobs that the server has not forgotten; kills by hand among them. */
  losses: Type.Array(LostRank),
  /** Older ones that are not in the list. */
  lossesLeftOut: CountSchema,
});
export type NodeDetail = Static<typeof NodeDetail>;
