/**
 * Waves: events and effects of the checkpoint scheduler, what it makes durable, and what a Channel Memory asks of the
 * gate that cuts its channels.
 */
import type { Cut, ErrorBody, ImageId, JobId, TaskId } from '@mayfly/wire';

export interface WaveSettings {
  /** From the end of one wave to the begin of the next, ms; undefined: √(2·C·M), from the job's own figures. */
  readonly periodMs?: number | undefined;
  /** A wave that takes longer is abandoned, ms; after that the next may take twice as long. */
  readonly waveMs: number;
  /** Images are protected by parity: of so many waves, one has all its images at the server (W9). Absent: each has. */
  readonly wholeEvery?: number | undefined;
}

/** W9: the images of a wave come to the server. `wholeEvery`: of the job. */
export const isWhole = (wave: number, wholeEvery = 1): boolean => wave % wholeEvery === 0;

/** Where a task begins that goes back to a wave. */
export type TaskOfWave =
  | { readonly task: TaskId; readonly state: 'image'; readonly image: ImageId; readonly cut: Cut }
  | { readonly task: TaskId; readonly state: 'start' }
  | { readonly task: TaskId; readonly state: 'ended' };

export interface WaveRecord {
  readonly wave: number;
  readonly epoch: number;
  /** ms since the epoch (of the clock): when it was complete. */
  readonly at: number;
  readonly tasks: readonly TaskOfWave[];
  /** What the outside needs to go back to its mark. */
  readonly mark: unknown;
  /** Some of its images are of level 1: with the nodes only, protected by parity. */
  readonly near?: true;
}

export interface LineRecord {
  readonly epoch: number;
  /** 0: the start of the program. */
  readonly wave: number;
  /** No wave before it is there any more, and what was written before it has been shown: it is the last way back. */
  readonly alone?: true;
}

export const waveKey = (job: JobId, wave: number): string => `wave/${job}/${String(wave).padStart(10, '0')}`;
export const lineKey = (job: JobId): string => `line/${job}`;
/** Of an image of level 1 in the newest committed wave: its manifest. */
export const nearKey = (job: JobId, task: TaskId): string => `near/${job}/${task}`;

export type WaveEvent = { readonly now: number } & (
  | { readonly type: 'tick' }
  /** A wave is wanted now: by a person, a pause, output that waits. */
  | { readonly type: 'ask' }
  /** A Channel Memory accepts the task's incarnation, which has not sent or received anything yet. */
  | { readonly type: 'began'; readonly epoch: number; readonly task: TaskId }
  /** The task's CUT has come to its home Channel Memory. */
  | { readonly type: 'cut'; readonly wave: number; readonly task: TaskId; readonly cut: Cut }
  /** Its image is durable. `near`: with the nodes, prepared by all holders of its checksums. */
  | {
      readonly type: 'stored';
      readonly wave: number;
      readonly task: TaskId;
      readonly image: ImageId;
      readonly near?: boolean;
    }
  /** G3 of the gate. */
  | { readonly type: 'recorded'; readonly wave: number; readonly task: TaskId }
  /** The mark of the outside is durable. */
  | { readonly type: 'marked'; readonly wave: number; readonly mark: unknown }
  | { readonly type: 'cannot'; readonly wave: number; readonly task: TaskId; readonly reason: string }
  /** Its EXIT has come, and everything before it. */
  | { readonly type: 'ended'; readonly epoch: number; readonly task: TaskId }
  /** The job has so many tasks. */
  | { readonly type: 'grow'; readonly tasks: number }
  | { readonly type: 'lost'; readonly task: TaskId }
  /** The commit of a wave. */
  | { readonly type: 'committed'; readonly wave: number }
  | { readonly type: 'commitFailed'; readonly wave: number; readonly error: ErrorBody }
  /** Its images are all at the server, and sound; or why not. */
  | { readonly type: 'checked'; readonly wave: number; readonly sound: boolean; readonly reason?: string }
  /** Line and incarnations are durable. */
  | { readonly type: 'lineDurable'; readonly epoch: number }
  /** One of {@link WaveOptions.participants} has gone back. */
  | { readonly type: 'wentBack'; readonly epoch: number; readonly who: string }
);

export type WaveEffect =
  /** To Channel Memories, Checkpoint Server and outside; ranks are asked for their images. */
  | {
      readonly type: 'begin';
      readonly wave: number;
      readonly ended: readonly TaskId[];
      /** They have not begun: their cut is their start, and what they write waits for the mark. */
      readonly starting: readonly TaskId[];
    }
  /** W4. */
  | { readonly type: 'mark'; readonly wave: number }
  | {
      readonly type: 'commit';
      readonly wave: number;
      readonly changes: readonly (readonly [key: string, value: unknown])[];
    }
  /** The wave is over: for the gates, the Checkpoint Server, and the nodes. */
  | {
      readonly type: 'over';
      readonly wave: number;
      readonly committed: boolean;
      /** Committed, and some of its images are with the nodes only. */
      readonly near?: boolean;
      /** Why it was abandoned, in words. */
      readonly reason?: string;
    }
  /** W3: what was written before this wave's mark may be shown. */
  | { readonly type: 'release'; readonly wave: number }
  /** Images, streams and mark of this wave may go; its record has. */
  | { readonly type: 'forget'; readonly wave: number }
  /** Are all images of this wave sound? Those of level 1 come to the server first. */
  | { readonly type: 'check'; readonly wave: number }
  /** W6: to the dispatcher, which commits it with a new incarnation of every task. */
  | { readonly type: 'line'; readonly line: LineRecord; readonly changes: readonly (readonly [string, unknown])[] }
  /** To every participant. `to` undefined: to the start of the program. */
  | { readonly type: 'goBack'; readonly epoch: number; readonly to: WaveRecord | undefined }
  /** To the dispatcher. */
  | { readonly type: 'assign'; readonly epoch: number; readonly to: WaveRecord | undefined }
  /** W8: every exit is final, and everything is shown. */
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly error: ErrorBody }
  | { readonly type: 'log'; readonly level: 'info' | 'warn' | 'error'; readonly message: string };

export interface WaveOptions {
  readonly job: JobId;
  /** Tasks of the job so far. */
  readonly tasks: number;
  /** Who has to go back: Channel Memories, Checkpoint Server, outside. */
  readonly participants: readonly string[];
  readonly settings: WaveSettings;
}

/** The cut of a task that has not begun. */
export const START_OF_TASK: Cut = { arrivals: 0, sends: [], receives: [], held: [] };

/** How many messages of one task, or to one, a cut counts. */
export const countOf = (counts: Cut['sends'], task: TaskId): number => counts.find(([t]) => t === task)?.[1] ?? 0;

/** When a checkpoint of all ranks (of a cluster) is due; `at` undefined: nobody knows. */
export interface Due {
  readonly at: number | undefined;
  /** From the end of one to the next, ms. */
  readonly periodMs: number;
  /** The job asks for this shorter period, and a checkpoint takes longer. */
  readonly askedMs?: number;
}

/** What decides when waves begin, when they count and what a loss goes back to. Declared for the service. */
export interface CheckpointScheduler {
  /** The epoch whose incarnations act. */
  readonly epoch: number;
  /** Committed waves that are kept, oldest first; 0: the start of the program. */
  readonly kept: readonly number[];
  /** The wave under way. */
  readonly underWay: number | undefined;
  /**
   * When the next wave is due, ms since the epoch (of the clock), unless a wave or a rollback is under way; and the
   * period that this follows from.
   */
  readonly due: Due | undefined;
  /** After a restart of the server, as the registry has it. */
  recover(waves: readonly WaveRecord[], line: LineRecord | undefined, now: number): WaveEffect[];
  step(e: WaveEvent): WaveEffect[];
}

/** A message that waits for its receiver's cut. */
export interface LateMessage {
  readonly src: TaskId;
  readonly channel: number;
}

export type GateEffect =
  /** The message gets the next arrival number of its receiver now ({@link ChannelGate.numbered}), and is pushed. */
  | { readonly type: 'release'; readonly dst: TaskId; readonly message: LateMessage }
  /** The arrival is appended to the wave stream of its receiver, under its number. `body`: it alone is missing. */
  | { readonly type: 'record'; readonly dst: TaskId; readonly number: number; readonly body: boolean }
  /** Everything of the wave that this receiver's image lacks is recorded, durably. */
  | { readonly type: 'recorded'; readonly dst: TaskId; readonly wave: number }
  /** (`pcl`) The task may take its image. */
  | { readonly type: 'flushed'; readonly dst: TaskId; readonly wave: number };

/** Cuts the channels of the tasks whose home a Channel Memory is. After each call `take` has what is to be done. */
export interface ChannelGate {
  /** The wave under way; 0: none is. */
  readonly wave: number;
  /** Tasks up to `tasks`. */
  grow(tasks: number, home: (task: TaskId) => boolean): void;
  take(): GateEffect[];
  /** Message `channel` of src → dst is here, whole, the next of its channel. True: it waits for `release`. */
  comes(src: TaskId, dst: TaskId, channel: number): boolean;
  /** Messages up to `channel` have come in the past that a rollback goes back to. */
  counted(src: TaskId, dst: TaskId, channel: number): void;
  numbered(dst: TaskId, number: number, src: TaskId, channel: number): void;
  /** The receiver has consumed so far. */
  consumed(dst: TaskId, upTo: number): void;
  begin(wave: number, ended: Iterable<TaskId>): void;
  cut(wave: number, task: TaskId, cut: Cut): void;
  /** (`pcl`) MARK of a task. */
  frozen(wave: number, task: TaskId, sends: Cut['sends']): void;
  /** The task has ended, and everything that it sent is here. */
  ended(task: TaskId): void;
  /** The outside has cut. */
  mark(wave: number): void;
  synced(dst: TaskId, wave: number, records: number): void;
  over(wave: number): void;
  /** The task takes everything that is sent to it: it has ended. */
  takesAll(task: TaskId): boolean;
  /** In the wave under way the task has cut. */
  hasCut(task: TaskId): boolean;
  /** (`pcl`) It may take its image. */
  mayCut(task: TaskId): boolean;
  /** Messages of a channel that have come. */
  seen(src: TaskId, dst: TaskId): number;
}

/** A record of a wave stream. `body`: the receiver's image has consumed it, and lacks its body. */
export interface Recorded {
  readonly src: TaskId;
  readonly channel: number;
  readonly body: boolean;
}

/** Coordinated checkpointing, as far as a Channel Memory knows it. */
export interface ChannelWaves {
  gate(tasks: number, home: (task: TaskId) => boolean): ChannelGate;
  /**
   * Brings a new gate to a wave.
   * @param tasks as the wave's record has them
   * @param records of a receiver, in the order of its wave stream
   * @param log the record becomes arrival `number` of its receiver
   */
  goBack(
    gate: ChannelGate,
    tasks: readonly TaskOfWave[],
    records: (receiver: TaskId) => readonly Recorded[],
    log: (receiver: TaskId, number: number, record: Recorded) => void,
  ): void;
}
