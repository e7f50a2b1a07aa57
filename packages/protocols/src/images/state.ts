/**
 * State of the Checkpoint Server core. `Task.images` and `Task.trimmed` mirror the registry; everything else is
 * losable.
 */
import type { ImageId, Incarnation, JobId, Manifest, TaskId } from '@mayfly/wire';
import type { Range } from '../channel-memory/events.ts';
import type { Dissolved } from '../contract/dissolved.ts';
import type { ImagePolicy, ImageTable } from './policy.ts';
import type { ImageSet, TeamSets } from './team-sets.ts';
import type { CheckpointServerEffect, CheckpointServerSettings, ImageRecord } from './events.ts';

export interface Offer {
  readonly task: Task;
  readonly manifest: Manifest;
  /**
   * `covered`: waits for those of its teammates (teams.ts), or, of level 1, for its wave (near-waves.ts); `rebuilding`:
   * its pages come from parity (near.ts, near-teams.ts).
   */
  stage: 'finding' | 'receiving' | 'covering' | 'covered' | 'committing' | 'rebuilding';
  /** Of level 1: its pages stay with the nodes. */
  readonly near: boolean;
  /** Of level 1: bytes that its node had to send otherwise. */
  savedBytes: number;
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
  /** Of its team, once it is covered. */
  wave?: number;
  /** All that one commit makes complete, itself included. */
  together?: readonly Offer[];
  /** Of a wave that a rollback goes back to: it was of level 1, and has been made again. */
  again?: boolean;
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
  /**
   * The newest image of level 1 that is covered, if it is newer than those (near.ts); of waves, that of a committed one
   * that is kept, which the registry has (C17). Otherwise losable.
   */
  near?: Manifest;
  /** Since the server began: images of level 1 and what they saved, and bytes of pages that nodes sent. */
  nearImages: number;
  sentBytes: number;
  savedBytes: number;
  /**
   * C21: pages of the offer that began last, which the node sent for it or before it: what need not come again after a
   * broken connection.
   */
  sent: Set<string>;
  offer?: Offer;
  /** A restart that waits for its image. */
  restart?: { incarnation: Incarnation; checking?: ImageId };
  done: boolean;
}

/** A team of the job (teams.ts). */
export interface Team {
  readonly job: Job;
  readonly members: readonly TaskId[];
  /** Of waves. Complete ones mirror the registry; of that of level 1 the tasks have the manifests. */
  readonly sets: TeamSets<ImageRecord>;
  /** Members whose EXIT is durable (T12). */
  readonly exited: Set<TaskId>;
  /** The job is open, and `sets` has what the registry has. */
  ready: boolean;
  committing?: ImageSet<ImageRecord> | undefined;
  /** C20: the set of level 1 is made again; images that are not here yet. */
  again?: { readonly set: ImageSet<ImageRecord>; readonly left: Set<ImageId> } | undefined;
  /** A restart of the team: its newest set is looked at. */
  check?: { readonly set: ImageSet<ImageRecord>; readonly left: Set<ImageId>; sound: boolean } | undefined;
}

export interface Job {
  readonly id: JobId;
  open?: {
    size: number;
    channelMemories: number;
    programs: readonly { count: number; hash: string }[];
    /** Its images are protected by parity. */
    wholeEvery: number | undefined;
    policy: ImagePolicy;
  };
  tasks: Map<TaskId, Task>;
  /** Coordinated checkpointing (waves.ts). */
  readonly waves: Waves;
  /** By member. */
  readonly teams: Map<TaskId, Team>;
  /** Teams that were dissolved (dissolve.ts). */
  dissolved: readonly Dissolved[];
}

/** C16. */
export interface Unanswered {
  readonly task: Task;
  readonly wave: number;
  link: string | undefined;
}

export interface Waves {
  /** Waves under way: one of all tasks, or one of each cluster. */
  underWay: { readonly wave: number; readonly tasks: ReadonlySet<TaskId> | undefined }[];
  /** Where each task goes back to; the others begin at their start. */
  readonly line: Map<TaskId, ImageId>;
  /** A wave is being checked. */
  check:
    { readonly wave: number; readonly left: Set<ImageId>; sound: boolean; reason?: string | undefined } | undefined;
}

/** All of it, and the effects of the step under way. */
export interface State {
  readonly settings: CheckpointServerSettings;
  readonly table: ImageTable;
  /** The rule of sets. */
  readonly Sets: typeof TeamSets;
  readonly jobs: Map<JobId, Job>;
  readonly offers: Map<ImageId, Offer>;
  /** C16: complete images whose nodes hear of that when their wave is committed. */
  readonly unanswered: Map<ImageId, Unanswered>;
  now: number;
  /** Number of the last question for pages. */
  asks: number;
  /** Whether there may be pages that no image names any more, and when they were collected last. */
  garbage: boolean;
  collected: number;
  out: CheckpointServerEffect[];
}

export const newState = (settings: CheckpointServerSettings, table: ImageTable, Sets: typeof TeamSets): State => ({
  settings,
  table,
  Sets,
  jobs: new Map(),
  offers: new Map(),
  unanswered: new Map(),
  now: 0,
  asks: 0,
  garbage: true,
  collected: 0,
  out: [],
});

export function emit(s: State, effect: CheckpointServerEffect): void {
  s.out.push(effect);
}

export function jobOf(s: State, id: JobId): Job {
  let job = s.jobs.get(id);
  if (!job)
    s.jobs.set(
      id,
      (job = {
        id,
        tasks: new Map(),
        waves: { underWay: [], line: new Map(), check: undefined },
        teams: new Map(),
        dissolved: [],
      }),
    );
  return job;
}

export function taskOf(job: Job, task: TaskId): Task {
  let t = job.tasks.get(task);
  if (!t)
    job.tasks.set(
      task,
      (t = {
        job,
        task,
        acting: undefined,
        images: [],
        trimmed: false,
        nearImages: 0,
        sentBytes: 0,
        savedBytes: 0,
        sent: new Set(),
        done: false,
      }),
    );
  return t;
}

/** The wave under way of a task; 0: none. */
export const underWayOf = (job: Job, task: TaskId): number =>
  job.waves.underWay.find(({ tasks }) => !tasks || tasks.has(task))?.wave ?? 0;

/** The wave of an image; undefined: its protocol has none. */
export const waveOf = (job: Job, { position }: Pick<ImageRecord, 'position'>): number | undefined =>
  job.open?.policy.waveOf?.(position);

export const OVER = { code: 'CONFLICT', message: 'The wave of this image is over.' } as const;
