/** The binding's own tables, as plain data: the section `binding` of an image. */
import type { Layout, Series, ckpt } from '@mayfly/mpi';

export const BINDING_FORMAT = 1;

/** A call under way: what its second half needs. `call` is the name without MPI_. */
export interface CallRecord {
  call: string;
  /** The layer's request, or 0. */
  request: number;
  /** Addresses and numbers, as the call defines them. */
  at: number[];
  phase: number;
}

/** What a request handle of the program stands for. */
export interface Slot {
  /** The layer's request; 0: none (a persistent request that is not active). */
  request: number;
  /** Communicators that are made without blocking: where the handle goes. */
  newComm: number;
  /** Communicator whose attributes the new one gets. */
  parent: number;
  /**
   * What that one was given at the call: attributes (copied then) and a private info object, as keepInfo in
   * communicators.ts names it.
   */
  gets: { attributes: Map<number, unknown>; info: number } | undefined;
  /** MPIX_Comm_iagree: where the flag goes; 0: nowhere. */
  flag: number;
  /** Started again and again: the starter and its arguments. */
  persistent: { starter: string; args: number[]; large: boolean; call: string; series?: Series } | undefined;
  /** Generalized requests: function-table indices and the program's word. */
  general: { query: number; free: number; cancel: number; extra: number; freed?: boolean } | undefined;
}

export interface Keyval {
  kind: 'comm' | 'type' | 'win';
  copy: number;
  remove: number;
  extra: number;
}

/**
 * A handle of a performance variable of the tool interface: what it has counted until it was stopped or set, and where
 * the variable stood when it was started or set.
 */
export interface ToolHandle {
  session: number;
  index: number;
  running: boolean;
  counted: number;
  since: number;
}

/** [MPI_Session_init] */
export interface SessionRecord {
  /** The layer's number of its error handler. */
  errhandler: number;
  /** Level of thread support, by name. */
  level: string;
  buffer?: { address: number; bytes: number } | undefined;
}

export interface BindingState {
  format: number;
  phase: 'before' | 'active' | 'after';
  threadLevel: number;
  pending: CallRecord | undefined;
  /** By number of the request handle; number 0 is the complete send. */
  slots: (Slot | undefined)[];
  freeSlots: number[];
  /** Function-table index and form of user-defined operations by the layer's handle. */
  opFunctions: Map<number, { index: number; large: boolean; freed: boolean }>;
  /** Function-table index of user-defined error handlers by the layer's handle. */
  errorFunctions: Map<number, number>;
  /** Names that the program gave to communicators, by the layer's handle. */
  names: Map<number, string>;
  keyvals: Map<number, Keyval>;
  nextKeyval: number;
  infos: Map<number, Map<string, string>>;
  nextInfo: number;
  /** Attributes and names that the program gave to predefined datatypes. */
  typeAttributes: Map<number, Map<number, unknown>>;
  typeNames: Map<number, string>;
  /**
   * What the program gave to windows or what is kept for them, by the layer's handle: memory of MPI_Win_allocate, where
   * the predefined attributes lie (0: none).
   */
  windows: Map<number, { name: string; info: Map<string, string>; memory: number; cells: number }>;
  /** Info given to communicators, by the layer's handle. */
  commInfo: Map<number, Map<string, string>>;
  /** Classes, codes and texts that the program added. */
  errorClasses: Map<number, string>;
  errorCodes: Map<number, { errorClass: number; text: string }>;
  nextErrorCode: number;
  /** FT-MPI: where its attributes lie, and the error code that names the failed ranks. */
  failureCells?: number;
  failureCode?: number;
  /** The last text of each error class, for MPI_Error_string. */
  lastErrors: Map<number, string>;
  /** Attached for buffered sends; bytes −1: as much as is wanted. */
  buffer: { address: number; bytes: number } | undefined;
  commBuffers: Map<number, { address: number; bytes: number }>;
  /** Calls of MPI_T_init_thread without their MPI_T_finalize. */
  toolUsers: number;
  /** Sessions and handles of the tool interface, numbered together from 2; control variables by their handles. */
  tool: { sessions: number[]; handles: Map<number, ToolHandle>; control: Map<number, number>; next: number };
  /** Images taken. */
  images: number;
  sessions: Map<number, SessionRecord>;
  nextSession: number;
  /** Where the predefined attributes lie in the program's memory; 0: not made yet. */
  attributeCells: number;
  /**
   * Hints given to files, by the layer's handle; data representations of the program (of older images only whether they
   * convert nothing).
   */
  fileInfo?: Map<number, Map<string, string>>;
  datareps?: Map<string, boolean | Datarep>;
  /** Operation-level checkpoints, from MPI_Ckpt_open to MPI_Ckpt_close. */
  ckpt?: CkptState | undefined;
  /** Where MPI_Alloc_mem's memory lies. Absent in older images: then nothing is known of it. */
  allocated?: Set<number>;
}

/** Operation-level checkpoints of the program (ckpt.ts). */
export interface CkptState {
  /** The layer's communicator. */
  comm: number;
  options: ckpt.Settings;
  /** By tag, in the order of their registration. */
  data: Map<number, CkptData>;
  /** Calls of MPI_Ckpt_here; tags that were registered at the last one, with their bytes. */
  rounds: number;
  saved: Map<number, number>;
}
export interface CkptData {
  address: number;
  count: number;
  layout: Layout;
  /** Id of the numbers' type; negative: they are none. */
  element: number;
}

/** A data representation of the program: function-table indices, and the pointer that they are given. */
export interface Datarep {
  read: number;
  write: number;
  extent: number;
  extra: number;
  /** The functions have counts of 64 bits. */
  large: boolean;
}

export const FIRST_USER_ERROR = 200;
export const FIRST_KEYVAL = 1024;

export const initialState = (): BindingState => ({
  format: BINDING_FORMAT,
  phase: 'before',
  threadLevel: 0,
  pending: undefined,
  slots: [undefined],
  freeSlots: [],
  opFunctions: new Map(),
  errorFunctions: new Map(),
  names: new Map(),
  keyvals: new Map(),
  nextKeyval: FIRST_KEYVAL,
  infos: new Map(),
  nextInfo: 0,
  commInfo: new Map(),
  windows: new Map(),
  typeAttributes: new Map(),
  typeNames: new Map(),
  errorClasses: new Map(),
  errorCodes: new Map(),
  nextErrorCode: FIRST_USER_ERROR,
  lastErrors: new Map(),
  buffer: undefined,
  commBuffers: new Map(),
  attributeCells: 0,
  toolUsers: 0,
  tool: { sessions: [], handles: new Map(), control: new Map(), next: 2 },
  images: 0,
  sessions: new Map(),
  nextSession: 1,
  allocated: new Set(),
});
