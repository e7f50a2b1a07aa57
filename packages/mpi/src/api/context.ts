/**
 * What the objects of the API share: the layer, the host, the program's callbacks, and the way of errors to their
 * handlers.
 */
import { MalformedValue, Unencodable, decodeValue, encodeValue } from '../codec.ts';
import { COMM_SELF, ERRORS_ARE_FATAL, ERRORS_RETURN } from '../constants.ts';
import { typeOfArray, type ElementArray, type ElementType } from '../datatypes.ts';
import { ERR, MPIError, fail, type ErrorRecord } from '../errors.ts';
import { needWhole } from '../failure/index.ts';
import { FILE_NULL } from '../files/index.ts';
import { leave } from '../ports.ts';
import { sendExit } from '../outside-world.ts';
import type { Buf } from '../buffers.ts';
import type { ExitReport } from '@mayfly/wire';
import type { Layer } from '../layer.ts';
import type { Runtime } from './runtime.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

/** [MPI_IN_PLACE] One object: a buffer argument is in place when it is this. */
export const IN_PLACE: Mayfly.InPlace = Object.freeze({ name: 'MPI_IN_PLACE' });

const MESSAGE_LIMIT = 16_000;
const STACK_LIMIT = 64_000;

/** An error handler of the program, for communicators or for windows. */
export type ErrorFunction = (object: never, error: Mayfly.MPIError) => void;

export class Context {
  /** User-defined error handlers by handle. */
  readonly errorCallbacks = new Map<number, ErrorFunction>();
  /** The program's objects of its windows. */
  readonly windows = new Map<number, Mayfly.Win>();
  /** Makes the program's object of a communicator; set by comm.ts. */
  commObject!: (handle: number) => Mayfly.Comm;
  /** Persistent requests that were not freed. */
  readonly persistent = new Set<{ readonly title: string; readonly comm: number }>();
  /** Functions of attribute keys by number. */
  readonly keyvals = new Map<
    number,
    {
      copy: ((object: never, value: unknown) => unknown) | undefined;
      remove: ((object: never, value: unknown) => void) | undefined;
    }
  >();
  readonly freedKeyvals = new Set<number>();
  /** Images taken by this incarnation and those before it. */
  images = 0;
  ended = false;

  constructor(
    readonly layer: Layer,
    readonly runtime: Runtime,
  ) {}

  /**
   * Runs a call; an MPI error goes to the error handler of its communicator, and then to the program (unless it is
   * fatal).
   */
  call<T>(body: () => T): T {
    return this.local(() => {
      if (this.layer.device.ft) needWhole(this.layer, 'MPI');
      return body();
    });
  }

  /** The same for the few calls that work between a loss and the recovery, under FT-MPI's modes. */
  local<T>(body: () => T): T {
    try {
      return body();
    } catch (e) {
      throw e instanceof MPIError ? this.raise(e) : e;
    }
  }

  /** The error as it is to be thrown; does not return when the handler is MPI_ERRORS_ARE_FATAL. */
  raise(error: MPIError): MPIError {
    const { comms } = this.layer.state;
    // Files have MPI_ERRORS_RETURN (§14.7), also where there is none yet.
    if (error.comm === FILE_NULL) return error;
    const comm = comms.rows.get(error.comm) ?? comms.rows.get(COMM_SELF)!;
    if (comm.errhandler === ERRORS_ARE_FATAL) this.abort('MPI_ERROR', error.message, 1, error.stack);
    if (comm.errhandler !== ERRORS_RETURN)
      this.errorCallbacks.get(comm.errhandler)?.(
        ((comm.window === undefined ? undefined : this.windows.get(comm.window)) ??
          this.commObject(comm.handle)) as never,
        error as unknown as Mayfly.MPIError,
      );
    return error;
  }

  /** [MPI_Comm_call_errhandler, MPI_Win_call_errhandler] The handler runs; nothing is thrown. */
  callHandler(error: Mayfly.MPIError, comm: number, call: string): void {
    const raised: unknown = error;
    if (!(raised instanceof MPIError)) return fail(ERR.ARG, call, `the error is ${describe(error)}`, comm);
    this.raise(new MPIError(raised.errorClass, raised.call, raised.text, comm));
  }

  failed(record: ErrorRecord, comm: number): MPIError {
    return new MPIError(record.errorClass, record.call, record.text, comm);
  }

  abort(code: 'MPI_ERROR' | 'ABORTED' | 'PROGRAM_ERROR', message: string, exitCode: number, stack?: string): never {
    return this.end({
      code: exitCode,
      abort: {
        code,
        message: message.slice(0, MESSAGE_LIMIT),
        ...(stack === undefined ? {} : { stack: stack.slice(0, STACK_LIMIT) }),
      },
    });
  }

  end(report: ExitReport): never {
    if (!this.ended) {
      this.ended = true;
      leave(this.layer);
      sendExit(this.layer, report);
    }
    return this.runtime.end(report);
  }

  exitCode(code: unknown, call: string): number {
    if (typeof code !== 'number' || !Number.isInteger(code) || code < 0 || code > 255)
      return fail(ERR.ARG, call, `exit code ${String(code)} is not a whole number from 0 to 255`);
    return code;
  }

  /** A typed array as bytes. @throws MPIError ERR_BUFFER */
  bytes(array: unknown, call: string, comm: number, what = 'the buffer'): { bytes: Uint8Array; type: ElementType } {
    const type = typeOfArray(array);
    if (!type) return fail(ERR.BUFFER, call, `${what} is ${describe(array)}, not a typed array`, comm);
    const a = array as ElementArray;
    return { bytes: new Uint8Array(a.buffer, a.byteOffset, a.byteLength), type };
  }

  pin(array: unknown, call: string, comm: number, what?: string): Buf {
    return this.layer.memory.pin(this.bytes(array, call, comm, what).bytes);
  }

  encode(value: unknown, call: string, comm: number): Uint8Array {
    try {
      return encodeValue(value);
    } catch (e) {
      if (e instanceof Unencodable) return fail(ERR.TYPE, call, e.message, comm);
      throw e;
    }
  }

  decode<T>(bytes: Uint8Array, call: string, comm: number): T {
    try {
      return decodeValue(bytes) as T;
    } catch (e) {
      if (e instanceof MalformedValue) return fail(ERR.TYPE, call, e.message, comm);
      throw e;
    }
  }
}

export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (value === IN_PLACE) return 'IN_PLACE';
  if (typeof value === 'object') return kindOf(value);
  if (typeof value === 'function') return 'a function';
  return typeof value === 'undefined' ? 'undefined' : `the ${typeof value} ${String(value)}`;
}

/** Whatever stands where its class would (a getter that throws, a revoked proxy) is not worth an error of its own. */
function kindOf(value: object): string {
  try {
    if (Array.isArray(value)) return 'an array';
    const name: unknown = value.constructor?.name;
    return typeof name === 'string' && name !== '' ? `a ${name.slice(0, 100)}` : 'a object';
  } catch {
    return 'an object that cannot be read';
  }
}
