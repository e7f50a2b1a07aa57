/** What a comm worker keeps of what a rank has sent. */
import type { TaskId } from '@mayfly/wire';

/** A frame as the rank wrote it, kept until its message is durable. */
export interface Sent {
  readonly channel: number;
  readonly bytes: Uint8Array;
}

/** Frames of one channel (task, dst), in order; entries before `head` are released. */
export interface Outbox {
  readonly dst: TaskId;
  readonly cm: number;
  frames: Sent[];
  head: number;
}
