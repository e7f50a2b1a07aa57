/** What a job is, and what REST tells of it. */
import { Type, type Static } from 'typebox';
import type { JobId } from './ids.ts';
import { Durability, Environment, JobOptions, ProtocolName } from './job-options.ts';
import { JobProgress } from './job-progress.ts';
import { MAX_PARTS, MAX_RANKS, ROOM_CODE } from './limits.ts';
import { ParityView } from './parity.ts';
import { WavesView } from './waves.ts';
import { FilePath, ProgramSubmission, ProgramKind } from './program.ts';
import {
  CountSchema,
  ErrorBody,
  HashSchema,
  IncarnationSchema,
  JobIdSchema,
  NodeIdSchema,
  TaskIdSchema,
} from './schema.ts';

/** The path of a result file: as {@link FilePath}, and with colons, which programs put into names made of times. */
export const ResultPath = Type.String({
  pattern: '^(?!.*(?:^|/)\\.)[A-Za-z0-9_][A-Za-z0-9_.@+:-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.@+:-]*)*$',
  maxLength: 200,
});

export const RoomCode = Type.String({ pattern: ROOM_CODE });

/** Of one argument, as Linux has it (MAX_ARG_STRLEN). */
export const MAX_ARGUMENT = 128 * 1024;
/** Of all arguments of a program, in bytes: every rank gets them with its assignment. */
export const MAX_ARGUMENTS_BYTES = 1024 * 1024;

/** Arguments of a program. */
const Arguments = Type.Array(Type.String({ maxLength: MAX_ARGUMENT }), { maxItems: 256 });

/** A further program of a job (MPMD, MPI-4.1 §11.5), and how many ranks run it. */
export const FurtherPart = Type.Object(
  {
    program: ProgramSubmission,
    size: Type.Integer({ minimum: 1, maximum: MAX_RANKS }),
    args: Type.Optional(Arguments),
    /** Environment variables of its ranks; absent: `options.env`. */
    env: Type.Optional(Environment),
  },
  { additionalProperties: false },
);
export type FurtherPart = Static<typeof FurtherPart>;

/** POST /api/jobs */
export const JobSubmission = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 80 })),
    /** What it is for, in words for the volunteers whose machines run it. */
    about: Type.Optional(Type.String({ maxLength: 200 })),
    program: ProgramSubmission,
    /** Ranks that run `program`. */
    size: Type.Integer({ minimum: 1, maximum: MAX_RANKS }),
    args: Type.Optional(Arguments),
    /** Programs that share MPI_COMM_WORLD with `program`: the ranks of each follow those of the one before. */
    further: Type.Optional(Type.Array(FurtherPart, { minItems: 1, maxItems: MAX_PARTS - 1 })),
    /** Input files by path, base64. */
    files: Type.Optional(Type.Record(FilePath, Type.String())),
    /** Standard input of rank 0, base64. */
    stdin: Type.Optional(Type.String()),
    /** Only volunteers of this room run it. Absent: only volunteers without a room. */
    room: Type.Optional(RoomCode),
    /**
     * With the protocol `hc3i`, in place of `room`: for each cluster the room whose volunteers run its ranks; null:
     * volunteers without a room.
     */
    rooms: Type.Optional(Type.Array(Type.Union([RoomCode, Type.Null()]), { maxItems: MAX_RANKS })),
    /**
     * https or http URL to which the server posts {@link JobEnded} when the job has ended; without user name and
     * password, at a public address unless the operator allows others. Who may read the submission can read it.
     */
    notify: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
    options: Type.Optional(JobOptions),
  },
  { additionalProperties: false },
);
export type JobSubmission = Static<typeof JobSubmission>;

/** What the server posts to the `notify` URL of a submission, at least once. Times in ms since 1970. */
export interface JobEnded {
  event: 'job.ended';
  job: {
    id: JobId;
    name: string;
    owner?: string;
    room?: string;
    /** By cluster, in place of `room`; null: volunteers without a room. */
    rooms?: (string | null)[];
    /** 'done', 'failed' or 'cancelled'. */
    state: JobState;
    size: number;
    exitCode?: number;
    error?: ErrorBody;
    /** Ranks lost on the way. */
    faults: number;
    submittedAt: number;
    startedAt?: number;
    endedAt?: number;
  };
  /** Of the job's page, where the server knows its public address. */
  url?: string;
}

export type JobState = 'waiting' | 'running' | 'stalled' | 'pausing' | 'paused' | 'done' | 'failed' | 'cancelled';
export const JobState = Type.Unsafe<JobState>(Type.String());

/** Characters of a place of a program, as a node reports it: 'name (module:position)'. */
export const PLACE_CHARS = 96;
/** All places that came too late for one of their own. */
export const ELSEWHERE = 'elsewhere';

/** Checkpoints in a row that a team of scripts could not take together: people hear of it from here on. */
export const MANY_SKIPPED = 5;

/** What a rank is doing, as its status words say. */
export const RankActivity = Type.Object({
  /** 'computing' | 'waiting' | 'replaying' | 'checkpointing' | 'resting' (its volunteer gives only a share) */
  state: Type.String({ maxLength: 32 }),
  /** The MPI call that it waits in, e.g. 'MPI_Recv'; 'stdin' (with peer WORLD) when it waits for standard input. */
  call: Type.Optional(Type.String({ maxLength: 48 })),
  /** Task it waits for; absent for ANY_SOURCE. */
  peer: Type.Optional(TaskIdSchema),
  tag: Type.Optional(Type.Integer()),
  /**
   * From where in the program that call was made, once it has waited for half a second: 'exchange (halo.c:40)', or what
   * of it is known.
   */
  place: Type.Optional(Type.String({ maxLength: PLACE_CHARS })),
  /** Arrivals consumed and messages sent since the start of the program, over all channels (those of the world too). */
  arrivals: CountSchema,
  sends: CountSchema,
  /** Messages of its team, which no log has: consumed, sent, and not consumed yet. */
  local: Type.Optional(
    Type.Object({
      arrivals: CountSchema,
      sends: CountSchema,
      waiting: CountSchema,
      /** Checkpoints in a row that its team of scripts could not take together (docs/teams.md). Absent: none. */
      skipped: Type.Optional(CountSchema),
    }),
  ),
  /** What the program states (comm.progress, MPIX_Progress): 0 to 1. */
  progress: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  /** Of a script: calls of checkpoint.here since the start of the program. Absent: none. */
  checkpointCalls: Type.Optional(CountSchema),
  /**
   * Its images are so far apart, ms, because storing one takes half of that; the job asks for less. Absent: as the job
   * asks.
   */
  imageEveryMs: Type.Optional(CountSchema),
});
export type RankActivity = Static<typeof RankActivity>;

export const TaskState = Type.Unsafe<
  'unassigned' | 'paused' | 'assigned' | 'running' | 'suspect' | 'recovering' | 'done' | 'failed'
>(Type.String());
export type TaskState = 'unassigned' | 'paused' | 'assigned' | 'running' | 'suspect' | 'recovering' | 'done' | 'failed';

export const TaskView = Type.Object({
  task: TaskIdSchema,
  /**
   * A process that was started by MPI_Comm_spawn: the task that asked for it, and the tasks of its MPI_COMM_WORLD,
   * first and last.
   */
  spawned: Type.Optional(Type.Object({ by: TaskIdSchema, world: Type.Tuple([TaskIdSchema, TaskIdSchema]) })),
  /** FT-MPI: the lost task whose rank it took. */
  replaces: Type.Optional(TaskIdSchema),
  state: TaskState,
  incarnation: IncarnationSchema,
  node: Type.Optional(NodeIdSchema),
  nodeName: Type.Optional(Type.String()),
  activity: Type.Optional(RankActivity),
  /** Since when it does exactly this, to a heartbeat: same call, same peer, no message since. */
  activitySince: Type.Optional(CountSchema),
  messagesIn: CountSchema,
  bytesIn: CountSchema,
  messagesOut: CountSchema,
  bytesOut: CountSchema,
  /** Of these messages: exchanged within its team, as its node reports. Absent: none. */
  localIn: Type.Optional(CountSchema),
  localOut: Type.Optional(CountSchema),
  /** First rank of its team: the ranks that exchange messages in the memory of their node (docs/teams.md). */
  team: Type.Optional(TaskIdSchema),
  images: CountSchema,
  imageBytes: CountSchema,
  lastImageAt: Type.Optional(CountSchema),
  /**
   * An image is on its way: bytes of pages that are here, and of all that have to come (0: not known yet). Absent: none
   * is.
   */
  uploading: Type.Optional(Type.Object({ sentBytes: CountSchema, ofBytes: CountSchema })),
  /** Under coordinated checkpointing: how long it stood still for its newest image, ms. */
  stallMs: Type.Optional(Type.Number()),
  exitCode: Type.Optional(Type.Integer()),
});
export type TaskView = Static<typeof TaskView>;

/** One thing that happened to an incarnation, for the history of the job. */
export const Fault = Type.Object({
  at: CountSchema,
  task: TaskIdSchema,
  incarnation: IncarnationSchema,
  node: Type.Optional(NodeIdSchema),
  /**
   * FaultCause of packages/protocols: 'goodbye', 'disconnected', 'silent', 'reloaded', 'crashed', 'killed', 'clone',
   * 'refused', 'declined', 'restart', 'doubted', 'compared', 'team'.
   */
  cause: Type.String(),
  /** What the node, or a Channel Memory, reported; if neither did, how the server noticed the loss. */
  error: Type.Optional(Type.String()),
  /** The node had no record of useful work then. */
  newcomer: Type.Optional(Type.Boolean()),
  /** Length of the quarantine of the node that came of it, ms. */
  quarantineMs: Type.Optional(CountSchema),
  /** Not held against the node: nodes with a record failed in the same place, too. */
  excused: Type.Optional(Type.Boolean()),
  /** Time in which the job was paused meanwhile; the three below do not count it. */
  pausedMs: Type.Optional(CountSchema),
  /** ms from detection until the next incarnation was assigned to a node, and until its rank began (to replay). */
  assignedAfterMs: Type.Optional(CountSchema),
  startedAfterMs: Type.Optional(CountSchema),
  /**
   * ms from detection to the next incarnation's first new step; absent while it recovers. Under coordinated
   * checkpointing, to its first step: what it repeats comes after that (recovery.ts).
   */
  recoveredAfterMs: Type.Optional(CountSchema),
});
export type Fault = Static<typeof Fault>;

/** What became of a team, other than a loss (docs/teams.md). */
export const TeamChange = Type.Object({
  at: CountSchema,
  /**
   * 'dissolved': its ranks restart on several nodes; 'moved': all of it to a node with more free slots; 'merged': it
   * was made of other teams and of ranks that were alone.
   */
  what: Type.Unsafe<'dissolved' | 'moved' | 'merged'>(Type.String()),
  /** Its ranks. */
  ranks: Type.Array(TaskIdSchema),
  /** The teams that they form from then on; the others are alone. */
  teams: Type.Array(Type.Array(TaskIdSchema)),
});
export type TeamChange = Static<typeof TeamChange>;

/** What a job and its report say of a program. */
export const ProgramView = Type.Object({ language: Type.String(), entry: Type.String(), hash: HashSchema });

/** One of several programs of a job. */
export const PartView = Type.Object({
  /** The first rank that runs it. */
  first: TaskIdSchema,
  /** How many ranks run it. */
  size: CountSchema,
  program: ProgramView,
  args: Type.Array(Type.String()),
});
export type PartView = Static<typeof PartView>;

export const JobView = Type.Object({
  id: JobIdSchema,
  name: Type.String(),
  /** What it is for, in its owner's words. */
  about: Type.Optional(Type.String()),
  state: JobState,
  /** Ranks, those included that were spawned meanwhile. */
  size: CountSchema,
  /** How many of them were spawned; absent: none. */
  spawned: Type.Optional(CountSchema),
  protocol: ProtocolName,
  durability: Durability,
  program: ProgramView,
  args: Type.Array(Type.String()),
  /** Its standard input stays open while it runs, for POST …/stdin; absent: not. */
  interactive: Type.Optional(Type.Boolean()),
  /** All programs of a job that has several; the first is `program` with `args`. */
  parts: Type.Optional(Type.Array(PartView)),
  /** Name of the token that submitted it. */
  owner: Type.Optional(Type.String()),
  /** Code of the room whose volunteers run it. */
  room: Type.Optional(Type.String()),
  /** In place of `room`: for each cluster the code of its room (absent: volunteers without a room), and its ranks. */
  rooms: Type.Optional(
    Type.Array(Type.Object({ code: Type.Optional(Type.String()), ranks: Type.Array(TaskIdSchema) })),
  ),
  /** The first run of the same program with the same input and seed, with which it is compared. */
  compareWith: Type.Optional(JobIdSchema),
  submittedAt: CountSchema,
  startedAt: Type.Optional(CountSchema),
  endedAt: Type.Optional(CountSchema),
  /** Since when it is paused; and how long it was so before, after it had begun: its running time has neither. */
  pausedAt: Type.Optional(CountSchema),
  pausedMs: Type.Optional(CountSchema),
  /**
   * Of the time of its ranks in the last ten seconds: the share that they computed, 0 to 1 in steps of a twentieth.
   * Absent: it does not run, or nothing is known yet.
   */
  computed: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  /** Absent: the program states nothing, or the job has ended. */
  progress: Type.Optional(JobProgress),
  /** How long the server was away while it ran, ms. */
  awayMs: Type.Optional(CountSchema),
  /** Why it waits or stalls, in words: 'needs 4 slots; 3 available'. */
  reason: Type.Optional(Type.String()),
  /**
   * The server cannot write its storage (DISK_FULL, STORAGE_FAILED), so the job waits, and resumes automatically. A job
   * that runs is `paused` meanwhile.
   */
  stopped: Type.Optional(ErrorBody),
  error: Type.Optional(ErrorBody),
  exitCode: Type.Optional(Type.Integer()),
  /**
   * Its submission asked for a webhook: whether that was delivered, waits (for the end, or for another try), or is
   * lost; after how many tries, and why the last of them failed. Of the URL the host alone.
   */
  webhook: Type.Optional(
    Type.Object({
      host: Type.String(),
      state: Type.Union([Type.Literal('waiting'), Type.Literal('delivered'), Type.Literal('lost')]),
      tries: CountSchema,
      error: Type.Optional(Type.String()),
    }),
  ),
  tasks: Type.Array(TaskView),
  faults: Type.Array(Fault),
  /** Losses that came when that list was full; absent: none did. */
  moreFaults: Type.Optional(CountSchema),
  /** Teams that were dissolved, merged or moved; absent: none was. */
  teamChanges: Type.Optional(Type.Array(TeamChange)),
  /** Checkpoints that all ranks took together, and how they went back to them; absent: under another protocol. */
  waves: Type.Optional(WavesView),
  /** Absent: the images of the job have no parity. */
  parity: Type.Optional(ParityView),
  outputs: Type.Array(Type.Object({ path: Type.String(), bytes: CountSchema, task: TaskIdSchema })),
  outputBytes: CountSchema,
});
export type JobView = Static<typeof JobView>;

/** All losses of a job: the list of them has a limit. */
export const faultsOf = ({ faults, moreFaults = 0 }: Pick<JobView, 'faults' | 'moreFaults'>): number =>
  faults.length + moreFaults;

export const NodeView = Type.Object({
  id: NodeIdSchema,
  name: Type.String(),
  engine: Type.String(),
  slots: CountSchema,
  busy: CountSchema,
  /** Processor cores of its machine, if it reports them. */
  cores: Type.Optional(CountSchema),
  /**
   * Kinds of programs that it runs: a headless volunteer runs scripts only if it was started with --allow-typescript.
   */
  runs: Type.Optional(Type.Array(ProgramKind)),
  /** Code of the room that it serves. */
  room: Type.Optional(Type.String()),
  /** Round trip of a heartbeat, ms. */
  rttMs: Type.Optional(Type.Number()),
  /**
   * Measured while it was idle: millions of steps per second of a fixed loop on one core. It compares nodes; it is no
   * figure of a program.
   */
  speed: Type.Optional(Type.Number()),
  /** Incarnations that were lost here since the server began, and how long it has been here in that time. */
  faults: Type.Optional(CountSchema),
  presentMs: Type.Optional(CountSchema),
  /** True: it has done useful work that the server has seen. */
  record: Type.Optional(Type.Boolean()),
  /** It gets no new ranks until then, because ranks failed there that did not fail elsewhere. */
  quarantinedUntil: Type.Optional(CountSchema),
  state: Type.Unsafe<'here' | 'suspect' | 'gone'>(Type.String()),
  since: CountSchema,
  lastSeen: CountSchema,
});
export type NodeView = Static<typeof NodeView>;

/** A room: volunteers with its code serve its jobs, and no others. */
/** As servers of one database name each other. */
export const ServerAddress = Type.String({ pattern: '^(\\[[0-9a-fA-F:.]+\\]|[^\\s:/]+):\\d{1,5}$', maxLength: 260 });

export const RoomView = Type.Object({
  code: RoomCode,
  name: Type.String(),
  createdAt: CountSchema,
  /** Nodes that are here, their slots, and how many of those are free. */
  nodes: CountSchema,
  slots: CountSchema,
  free: CountSchema,
  /** Jobs of the room that wait or run. */
  jobs: CountSchema,
  /** host:port of the server of a shared database that passes the messages of its jobs on, while it is there. */
  server: Type.Optional(ServerAddress),
});
export type RoomView = Static<typeof RoomView>;
