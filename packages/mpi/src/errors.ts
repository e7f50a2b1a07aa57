/** Errors of MPI calls: the classes of chapter 9, and the one exception that the layer throws. */

export const ERR = {
  SUCCESS: 0,
  BUFFER: 1,
  COUNT: 2,
  TYPE: 3,
  TAG: 4,
  COMM: 5,
  RANK: 6,
  ROOT: 7,
  GROUP: 8,
  OP: 9,
  TOPOLOGY: 10,
  DIMS: 11,
  ARG: 12,
  UNKNOWN: 13,
  TRUNCATE: 14,
  OTHER: 15,
  INTERN: 16,
  IN_STATUS: 17,
  PENDING: 18,
  REQUEST: 19,
  BAD_FILE: 22,
  IO: 32,
  NO_SUCH_FILE: 37,
  UNSUPPORTED_OPERATION: 44,
  /** Mayfly's own, behind the classes of the standard. */
  CHECKPOINT: 74,
} as const;
export type ErrorClass = (typeof ERR)[keyof typeof ERR];

const NAMES = new Map<number, string>(Object.entries(ERR).map(([name, value]) => [value, name === 'SUCCESS' ? 'MPI_SUCCESS' : `MPI_ERR_${name}`]));

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

/** A failed MPI call. `comm` is the communicator whose error handler decides (0: MPI_COMM_SELF's, as MPI-4 §9.3 has it). */
export class MPIError extends Error {
  override readonly name = 'MPIError';
  readonly className: string;
  readonly errorString: string;
  /** ERR_IN_STATUS: one status per request, put there by the binding. */
  statuses: readonly unknown[] | undefined = undefined;
  constructor(
    readonly errorClass: number,
    readonly call: string,
    text: string,
    readonly comm: number = 0,
  ) {
    const name = className(errorClass);
    super(`${call}: ${text} [${name}]`);
    this.className = name;
    this.errorString = `${call}: ${text}`;
  }
}

export const fail = (errorClass: ErrorClass, call: string, text: string, comm = 0): never => {
  throw new MPIError(errorClass, call, text, comm);
};
