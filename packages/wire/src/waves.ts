/** The waves of a job under coordinated checkpointing, as REST and the pages show them. */
import { Type, type Static } from 'typebox';
import { CountSchema, TaskIdSchema } from './schema.ts';

/** So many waves and rollbacks of a job are listed, the newest; the sums count all. */
export const LISTED_WAVES = 24;

export const WaveView = Type.Object({
  wave: CountSchema,
  /** Of this cluster (protocol `hc3i`). Absent: of all ranks. */
  cluster: Type.Optional(CountSchema),
  /** A message from another cluster has asked for it. */
  forced: Type.Optional(Type.Literal(true)),
  /** When it began, ms since 1970. */
  at: CountSchema,
  /** Committed, and some of its images are with the nodes only, protected by parity (docs/codes.md). Absent: whole. */
  near: Type.Optional(Type.Literal(true)),
  state: Type.Union([Type.Literal('underWay'), Type.Literal('committed'), Type.Literal('abandoned')]),
  /** From its beginning to its commit, or until it was abandoned, ms. Absent: it is under way. */
  ms: Type.Optional(CountSchema),
  /** Why it was abandoned, in words. */
  reason: Type.Optional(Type.String()),
  /** Images that are stored, their bytes, and what of that was uploaded: pages that the server lacked. */
  images: CountSchema,
  imageBytes: CountSchema,
  sentBytes: CountSchema,
  /** What was under way between the images, and is kept with them: messages and their bytes. */
  recorded: CountSchema,
  recordedBytes: CountSchema,
  /** The most that the Channel Memories held back at one time, each for itself, added up: messages and bytes. */
  held: CountSchema,
  heldBytes: CountSchema,
  /** How long ranks stood still for the copy of their memory, ms: on average, and the longest. Absent: not known. */
  stallMs: Type.Optional(Type.Object({ mean: Type.Number(), most: Type.Number() })),
});
export type WaveView = Static<typeof WaveView>;

export const RollbackView = Type.Object({
  /** When the loss was noticed, ms since 1970. */
  at: CountSchema,
  /** The epoch that began with it, and the wave that all ranks went back to; 0: the start of the program. */
  epoch: CountSchema,
  wave: CountSchema,
  /** The cluster that went back (protocol `hc3i`). Absent: all ranks did. */
  cluster: Type.Optional(CountSchema),
  /** It did not fail itself: the clusters whose rollback took it back. */
  alertedBy: Type.Optional(Type.Array(CountSchema)),
  /**
   * A cause of a fault; or 'paused', 'server' (it was restarted), 'channels' (a Channel Memory broke), 'image' (one was
   * damaged).
   */
  cause: Type.String(),
  /** The ranks that were lost; none where nobody was. */
  ranks: Type.Array(TaskIdSchema),
  /** Work that is undone: the time of all ranks since the wave's cut, ms; and that of the rank that loses most. */
  lostMs: CountSchema,
  mostMs: CountSchema,
});
export type RollbackView = Static<typeof RollbackView>;

/** A cluster of a job (protocol `hc3i`), which takes its checkpoints on its own. */
export const ClusterView = Type.Object({
  cluster: CountSchema,
  ranks: Type.Array(TaskIdSchema),
  /** Sequence number: that of its newest checkpoint. */
  sn: CountSchema,
  /** By cluster: the highest interval that it depends on; 0: none. Its own entry is `sn`. */
  ddv: Type.Array(CountSchema),
  /** From the end of a checkpoint to the next that no message asks for, ms. Absent: it has no timer. */
  periodMs: Type.Optional(CountSchema),
  /** The job asks for this shorter time, and a checkpoint takes longer. */
  askedMs: Type.Optional(CountSchema),
  /** Checkpoints that are kept. */
  stored: CountSchema,
  /** Checkpoints since this start of the server that messages of other clusters asked for, and the others. */
  forced: CountSchema,
  timed: CountSchema,
  /** Messages from other clusters that wait for a checkpoint now. */
  waiting: CountSchema,
});
export type ClusterView = Static<typeof ClusterView>;

export const WavesView = Type.Object({
  /** Under `hc3i`. */
  clusters: Type.Optional(Type.Array(ClusterView)),
  /** From the end of a wave to the beginning of the next, ms. Absent: none has begun. */
  periodMs: Type.Optional(CountSchema),
  /** The job's owner has chosen this shorter period, and a wave takes longer. */
  askedMs: Type.Optional(CountSchema),
  /** True: the job's owner has chosen the period. False: the scheduler finds it from the cost and the losses. */
  chosen: Type.Boolean(),
  /** When the next wave is due, ms since 1970. Absent: nobody knows (a wave or a rollback is under way; the end). */
  nextAt: Type.Optional(CountSchema),
  committed: CountSchema,
  abandoned: CountSchema,
  rollbacks: CountSchema,
  /** Work undone by all rollbacks, ms of ranks. */
  lostMs: CountSchema,
  /** The newest, oldest first. */
  recent: Type.Array(WaveView),
  rolledBack: Type.Array(RollbackView),
});
export type WavesView = Static<typeof WavesView>;

/** What was seen before a restart of the server, and since. */
export function wavesOfBoth(before: WavesView | undefined, since: WavesView): WavesView {
  if (!before) return since;
  // A rollback has brought all its images to the server.
  const whole = new Set(since.rolledBack.map((r) => r.wave));
  const earlier = before.recent
    .filter((w) => w.state !== 'underWay')
    .map(({ near, ...w }) => (near && !whole.has(w.wave) ? { ...w, near } : w));
  return {
    ...since,
    committed: before.committed + since.committed,
    abandoned: before.abandoned + since.abandoned,
    rollbacks: before.rollbacks + since.rollbacks,
    lostMs: before.lostMs + since.lostMs,
    recent: [...earlier, ...since.recent].slice(-LISTED_WAVES),
    rolledBack: [...before.rolledBack, ...since.rolledBack].slice(-LISTED_WAVES),
  };
}
