/**
 * What a protocol adds to the service of a job: its checkpoint scheduler, or whoever tells tasks of losses. The service
 * (job-service.ts) passes on what happens to the job and knows no part by name; a part speaks to the other cores of the
 * job through its host.
 *
 * Worked example (`vcl`). Rank 2 is lost: the dispatcher says `goesBack`, the service calls `lost`. The scheduler of
 * the part wants a line; the part hands it to the dispatcher, which makes it durable with a new incarnation of every
 * task and says `rolledBack`: `lineDurable`. Now the part tells Checkpoint Server and logs to go back; each answers
 * with `wentBack`. When the last one has, the part lets the dispatcher assign the tasks again. Under a protocol without
 * a part, the dispatcher alone restarts rank 2.
 */
import type { ErrorBody, ImageId, Incarnation, Manifest, SpawnGroup, TaskId, WavesView } from '@mayfly/wire';
import type { StageEvent } from '../channel-memory/events.ts';
import type { CheckpointServerEvent } from '../images/events.ts';
import type { DispatcherEvent, JobRecord, JobSpec } from '../dispatcher/events.ts';
import type { ServedLog, StageAnswer } from './served-log.ts';
import type { Timeless } from './timeless.ts';

/** A record of the registry; `value` undefined: it goes. */
export type Entry = readonly [key: string, value: unknown];

/** What is lost: a task, or what a Channel Memory held. */
export type Loss = { readonly task: TaskId } | { readonly cm: number };

/** An image of a checkpoint is durable. `near`: of level 1, with the nodes only. */
export interface StoredImage {
  readonly task: TaskId;
  readonly image: ImageId;
  readonly bytes: number;
  readonly sentBytes: number;
  readonly near?: boolean;
}

/** From when to when a job may have worked under the server before this one, ms since the epoch. */
export interface Worked {
  readonly since: number;
  readonly until: number;
}

/** For people: what the checkpoints of a job cost, and what rollbacks undid. */
export interface CheckpointFigures {
  view(): WavesView;
  /** Until when a task repeats work that a rollback has undone; undefined: it does not act. */
  repeatsUntil(task: TaskId): number | undefined;
  /** The program of a task runs since then. */
  ran(task: TaskId, since: number): void;
  /** A task has stood still for its newest image, so long (ms). */
  stalled(task: TaskId, ms: number): void;
  /** How long the task stood still for its newest image, ms. */
  stallOf(task: TaskId): number | undefined;
}

/** What a time line shows. */
export type WaveNews =
  | {
      readonly kind: 'wave';
      readonly at: number;
      readonly wave: number;
      readonly ms: number;
      readonly cluster?: number;
    }
  | {
      readonly kind: 'rollback';
      readonly at: number;
      readonly wave: number;
      readonly ms: number;
      readonly cause: string;
      readonly cluster?: number;
      readonly alertedBy?: number[];
    };

/** Each method but `tick` is for parts that have something to do then. */
export interface ServicePart {
  /** Now and then. */
  tick(): void;

  // The life of the job.
  /** The job is new. */
  begin?(): void;
  /** After a restart of the server, while the logs wait for a line: what the registry has under the part's kinds. */
  recover?(left: readonly Entry[], worked: Worked): void;
  /** …but all tasks have exited for good: what the logs have may be shown. */
  finish?(): void;
  /** The job has ended, however it did: everything that has come may be shown. */
  end?(): void;
  /** Its keys in the registry, which go with the job. */
  keys?(): string[];
  /** The job has so many tasks; the last ones are this group. */
  grow?(tasks: number, group: SpawnGroup): void;

  // From the dispatcher.
  /** Tasks go back; `ranks`: those that were lost. */
  lost?(cause: string, ranks: readonly TaskId[], what: Loss): void;
  /** The rollback is durable, with a new incarnation of every task that goes back. */
  lineDurable?(epoch: number): void;
  /** A checkpoint is wanted now. `of`: these tasks may soon be lost, and have it if it is not too soon for one. */
  ask?(of?: readonly TaskId[]): void;
  /** The task is given up, durably. `above`: incarnations below it are to be refused. */
  dead?(task: TaskId, above: Incarnation): void;
  /** The task is done for good. */
  done?(task: TaskId): void;

  // From the logs.
  /** The first attachment of an incarnation, at its home. */
  began?(task: TaskId): void;
  fenced?(task: TaskId, incarnation: Incarnation, cm: number): void;
  /** What a stage says (channel-memory/stage.ts), and exits that are durable. */
  answered?(cm: number, answer: StageAnswer): void;
  /** A core begins where its tasks go back to. */
  wentBack?(cm: number, epoch: number): void;
  /** What a core has to know that has recovered, before anything else. */
  recovered?(): StageEvent;

  // From the Checkpoint Server.
  stored?(wave: number, image: StoredImage): void;
  /** Answer to `checkWave`. */
  checked?(wave: number, sound: boolean, reason?: string): void;

  /** A task asks (WorldMode.MEMBER). The Channel Memory has checked that the request can be read. */
  asked?(task: TaskId, body: Uint8Array): void;

  readonly figures?: CheckpointFigures;
}

/** The other cores of the job, as its part reaches them. */
export interface PartHost {
  now(): number;
  logs(): readonly ServedLog[];
  dispatch(event: Timeless<DispatcherEvent>): void;
  image(event: Timeless<CheckpointServerEvent>): void;
  /** Manifests of images of level 1 that are protected, and wait for the commit of this wave. */
  near(wave: number): readonly Manifest[];
  /** Durable when `then` is called; in the order of all commits. */
  commit(changes: readonly Entry[], then: () => void): void;
  /** Tasks of the job without a slot; none while the server gives out none. */
  idle(): readonly TaskId[];
  /** What is known of the job; undefined: it is forgotten. */
  record(): JobRecord | undefined;
  /** What belongs to the task may go. */
  gone(task: TaskId): void;
  /** The job gets these tasks. */
  add(group: SpawnGroup): void;
  /** The job cannot go on. */
  failed(error: ErrorBody): void;
  log(level: 'info' | 'warn' | 'error', message: string): void;
  /** {@link CheckpointFigures.view} has changed. */
  changed(news: WaveNews | undefined): void;
  /** A core threw: a defect. */
  defect(event: string, error: unknown): void;
}

/** What a protocol brings to the service. */
export interface ServicePolicy {
  /** Of the part's records in the registry: the first part of their keys, of which the second is the job. */
  readonly kinds: readonly string[];
  /** For a job that is opened. */
  begin(spec: JobSpec, host: PartHost): ServicePart;
}
