/**
 * State of the Checkpoint Server core. `Task.images` and `Task.trimmed` mirror the registry; everything else is
 * losable.
 */
import type { ImageId, Incarnation, JobId, Manifest, TaskId } from '@mayfly/wire';
import type { Range } from './channel-memory/types.ts';
import type { ImageRecord } from './checkpoint-server-types.ts';

export interface Offer {
  readonly task: Task;
  readonly manifest: Manifest;
  stage: 'finding' | 'receiving' | 'covering' | 'committing';
  link: string | undefined;
  ask: number;
  /** Pages, by place in the manifest, that the node has to send and that are not durable yet. */
  waiting: Set<number>;
  /** Answers of the CMs, by index: the determinants that each holds. */
  covered: Map<number, readonly Range[]>;
  askedAt: number;
  since: number;
  sentBytes: number;
  record?: ImageRecord;
  /** Its task ended while it was being committed: throw it away afterwards. */
  unwanted?: boolean;
}

export interface Task {
  readonly job: Job;
  readonly task: TaskId;
  acting: Incarnation | undefined;
  /** Complete, oldest first (C5). */
  images: ImageRecord[];
  trimmed: boolean;
  offer?: Offer;
  /** A restart that waits for its image. */
  restart?: { incarnation: Incarnation; checking?: ImageId };
  done: boolean;
}

export interface Job {
  readonly id: JobId;
  open?: { size: number; channelMemories: number; program: string };
  tasks: Map<TaskId, Task>;
}
