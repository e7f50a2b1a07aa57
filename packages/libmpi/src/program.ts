/**
 * The contract between the two halves of this package: the binding (binding/: MPI functions of C over packages/mpi) and
 * the program host (host/: a wasm module with its memory, WASI and the unwinding of its stack at MPI calls).
 *
 * A call that may wait is split in two: `start` changes the layer and leaves a plain record, `finish` waits and
 * answers. Between both an image may be taken: the host unwinds the program's stack, and after the rewind the same call
 * comes in again with the record at hand, so that it only finishes.
 *
 * Invariants
 *  B1 Everything in {@link Binding.snapshot} is plain data; callbacks are function-table indices.
 *  B2 A call interrupted by {@link Interrupted} has started exactly once, also if it is interrupted and resumed many
 *  times.
 *  B3 No image is taken while a callback of the program is on the stack ({@link Binding.depth} > 0).
 *  B4 An error handler is called as the last act of its call, so it may leave the call (longjmp, a C++ exception). Out
 *  of any other callback the program may not jump: the call around it would stay half done.
 */
import type { Layer } from '@mayfly/mpi';

/** What the binding needs of the program. Views are taken anew after anything that may grow the memory. */
export interface Program {
  readonly memory: WebAssembly.Memory;
  /** The function behind a C function pointer. @throws a trap-like error when the index names none */
  callable(index: number): (...args: (number | bigint)[]) => number | bigint | void;
  /** The same where nothing of the MPI call is left to do but to return: the program may jump out of it (B4). */
  callableLast(index: number): (...args: (number | bigint)[]) => number | bigint | void;
  /** Memory of the program's own heap (its malloc / free), for MPI_Alloc_mem and the like. 0: there is none left. */
  malloc(bytes: number): number;
  free(address: number): void;
  /** Ends the program and the job: MPI_Abort, or an error under MPI_ERRORS_ARE_FATAL ('MPI_ERROR'). Does not return. */
  abort(code: number, message: string, kind?: 'ABORTED' | 'MPI_ERROR'): never;
}

/** The value of one wasm argument or result. */
export type Word = number | bigint;

export interface Binding {
  /**
   * MPI_*, PMPI_* and MPIX_* by name: what the module's `env` imports. A function the standard declares is here even
   * when it is not supported.
   */
  readonly functions: Readonly<Record<string, (...args: Word[]) => Word | void>>;
  /**
   * Names among them at which an image may be taken: calls that may wait or communicate. Asyncify's import list is made
   * of these.
   */
  readonly suspending: ReadonlySet<string>;
  /** Callbacks of the program on the stack. */
  readonly depth: number;
  /** The program is between MPI_Init and MPI_Finalize, or in a session. */
  readonly unfinalized: boolean;
  /**
   * The host has rewound the stack into a call that {@link Interrupted} left: it is the next one to come in. (A call
   * that was unwound at its entry comes in afresh, unannounced.)
   */
  resume(): void;
  /** Tables of this binding (handles, callbacks, the record of the call under way). The layer's state is not in it. */
  snapshot(): Uint8Array;
  restore(bytes: Uint8Array): void;
}

export interface BindingOptions {
  layer: Layer;
  program: Program;
  /** The functions that the program imports; unless given, all are made. */
  wanted?: ReadonlySet<string>;
  /** argv[0]. */
  programName?: string;
  /** Name of the node; asked when live, logged by device.place. */
  processorName(): string;
  /** The environment's view of the job, for MPI_Get_library_version and the like. */
  version: string;
}

/**
 * Thrown out of a waiting call when an image is due: the layer's state is whole (P4 of mpi/progress.ts), the call's
 * record is kept.
 */
export { Interrupted } from '@mayfly/mpi';
