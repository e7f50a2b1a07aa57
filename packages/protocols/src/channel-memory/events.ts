/**
 * Events and effects of the Channel Memory core, and what its host owes it.
 *
 * **The host** (apps/server, the simulator) keeps one {@link ChannelMemory} per job and CM index and
 *  1. at start opens every stream of `core.streams()`; in that order gives all records that are left to
 *     `core.recover(stream, records, next)` (which returns effects to perform: `world` again, perhaps `append`),
 *     fences by `core.step({type:'fence'…})` for every task (from the dispatcher's durable registry), then
 *     `step({type:'recovered'})`, and only then serves connections. A job that never ran has nothing to recover, and
 *     does the same;
 *  2. gives every socket message to `step({type:'frames', conn, bytes})`; `bytes` then belong to the core, which
 *     patches headers in place: effects refer to them, nothing is copied;
 *  3. performs the effects of a step in order and before the next step. An append that throws (DISK_FULL) ends this
 *     core: close its connections, drop it, recover later from the streams;
 *  4. after a batch (one socket message, or what one turn of the loop brought) calls `step({type:'flush'})`, unless
 *     `core.flushDue` is false; and in a later turn, whatever the event was, where `core.worldDue` is true;
 *  5. calls `step({type:'tick'})` every 20–50 ms: `behind` syncs then if it is due, `none` acknowledges then;
 *  6. performs `sync` by syncing the named streams together, and when all are durable calls `step({type:'synced',
 *     ticket})`.
 */
import type { ErrorBody, ImageId, Incarnation, Position, TaskId } from '@mayfly/wire';
import type { ClusterLogEffect, ClusterLogEvent } from '../contract/clusters.ts';
import type { Dissolved } from '../contract/dissolved.ts';
import type { WaveLogEffect, WaveLogEvent, WaveRecord } from '../contract/waves.ts';

/** A connection, numbered by the host; never reused. One carries the frames of every task of a comm worker. */
export type Conn = number;

/**
 * `t<task>` arrivals of a task, `d<task>` determinants by source, `w<task>` messages task → WORLD, `v<task>` what the
 * image of a task in a wave lacks, `x<task>` messages to a task from other clusters. The host prefixes job and CM.
 */
export type StreamName = `t${number}` | `d${number}` | `w${number}` | `v${number}` | `x${number}`;

/** Half-open: determinants [from, to). */
export type Range = readonly [from: number, to: number];

/** What one Channel Memory has of a task that it has fenced. */
export interface Holdings {
  /** Arrivals in the log of the task; 0 where another Channel Memory is its home. */
  readonly arrivals: number;
  /**
   * What others depend on: arrivals that the task had consumed, and the number of determinants that it had made, when
   * it sent what stands in the logs.
   */
  readonly consumed: number;
  readonly determinants: number;
  /** Determinants that are here: sorted, disjoint. */
  readonly held: readonly Range[];
  /** Messages of the task logged whole here, by receiver. */
  readonly sent: readonly (readonly [dst: TaskId, count: number])[];
}

/** What one Channel Memory is sure of, for the others of its job (F5 of pessimistic/unheard.ts). */
export interface Witness {
  /** Arrivals that have come to the task. Undefined: it is not the task's home, or its log may have lost its end. */
  readonly arrivals: number | undefined;
  /** Events of the task that are known here. */
  readonly events: number;
  /** The acting incarnation has no events to give back that were lost here. */
  readonly whole: boolean;
}

/** What a Channel Memory answers for a task that it has fenced. */
export interface Progress {
  /** Messages of the task logged whole here, to the world too. */
  readonly sends: number;
  /** Arrivals that it is known to have consumed. */
  readonly consumed: number;
  readonly logs: Holdings;
}

export interface ChannelMemoryOptions {
  /** Tasks of the job so far ({@link CmEvent} `grow`). */
  readonly size: number;
  /** Index of this Channel Memory and number of all of the job. */
  readonly index: number;
  readonly count: number;
  /** By task: index of its home; absent: task modulo {@link count}. */
  readonly homes?: readonly number[] | undefined;
  readonly durability: 'behind' | 'strict';
  /** Checks a capability; undefined refuses it. */
  readonly authorise: (capability: string) => { readonly task: TaskId; readonly incarnation: Incarnation } | undefined;
  /** What each of the other Channel Memories says of a task. Undefined, all or one: it cannot be asked now. */
  readonly others?: ((task: TaskId) => readonly (Witness | undefined)[]) | undefined;
  /** Bytes that may be under way to one task before the first CREDIT of its comm worker. Default 4 MiB. */
  readonly window?: number;
  /** Body part of one frame. Default CHUNK_BYTES; the simulator makes it small. */
  readonly chunkBytes?: number;
  /** A longer body is refused. Default 1 GiB. */
  readonly maxMessageBytes?: number;
  /** Bytes of messages to WORLD that it may have in memory (W1 of world.ts). */
  readonly worldMemory?: WorldMemory;
  /** Ticks between syncs that nothing waits for. Default 1. */
  readonly lazyTicks?: number;
  /** Teams of the job so far ({@link CmEvent} `teams`). */
  readonly teams?: readonly (readonly TaskId[])[] | undefined;
  /** …and those that were dissolved. */
  readonly dissolved?: readonly Dissolved[] | undefined;
  /** Coordinated checkpointing: what the streams are brought to before they are served. */
  readonly line?: Line | undefined;
}

export interface WorldMemory {
  /** Of whole messages that wait; the others wait in the log. Default 32 MiB. */
  readonly waiting: number;
  /** Of parts, where output is not logged: a sender that passes it ends. Default 256 MiB. */
  readonly parts: number;
}

/** Where all tasks of a job go back to. */
export interface Line {
  readonly epoch: number;
  /** Undefined: the start of the program. */
  readonly to: WaveRecord | undefined;
}

export type CoreEvent =
  | { readonly type: 'frames'; readonly conn: Conn; readonly bytes: Uint8Array }
  | { readonly type: 'closed'; readonly conn: Conn }
  /** The socket's buffer, once reported full through `congested`, is empty again. */
  | { readonly type: 'congested'; readonly conn: Conn; readonly congested: boolean }
  | { readonly type: 'flush' }
  | { readonly type: 'tick' }
  | { readonly type: 'synced'; readonly ticket: number }
  /**
   * `fresh`: the job starts now, so no task has received anything. Else a task's log is closed until its comm worker
   * has reported.
   */
  | { readonly type: 'recovered'; readonly fresh: boolean }
  /**
   * The job has so many tasks now; the host has made the new streams (empty), as `streams()` names them then. Before
   * anybody can know of them.
   */
  | { readonly type: 'grow'; readonly size: number }
  /**
   * Teams of the job (docs/teams.md), each of two tasks or more: all of them, every time. With them all that were
   * dissolved, before any of their members is fenced again.
   */
  | {
      readonly type: 'teams';
      readonly teams: readonly (readonly TaskId[])[];
      readonly dissolved?: readonly Dissolved[] | undefined;
    }
  /** Lowest incarnation that may act. Answered by `fenced`, at once. */
  | { readonly type: 'fence'; readonly task: TaskId; readonly incarnation: Incarnation }
  /**
   * Message number `channel` WORLD → task (standard input) or FILES → task (an answer of the file service), for a task
   *  homed here. What is logged already is dropped: after a recovery the host gives all of them again that it cannot
   *  know to be logged.
   */
  | {
      readonly type: 'world';
      readonly task: TaskId;
      readonly channel: number;
      readonly mode: number;
      readonly body: Uint8Array;
      readonly src?: TaskId;
      readonly context?: number;
    }
  /**
   * Asks whether all that an image there needs of this CM is durable. Answered by `covered`, perhaps several times.
   */
  | { readonly type: 'cover'; readonly task: TaskId; readonly image: ImageId; readonly position: Position }
  /** Forgets the question. */
  | { readonly type: 'uncover'; readonly task: TaskId; readonly image: ImageId }
  /**
   * What an incarnation that begins there does not get again may go.
   */
  | { readonly type: 'trim'; readonly task: TaskId; readonly position: Position }
  /** Output up to this message to WORLD is durable elsewhere: `w<task>` may be trimmed. */
  | { readonly type: 'worldDone'; readonly task: TaskId; readonly channel: number }
  /** The task is done: its arrivals may go, later ones are dropped. Repeat after a recovery. */
  | { readonly type: 'done'; readonly task: TaskId }
  /**
   * The task has ended, runs nowhere, and may restart with its team (D25). No comm worker will report for it, so its
   * log opens as it is. Repeat after a recovery.
   */
  | { readonly type: 'unattended'; readonly task: TaskId }
  /**
   * Messages of the task to the world up to `channel` can never be undone, and answers of the file service up to
   * `answers` are never asked for again.
   */
  | { readonly type: 'stable'; readonly task: TaskId; readonly channel: number; readonly answers: number };

/** For the stages of a protocol (stage.ts). */
export type StageEvent = WaveLogEvent | ClusterLogEvent;
export type CmEvent = CoreEvent | StageEvent;

/** What a stage says to the part of its protocol in the service. */
export type StageEffect = WaveLogEffect | ClusterLogEffect;

export type CmEffect =
  | StageEffect
  /** `bytes` become the next record of `stream`; its LSN is what the core expects. */
  | { readonly type: 'append'; readonly stream: StreamName; readonly lsn: number; readonly bytes: Uint8Array }
  /** Records of one stream are appended to another, where the first gets `lsn`. */
  | {
      readonly type: 'copy';
      readonly from: StreamName;
      readonly lsns: readonly number[];
      readonly to: StreamName;
      readonly lsn: number;
      /** The copies become this arrival: the number stands on the last one. Absent: they stay as they are. */
      readonly arrival?: number;
    }
  /** Its EXIT, which says this, is durable. */
  | { readonly type: 'taskEnded'; readonly task: TaskId; readonly report: Uint8Array }
  /** One whole frame for a connection. */
  | { readonly type: 'send'; readonly conn: Conn; readonly bytes: Uint8Array }
  /**
   * A frame from the log: read the record (a whole frame), `patchFromLog(record, this)`, send. `envelope`: header only.
   */
  | SendRecord
  | { readonly type: 'close'; readonly conn: Conn; readonly error: ErrorBody }
  | { readonly type: 'sync'; readonly ticket: number; readonly streams: readonly StreamName[] }
  | {
      readonly type: 'trim';
      readonly stream: StreamName;
      readonly from: number;
      readonly to: number;
      readonly keep: ReadonlySet<number>;
    }
  /**
   * A whole message of a task to WORLD, in channel order; once it is durable; again after a recovery (materialise by
   * offset). `incarnation`: that sent it.
   */
  | {
      readonly type: 'world';
      readonly task: TaskId;
      readonly channel: number;
      readonly incarnation: Incarnation;
      readonly mode: number;
      /** Read it with `readWorldBody`. */
      readonly body: WorldBody;
    }
  | { readonly type: 'fenced'; readonly task: TaskId; readonly incarnation: Incarnation }
  /**
   * Sends homed here and (at the home CM) arrivals before the image's line are durable; `determinants`: the durable
   * ranges that this CM holds. Comes again when the ranges grow. The image is covered when every CM has answered and
   * {@link coversDeterminants}.
   */
  | {
      readonly type: 'covered';
      readonly task: TaskId;
      readonly image: ImageId;
      readonly determinants: readonly Range[];
    }
  /** An incarnation broke the protocol and has ended here. Its node gets REFUSED as well, but need not pass it on. */
  | { readonly type: 'refused'; readonly task: TaskId; readonly incarnation: Incarnation; readonly error: ErrorBody }
  /** A task's first attachment of this incarnation was accepted (for the history; no duty). */
  | { readonly type: 'attached'; readonly task: TaskId; readonly incarnation: Incarnation; readonly resume: boolean }
  /** Fatal for the job: an arrival is missing in the log although it was never trimmed. */
  | { readonly type: 'failed'; readonly task: TaskId; readonly error: ErrorBody };

/** The body of a message to WORLD: in memory, or the bodies of these records one behind the other. */
export type WorldBody =
  Uint8Array | { readonly stream: StreamName; readonly lsns: readonly number[]; readonly length: number };

export interface SendRecord {
  readonly type: 'sendRecord';
  readonly conn: Conn;
  readonly stream: StreamName;
  readonly lsn: number;
  /** Kind that the frame gets: ARRIVAL, BODY or DETERMINANTS. */
  readonly kind: number;
  /** Incarnation of the receiver. */
  readonly incarnation: Incarnation;
  readonly arrival: number;
  /** True: only header and evidence are sent, with flags LAST | NO_BODY. */
  readonly envelope: boolean;
}
