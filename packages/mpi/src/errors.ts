/**
 * Errors of MPI calls: the classes of chapter 9 with the values of the standard ABI, and the one exception that the
 * layer throws.
 */

export const ERR = {
  SUCCESS: 0,
  BUFFER: 1,
  COUNT: 2,
  TYPE: 3,
  TAG: 4,
  COMM: 5,
  RANK: 6,
  REQUEST: 7,
  ROOT: 8,
  GROUP: 9,
  OP: 10,
  TOPOLOGY: 11,
  DIMS: 12,
  ARG: 13,
  UNKNOWN: 14,
  TRUNCATE: 15,
  OTHER: 16,
  INTERN: 17,
  PENDING: 18,
  IN_STATUS: 19,
  ACCESS: 20,
  AMODE: 21,
  ASSERT: 22,
  BAD_FILE: 23,
  BASE: 24,
  CONVERSION: 25,
  DISP: 26,
  DUP_DATAREP: 27,
  FILE_EXISTS: 28,
  FILE_IN_USE: 29,
  FILE: 30,
  INFO_KEY: 31,
  INFO_NOKEY: 32,
  INFO_VALUE: 33,
  INFO: 34,
  IO: 35,
  KEYVAL: 36,
  LOCKTYPE: 37,
  NAME: 38,
  NO_MEM: 39,
  NOT_SAME: 40,
  NO_SPACE: 41,
  NO_SUCH_FILE: 42,
  PORT: 43,
  QUOTA: 44,
  READ_ONLY: 45,
  RMA_ATTACH: 46,
  RMA_CONFLICT: 47,
  RMA_RANGE: 48,
  RMA_SHARED: 49,
  RMA_SYNC: 50,
  SERVICE: 51,
  SIZE: 52,
  SPAWN: 53,
  UNSUPPORTED_DATAREP: 54,
  UNSUPPORTED_OPERATION: 55,
  WIN: 56,
  RMA_FLAVOR: 57,
  PROC_ABORTED: 58,
  VALUE_TOO_LARGE: 59,
  SESSION: 60,
  ERRHANDLER: 61,
  ABI: 62,
  /** Mayfly's own, behind the classes of the standard. */
  CHECKPOINT: 100,
  /** ULFM's, with MPICH's values. */
  PROC_FAILED: 101,
  PROC_FAILED_PENDING: 102,
  REVOKED: 103,
  /** Messages cross a checkpoint. */
  CKPT_CROSSING: 104,
} as const;
export type ErrorClass = (typeof ERR)[keyof typeof ERR];

const NAMES = new Map<number, string>(
  Object.entries(ERR).map(([name, value]) => [
    value,
    name === 'SUCCESS' ? 'MPI_SUCCESS' : `${value > ERR.CHECKPOINT ? 'MPIX' : 'MPI'}_ERR_${name}`,
  ]),
);

/** 'MPI_ERR_TRUNCATE' */
export const className = (errorClass: number): string => NAMES.get(errorClass) ?? `error class ${errorClass}`;

/** An error as plain data: it is kept in requests, which are serialisable. */
export interface ErrorRecord {
  errorClass: number;
  /** Standard name of the call, 'MPI_Recv'. */
  call: string;
  /** What is wrong, with the arguments and the allowed range. */
  text: string;
}

/**
 * A failed MPI call. `comm` is the communicator whose error handler decides (0: MPI_COMM_SELF's, as MPI-4 §9.3 has it).
 */
export class MPIError extends Error {
  override readonly name = 'MPIError';
  readonly className: string;
  readonly errorString: string;
  /** ERR_IN_STATUS: one status per request, put there by the binding. */
  statuses: readonly unknown[] | undefined = undefined;
  constructor(
    readonly errorClass: number,
    readonly call: string,
    readonly text: string,
    readonly comm: number = 0,
  ) {
    const name = className(errorClass);
    super(`${call}: ${text} [${name}]`);
    this.className = name;
    this.errorString = `${call}: ${text}`;
  }
}

/**
 * Uses something, then lets it go: after an error of MPI too, and then that error counts. Where the stack unwinds (an
 * image is due, the program ends, a replay diverges) nothing is let go, and what unwinds it comes through: the call is
 * entered again with what it had, or its incarnation is over.
 */
export function thenLetGo<T>(use: () => T, letGo: () => void): T {
  let result: T;
  try {
    result = use();
  } catch (e) {
    if (e instanceof MPIError)
      try {
        letGo();
      } catch (later) {
        if (!(later instanceof MPIError)) throw later;
      }
    throw e;
  }
  letGo();
  return result;
}

export const fail = (errorClass: ErrorClass, call: string, text: string, comm = 0): never => {
  throw new MPIError(errorClass, call, text, comm);
};
