/**
 * Events and durable records of the dispatcher core (dispatcher.ts); its effects: effects.ts.
 *
 * Duties of the host, in this order for every event:
 *  1. stamp the event with its monotonic-enough clock (`now`, ms since the epoch) and call `step`;
 *  2. perform the effects in their order. An effect marked "→ answers" ends, now or later, in the named event; commits
 *     to the registry are made in the order of their tokens, and one that fails is repeated until it is durable, before
 *     the next;
 *  3. call `step({type:'tick'})` every {@link DispatcherSettings.tickMs}, and when an effect `wake` asks for it.
 * The host checks every message of a node against its schema and the node's secret before the core gets it.
 */
import type {
  ErrorBody,
  FtModes,
  FtOption,
  ExitReport,
  Hold,
  ImageId,
  Incarnation,
  JobId,
  JobView,
  NodeId,
  ParityOption,
  ProgramKind,
  MapBy,
  ProgramLanguage,
  ProtocolName,
  RankActivity,
  Position,
  SpawnGroup,
  SpawnPart,
  TaskId,
  TeamChange,
} from '@mayfly/wire';
import type { Progress } from '../channel-memory/events.ts';
import type { Dissolved } from '../contract/dissolved.ts';

/** Times in ms. Defaults in {@link defaultSettings}. */
export interface DispatcherSettings {
  /**
   * Between two ticks. A much longer pause was the server's own (a suspended laptop) and is not held against the nodes.
   */
  tickMs: number;
  /** Between two heartbeats of a node. */
  heartbeatMs: number;
  /** A node whose socket closed without goodbye keeps its ranks for so long. A job's `graceMs` overrides it. */
  graceMs: number;
  /**
   * The same for those of its ranks for which another slot is free: waiting costs them more than going back to their
   * images. A job's `graceMs` overrides it; absent: `graceMs`.
   */
  briefGraceMs?: number;
  /** A node with an open socket that sends nothing keeps its ranks for this long. A job's `graceMs` overrides it. */
  silentMs: number;
  /** After a restart of the server, nodes have so long to come back (or the job's grace, if longer). */
  restartGraceMs: number;
  /** An assigned rank must have started after so long. */
  startMs: number;
  /** A vanished or silent node stays in the list, as gone, for so long. */
  forgetMs: number;
  /**
   * An assigned rank that has not started after so long is tried on another node, where a slot is free (stragglers.ts).
   * At most {@link startMs} counts.
   */
  startAfterMs: number;
  /**
   * A team that shares too few slots moves when a node has had room for all of it for so long (move.ts), and is
   * dissolved when several nodes have (part.ts).
   */
  moveAfterMs: number;
  /** Ranks become a team when a node has had room for all of them for so long (merge.ts). */
  mergeAfterMs: number;
  /** A rank of which nothing was seen for so long may be a straggler. A job's `stuckAfterMs` overrides it. */
  stuckAfterMs: number;
  /** … if that is so many times the longest pause of any rank of its job. A job's `stuckFactor` overrides it. */
  stuckFactor: number;
  /** Nodes with a record on which one task has to fail in the same place before its job ends (KEEPS_CRASHING). */
  crashLimit: number;
  /** The first quarantine of a node; each further one lasts twice as long as the one before (reputation.ts). */
  quarantineMs: number;
  quarantineMaxMs: number;
  /** A job that fails on every node, of which none has a record, is tried for so long at least. */
  strangersMs: number;
  /**
   * Every node is one's own, as under `mpiexec` without a server: each counts as one with a record, and none is put
   * into quarantine.
   */
  trustNewcomers: boolean;
  /** Slot-time of an owner weighs half as much after so long (fair-share.ts). */
  halfLifeMs: number;
  /** A job that waits for so long, with nothing of its owner starting meanwhile, comes before all others. */
  overdueMs: number;
  /** Faults of one job kept for its history. */
  maxFaults: number;
}

export const defaultSettings: DispatcherSettings = {
  tickMs: 250,
  heartbeatMs: 1000,
  graceMs: 3000,
  silentMs: 10_000,
  restartGraceMs: 10_000,
  startMs: 120_000,
  startAfterMs: 30_000,
  moveAfterMs: 10_000,
  mergeAfterMs: 10_000,
  stuckAfterMs: 600_000,
  stuckFactor: 10,
  forgetMs: 60_000,
  crashLimit: 3,
  quarantineMs: 5000,
  quarantineMaxMs: 3_600_000,
  strangersMs: 30_000,
  trustNewcomers: false,
  halfLifeMs: 3_600_000,
  overdueMs: 3_600_000,
  maxFaults: 1000,
};

/**
 * What the dispatcher needs to know of a job; written to the registry as it is submitted. Times in ms, sizes in bytes.
 */
export interface JobSpec {
  id: JobId;
  name: string;
  /** What it is for, for volunteers to read. */
  about?: string;
  /** Tasks that it is started with. */
  size: number;
  /**
   * Tasks that it may come to have (MPI_Comm_spawn); absent: `size`. It never changes: context ids are made with it.
   */
  capacity?: number;
  protocol: ProtocolName;
  durability: JobView['durability'];
  /** Images are protected by parity between nodes (docs/codes.md). */
  parity?: ParityOption;
  /** FT-MPI's modes (protocol `app`); absent: ULFM alone. `slotMs`: N12 of app/membership.ts. */
  ft?: FtModes & Pick<FtOption, 'slotMs'>;
  /** Ranks of a team at most, and how ranks are spread over nodes, if that is chosen (teams.ts). */
  team?: number;
  mapBy?: MapBy;
  program: { language: ProgramLanguage; entry: string; hash: string };
  args: string[];
  /**
   * All programs of a job that has several, all of one kind: the first is `program` with `args`; counts add up to
   * `size`.
   */
  parts?: JobPart[];
  env?: Record<string, string>;
  /** Name of the token that submitted it; absent: of the time before tokens had names. */
  owner?: string;
  /** Code of the room whose nodes run it, and no others; absent: nodes without a room. */
  room?: string;
  /** By cluster, in place of `room`: the code of the room whose nodes run its ranks; null: nodes without a room. */
  rooms?: (string | null)[];
  files: { path: string; hash: string; bytes: number }[];
  /** Of what else was submitted: programs, sources, standard input; absent: of the time before they counted. */
  otherBytes?: number;
  /** Of the job's random draws. */
  seed: number;
  /** The first run of the same program with the same input and seed, with which it is compared. */
  compareWith?: JobId;
  /** Number of Channel Memories that serve it; fixed for its life (home CM = task mod this). */
  channelMemories: number;
  /** By task: its cluster, each of which has a Channel Memory of its own (protocol `hc3i`); absent: there are none. */
  clusters?: number[];
  checkpointMs: number;
  /** By cluster, in place of `checkpointMs`; null: it has no timer. */
  clusterCheckpointMs?: (number | null)[];
  graceMs?: number;
  /** When a silent rank starts elsewhere (stragglers.ts): after so long, and so many times the longest pause of any. */
  stuckAfterMs?: number;
  stuckFactor?: number;
  /** From its start, without pauses and without the time that the server was away. */
  timeLimitMs?: number;
  outputLimitBytes?: number;
  interactive: boolean;
  limits: { memoryBytes: number; fileBytes: number };
  /** Of a lesson: what its nodes may send over data links, in all. It has no images, files or further ranks. */
  allowance?: { bytes: number; messages: number };
  submittedAt: number;
  /** The `Idempotency-Key` that it was submitted with, and the SHA-256 of its body. */
  once?: { key: string; body: string };
}

/** Tasks of a job that run one of its programs. */
export interface JobPart extends SpawnPart {
  program: JobSpec['program'];
  /** Absent: that of the job. */
  env?: Record<string, string>;
}

export const capacityOf = (spec: Pick<JobSpec, 'size' | 'capacity'>): number => Math.max(spec.size, spec.capacity ?? 0);

/** Registry `job/<job>`. */
export interface JobRecord {
  spec: JobSpec;
  /** Place in the queue; rises over the life of the data directory. */
  order: number;
  state: 'waiting' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';
  startedAt?: number;
  /** Slots that there were for it when it began, its own included. */
  universe?: number;
  /** Tasks that were added since, in order. */
  spawned?: SpawnGroup[];
  /** Its teams, where they are units (D24); absent: it has none. */
  teams?: (readonly TaskId[])[];
  /** Those that were dissolved (D28); absent: none was. */
  dissolved?: Dissolved[];
  /** What became of its teams, for people; no more than {@link DispatcherSettings.maxFaults}. */
  teamChanges?: TeamChange[];
  /** Losses by their cause that came when the list of faults was full; absent: none. */
  moreFaults?: { [cause in FaultCause]?: number };
  /** Since when it is paused, or waits to begin again after that. */
  pausedAt?: number;
  /** How long it was paused after it had begun, over all pauses that are over. */
  pausedMs?: number;
  /** How long the server was away while it ran. */
  awayMs?: number;
  endedAt?: number;
  exitCode?: number;
  error?: ErrorBody;
}

/** The job has ended: nothing of it runs any more. */
export const isOver = (state: string): boolean => state === 'done' || state === 'failed' || state === 'cancelled';

/** Registry `task/<job>/<task>`; absent until the task is assigned to a node for the first time. */
export interface TaskRecord {
  /** Highest incarnation that was ever assigned. Durable before any fence or assignment of it (invariant D2). */
  incarnation: Incarnation;
  /** The node that it was assigned to. Only this node may come back with it. */
  node: NodeId;
  /** Present once the exit of the task is durable. */
  exit?: ExitReport;
  /**
   * Weight of failures in the same place on nodes with a record (failures.ts), and how far the earlier incarnations
   * came.
   */
  strikes: number;
  reach: { sends: number; arrivals: number; image: number };
}

/** Registry `fault/<job>/<n, 6 digits>`: the history that the dashboard shows. */
export interface FaultRecord {
  at: number;
  task: TaskId;
  incarnation: Incarnation;
  node?: NodeId;
  cause: FaultCause;
  /**
   * Present: only its node reported it, and nothing that the server sees confirms it. Absent: the server saw it, or has
   * no reason to doubt it (a goodbye).
   */
  hearsay?: true;
  /** What its node, or a Channel Memory, reported, cut; if neither did, how the server noticed the loss. */
  error?: string;
  /** The node had no record of useful work then. */
  newcomer?: boolean;
  /** The quarantine of the node that came of it, ms. */
  quarantineMs?: number;
  /** Not held against the node: nodes with a record failed in the same place, too. */
  excused?: boolean;
  /** Of the time since `at`, so much the job was paused: it counts in no phase. */
  pausedMs?: number;
  /**
   * ms from `at` until everyone had fenced the old incarnation and the new one was assigned to a node; until its rank
   * began (image fetched and restored, replay ahead); until its first new step.
   */
  assignedAfterMs?: number;
  startedAfterMs?: number;
  recoveredAfterMs?: number;
}

/**
 * Why an incarnation ended before its task did. `goodbye` the node announced it; `disconnected` socket closed, grace
 * over; `silent` no message came; `reloaded` the node is back without it; `crashed` its worker died or never began;
 * `killed` the button; `clone` a Channel Memory met a second worker of the same incarnation; `refused` a Channel Memory
 * or the node refused it; `declined` the node runs no programs of this kind, which is not a fault of the node or the
 * program; `restart` the server came back and the node did not; `doubted` all ranks seemed to wait for each other, and
 * are tried on other nodes (D12); `compared` it made no progress, and is tried on another node (stragglers.ts); `team`
 * a member of its team was lost (D22).
 */
export type FaultCause =
  | 'goodbye'
  | 'disconnected'
  | 'silent'
  | 'reloaded'
  | 'crashed'
  | 'killed'
  | 'clone'
  | 'refused'
  | 'declined'
  | 'restart'
  | 'doubted'
  | 'compared'
  | 'team';

/** How many slots owners may use at once (quotas.ts). Undefined: as many as there are. */
export interface SlotQuotas {
  /** Of each owner that `of` does not name. */
  readonly each?: number | undefined;
  readonly of: ReadonlyMap<string, number | undefined>;
}

/** An image that the Checkpoint Server holds complete. */
export interface KnownImage {
  job: JobId;
  task: TaskId;
  image: ImageId;
  serial: number;
}

/** What the Channel Memories know of a task, over all its incarnations. */
export interface LoggedProgress {
  task: TaskId;
  /** Its messages that are logged whole. */
  sends: number;
  /** Messages to it that are logged whole. */
  arrivals: number;
  /** Of these: how many it has taken, as its comm worker credits them. */
  consumed: number;
  /** Something for it, or of its own for the world, is under way. */
  underWay: boolean;
}

export type DispatcherEvent = { now: number } &
  /**
   * First event after a start of the server: everything under `job/`, `task/`, `fault/`, `reputation/`, `shares`, and
   * the newest complete image per task (from the recovered Checkpoint Server). Exits which the CMs find in their logs
   * follow as `exit` events, in any order.
   */
  (
    | { type: 'recover'; entries: readonly (readonly [key: string, value: unknown])[]; images: readonly KnownImage[] }
    | { type: 'submit'; job: JobSpec }
    /** At the start, and whenever they change. */
    | { type: 'quotas'; quotas: SlotQuotas }
    /** The world has granted a spawn, durably: the job has these tasks too. May come again. */
    | { type: 'spawn'; job: JobId; group: SpawnGroup }
    /**
     * A node's Hello. `claimed` only when the secret was right. `fresh`: an id drawn by the host, used when there is no
     * claim or when another session with the claimed id is connected (a duplicated tab). `session`: Hello.session.
     */
    | {
        type: 'hello';
        connection: string;
        claimed?: NodeId;
        fresh: NodeId;
        session?: string;
        name: string;
        engine: string;
        slots: number;
        cores?: number;
        /** Kinds of programs that it runs; absent: all. */
        runs?: readonly ProgramKind[];
        /** Code of the room that the node serves. */
        room?: string;
        /** Where it comes from, as the host sees it; many nodes may share one. */
        address?: string;
        holds: readonly Hold[];
        images: readonly { job: JobId; task: TaskId; image: ImageId }[];
      }
    | {
        type: 'heartbeat';
        connection: string;
        rttMs?: number;
        speed?: number;
        tasks: readonly {
          job: JobId;
          task: TaskId;
          incarnation: Incarnation;
          started: boolean;
          recovered?: boolean;
          /** It has taken its last image and does nothing more; true: that is complete. */
          parked?: boolean;
          activity: RankActivity;
        }[];
      }
    | {
        type: 'report';
        connection: string;
        job: JobId;
        task: TaskId;
        incarnation: Incarnation;
        event: 'started' | 'recovered' | 'crashed' | 'refused';
        error?: ErrorBody;
      }
    | { type: 'goodbye'; connection: string; reason: string }
    | { type: 'slots'; connection: string; slots: number }
    | { type: 'foresees'; connection: string } // its loss
    /** The control socket closed (with or without a goodbye before). */
    | { type: 'disconnected'; connection: string }
    /** Answer to `persist`: durable. */
    | { type: 'persisted'; token: number }
    /** Answer to `fenceCs`: fenced, and the newest sound image and its replay, or none (start of the program). */
    | {
        type: 'imageChosen';
        job: JobId;
        task: TaskId;
        incarnation: Incarnation;
        image?: ImageId;
        position?: Position;
        /** A member of a team that had ended where the others go back to (D25). */
        ended?: true;
      }
    /** Answer to `fenceCs`: the images are damaged and the logs before them are gone. */
    | { type: 'imageLost'; job: JobId; task: TaskId; incarnation: Incarnation; error: ErrorBody }
    /**
     * Answer to `fenceCm`: CM `cm` refuses lower incarnations from now on. `sends`: messages of the task logged whole
     * at this CM over all channels (to the world too); `consumed`: highest arrival of the task that a CREDIT reported
     * (home CM, else 0); `logs`: what a restart finds.
     */
    | ({ type: 'fencedCm'; job: JobId; task: TaskId; incarnation: Incarnation; cm: number } & Progress)
    /** A CM has seen with its own eyes that this incarnation breaks the protocol, and has ended it. */
    | { type: 'refused'; job: JobId; task: TaskId; incarnation: Incarnation; error: ErrorBody }
    /**
     * With `error`: storage cannot be written (the event is repeated when the reason changes). Without: it can be
     * written again. See storage-outage.ts.
     */
    | { type: 'storage'; error?: ErrorBody }
    /** A CM or CS could not fence or ended a task's logs for good (LOST_LOG), or the host gives a job up. */
    | { type: 'jobFailed'; job: JobId; error: ErrorBody }
    /**
     * A CM: the EXIT of this task is durable, and all before it. `incarnation`: that sent it, perhaps not the last one.
     * May come again after a restart of the server.
     */
    | { type: 'exit'; job: JobId; task: TaskId; incarnation: Incarnation; report: ExitReport }
    /** The Checkpoint Server: this image is complete. */
    | { type: 'image'; job: JobId; task: TaskId; image: ImageId; serial: number }
    /** Bytes that the job has written to the world so far. */
    | { type: 'output'; job: JobId; bytes: number }
    /** What the Channel Memories know of the tasks of a job that runs; every second or so (stragglers.ts). */
    | { type: 'progress'; job: JobId; tasks: readonly LoggedProgress[] }
    /** deadlock.ts found that the job cannot go on; `report` is its text. */
    | { type: 'deadlock'; job: JobId; report: string }
    | { type: 'cancel'; job: JobId; message?: string }
    | { type: 'kill'; job: JobId; task: TaskId }
    /** `waitMs`: how long ranks may take for an image before they leave without one. Not for the protocol `none`. */
    | { type: 'pause'; job: JobId; waitMs: number }
    | { type: 'resume'; job: JobId }
    // Coordinated checkpointing (together.ts).
    /** From the checkpoint scheduler, with its own part of the commit. Answered by `rolledBack`. */
    | {
        type: 'rollBack';
        job: JobId;
        epoch: number;
        changes: readonly (readonly [key: string, value: unknown])[];
        /** Only ranks of these; absent: all. */
        clusters?: readonly number[];
      }
    /** Everybody (of this cluster) has gone back: ranks may start. `ended`: of these the EXIT is part of the line. */
    | { type: 'goOn'; job: JobId; ended: readonly TaskId[]; cluster?: number }
    /** The EXIT of this task is durable, but not final. */
    | { type: 'ended'; job: JobId; task: TaskId }
    /** A wave is committed. */
    | { type: 'waveDone'; job: JobId }
    | { type: 'checkpoint'; job: JobId; task: TaskId }
    /** Forget an ended job (retention, or DELETE): its records go. */
    | { type: 'forget'; job: JobId }
    | { type: 'tick' }
  );
