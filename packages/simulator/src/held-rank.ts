/** A rank of a simulated node: what the node knows of it, and what it reports to the server. */
import type { Hold, Heartbeat, ImageId, Incarnation, JobId, Position, TaskId } from '@mayfly/wire';
import type { ControlDown } from './messages.ts';
import type { SimImage } from './rank-host.ts';
import type { Rank } from './rank.ts';
import type { RecoveringRank } from './recovering-rank.ts';

export interface Held {
  readonly task: TaskId;
  readonly incarnation: Incarnation;
  readonly position: Position;
  readonly nonce: string;
  serial: number;
  readonly image: SimImage | undefined;
  /** The tasks whose messages do not pass the server, itself included. */
  readonly team: readonly TaskId[] | undefined;
  /** Of these, those that had ended when it was assigned. */
  readonly ended: readonly TaskId[] | undefined;
  rank: Rank | RecoveringRank | undefined;
  /** The comm core has it. */
  given: boolean;
  started: boolean;
  nextCheckpoint: number;
  /** A wave wants its mark (`pcl`). */
  toMark: boolean;
  /** A wave wants an image of it. */
  asked: boolean;
  /** Where its last image was taken. */
  lastLine?: string | undefined;
  finished: boolean;
  /** Its next image is its last, or that of a script at this call of checkpoint.here: the server has asked for it. */
  last: boolean;
  lastCall: number | undefined;
  /** That image, and whether it is complete. */
  parked?: { readonly image: ImageId; complete: boolean } | undefined;
}

/** The ranks that are not finished, as Hello names them. */
export const holdsOf = (job: JobId, held: Iterable<Held>): Hold[] =>
  [...held].filter((h) => !h.finished).map((h) => ({ job, task: h.task, incarnation: h.incarnation }));

/** The same, as a heartbeat names them. `computes`: the rank's turn is still to come. */
export const tasksOf = (job: JobId, held: Iterable<Held>, computes: (h: Held) => boolean): Heartbeat['tasks'] =>
  [...held]
    .filter((h) => !h.finished)
    .map((h) => ({
      job,
      task: h.task,
      incarnation: h.incarnation,
      started: h.started,
      recovered: h.rank?.endpoint.repeating === false,
      ...(h.parked && { parked: h.parked.complete }),
      activity: {
        state: h.rank?.endpoint.repeating ? 'replaying' : h.rank && !computes(h) ? 'waiting' : 'computing',
        arrivals: h.rank?.endpoint.consumed ?? 0,
        sends: h.rank?.endpoint.sent().reduce((n, [, c]) => n + c, 0) ?? 0,
        ...(h.rank?.checkpointCalls && { checkpointCalls: h.rank.checkpointCalls }),
      },
    }));

/** For the report of a run that does not end. */
export const describeHeld = (h: Held): string =>
  `  task ${h.task}.${h.incarnation}${h.finished ? ' finished' : ''} ${h.rank?.describe() ?? 'not begun'}`;

/** A rank that a node has just been given. */
export const heldOf = (m: Extract<ControlDown, { type: 'assign' }>, node: string, nextCheckpoint: number): Held => ({
  task: m.task,
  incarnation: m.incarnation,
  position: m.position,
  serial: m.serial,
  image: m.image,
  team: m.team,
  ended: m.ended,
  rank: undefined,
  given: false,
  started: false,
  nonce: `nonce-${node}-${m.task}.${m.incarnation}`,
  nextCheckpoint,
  toMark: false,
  asked: false,
  finished: false,
  last: false,
  lastCall: undefined,
});
