/**
 * Handles of C programs. Predefined objects have the values of the standard ABI, all below 0x1000; an object that the
 * program has made has its number and kind in its handle, so that a handle of the wrong kind is found out. The same on
 * every platform and in every incarnation.
 */
export const Kind = {
  COMM: 1,
  GROUP: 2,
  OP: 3,
  ERRHANDLER: 4,
  REQUEST: 5,
  TYPE: 6,
  INFO: 7,
  MESSAGE: 8,
  WIN: 9,
  FILE: 10,
  SESSION: 11,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

const BASE = 0x100;

export const handleOf = (kind: Kind, number: number): number => ((number + BASE) << 4) | kind;

/** The number of an object's handle; -1 when it is no handle of that kind. */
export function numberOf(kind: Kind, handle: number): number {
  const h = handle >>> 0;
  return (h & 15) === kind && h >>> 4 >= BASE ? (h >>> 4) - BASE : -1;
}

export const Null = {
  OP: 0x20,
  COMM: 0x100,
  GROUP: 0x108,
  WIN: 0x110,
  FILE: 0x118,
  SESSION: 0x120,
  MESSAGE: 0x128,
  MESSAGE_NO_PROC: 0x129,
  INFO: 0x130,
  INFO_ENV: 0x131,
  ERRHANDLER: 0x140,
  REQUEST: 0x180,
  DATATYPE: 0x200,
} as const;
export const Predefined = {
  COMM_WORLD: 0x101,
  COMM_SELF: 0x102,
  GROUP_EMPTY: 0x109,
  ERRORS_ARE_FATAL: 0x141,
  ERRORS_ABORT: 0x142,
  ERRORS_RETURN: 0x143,
} as const;

/** Predefined operations of the ABI by the layer's name. */
export const OPS: ReadonlyMap<number, string> = new Map([
  [0x21, 'MPI_SUM'],
  [0x22, 'MPI_MIN'],
  [0x23, 'MPI_MAX'],
  [0x24, 'MPI_PROD'],
  [0x28, 'MPI_BAND'],
  [0x29, 'MPI_BOR'],
  [0x2a, 'MPI_BXOR'],
  [0x30, 'MPI_LAND'],
  [0x31, 'MPI_LOR'],
  [0x32, 'MPI_LXOR'],
  [0x38, 'MPI_MINLOC'],
  [0x39, 'MPI_MAXLOC'],
  [0x3c, 'MPI_REPLACE'],
  [0x3d, 'MPI_NO_OP'],
]);
