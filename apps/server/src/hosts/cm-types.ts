/** What a Channel Memory's host is given, and whom it tells. */
import type { Progress, Range } from '@mayfly/protocols';
import type { MessageLog } from '@mayfly/storage/ports';
import type { ErrorBody, ImageId, Incarnation, JobId, ProtocolName, TaskId } from '@mayfly/wire';
import type { Disk } from '../disk.ts';
import type { StdinLog } from '../jobs/stdin-log.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { Secrets } from '../secrets.ts';

export interface CmSpec {
  job: JobId;
  index: number;
  count: number;
  /** Tasks of the job when it is opened ({@link ChannelMemoryHost.grow}). */
  size: number;
  protocol: ProtocolName;
  durability: 'behind' | 'strict';
}

/** What the core tells the rest of the server. Called while effects are performed: must only note it down. */
export interface CmListener {
  world(spec: CmSpec, task: TaskId, channel: number, mode: number, body: Uint8Array): void;
  /** Makes durable what `world` wrote for this task. */
  syncWorld(spec: CmSpec, task: TaskId): Promise<void>;
  fenced(spec: CmSpec, task: TaskId, incarnation: Incarnation, progress: Progress): void;
  /** An incarnation broke the protocol here, and was ended. */
  refused(spec: CmSpec, task: TaskId, incarnation: Incarnation, error: ErrorBody): void;
  covered(spec: CmSpec, task: TaskId, image: ImageId, determinants: readonly Range[]): void;
  failed(spec: CmSpec, error: ErrorBody): void;
  /**
   * Answers of the file service: up to which they may be given, and one of them (undefined: it is not kept any more).
   */
  answerable(spec: CmSpec, task: TaskId): number;
  answer(spec: CmSpec, task: TaskId, r: number): { error: number; body: Uint8Array } | undefined;
}

export interface CmSettings {
  backlogBytes: number;
  backlogMaxBytes: number;
  /** {@link import('@mayfly/protocols').ChannelMemoryOptions.lazyTicks} */
  lazyTicks: number;
}

export interface CmDeps {
  log: MessageLog;
  disk: Disk;
  listener: CmListener;
  secrets: Secrets;
  settings: CmSettings;
  metrics: Metrics;
  logger: Logger;
  /** Acting incarnations as the registry has them. */
  fences: Promise<readonly (readonly [TaskId, Incarnation])[]>;
  stdin: StdinLog | undefined;
  fresh: boolean;
}
