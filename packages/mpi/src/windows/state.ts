/**
 * Windows (MPI 4.1 chapter 12) as plain data: what a process knows of its own memory and of the others', the epochs
 * that it is in as origin and as target, and what it still waits for.
 *
 * Invariants
 *  W1  Every window has a communicator of its own (`comm`): its contexts, its group, its error handler. Operations
 *      travel in that context.
 *  W2  `held` holds, per origin, operations in arrival order which may not be applied yet; while there are any, every
 *      later one of that origin joins them.
 *  W3  `came` counts the operations of the present fence epoch that were applied here; those of a later epoch are in
 *      `held`.
 *  W4  `owed` is, per target, the number of answers that have not come; a row of `replies` stands for each.
 */
import type { Buf } from '../buffers.ts';
import type { ErrorRecord } from '../errors.ts';
import type { Layout } from '../layout.ts';
import type { Envelope } from '../envelope.ts';
import { table, type Table } from '../handle-table.ts';

export type Flavor = 'create' | 'allocate' | 'dynamic' | 'shared';

/** Elements that lie somewhere in a space (buffers.ts). */
export interface Place {
  space: number;
  address: number;
  layout: Layout;
  count: number;
}

/** What this process may do to others now. 'fence': after a fence that opened an epoch. */
export type Access = 'none' | 'fence' | 'start' | 'lock' | 'lockAll';

export const Lock = { NONE: 0, SHARED: 1, EXCLUSIVE: 2, UNCHECKED: 3 } as const;

/** A lock that this process has on a target. The request travels with the first operation. */
export interface HeldLock {
  type: number;
  /** The target has been told. */
  told: boolean;
}

/** What a window answers to MPI_Win_get_info besides what it was given. */
export const WINDOW_HINTS: readonly (readonly [string, string])[] = [
  ['no_locks', 'false'],
  ['accumulate_ordering', 'rar,raw,war,waw'],
  ['accumulate_ops', 'same_op_no_op'],
  ['same_size', 'false'],
  ['same_disp_unit', 'false'],
];

export interface WindowRecord {
  handle: number;
  comm: number;
  flavor: Flavor;
  /** This process's memory. */
  base: Buf;
  /** Bytes and displacement unit by rank; of dynamic windows neither matters. */
  sizes: number[];
  units: number[];
  /** Dynamic windows: what is attached here. */
  regions: { address: number; bytes: number }[];
  attributes: Map<number, unknown>;
  /** Hints of a TypeScript program (the C binding keeps its own). */
  info?: Map<string, string>;
  /** A making, a fence or a freeing under way: its schedule, and the buffer of what it brings. */
  schedule: { request: number; result: Buf } | undefined;

  // as origin
  access: Access;
  /** Fences passed; it numbers the epochs. */
  fences: number;
  /** Operations in this fence epoch by target rank. */
  issued: number[];
  started: number[];
  locks: Map<number, HeldLock>;
  /**
   * Bytes of operations without an answer by target rank, since the target has last confirmed that it has applied all.
   */
  unconfirmed: Map<number, number>;
  owed: Map<number, number>;
  /** The first operation that failed and has no request: the next synchronisation reports it. */
  failed: ErrorRecord | undefined;

  // as target
  came: number;
  /** A fence waits for so many; −1: not known yet. */
  expected: number;
  /** Origins of the exposure epoch by rank, and whether they have completed. */
  exposed: Map<number, boolean> | undefined;
  holders: Map<number, number>;
  waiting: { rank: number; type: number }[];
  held: Map<number, Envelope[]>;
  /** In images only: the bytes of memory that is an array of a TypeScript program. */
  contents?: Uint8Array | undefined;
}

/** An answer that has not come. */
export interface Reply {
  window: number;
  rank: number;
  /** Where it goes; undefined: it only confirms. */
  into: Place | undefined;
  /** The request that it completes, or 0. */
  request: number;
  call: string;
}

export interface WindowsState {
  table: Table<WindowRecord>;
  replies: Table<Reply>;
  /**
   * Windows that are being made. Their first operations may come before this process knows the context: those wait in
   * `early`.
   */
  making: number;
  early: Map<number, Envelope[]>;
  /** Context → window. */
  byContext: Map<number, number>;
}

export const noWindows = (): WindowsState => ({
  table: table(),
  replies: table(),
  making: 0,
  early: new Map(),
  byContext: new Map(),
});
