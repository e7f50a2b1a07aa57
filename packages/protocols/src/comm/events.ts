/**
 * Events and effects of the comm core, and what its host owes it.
 *
 * **The host** (packages/node's comm worker, the simulator) keeps one {@link Comm} per job and
 *  1. holds one link (a socket) to every Channel Memory, reconnects it with a back-off, and reports `connected` and
 *     `disconnected`; after `disconnected` the core gets nothing more of that link;
 *  2. gives a socket message to `step({type:'received', cm, bytes})`, and whole frames from a rank's up-ring to
 *     `step({type:'ring', task, bytes})`; `bytes` then belong to the core (it retains them): copy them out of the ring
 *     first;
 *  3. performs effects in order. `deliver` writes a frame to the rank's down-ring; while the ring is full it queues and
 *     goes on serving sockets. Chunks of one sender's message follow each other, those of several may be mixed; the
 *     last has flag LAST, and one at offset 0 makes earlier chunks of that sender's message void (its connection broke,
 *     or a new incarnation of the sender began);
 *  4. reports `consumed` when the rank's status words have moved (arrivals consumed, store full); cheap, at each
 *     wake-up;
 *  5. stops reading a rank's up-ring while `core.retained(task)` is above a limit (say 64 MiB) or a link's buffer is:
 *     the rank then waits in its send, which consumes nothing;
 *  6. (coordinated checkpointing) performs `checkpoint` by asking the rank for an image, and `mark` for its mark. It
 *     reads the status words before it drains the ring, and reports `consumed` after: what a rank consumed behind an
 *     image must not be reported before the image is;
 *  7. (teams with a log) takes frames out of a member's ring, *then* reads the counter that the team shares, then all
 *     reports that its members have written, and gives both to `ring` (T5). It reads reports too when one of their
 *     rings fills, and before `image` (event `reports`). It asks for a wave when an image is due, reports what the
 *     ranks write of it (`image`, `closed`, `declined`) and what becomes of the images (`imageOver`).
 */
import type { ErrorBody, Incarnation, Position, TaskId } from '@mayfly/wire';
import type { EndpointStart } from '../endpoint.ts';
import type { CommdPolicy, TeamPolicy } from './policy.ts';
import type { Reports } from './reports.ts';

export interface CommOptions {
  readonly size: number;
  /** Number of Channel Memories of the job. */
  readonly channelMemories: number;
  /** By task: index of its home; absent: task modulo {@link channelMemories}. */
  readonly homes?: readonly number[] | undefined;
  readonly policy: CommdPolicy;
  /** For ranks that exchange messages in this node's memory; absent: their protocol needs nothing for that. */
  readonly teams?: TeamPolicy | undefined;
  /** Bytes that may be under way to one task. Default 4 MiB. */
  readonly window?: number;
  /** Body part of one frame, as the Channel Memories have it. Default CHUNK_BYTES. */
  readonly chunkBytes?: number;
}

export type CommEvent =
  /** An incarnation begins on this node: attach it to every CM. `nonce`: drawn by the host, 8–64 characters. */
  | {
      readonly type: 'start';
      readonly task: TaskId;
      readonly incarnation: Incarnation;
      readonly capability: string;
      readonly nonce: string;
      readonly position: Position;
      /** Ascending, itself included. None of them is `ready` before all have begun. */
      readonly team?: readonly TaskId[] | undefined;
      /** Of its team, those that have ended and do not begin; absent: none. The same for all that begin. */
      readonly ended?: readonly TaskId[] | undefined;
    }
  /** Revoked, crashed or over: forget it (DETACH where connected). The team of a task is forgotten with it (T1). */
  | { readonly type: 'stop'; readonly task: TaskId }
  | { readonly type: 'connected'; readonly cm: number }
  | { readonly type: 'disconnected'; readonly cm: number }
  | { readonly type: 'received'; readonly cm: number; readonly bytes: Uint8Array }
  | { readonly type: 'ring'; readonly task: TaskId; readonly bytes: Uint8Array; readonly reports?: Reports | undefined }
  | { readonly type: 'consumed'; readonly task: TaskId; readonly arrivals: number; readonly envelopeOnly: boolean }
  /**
   * An image of the rank stands in its up-ring here, behind everything sent before it. Whatever was consumed after it,
   * `consumed` reports later. Answered by `image`.
   */
  | {
      readonly type: 'image';
      readonly task: TaskId;
      readonly position: Position;
      /** The wave of its team for which it was taken. */
      readonly wave?: number | undefined;
    }
  // Of a member of a team with a log.
  /** Its team has reported: answered by a frame of determinants when many are not logged yet. */
  | { readonly type: 'reports'; readonly task: TaskId; readonly reports: Reports }
  /** An image of its team is due. `replaying`: a member repeats its past, so none can be had now (T9). */
  | { readonly type: 'wave'; readonly task: TaskId; readonly replaying: boolean }
  /** Its image of the wave has the state of all channels to it (T6). */
  | { readonly type: 'closed'; readonly task: TaskId; readonly wave: number }
  /** It cannot take an image (T6). */
  | { readonly type: 'declined'; readonly task: TaskId; readonly wave: number }
  /** The image that `image` gave to the host is complete at the Checkpoint Server, or refused. */
  | { readonly type: 'imageOver'; readonly task: TaskId }
  /** The program has ended, and its EXIT was logged by an incarnation before: it will write none (T12). */
  | { readonly type: 'ended'; readonly task: TaskId };

export type CommEffect =
  /**
   * One or more whole frames. The core keeps `bytes` and the far side patches them: copy where both live in one memory
   * (simulator).
   */
  | { readonly type: 'send'; readonly cm: number; readonly bytes: Uint8Array }
  /**
   * ARRIVAL or BODY frame for the rank, after `ready`. `bytes` must not be changed; the body stands at 64 + detBytes.
   */
  | { readonly type: 'deliver'; readonly task: TaskId; readonly bytes: Uint8Array }
  /** Every CM has fenced and answered: the rank may begin, with this for its endpoint. */
  | { readonly type: 'ready'; readonly task: TaskId; readonly start: EndpointStart }
  /**
   * A wave is under way (`pcl`): at its next MPI call the rank is to write MARK into its ring, behind everything that
   * it has sent. It goes on then.
   */
  | { readonly type: 'mark'; readonly task: TaskId }
  /** A wave is under way: the rank is to take an image soon. `wave`: of its team, which the image names. */
  | { readonly type: 'checkpoint'; readonly task: TaskId; readonly wave?: number | undefined }
  /** The image lies there, and goes to the Checkpoint Server; undefined: nobody waits for it any more. */
  | { readonly type: 'image'; readonly task: TaskId; readonly position: Position | undefined }
  /** A teammate was stopped or refused: stop this rank too, the core has forgotten it (T1). */
  | { readonly type: 'revoked'; readonly task: TaskId }
  /**
   * A CM refused the incarnation (FENCED, CLONE, OUT_OF_SEQUENCE, LOST_LOG …): stop the rank; the core has forgotten
   * it.
   */
  | { readonly type: 'refused'; readonly task: TaskId; readonly error: ErrorBody }
  /**
   * The EXIT is durable, after everything before it: the rank's worker may go. The core detaches it, or its team once
   * all members are finished.
   */
  | { readonly type: 'finished'; readonly task: TaskId }
  /** The CM broke the protocol or closed with an error that names no task: close this link (and reconnect). */
  | { readonly type: 'drop'; readonly cm: number; readonly error: ErrorBody };
