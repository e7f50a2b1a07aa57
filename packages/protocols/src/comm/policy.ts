/**
 * What a V-protocol decides in the comm worker; declared here, by who asks. Sessions, retention, credit and pulls know
 * no protocol.
 */
import type { Ack, Attached, Cut, Incarnation, Position, TaskId } from '@mayfly/wire';
import type { Replays } from '../contract/position.ts';
import type { EndpointStart } from '../endpoint.ts';
import type { Reports } from './reports.ts';

/** What a task writes between its mark and its image waits (`pcl`). */
export interface SendFreeze<Frame> {
  /** The wave in which the task has marked and has no image yet; 0: none. */
  readonly wave: number;
  /** Bytes that wait. */
  readonly bytes: number;
  /** More waits than may: the task cannot have an image in this wave. */
  readonly full: boolean;
  mark(wave: number): void;
  /** A frame that the rank has written. True: it waits. */
  holds(frame: Frame, bytes: number): boolean;
  /** What waited, in its order: it leaves now. */
  thaw(): Frame[];
}

/** For one incarnation of a task. All of it dies with the tab. */
export interface CommdTask {
  /** Arrivals are kept until they are synced, and returned to a Channel Memory that lost them (M4). */
  readonly retainsArrivals: boolean;
  /** A Channel Memory hears when a body that was pulled has come whole: it keeps it no longer. */
  readonly confirmsBodies: boolean;
  /** Everything is durable that the task's sends depend on, besides the sends themselves (M6). */
  readonly durable: boolean;

  /** Which arrivals an incarnation that begins there gets again. @throws MalformedPosition */
  replays(position: Position): Replays;

  /** Coordinated checkpointing: where an image cuts the channels of its task. @throws MalformedPosition */
  readonly cutOf?: (position: Position) => Cut;
  /** …and the position of that image in a wave. */
  readonly inWave?: (position: Position, wave: number) => Position;
  /** …after it has marked the end of its sends, and everybody else has. */
  readonly freeze?: <Frame>() => SendFreeze<Frame>;

  // The beginning: what Channel Memories answer, until all have.
  /** A block that came before ATTACHED. @throws MalformedDeterminants */
  answered(block: Uint8Array, cm: number): void;
  attached(m: Attached, cm: number): void;
  /**
   * All Channel Memories have answered, for every member of its team: the rank's start, or what the logs lack for it.
   */
  start(incarnation: Incarnation, position: Position): EndpointStart | { readonly lost: string };

  // Afterwards.
  /** The block of a frame that the rank has written. @throws RangeError when the rank left something out. */
  wrote(block: Uint8Array): void;
  /** The frame as it leaves this node, on its way to a Channel Memory. */
  leaves(frame: Uint8Array): Uint8Array;
  /**
   * A frame of EXIT, which leaves when what it depends on now is {@link durable}: as {@link leaves} shall find it.
   * Absent: as the rank has written it.
   */
  readonly last?: (frame: Uint8Array) => Uint8Array;
  /** Nothing has to leave without a message. Else a frame of no content is sent, which {@link leaves} completes. */
  readonly allLogged: boolean;
  acknowledged(cm: number, ack: Ack): void;
  /** A Channel Memory is back, with what it holds. */
  returned(cm: number, m: Attached): void;
}

export type CommdPolicy = (channelMemories: number) => CommdTask;

/** For the incarnations of a team, which begin and end together. */
export interface CommdTeam {
  member(task: TaskId): CommdTask;
  /** T5: before frames of `src` leave, or without one. @throws RangeError when reports are missing */
  takes(reports: Reports): void;
  /** Determinants of all members that no Channel Memory is known to have logged. */
  readonly unlogged: number;
  /** The position of an image, as the Checkpoint Server gets it. `done`: members that have none in this wave. */
  inWave(position: Position, wave: number, done: readonly TaskId[]): Position;
  /** T6: these images of one wave are a consistent cut, as far as their counts show. @throws MalformedPosition */
  isCut(images: ReadonlyMap<TaskId, Position>): boolean;
  /** The wave of an image that lies there; 0: the start of the program. @throws MalformedPosition */
  waveOf(position: Position): number;
}

export type TeamPolicy = (members: readonly TaskId[], channelMemories: number) => CommdTeam;
