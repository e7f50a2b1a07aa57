/** What a job may ask for beside its program (REST: `options`). */
import { Type, type Static } from 'typebox';
import { FtOption } from './ft-option.ts';
import { MAX_CLUSTERS, MAX_RANKS, MAX_TEAM } from './limits.ts';
import { ParityOption } from './parity.ts';
import { TaskIdSchema } from './schema.ts';

export const ProtocolName = Type.Union([
  Type.Literal('pessimistic'),
  Type.Literal('vcl'),
  Type.Literal('pcl'),
  Type.Literal('hc3i'),
  Type.Literal('app'),
  Type.Literal('none'),
]);
export type ProtocolName = Static<typeof ProtocolName>;
/** How ranks are spread over nodes: `slot` fills the slots of a node first, `node` takes one node after the other. */
export const MapBy = Type.Union([Type.Literal('slot'), Type.Literal('node')]);
export type MapBy = Static<typeof MapBy>;
export const Durability = Type.Union([Type.Literal('behind'), Type.Literal('strict')]);

export const Environment = Type.Record(
  Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$' }),
  Type.String({ maxLength: 4096, pattern: '^[^\\u0000]*$' }),
  { maxProperties: 64 },
);

const CheckpointMs = Type.Integer({ minimum: 0, maximum: 86_400_000 });

export const JobOptions = Type.Object(
  {
    protocol: Type.Optional(ProtocolName),
    durability: Type.Optional(Durability),
    /**
     * Ranks of one node that exchange messages in its memory, at most (docs/teams.md), under `none` and
     * `pessimistic`. 1: all messages pass through the server. Absent: as many as a team may have; under `pessimistic`
     * fewer where the room of the job has lost ranks often.
     */
    team: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TEAM })),
    /**
     * With the protocol `hc3i`, and required there: into how many clusters of consecutive ranks the job is split
     * evenly, or the ranks of each cluster. Each cluster takes checkpoints and goes back on its own.
     */
    clusters: Type.Optional(
      Type.Union([
        Type.Integer({ minimum: 1, maximum: MAX_RANKS }),
        Type.Array(Type.Array(TaskIdSchema, { maxItems: MAX_RANKS }), { maxItems: MAX_RANKS }),
      ]),
    ),
    /** With the protocol `app`: FT-MPI's modes. Absent: ULFM alone. */
    ft: Type.Optional(FtOption),
    /** Absent: `slot` where ranks form teams, else `node`. */
    mapBy: Type.Optional(MapBy),
    /** How long a silent node keeps its ranks, ms. */
    graceMs: Type.Optional(Type.Integer({ minimum: 200, maximum: 86_400_000 })),
    /**
     * When a rank of which nothing is seen (no message, no image) is tried on another node: after so long at least, ms
     * (default 600000), and so many times the longest pause that any rank of the job has shown (default 10).
     */
    stuckAfterMs: Type.Optional(Type.Integer({ minimum: 1000, maximum: 604_800_000 })),
    stuckFactor: Type.Optional(Type.Number({ minimum: 1, maximum: 10_000 })),
    /**
     * Checkpoint interval that tasks aim at, ms (a TypeScript task takes one at `checkpoint.here` once this has
     * passed). With the protocols `vcl` and `pcl`: from the end of a checkpoint of all ranks to the beginning of the
     * next, at least 100; absent: found from its cost and the losses.
     */
    checkpointMs: Type.Optional(CheckpointMs),
    /**
     * With the protocol `hc3i`, in place of `checkpointMs`: the time between the checkpoints of each cluster, at least
     * 100 ms. null: the cluster has no timer, and takes only checkpoints that messages of other clusters or output ask
     * for (Monnet et al. 2004, section 5.2: an "infinite" delay).
     */
    clusterCheckpointMs: Type.Optional(Type.Array(Type.Union([CheckpointMs, Type.Null()]), { maxItems: MAX_CLUSTERS })),
    /**
     * Images of ranks are protected by parity between nodes (docs/codes.md), and only some go to the server whole.
     * Under `pessimistic`, `vcl` and `pcl`.
     */
    parity: Type.Optional(ParityOption),
    timeLimitMs: Type.Optional(Type.Integer({ minimum: 1000, maximum: 604_800_000 })),
    outputLimitBytes: Type.Optional(Type.Integer({ minimum: 1024, maximum: 17_179_869_184 })),
    /** True: standard input stays open for POST …/stdin. False or absent: it is `stdin`, then its end. */
    interactive: Type.Optional(Type.Boolean()),
    /** What one rank may use: linear memory of a module, heap of a script. More than the server's limit is an error. */
    memoryBytes: Type.Optional(Type.Integer({ minimum: 16_777_216, maximum: 4_294_967_296 })),
    /** Of the job's random draws; absent: drawn by the server. */
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 48 - 1 })),
    /** Environment variables of every rank, beside those that every rank has (docs/programs.md). */
    env: Type.Optional(Environment),
  },
  { additionalProperties: false },
);
export type JobOptions = Static<typeof JobOptions>;
