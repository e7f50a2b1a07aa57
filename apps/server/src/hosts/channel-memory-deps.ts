/** The dependencies of a Channel Memory's host: what it gets and what it calls. */
import type { AnswerSource, LogAnswers } from '@mayfly/protocols';
import type { MessageLog, StdinLog } from '@mayfly/storage/ports';
import type { Incarnation, JobId, ProtocolName, TaskId } from '@mayfly/wire';
import type { Disk } from '../disk.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Capabilities } from '../secrets.ts';
import type { Allowance } from './allowance.ts';
import type { LinkSettings, Seat, Sitting } from './memory-seat.ts';
import type { Traffic } from './traffic.ts';

export interface CmSpec {
  job: JobId;
  index: number;
  count: number;
  /** By task: index of its home; absent: task modulo `count`. */
  homes?: readonly number[] | undefined;
  /** Tasks of the job when it is opened ({@link ChannelMemoryHost.openStreams}). */
  size: number;
  protocol: ProtocolName;
  durability: 'behind' | 'strict';
}

/** Messages of tasks to the world. Called while effects are performed. */
export interface CmWorld {
  /**
   * `incarnation`: that sent it.
   * @throws the error of the file system, when storage is stopped: the message stays in the log and comes again
   */
  deliver(task: TaskId, incarnation: Incarnation, channel: number, mode: number, body: Uint8Array): void;
  /** Makes durable what was written for this task. */
  sync(task: TaskId): Promise<void>;
}

export interface CmSettings extends LinkSettings {
  /** {@link import('@mayfly/protocols').ChannelMemoryOptions.lazyTicks} */
  lazyTicks: number;
}

/** @param tickMs between two ticks */
export const cmSettings = ({ limits, syncEveryMs }: ResolvedOptions, tickMs: number): CmSettings => ({
  backlogBytes: limits.socketBacklogBytes,
  backlogMaxBytes: limits.socketBacklogMaxBytes,
  lazyTicks: Math.ceil(syncEveryMs / tickMs),
});

export interface CmDeps {
  log: MessageLog;
  disk: Disk;
  world: CmWorld;
  /** What the core has for the other cores of the job. */
  answers: LogAnswers;
  files: AnswerSource;
  secrets: Capabilities;
  /** A seat at another server for the core of a job that begins; undefined: it is here. */
  elsewhere?: ((spec: CmSpec, traffic: Traffic, sitting: Sitting) => Seat | undefined) | undefined;
  /** Its core works elsewhere now; nodes may have connections to where it was. */
  moved?: ((index: number) => void) | undefined;
  /** What its links may bring, of a job that has such a limit. */
  allowance?: Allowance;
  settings: CmSettings;
  metrics: Metrics;
  logger: Logger;
  /** The registry has been read: every Channel Memory of the job knows which incarnations act. */
  actingKnown: Promise<void>;
  stdin: StdinLog | undefined;
  fresh: boolean;
}
