/** Events and effects of the checkpoint scheduler (waves.ts), and what it makes durable. */
import type { ErrorBody, ImageId, JobId, TaskId } from '@mayfly/wire';
import type { Cut } from './cut.ts';

export interface WaveSettings {
  /** From the end of one wave to the begin of the next, ms; undefined: √(2·C·M), from the job's own figures. */
  readonly periodMs?: number | undefined;
  /** A wave that takes longer is abandoned. */
  readonly waveMs: number;
}

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
}

export interface LineRecord {
  readonly epoch: number;
  /** 0: the start of the program. */
  readonly wave: number;
}

export const waveKey = (job: JobId, wave: number): string => `wave/${job}/${String(wave).padStart(10, '0')}`;
export const lineKey = (job: JobId): string => `line/${job}`;

export type WaveEvent = { readonly now: number } & (
  | { readonly type: 'tick' }
  /** A wave is wanted now: by a person, a pause, output that waits. */
  | { readonly type: 'ask' }
  /** A Channel Memory accepts the task's incarnation, which has not sent or received anything yet. */
  | { readonly type: 'began'; readonly epoch: number; readonly task: TaskId }
  /** The task's CUT has come to its home Channel Memory. */
  | { readonly type: 'cut'; readonly wave: number; readonly task: TaskId; readonly cut: Cut }
  /** Its image is durable. */
  | { readonly type: 'stored'; readonly wave: number; readonly task: TaskId; readonly image: ImageId }
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
  | { readonly type: 'checked'; readonly wave: number; readonly sound: boolean }
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
  | { readonly type: 'over'; readonly wave: number; readonly committed: boolean }
  /** W3: what was written before this wave's mark may be shown. */
  | { readonly type: 'release'; readonly wave: number }
  /** Images, streams and mark of this wave may go; its record has. */
  | { readonly type: 'forget'; readonly wave: number }
  /** Are all images of this wave sound? */
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
