/**
 * The whole state of the MPI layer of one rank, as plain data: what an image stores, and nothing else. Callbacks
 * (user-defined operations, error handlers) are named by handle; the binding maps handles to functions (a
 * function-table index in wasm, a closure that the prologue makes again in TypeScript).
 *
 * Invariants
 *  S1  Everything reachable from here survives encodeValue/decodeValue unchanged.
 *  S2  `unexpected` holds, per context, envelopes in arrival order which no posted receive matches; `posted` holds, per
 *      context, handles of receives in the order of their calls which no unexpected message matches.
 *  S3  `unexpectedBytes` is the sum of the bodies kept in `unexpected` and `messages`; an envelope without `body` (and
 *      size > 0) is held in the log.
 *  S4  Handles and context ids are never reused.
 *  S5  A request is in its table until it is complete and its owner has seen that (or freed it).
 */
import type { Buf } from './buffers.ts';
import { COMM_SELF, COMM_WORLD, FIRST_FREE_CONTEXT, SELF_CONTEXT, WORLD_CONTEXT } from './constants.ts';
import type { ErrorRecord } from './errors.ts';
import { insert, table, type Table } from './handle-table.ts';
import { BUILTIN_OPS, type OpRecord } from './ops.ts';
import { FIRST_DERIVED, type TypeRecord } from './types/datatype-record.ts';
import type { Agreed, FailuresState } from './failure/state.ts';
import { noFiles, type FilesState, type FileStep } from './files/state.ts';
import { noWindows, type WindowsState } from './windows/state.ts';
import type { Envelope } from './envelope.ts';
import type { Layout } from './layout.ts';
import { noPartitions, type PartitionedState } from './partitioned-state.ts';

/** Format number of the serialised state; an image of another one is refused. */
export const STATE_FORMAT = 2;

export type Topology = CartTopology | GraphTopology | DistGraphTopology;

/** Every process knows the whole graph: the neighbours of rank r are edges[index[r − 1]] … edges[index[r] − 1]. */
export interface GraphTopology {
  kind: 'graph';
  index: number[];
  edges: number[];
}

/** Every process knows its own neighbours, with weights where the program gave some. */
export interface DistGraphTopology {
  kind: 'dist';
  sources: number[];
  sourceWeights: number[] | undefined;
  destinations: number[];
  destinationWeights: number[] | undefined;
}

export interface CartTopology {
  kind: 'cart';
  dims: number[];
  periods: boolean[];
}

export interface CommRecord {
  handle: number;
  name: string;
  /** Point to point; +1 for collectives. */
  context: number;
  /** Tasks by rank. */
  group: number[];
  /** This task's rank. */
  rank: number;
  /** Intercommunicators: the remote group's tasks. */
  remote?: number[] | undefined;
  errhandler: number;
  topology?: Topology | undefined;
  /** Collectives started so far: the tag of the next one, so that schedules under way do not mix. */
  collectives: number;
  /** Attribute values by keyval. */
  attributes: Map<number, unknown>;
  /** Hints of a TypeScript program (the C binding keeps its own). */
  info?: Map<string, string>;
  /** MPI_Comm_free was called: it goes when no request is under way on it any more. */
  freed?: boolean;
  /** The window that this is the communicator of: its error handler is the window's. */
  window?: number | undefined;
  /** The same of a file. */
  file?: number | undefined;
  /** FT-MPI: it is of the time before a recovery; some ranks are holes. */
  stale?: true;
  holes?: true;
  /** ULFM: it was revoked; lost members that are acknowledged; agreements so far. */
  revoked?: true;
  acknowledged?: number;
  agreements?: number;
}

export interface StatusRecord {
  /** Rank in the request's communicator. */
  source: number;
  tag: number;
  bytes: number;
  cancelled: boolean;
  object: boolean;
}

interface RequestCommon {
  handle: number;
  /** Standard name of the call that started it. */
  call: string;
  comm: number;
  done: boolean;
  /** MPI_Request_free was called: it goes when it completes. */
  freed: boolean;
  error: ErrorRecord | undefined;
  status: StatusRecord;
  /** Spaces of {@link Buf}s to let go with the request. */
  spaces: number[];
  /** The collective whose step this is, or 0. */
  parent: number;
  /** Packed data to be spread over its places when the owner sees that the request is complete. */
  unpack: Unpack[] | undefined;
}

/**
 * Elements of a derived datatype that came packed: `from` (a scratch buffer) to their places relative to the address.
 */
export interface Unpack {
  /** Where the address is; absent: linear memory. */
  space?: number;
  /** The bytes are in external32, or in the program's own representation of the name: elements of this type. */
  external?: TypeRecord;
  datarep?: string;
  layout: Layout;
  count: number;
  from: Buf;
  address: number;
}

export interface SendRequest extends RequestCommon {
  kind: 'send';
  peer: number;
  tag: number;
  /** Synchronous mode: the number that the receiver's ACK brings back; 0 once complete. */
  sync: number;
}

export interface ReceiveRequest extends RequestCommon {
  kind: 'recv';
  context: number;
  /** Task, or ANY_SOURCE. */
  source: number;
  tag: number;
  /** Undefined: a structured value, whose length only the message knows; its body comes to lie in `body`. */
  into: Buf | undefined;
  body: Uint8Array | undefined;
  /**
   * Bytes of each basic element, where they are spread and all alike: a message that ends within one is of another
   * type. Else 1.
   */
  unit: number;
}

export interface CollectiveRequest extends RequestCommon {
  kind: 'coll';
  context: number;
  tag: number;
  rounds: Step[][];
  /** Next round to start. */
  round: number;
  /** Receives of the started rounds that are not complete. */
  outstanding: number;
  /** Steps are being executed (they may complete receives of their own round). */
  running: boolean;
  /**
   * Handle of the communicator or file that the schedule made, or NULL; a number that it asked the file service for.
   */
  result: number;
  /**
   * Of a connect, at its root, while it waits for an accept: how long it may, and until when by the job's clock once it
   * does.
   */
  timeout?: { ms: number; until?: number } | undefined;
  /** ULFM: it waits for a notice, and survives what others fail by; what was agreed. */
  agreement?: 'agree' | 'shrink' | 'recover';
  agreed?: Agreed;
  /** Where the flag comes to lie in a job whose losses are not told. */
  flagAt?: Buf;
  /** It reads from a file: `status.bytes` says how much came, and no more is unpacked. */
  reads?: boolean;
}

export type RequestRecord = SendRequest | ReceiveRequest | CollectiveRequest;

/**
 * One step of a schedule. The steps of a round are started in order, the next round when all receives of this one are
 * complete. Peers are tasks.
 */
export type Step =
  | { op: 'send'; peer: number; from: Buf; via?: Via | undefined }
  | { op: 'recv'; peer: number; into: Buf; via?: Via | undefined }
  | { op: 'answer'; to: Buf; from: Buf; via: Via }
  | { op: 'copy'; from: Buf; into: Buf }
  /** into = from ∘ into, `from` being of lower ranks. */
  | { op: 'reduce'; fn: number; type: number; from: Buf; into: Buf }
  /** into = into ∘ from. Overwrites `from` when the operation is a callback. */
  | { op: 'reduceRight'; fn: number; type: number; from: Buf; into: Buf }
  | { op: 'comm'; make: NewComm; from: Buf }
  | { op: 'file'; step: FileStep };

/** Context and tag of messages that are not the collective's own. */
export interface Via {
  context: number;
  tag: number;
}

/** What a duplicate takes over; the parent may be freed before it is there. */
export type DupOf = Pick<CommRecord, 'group' | 'remote' | 'topology' | 'errhandler' | 'attributes'>;

/**
 * How the last step of a communicator's making reads what the schedule has gathered. A card is what the leaders of two
 * groups tell each other (cards.ts). `comm`: the parent, 0 for none; of an intercommunicator the new one is such too.
 */
export type NewComm =
  /** `from`: u32 context; of an intercommunicator: and the other group's. */
  | { how: 'dup'; comm: number; name: string; of?: DupOf | undefined }
  /**
   * `from`: u32 context; of an intercommunicator: own card, the other group's card. `group`: its tasks by rank; this
   * task may not be in it.
   */
  | { how: 'create'; comm: number; group: number[]; name: string; topology?: Topology | undefined }
  /**
   * `from`: per rank of the parent i32 colour, i32 key, u32 context; of an intercommunicator: and the same of the other
   * group.
   */
  | { how: 'split'; comm: number; name: string; topology?: Topology | undefined }
  /** Two groups become an intercommunicator. `from`: own card, the other group's card. */
  | {
      how: 'inter';
      comm: number;
      group: number[];
      name: string;
      /** At the leader: why the other card is a refusal, if it is one. */
      wrong?: { errorClass: number; text: string } | undefined;
    }
  /**
   * An intercommunicator becomes an intracommunicator. `from`: own and the other group's u32 context, u32 high, u32
   * low.
   */
  | { how: 'merge'; comm: number };

export interface StdinChunk {
  arrival: number;
  size: number;
  /** Undefined: held in the log. */
  body: Uint8Array | undefined;
}

/** Ports that this task has opened, services that it has heard of. */
export interface PortsState {
  next: number;
  open: number[];
  services: Map<string, string>;
  /** Tasks whose ports below a number are closed for good: they have left MPI. */
  left: Map<number, number>;
}
export const noPorts = (): PortsState => ({ next: 1, open: [], services: new Map(), left: new Map() });

/**
 * Messages of point to point and collectives so far, for the tool interface: a function of the calls and of what they
 * have consumed, thus the same in every replay.
 */
export interface Traffic {
  sent: number;
  sentBytes: number;
  received: number;
  receivedBytes: number;
}
export const noTraffic = (): Traffic => ({ sent: 0, sentBytes: 0, received: 0, receivedBytes: 0 });

export interface LayerState {
  format: number;
  task: number;
  /** Tasks of its MPI_COMM_WORLD. */
  size: number;
  /** Tasks of the job that it has heard of: at least so many there are. */
  known: number;
  /** Spawned: the communicator with its parents, once it has met them. */
  parent?: number;
  finalized: boolean;
  comms: Table<CommRecord>;
  groups: Table<number[]>;
  ops: Table<OpRecord>;
  errhandlers: Table<{ name: string }>;
  /** Derived datatypes; predefined ones are not in it. */
  types: Table<TypeRecord>;
  requests: Table<RequestRecord>;
  /** Scratch buffers of schedules by (negative) space. */
  scratch: Map<number, Uint8Array>;
  nextScratch: number;
  nextContext: number;
  /**
   * Attribute keys that a TypeScript program has made, and the attributes that it has given to predefined datatypes.
   */
  keyvals?: number;
  typeAttributes?: Map<number, Map<number, unknown>>;
  /** Number of the last synchronous send; which request waits for which number. */
  lastSync: number;
  syncs: Map<number, number>;
  posted: Map<number, number[]>;
  unexpected: Map<number, Envelope[]>;
  unexpectedBytes: number;
  /** Messages that a matched probe has taken, by handle. */
  messages: Table<{ comm: number; envelope: Envelope }>;
  partitioned: PartitionedState;
  /** Absent: nothing has failed. */
  failures?: FailuresState;
  windows: WindowsState;
  files: FilesState;
  ports: PortsState;
  traffic: Traffic;
  /** Standard input as it came and was not yet read; `ended` once its end came. */
  stdin: { chunks: StdinChunk[]; ended: boolean };
  /** Bytes written by this rank per result file (for append). */
  fileBytes: Map<string, number>;
}

const commRecord = (handle: number, name: string, context: number, group: number[], rank: number): CommRecord => ({
  handle,
  name,
  context,
  group,
  rank,
  errhandler: 1,
  collectives: 0,
  attributes: new Map(),
});

export function initialState(task: number, size: number, first = 0): LayerState {
  const comms = table<CommRecord>();
  insert(
    comms,
    commRecord(
      COMM_WORLD,
      'MPI_COMM_WORLD',
      WORLD_CONTEXT,
      Array.from({ length: size }, (_, i) => first + i),
      task - first,
    ),
  );
  insert(comms, commRecord(COMM_SELF, 'MPI_COMM_SELF', SELF_CONTEXT, [task], 0));
  const groups = table<number[]>();
  insert(groups, []);
  const ops = table<OpRecord>();
  for (const name of BUILTIN_OPS) insert(ops, { name, commute: true, builtin: name });
  const errhandlers = table<{ name: string }>();
  insert(errhandlers, { name: 'MPI_ERRORS_ARE_FATAL' });
  insert(errhandlers, { name: 'MPI_ERRORS_RETURN' });
  insert(errhandlers, { name: 'MPI_ERRORS_ABORT' });
  return {
    format: STATE_FORMAT,
    task,
    size,
    known: first + size,
    finalized: false,
    comms,
    groups,
    ops,
    errhandlers,
    types: { next: FIRST_DERIVED, rows: new Map() },
    requests: table(),
    scratch: new Map(),
    nextScratch: -1,
    nextContext: FIRST_FREE_CONTEXT,
    lastSync: 0,
    syncs: new Map(),
    posted: new Map(),
    unexpected: new Map(),
    unexpectedBytes: 0,
    messages: table(),
    partitioned: noPartitions(),
    windows: noWindows(),
    files: noFiles(),
    stdin: { chunks: [], ended: false },
    fileBytes: new Map(),
    ports: noPorts(),
    traffic: noTraffic(),
  };
}
