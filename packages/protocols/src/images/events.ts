/**
 * Events, effects and durable records of the Checkpoint Server core (checkpoint-server.ts). One core serves all jobs of
 * a server.
 *
 * Duties of the host: call `step` and perform the effects in order; run `findPages` and `collect` one after the other,
 * never at the same time (a page found must not be collected before the core has pinned it: it is pinned from `offer`
 * on); what it reports as stored or committed is durable. `link` names one image socket.
 */
import type { ErrorBody, ImageId, Incarnation, JobId, Manifest, Position, ProtocolName, TaskId } from '@mayfly/wire';
import type { Range } from '../channel-memory/events.ts';
import type { Dissolved } from '../contract/dissolved.ts';

export interface CheckpointServerSettings {
  /** Complete images kept per task. */
  keep: number;
  /** A CM that has not answered is asked again, ms. */
  askAgainMs: number;
  /** An offer whose pages are not all here after so long is refused, ms. */
  offerMs: number;
  /** … and one that the CMs do not cover so long after its pages. */
  coverMs: number;
  /** Between two collections of pages that no image names any more. */
  collectMs: number;
  /** Largest image, bytes. */
  imageBytes: number;
}
export const defaultCheckpointSettings: CheckpointServerSettings = {
  keep: 2,
  askAgainMs: 5000,
  offerMs: 600_000,
  coverMs: 60_000,
  collectMs: 30_000,
  imageBytes: 4 * 1024 * 1024 * 1024,
};

/**
 * Registry `image/<job>/<task>/<serial, 9 digits>`: one complete image. The manifest itself is in the ImageStore under
 * `image`.
 */
export interface ImageRecord {
  image: ImageId;
  serial: number;
  incarnation: Incarnation;
  position: Position;
  bytes: number;
  /** Bytes of pages that the node had to send. */
  sentBytes: number;
  /** When it was complete, ms since the epoch. */
  at: number;
  /** Complete images of this task so far, this one included. */
  count: number;
}
/**
 * Registry `trimmed/<job>/<task>` = true: logs before the oldest image may be gone, so the start of the program is no
 * way back.
 */
export const trimmedKey = (job: JobId, task: TaskId): string => `trimmed/${job}/${task}`;
export const imageKey = (job: JobId, task: TaskId, serial: number): string =>
  `image/${job}/${task}/${String(serial).padStart(9, '0')}`;

export type CheckpointServerEvent = { now: number } &
  /**
   * From the dispatcher's `openJob`. `acting`: incarnation per task that is the highest durable one (absent: none yet).
   * Idempotent.
   */
  (
    | {
        type: 'openJob';
        job: JobId;
        protocol: ProtocolName;
        size: number;
        channelMemories: number;
        /** Hash of each program, and how many tasks were started with it, in the order of the tasks. */
        programs: readonly { count: number; hash: string }[];
        /** Images are protected by parity between nodes, and of so many waves one has all its images here. */
        wholeEvery?: number | undefined;
        acting: readonly (readonly [TaskId, Incarnation])[];
      }
    /**
     * First event after a start: entries under `image/` and `trimmed/`. Jobs that are not opened later are left to
     * `forgetJob`.
     */
    | { type: 'recover'; entries: readonly (readonly [key: string, value: unknown])[] }
    /** `{type:'offer'}` on an image socket; job, task, incarnation from its capability, which the host has checked. */
    | {
        type: 'offer';
        link: string;
        job: JobId;
        task: TaskId;
        incarnation: Incarnation;
        manifest: Manifest;
        /** Its pages stay with the nodes, protected by parity (near.ts). */
        near?: boolean;
      }
    /** Answer to `rebuild`: all its pages are here, durably; or why not. */
    | { type: 'rebuilt'; image: ImageId; error?: string }
    /** Answer to `findPages`: those of its hashes that the node has to send. */
    | { type: 'pagesFound'; image: ImageId; ask: number; missing: readonly string[] }
    /** A page sent by the node is durable. `bytes`: raw length. */
    | { type: 'pageStored'; link: string; image: ImageId; index: number; bytes: number }
    /** A page was refused (its hash is another) or could not be stored. */
    | { type: 'pageFailed'; link: string; image: ImageId; index: number; error: ErrorBody }
    /**
     * `{type:'end'}` on the socket. The host passes it on after `pageStored` or `pageFailed` of every page that came
     * before it.
     */
    | { type: 'end'; link: string; image: ImageId }
    | { type: 'linkClosed'; link: string }
    /**
     * The CM's effect `covered`, an answer to `cover`: every send and output homed at this CM before the line, and at
     * the task's home CM every arrival before it, is durable there; `determinants`: the ranges that it holds durably.
     * Comes again when the ranges grow.
     */
    | { type: 'covered'; image: ImageId; cm: number; determinants: readonly Range[] }
    /** Answer to `commit`: manifest and record durable. */
    | { type: 'committed'; image: ImageId }
    | { type: 'commitFailed'; image: ImageId; error: ErrorBody }
    /** From the dispatcher's `fenceCs`. */
    | { type: 'restart'; job: JobId; task: TaskId; incarnation: Incarnation }
    /** Answer to `check`: the manifest can be read and every page is there, or not. */
    | { type: 'checked'; image: ImageId; sound: boolean }
    /** The host found the image damaged (a node that fetched it complained, and it was looked at). */
    | { type: 'damaged'; job: JobId; task: TaskId; image: ImageId }
    /** From the dispatcher's `taskDone`: nothing of the task will restart. */
    | { type: 'taskDone'; job: JobId; task: TaskId }
    /**
     * Teams of the job, each of two tasks or more: all of them, every time; before an image of a member is offered or
     * chosen. Their images count together (teams.ts). With them all that were dissolved, before any of their members is
     * to restart again.
     */
    | {
        type: 'teams';
        job: JobId;
        teams: readonly (readonly TaskId[])[];
        dissolved?: readonly Dissolved[] | undefined;
      }
    /** The EXIT of a member of a team is durable. It may restart with its team all the same (T12). */
    | { type: 'exitedInTeam'; job: JobId; task: TaskId }
    // Coordinated checkpointing: images belong to waves. `tasks`: the wave of a cluster; absent: of all tasks.
    /** A wave begins. */
    | { type: 'wave'; job: JobId; wave: number; tasks?: readonly TaskId[] }
    /** The wave under way is over; without a commit, its images go. */
    | { type: 'waveOver'; job: JobId; wave: number; committed: boolean; tasks?: readonly TaskId[] }
    /** Images of this wave may go. */
    | { type: 'forgetWave'; job: JobId; wave: number; tasks?: readonly TaskId[] }
    /** Are these images sound? Those of level 1 are made again first (C15). Answered by `waveChecked`. */
    | { type: 'checkWave'; job: JobId; wave: number; images: readonly ImageId[] }
    /**
     * All tasks, or those of a cluster, go back: those named here to these images, the others to their start. Of all
     * waves, only those in `kept` have images from now on.
     */
    | {
        type: 'goBack';
        job: JobId;
        kept: readonly number[];
        images: readonly (readonly [task: TaskId, image: ImageId])[];
        tasks?: readonly TaskId[];
      }
    /** From `jobEnded`: everything of the job may go. */
    | { type: 'forgetJob'; job: JobId }
    | { type: 'tick' }
  );

export type CheckpointServerEffect =
  /**
   * Which of these (distinct hashes, without the page of zeros) is the node to send? All but those that are stored, and
   * of which the task has shown that it has them (C21): they are in one of its images `own` (ImageStore.ownPages) or
   * among those that it has `sent`. → answers `pagesFound` with the same `ask`.
   */
  | {
      type: 'findPages';
      image: ImageId;
      ask: number;
      pages: readonly string[];
      own: readonly ImageId[];
      sent: readonly string[];
    }
  /** Send ImageNeed. */
  | { type: 'need'; link: string; image: ImageId; pages: number[] }
  /** Send ImageReply. */
  | { type: 'reply'; link: string; reply: 'stored' | 'complete' | 'refused'; image: ImageId; error?: ErrorBody }
  /** CM `cm`'s event `cover`; may be asked again. → answers `covered`. */
  | {
      type: 'cover';
      job: JobId;
      task: TaskId;
      incarnation: Incarnation;
      image: ImageId;
      cm: number;
      position: Position;
    }
  /** CM `cm`'s event `uncover`: the question has lapsed. */
  | { type: 'uncover'; job: JobId; task: TaskId; image: ImageId; cm: number }
  /**
   * ImageStore.putManifest(image, manifest), the same for `others`, then Registry.commit(changes): all durable. →
   * answers `committed` or `commitFailed`. `others`: the other images of the set of a team.
   */
  | {
      type: 'commit';
      job: JobId;
      task: TaskId;
      image: ImageId;
      manifest: Manifest;
      others?: readonly Manifest[];
      changes: (readonly [key: string, value: unknown])[];
    }
  /** Registry.commit(changes) that deletes, then ImageStore.removeManifest of each. No answer needed. */
  | { type: 'discard'; images: ImageId[]; changes: (readonly [key: string, value: unknown])[] }
  /** Now and then, when idle: ImageStore.collect(pinned). */
  | { type: 'collect'; pinned: ReadonlySet<string> }
  /**
   * CM `cm`'s event `trim`: what lies in [prologue, image) of the oldest kept image may go, except `held` (the union
   * over the kept ones). Only ever after `keep` images are complete; again for every task at `openJob` (adapters may
   * forget trims).
   */
  | { type: 'trim'; job: JobId; task: TaskId; cm: number; to: Position }
  /** To the dispatcher: its event `image`. */
  | {
      type: 'complete';
      job: JobId;
      task: TaskId;
      image: ImageId;
      serial: number;
      bytes: number;
      sentBytes: number;
      /** Of coordinated checkpointing. */
      wave?: number;
    }
  /** Level 1 protects this image. `savedBytes`: of pages that its node had to send otherwise. For people. */
  | { type: 'near'; job: JobId; task: TaskId; image: ImageId; bytes: number; savedBytes: number }
  /**
   * Make the pages of this image again from parity, check each against its hash, and store them. → answers `rebuilt`,
   * always.
   */
  | { type: 'rebuild'; job: JobId; task: TaskId; image: ImageId; manifest: Manifest }
  /** A restart could not use level 1, and goes back to level 2. For people. */
  | { type: 'nearLost'; job: JobId; task: TaskId; image: ImageId; reason: string }
  /** Read the manifest and look for every page. → answers `checked`. */
  | { type: 'check'; image: ImageId }
  /** Answer to `checkWave`: its images are all here, and sound; or why not. */
  | { type: 'waveChecked'; job: JobId; wave: number; sound: boolean; reason?: string }
  /** Level 1 has this image for the wave under way. To its scheduler. */
  | { type: 'nearStored'; job: JobId; task: TaskId; image: ImageId; wave: number; bytes: number }
  /** An image that its task goes back to is damaged: the wave cannot be had again. */
  | { type: 'waveDamaged'; job: JobId; task: TaskId }
  /** To the dispatcher: its events `imageChosen` and `imageLost`. */
  | {
      type: 'chosen';
      job: JobId;
      task: TaskId;
      incarnation: Incarnation;
      image?: ImageId;
      position?: Position;
      /** A member of a team that had ended where the others go back to: it does not restart (T12). */
      ended?: true;
    }
  | { type: 'lost'; job: JobId; task: TaskId; incarnation: Incarnation; error: ErrorBody }
  | { type: 'log'; level: 'info' | 'warn'; message: string; job: JobId; task: TaskId };
