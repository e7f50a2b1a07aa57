/**
 * The device: the few operations that the MPI layer needs from below (MPICH's ADI; `ch_cm` in MPICH-V §3.3).
 * Implemented over rings and the V-protocol endpoint by packages/node, over in-memory queues by this package's tests.
 *
 * Everything here is synchronous. Only `wait` may block, and `send` when the ring is full.
 */
import type { FtModes, TaskId } from '@mayfly/wire';
import type { Codes } from './ckpt/codes.ts';

/** One message in this task's arrival order. */
export interface Arrival {
  /** Position in the arrival order, from 1. */
  readonly number: number;
  readonly src: TaskId;
  readonly mode: number;
  readonly context: number;
  readonly tag: number;
  readonly word: number;
  /** Length of the whole body in bytes. */
  readonly size: number;
  /**
   * The whole body, valid only until the next call of the device (it may lie in the ring): copy what is kept.
   * Absent: the body stayed in the log; fetch it with {@link Device.pull}.
   */
  readonly body: Uint8Array | undefined;
}

/** What a waiting call waits for, for the status words: dashboards and the deadlock report read them. */
export interface WaitReason {
  /** Standard name, 'MPI_Recv'. */
  readonly call: string;
  /** Task waited for; undefined for ANY_SOURCE or several. */
  readonly peer?: TaskId | undefined;
  readonly tag?: number | undefined;
}

export interface Device {
  readonly task: TaskId;
  /** Number of tasks in its world: those that the job was started with, or those that were spawned together. */
  readonly size: number;
  /** Tasks that the job may come to have, the same for all of them; absent: `size`. */
  readonly capacity?: number;
  /** Slots that there were for the job when it began (MPI_UNIVERSE_SIZE); absent: `size`. */
  readonly universe?: number;
  /** How often the task was begun anew; differs in a replay, so it goes through {@link place}. Absent: 0. */
  readonly incarnation?: number;
  /**
   * It was spawned: the first task of its world, the task that asked for it, the part of the call that it belongs to.
   */
  readonly spawned?: { readonly first: number; readonly root: number; readonly appnum: number };
  /**
   * Tasks that exchange messages in memory when the job begins, each group ascending; absent: none do. It stays for the
   * life of the job and is the same at all tasks, as algorithms of collectives are chosen by it.
   */
  readonly teams?: readonly (readonly TaskId[])[];
  /** The job goes on without a process that is lost, and the others are told (protocol `app`). */
  readonly tellsLosses?: boolean;
  /** Checksums of several processes' data, where losses are told. */
  readonly codes?: Codes;
  /** FT-MPI's modes of the job, if it has any. `restarted`: this task takes the rank of a lost one. */
  readonly ft?: FtModes & { readonly restarted?: boolean };
  /** The job was started with several programs: which of them this task runs, and how many tasks do. */
  readonly part?: { readonly appnum: number; readonly size: number };

  /**
   * Gives a message to the channel (this task → dst). Buffered by the Channel Memory: never waits for the receiver. The
   * body is taken before the call returns. A send to oneself goes the same way.
   */
  send(dst: TaskId, mode: number, context: number, tag: number, word: number, body: Uint8Array): void;

  /**
   * Consumes exactly one arrival, blocking until there is one. Deterministic: needs no determinant. Undefined: nothing
   * was consumed and an image is due, which the program's host takes now (programs whose stack can be unwound; a
   * TypeScript program is never interrupted).
   */
  wait(reason: WaitReason): Arrival | undefined;

  /**
   * One poll (Test*, Iprobe, Request_get_status …): hands available arrivals to `consume` until it returns true
   * (condition met) or none is left. An event also when nothing was there: its outcome is logged, and repeated at a
   * replay. `consume` calls no other operation of the device: a send inside a poll would leave before the poll's own
   * determinant. Its answer depends on the envelopes alone, never on whether a body is there.
   */
  poll(consume: (arrival: Arrival) => boolean): void;

  /**
   * Blocks until something has arrived, or for `ms`; in a replay not at all. It consumes nothing and is no event: what
   * the caller does next depends on logged polls and readings of the clock alone. False: an image is due, as for
   * {@link wait}. Absent: the caller polls without a rest.
   */
  rest?(reason: WaitReason, ms: number): boolean;

  /** Blocks until the body of a consumed arrival has come from the log; `into` is exactly as long as the body. */
  pull(arrival: number, into: Uint8Array): void;

  /** Room left for bodies of unmatched messages. Over it the layer keeps envelopes only and pulls on match. */
  readonly unexpectedBytes: number;
  /** Tells the device how full the store of unmatched bodies is, for flow control, and how many messages wait. */
  unexpected(bytes: number, messages: number): void;

  /** The program is this far, 0 to 1: for people, no event. Absent: nobody looks. */
  progress?(fraction: number): void;

  /** The job's clock in ms (a determinant). */
  clock(): number;
  /** A value that depends on the place, logged as a determinant. */
  place(read: () => string): string;
}
