/**
 * Control plane, socket.io namespace /node: a node daemon and the dispatcher. Every message is checked against its
 * schema at the border; requests are answered through the acknowledgement.
 */
import { Type, type Static } from 'typebox';
import { BoardName } from './board.ts';
import type { ParityHave, ParityOrder, ParityPart, ParityRead } from './parity.ts';
import { Position } from './data-plane.ts';
import { FtOption } from './ft-option.ts';
import { Manifest } from './image.ts';
import { ProtocolName } from './job-options.ts';
import { PLACE_CHARS, RankActivity } from './job.ts';
import { MAX_TEAM } from './limits.ts';
import { PROGRAM_KINDS, ProgramKind, ProgramLanguage } from './program.ts';
import {
  CountSchema,
  ErrorBody,
  HashSchema,
  ImageIdSchema,
  IncarnationSchema,
  JobIdSchema,
  NodeIdSchema,
  TaskIdSchema,
} from './schema.ts';

/** Control protocol version; a node of another one is refused with VERSION_MISMATCH. */
export const CONTROL_VERSION = 2;

export const Hold = Type.Object({ job: JobIdSchema, task: TaskIdSchema, incarnation: IncarnationSchema });
export type Hold = Static<typeof Hold>;

export const Hello = Type.Object({
  version: CountSchema,
  /** Absent for a new node; else what Welcome gave, to come back as the same one. */
  node: Type.Optional(NodeIdSchema),
  secret: Type.Optional(Type.String({ maxLength: 128 })),
  /** Drawn by the daemon when it begins: distinguishes a reconnection from a reload and from a duplicated tab. */
  session: Type.Optional(Type.String({ maxLength: 64 })),
  name: Type.String({ minLength: 1, maxLength: 80 }),
  /** e.g. 'Chromium 156', 'Firefox 140', 'Node 20.20'. */
  engine: Type.String({ maxLength: 80 }),
  slots: Type.Integer({ minimum: 0, maximum: 256 }),
  /** Processor cores of the machine, as its engine reports them. */
  cores: Type.Optional(Type.Integer({ minimum: 1, maximum: 4096 })),
  /**
   * Kinds of programs that it runs; ranks of others are not placed there. Absent (nodes of a version that did not
   * tell): all.
   */
  runs: Type.Optional(Type.Array(ProgramKind, { minItems: 1, maxItems: PROGRAM_KINDS.length, uniqueItems: true })),
  /** Join code: the server's own, or that of a room. */
  room: Type.Optional(Type.String({ maxLength: 64 })),
  /** Under which name (and team) the board of the room counts what it gives; absent: among those without a name. */
  board: Type.Optional(BoardName),
  /** Incarnations whose workers are alive on this node right now. */
  holds: Type.Array(Hold, { maxItems: 1024 }),
  /** Images in the node's local store: a restart there needs no download. */
  images: Type.Array(Type.Object({ job: JobIdSchema, task: TaskIdSchema, image: ImageIdSchema }), { maxItems: 1024 }),
  /** It takes part in parity groups (parity.ts). Absent: nodes of a version that had none. */
  parity: Type.Optional(Type.Boolean()),
});
export type Hello = Static<typeof Hello>;

export const Welcome = Type.Object({
  node: NodeIdSchema,
  secret: Type.String(),
  heartbeatMs: CountSchema,
  /** What of `holds` is no longer this node's: stop it. */
  drop: Type.Array(Hold),
});
export type Welcome = Static<typeof Welcome>;

/** dispatcher → node: run this incarnation. */
export const Assignment = Type.Object({
  job: JobIdSchema,
  /** The job's name, for the volunteer to read. */
  jobName: Type.Optional(Type.String({ maxLength: 80 })),
  /** The purpose of the job, in its owner's words for volunteers. */
  about: Type.Optional(Type.String({ maxLength: 200 })),
  task: TaskIdSchema,
  incarnation: IncarnationSchema,
  /** Tasks of its world: those that the job was started with, or those that were spawned together. */
  size: CountSchema,
  /** Tasks that the job may come to have, spawned ones included; absent: `size`, nothing can be spawned. */
  capacity: Type.Optional(CountSchema),
  /** MPI_UNIVERSE_SIZE: slots that there were for the job when it began; absent: `size`. */
  universe: Type.Optional(CountSchema),
  /** A spawned task: the first of its world, the parents' root, which part of the call it belongs to (MPI_APPNUM). */
  spawned: Type.Optional(Type.Object({ first: TaskIdSchema, root: TaskIdSchema, appnum: CountSchema })),
  /** FT-MPI: the modes of the job; absent: it has none. `restarted`: the task takes the rank of a lost one. */
  ft: Type.Optional(Type.Object({ modes: FtOption, restarted: Type.Optional(Type.Literal(true)) })),
  /** Tasks of the job on this node, in ascending order, this one included, that exchange messages in its memory. */
  team: Type.Optional(Type.Array(TaskIdSchema, { minItems: 2, maxItems: MAX_TEAM })),
  /** Of these, those that have ended and do not begin with the others; absent: none. */
  ended: Type.Optional(Type.Array(TaskIdSchema, { minItems: 1, maxItems: MAX_TEAM })),
  /** All such groups of the tasks that the job was started with; absent: there are none. The same for all its tasks. */
  teams: Type.Optional(Type.Array(Type.Array(TaskIdSchema, { minItems: 2, maxItems: MAX_TEAM }))),
  /** Of a job with several programs: which of them this rank runs (MPI_APPNUM), and how many ranks do. */
  part: Type.Optional(Type.Object({ appnum: CountSchema, size: CountSchema })),
  capability: Type.String(),
  program: Type.Object({ language: ProgramLanguage, hash: HashSchema, entry: Type.String() }),
  args: Type.Array(Type.String()),
  env: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** Input files: fetched from /data/files/:job/:hash when first read. */
  files: Type.Array(Type.Object({ path: Type.String(), hash: HashSchema, bytes: CountSchema })),
  protocol: ProtocolName,
  /** URLs of the Channel Memories, by index; relative to the server ('/data/cm/0') or absolute. */
  channelMemories: Type.Array(Type.String()),
  /** By task: index of its home, where each cluster of tasks has a Channel Memory. Absent: task modulo their number. */
  homes: Type.Optional(Type.Array(CountSchema)),
  /** Seed of the job's random draws. */
  seed: CountSchema,
  /** Wall clock of the server when it assigned, ms: the node's clock is offset to it. */
  serverTime: CountSchema,
  checkpointMs: CountSchema,
  /** Images are protected by parity between nodes (docs/codes.md), and one of so many goes to the server whole. */
  wholeEvery: Type.Optional(CountSchema),
  graceMs: CountSchema,
  /** Absent: from the start of the program. */
  manifest: Type.Optional(Manifest),
  /** Where this incarnation begins. */
  position: Position,
  limits: Type.Object({ memoryBytes: CountSchema, fileBytes: CountSchema }),
});
export type Assignment = Static<typeof Assignment>;

/** dispatcher → node: stop an incarnation (fenced, cancelled, job over). */
export const Revoke = Type.Object({
  job: JobIdSchema,
  task: TaskIdSchema,
  incarnation: IncarnationSchema,
  code: Type.String(),
  message: Type.String(),
});
export type Revoke = Static<typeof Revoke>;

/** dispatcher → node: take a checkpoint soon. */
export const CheckpointRequest = Type.Object({
  job: JobIdSchema,
  task: TaskIdSchema,
  /** True: the rank, or its team, does nothing more behind it. False: that is not wanted any more. */
  last: Type.Optional(Type.Boolean()),
  /**
   * Of a script, with `last`: the call of checkpoint.here at which it stops, counted as in {@link RankActivity}. One
   * that is past it goes on. Absent: the next.
   */
  atCall: Type.Optional(CountSchema),
});
export type CheckpointRequest = Static<typeof CheckpointRequest>;

/** server → node: a Channel Memory works elsewhere now. A connection to its old place may never close by itself. */
export const MemoryMoved = Type.Object({ job: JobIdSchema, memory: CountSchema });
export type MemoryMoved = Static<typeof MemoryMoved>;

/** What a rank spends its time on, in the order of `spent`. `sending`: it waits for room to send. */
export const SPENT = ['computing', 'waiting', 'sending', 'checkpointing', 'replaying', 'resting'] as const;

/** How long a rank has waited in a call (ms), and how often. */
export const CallTime = Type.Tuple([
  Type.String({ maxLength: 48 }),
  Type.Number({ minimum: 0, maximum: 1e12 }),
  Type.Number({ minimum: 0, maximum: 1e15 }),
]);
export type CallTime = Static<typeof CallTime>;

/**
 * Of the time that a rank has waited in a call (ms): from where in the program it was made. Sampled: a place stands for
 * the 20 ms of waiting before it was looked at, or for all of a longer wait.
 */
export const PlaceTime = Type.Tuple([
  Type.String({ maxLength: 48 }),
  Type.String({ maxLength: PLACE_CHARS }),
  Type.Number({ minimum: 0, maximum: 1e12 }),
]);
export type PlaceTime = Static<typeof PlaceTime>;

/** What a rank has sent to a task of its team so far: messages and bytes, which no log counts. */
export const LocalChannel = Type.Tuple([TaskIdSchema, CountSchema, CountSchema]);
export type LocalChannel = Static<typeof LocalChannel>;

/** node → dispatcher, every heartbeatMs; the paper's "alive" signal with the ranks' status words. */
export const Heartbeat = Type.Object({
  tasks: Type.Array(
    Type.Object({
      job: JobIdSchema,
      task: TaskIdSchema,
      incarnation: IncarnationSchema,
      /** False until the first instruction of the program, true after. */
      started: Type.Boolean(),
      /** True from its first step beyond replay on: the report of it may have died with the server. */
      recovered: Type.Optional(Type.Boolean()),
      activity: RankActivity,
      /** It has taken its last image, and does nothing more. True: that is complete. */
      parked: Type.Optional(Type.Boolean()),
      /** ms that this incarnation has spent so far, by {@link SPENT}. */
      spent: Type.Optional(Type.Array(Type.Number({ minimum: 0, maximum: 1e12 }), { maxItems: 8 })),
      /** To each task of its team that it has sent to. */
      local: Type.Optional(Type.Array(LocalChannel, { maxItems: MAX_TEAM })),
      /** Bytes of its linear memory, as of its last MPI calls; a script has none. */
      memory: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 40 })),
      /** Of the time that it waited: in which MPI calls, so far. Not in every heartbeat. */
      calls: Type.Optional(Type.Array(CallTime, { maxItems: 16 })),
      /** And from where. */
      places: Type.Optional(Type.Array(PlaceTime, { maxItems: 24 })),
    }),
    { maxItems: 1024 },
  ),
  /** Round trip of an earlier heartbeat, ms. */
  rttMs: Type.Optional(Type.Number({ minimum: 0, maximum: 1e7 })),
  /**
   * Measured once, while it was idle: millions of steps per second of a fixed loop on one core
   * (packages/node/src/daemon/speed.ts).
   */
  speed: Type.Optional(Type.Number({ minimum: 0, maximum: 1e6 })),
});
export type Heartbeat = Static<typeof Heartbeat>;

/** node → dispatcher: an incarnation took its first step beyond replay (`recovered`), or its worker died. */
export const TaskReport = Type.Object({
  job: JobIdSchema,
  task: TaskIdSchema,
  incarnation: IncarnationSchema,
  event: Type.Unsafe<'started' | 'recovered' | 'crashed' | 'refused'>(Type.String({ maxLength: 16 })),
  error: Type.Optional(ErrorBody),
});
export type TaskReport = Static<typeof TaskReport>;

/** node → dispatcher: leaves now (pagehide, stop button, SIGTERM). */
export const Goodbye = Type.Object({ reason: Type.String({ maxLength: 80 }) });
export type Goodbye = Static<typeof Goodbye>;

type Answer<T> = (answer: T | { error: ErrorBody }) => void;

export interface NodeToServer {
  hello: (m: Hello, ack: Answer<Welcome>) => void;
  /** A sender that wants to measure the round trip asks for the acknowledgement. */
  heartbeat: (m: Heartbeat, ack?: () => void) => void;
  report: (m: TaskReport) => void;
  goodbye: (m: Goodbye, ack?: () => void) => void;
  /** The node changes how many ranks it takes. */
  slots: (m: { slots: number }) => void;
  /** The node may soon be lost: its page is hidden, or its battery is low. Its ranks want a checkpoint. */
  foresees: () => void;
  /** `taken`: the other node has it. */
  parity: (m: ParityPart, pages: Uint8Array | undefined, ack: (taken: boolean) => void) => void;
}
export interface ServerToNode {
  assign: (m: Assignment) => void;
  revoke: (m: Revoke) => void;
  checkpoint: (m: CheckpointRequest) => void;
  memoryMoved: (m: MemoryMoved) => void;
  /** The last message before the server closes: TOO_MANY. */
  closing: (m: ErrorBody) => void;
  parityOrder: (m: ParityOrder) => void;
  /** From another node, through the server. */
  parity: (m: ParityPart, pages: Uint8Array | undefined, ack: (taken: boolean) => void) => void;
  /** What does it have of the group? */
  parityHave: (m: { group: string }, ack: (have: ParityHave) => void) => void;
  /** The sum of these terms, page by page; undefined: it does not have them. */
  parityRead: (m: ParityRead, ack: (sums: Uint8Array | undefined) => void) => void;
}

/**
 * Images travel over a socket of their own (`/data/image?cap=<capability of one of the node's ranks>`, one binary or
 * text message each way at a time):
 *   → {type:'offer', capability, manifest}      ← {type:'need', pages: index[]}   (what this task has not sent before)
 *   → one binary message per needed page: u32 index, u32 raw length, u8 codec (0 raw, 1 deflate-raw) padded to 16,
 *   bytes
 *   → {type:'end', image}                        ← {type:'stored', image}  then, once the CS says so, {type:'complete',
 *   image} either way ← {type:'refused', error}
 */
export const ImageOffer = Type.Object({
  type: Type.Literal('offer'),
  capability: Type.String(),
  manifest: Manifest,
  /** Its pages stay with the nodes, protected by parity: none is needed. */
  near: Type.Optional(Type.Boolean()),
});
export const ImageEnd = Type.Object({ type: Type.Literal('end'), image: ImageIdSchema });
export const ImageNeed = Type.Object({
  type: Type.Literal('need'),
  image: ImageIdSchema,
  pages: Type.Array(CountSchema),
});
export const ImageReply = Type.Object({
  type: Type.Unsafe<'stored' | 'complete' | 'refused'>(Type.String()),
  image: ImageIdSchema,
  error: Type.Optional(ErrorBody),
});
