/**
 * The layer of one rank: its state, its device, its memory, and what a binding lends it. Everything else in this
 * package is functions over this object.
 *
 * Owns: the state ({@link LayerState}), the work that arrivals have left to do. Does not own: callbacks of the program
 * (the binding's).
 */
import { Memory, type Buf } from './buffers.ts';
import { ERR, MPIError, fail } from './errors.ts';
import { noFailures } from './failure/state.ts';
import type { Envelope } from './envelope.ts';
import { initialState, type CommRecord, type LayerState, type RequestRecord } from './state.ts';
import { Checkpoints } from './ckpt/state.ts';
import type { Arrival, Device } from './device.ts';
import type { OpCallback } from './ops.ts';
import type { TypeRecord } from './types/datatype-record.ts';

/** What an arrival has caused and a poll may not do (device.ts): done right after it, in order. */
export type Deferred =
  | { do: 'ack'; dst: number; word: number }
  /** Fills `into` with the body of an arrival; what does not fit is cut off. */
  | { do: 'pull'; arrival: number; size: number; into: Uint8Array }
  | { do: 'advance'; request: number }
  /** Somebody knocks at a port that is not open, or takes back a card that nobody has accepted. */
  | { do: 'refuse'; dst: number; port: number }
  /** A one-sided operation or its answer that needs its body from the log, or is to be answered. */
  | { do: 'window'; window: number; envelope: Envelope }
  /** Values of the file service for a cell of a schedule; what it says was written. */
  | { do: 'file'; cell: Buf; error: number; arrival: number; size: number; body: Uint8Array | undefined }
  | { do: 'written'; request: number; arrival: number; size: number; body: Uint8Array | undefined }
  /** A copy of another process' checkpoint, or how many messages it has sent. */
  | { do: 'copy'; arrival: Omit<Arrival, 'body'>; body: Uint8Array | undefined }
  /** A notice of the membership service. */
  | { do: 'notice'; arrival: number; size: number; body: Uint8Array | undefined }
  /** A freed request is complete. */
  | { do: 'retire'; request: number };

/** For tests and the status words: what was copied, and how often. */
export interface Counters {
  /** Bytes copied from the device's view into a posted receive's buffer. */
  matchedBytes: number;
  /** Bytes copied from the device's view into the store of unmatched bodies. */
  storedBytes: number;
  /** Bytes copied from that store into a receive's buffer. */
  unstoredBytes: number;
  /** Bodies fetched from the log. */
  pulls: number;
}

export interface Layer {
  readonly device: Device;
  state: LayerState;
  readonly memory: Memory;
  /** User-defined operations by handle. */
  readonly opCallbacks: Map<number, OpCallback>;
  /**
   * What converts elements that were read from the program's own data representations to their place, by name: the code
   * that the program's function answered.
   */
  readonly conversions: Map<string, (type: TypeRecord, count: number, from: Uint8Array, address: number) => number>;
  readonly deferred: Deferred[];
  readonly counters: Counters;
  /** A callback of the program is on the stack (a reduction): it may not call MPI. */
  inCallback: boolean;
  /** Operation-level checkpoints in a job whose losses are told. No image has them: such a job takes none. */
  readonly ckpt: Checkpoints | undefined;
}

/** @param linearMemory the program's linear memory (C, C++); absent for TypeScript programs */
export function createLayer(device: Device, linearMemory?: () => Uint8Array): Layer {
  const layer: Layer = {
    device,
    state: initialState(device.task, device.size, device.spawned?.first),
    memory: new Memory(linearMemory, () => layer.state.scratch),
    opCallbacks: new Map(),
    conversions: new Map(),
    deferred: [],
    counters: { matchedBytes: 0, storedBytes: 0, unstoredBytes: 0, pulls: 0 },
    inCallback: false,
    ckpt: device.tellsLosses ? new Checkpoints() : undefined,
  };
  // It has no rank before the others let it in.
  if (device.ft?.restarted) layer.state.failures = { ...noFailures(), broken: true };
  return layer;
}

/** Tasks that the job may come to have: ids that are made of task numbers stay apart with it. */
export const capacityOf = (layer: Layer): number => Math.max(layer.state.size, layer.device.capacity ?? 0);

/** @throws MPIError ERR_COMM */
export function commOf(layer: Layer, handle: number, call: string): CommRecord {
  if (layer.inCallback)
    fail(ERR.OTHER, call, 'called inside the function of a reduction operation, which may not communicate');
  if (layer.state.finalized) fail(ERR.OTHER, call, 'called after MPI_Finalize');
  const comm = layer.state.comms.rows.get(handle);
  if (!comm || comm.freed)
    throw new MPIError(
      ERR.COMM,
      call,
      handle === 0 ? 'the communicator is MPI_COMM_NULL' : 'the communicator was freed',
    );
  if (comm.stale) fail(ERR.COMM, call, `${comm.name} is from before the recovery: make it again`);
  return comm;
}

/** @throws MPIError ERR_REQUEST */
export function requestOf(layer: Layer, handle: number, call: string): RequestRecord {
  const r = layer.state.requests.rows.get(handle);
  if (!r) throw new MPIError(ERR.REQUEST, call, 'the request is not active (completed, freed or null)');
  return r;
}

/** One more message to another task (or to oneself) leaves. */
export function countSend(layer: Layer, bytes: number, to: number): void {
  const { traffic } = layer.state;
  layer.ckpt?.countSent(to);
  traffic.sent++;
  traffic.sentBytes += bytes;
}

/** A scratch buffer; give its space to a request, which lets it go. */
export function scratch(layer: Layer, bytes: number): Buf {
  const space = layer.state.nextScratch--;
  layer.state.scratch.set(space, new Uint8Array(bytes));
  return { space, offset: 0, bytes };
}

export function releaseSpace(layer: Layer, space: number): void {
  if (space > 0) layer.memory.unpin(space);
  else if (space < 0) layer.state.scratch.delete(space);
}

const rankCache = new WeakMap<number[], Map<number, number>>();

/** Rank of a task in a communicator's group (tasks by rank), or -1. */
export function rankOfTask(group: number[], task: number): number {
  if (group[task] === task) return task;
  if (group.length <= 8) return group.indexOf(task);
  let map = rankCache.get(group);
  if (!map) rankCache.set(group, (map = new Map(group.map((t, i) => [t, i]))));
  return map.get(task) ?? -1;
}
