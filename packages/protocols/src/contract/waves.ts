/**
 * Waves: events and effects of the checkpoint scheduler, what it makes durable, and what it and the logs tell each
 * other.
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

/** What a task of a wave answers, or the Checkpoint Server for it. */
export type TaskAnswer =
  /** Its CUT has come to its home Channel Memory. */
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
  | { readonly type: 'cannot'; readonly wave: number; readonly task: TaskId; readonly reason: string };

export type WaveEvent = { readonly now: number } & (
  | { readonly type: 'tick' }
  /** A wave is wanted now: by a person, a pause, output that waits. */
  | { readonly type: 'ask' }
  /** A Channel Memory accepts the task's incarnation, which has not sent or received anything yet. */
  | { readonly type: 'began'; readonly epoch: number; readonly task: TaskId }
  | TaskAnswer
  /** The mark of the outside is durable. */
  | { readonly type: 'marked'; readonly wave: number; readonly mark: unknown }
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
  /** unit.3. */
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

/** Of a scheduler to the logs of its job. */
export type WaveLogEvent =
  /**
   * A wave of so many tasks begins; those that have been spawned since begin behind it. `ended`: everything that they
   * sent is here. `starting`: they have not begun, so their cut is their start.
   */
  | {
      readonly type: 'wave';
      readonly wave: number;
      readonly tasks: number;
      readonly ended: readonly TaskId[];
      readonly starting: readonly TaskId[];
    }
  /** The outside has cut. */
  | { readonly type: 'mark'; readonly wave: number }
  | { readonly type: 'waveOver'; readonly wave: number }
  /** Every Channel Memory has everything that the task sent. */
  | { readonly type: 'ended'; readonly task: TaskId }
  /** Records of waves before this one may go. */
  | { readonly type: 'forgetWaves'; readonly before: number };

/** Of a log to the scheduler of its job. */
export type WaveLogEffect =
  /** The task has cut in a wave, at its home. */
  | { readonly type: 'cut'; readonly task: TaskId; readonly wave: number; readonly cut: Cut }
  /** What its image in this wave lacks is recorded, durably. */
  | { readonly type: 'recorded'; readonly task: TaskId; readonly wave: number }
  /** The wave cannot be had here. */
  | { readonly type: 'cannot'; readonly task: TaskId; readonly wave: number; readonly reason: string };

/** What a wave took at one Channel Memory: messages and their bytes. */
export interface GateCounts {
  recorded: number;
  recordedBytes: number;
  /** Held back at one time, at most. */
  held: number;
  heldBytes: number;
}
