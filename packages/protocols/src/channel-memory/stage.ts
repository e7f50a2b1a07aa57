/**
 * What a protocol adds to the way of a message through a Channel Memory. The core keeps sessions, channels, numbers,
 * credit, logs and group commit; it knows a stage by this interface only, and asks the stages of a job in their order.
 *
 * The way of a message for a task whose home this is:
 *
 *     frame ─ admit ──────► hold ──────► number ─────► log ─► push
 *             own.owns      holds        numbered
 *             own.waits     hold
 *             takesAll      (released later by the stage: arrives of deliver.ts)
 *
 * Worked example (`vcl`, one stage). Wave 3 is under way; rank 0 has cut after its message 7, rank 1 has not cut.
 * Message 8 of 0 → 1 is here, whole. The core counts it and acknowledges it: its sender may forget it. `holds` answers
 * yes, since rank 1's image must not contain what rank 0's image has not sent; `hold` keeps the frame. The message has
 * no number yet. Rank 1 cuts: the stage calls `arrives`, and message 8 becomes the next arrival of rank 1. Without the
 * stage, rank 1's image could have consumed a message that rank 0, restarted from its own image, sends again.
 *
 * Protocols without stages (`pessimistic`, `none`, `app`) pay for an empty list.
 */
import type { Header, TaskId } from '@mayfly/wire';
import type { GateCounts } from '../contract/waves.ts';
import type { StageEvent } from './events.ts';
import type { Attachment, Channel, Destination, Partial, Stream } from './tasks.ts';

/** Names the streams of a stage: `v` has what images of a wave lack, `x` has messages from other clusters. */
export type StageLetter = 'v' | 'x';

/** A message of which the last chunk is here, the next one of its channel. */
export interface WholeMessage {
  readonly channel: Channel;
  readonly header: Header;
  /** The frame stands at `at` of `view`. */
  readonly view: DataView;
  readonly at: number;
  readonly frame: Uint8Array;
  /** What is logged, where that is not `frame`. */
  readonly record: Uint8Array | undefined;
  /** The chunks before the last one; undefined: there are none. */
  readonly partial: Partial | undefined;
}

/** Messages that are the stage's alone: it logs them, and decides when they become arrivals. */
export interface OwnMessages {
  owns(src: TaskId): boolean;
  /** The frame is neither counted nor acknowledged now, so its sender keeps it; later the stage calls `again`. */
  waits(a: Attachment, h: Header, again: () => void): boolean;
  /** One chunk, in the order of its channel. `whole`: the last one. */
  takes(d: Destination, c: Channel, h: Header, frame: Uint8Array, whole: boolean): void;
}

/** Every method without a mark is asked once in the life of a core, or once for each task. */
export interface LogStage {
  readonly letter: StageLetter;
  /** Streams of the tasks whose home this is; they outlive the server's process. */
  streams(): Stream[];
  /** The job has tasks up to `size`. */
  grow(size: number): void;
  /** What is left of the stream of a task, before {@link recovered}. @throws MalformedFrame */
  recover(task: TaskId, records: Iterable<{ lsn: number; bytes: Uint8Array }>, next: number): void;
  /** All streams have been read. */
  recovered?(): void;

  // The way of a message.
  readonly own?: OwnMessages;
  /** The task has ended: what is sent to it counts, and is dropped. */
  takesAll?(task: TaskId): boolean;
  /** A message is whole, and counted. True: {@link hold} keeps it, and the stage releases it later. */
  holds?(c: Channel): boolean;
  /** Chunks of it that were pushed ahead are void. */
  hold?(d: Destination, message: WholeMessage): void;
  /** Message `channel` of `src` has become arrival `number`: it is logged, and pushed if it can be. */
  numbered?(dst: TaskId, number: number, src: TaskId, channel: number): void;
  /** After a message, held or logged: the stage does what follows from it. */
  settle?(): void;

  // What tasks say.
  /** ATTACHED has been sent. */
  attached?(task: TaskId): void;
  /** CREDIT: a task whose home this is has consumed its arrivals up to this one. */
  consumed?(task: TaskId, arrival: number): void;
  /** A frame of a kind that the core does not know. False: this stage does not know it either. @throws ProtocolError */
  frame?(task: TaskId, kind: number, word: number, body: Uint8Array): boolean;

  /** What the service says. False: the event is for the next stage. */
  step(event: StageEvent): boolean;

  // Group commit: of all streams together, the stage's own among them.
  syncBegins?(): void;
  /** Everything appended before {@link syncBegins} is durable. */
  synced?(): void;

  /** Records of the task's log that trimming must spare. */
  spares?(task: TaskId): readonly number[];
  /** For the deadlock report: messages for the task that this stage keeps back. */
  keepsBack?(task: TaskId): number;
  /** Messages for the task that wait for a checkpoint of its cluster. */
  awaiting?(task: TaskId): number;
  /** What it has in memory: bytes, and messages that wait for their receiver's cut. */
  memory?(): { readonly bytes: number; readonly held: number };
  /** What the wave under way took here, or the last one. */
  readonly counts?: Readonly<GateCounts>;
}

/** The stage that has the messages of this sender for itself. */
export function ownerOf(stages: readonly LogStage[], src: TaskId): OwnMessages | undefined {
  for (const { own } of stages) if (own?.owns(src)) return own;
  return undefined;
}

export function takesAll(stages: readonly LogStage[], task: TaskId): boolean {
  for (const stage of stages) if (stage.takesAll?.(task)) return true;
  return false;
}
