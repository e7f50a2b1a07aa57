/**
 * Functions and constants that the standard does not have, for programs that lose processes: user-level failure
 * mitigation (ULFM), with MPICH's and Open MPI's names, and FT-MPI's. The header declares them behind those of the
 * standard.
 */
import { ERR } from '@mayfly/mpi';
import type { CFunction } from './functions.ts';

const CHAPTER = 'Failures of processes (ULFM, FT-MPI): docs/ulfm.md, docs/ft-mpi.md';

const PROTOTYPES: readonly (readonly [name: string, ...parameters: string[]])[] = [
  ['Comm_revoke', 'MPI_Comm comm'],
  ['Comm_is_revoked', 'MPI_Comm comm', 'int *flag'],
  ['Comm_shrink', 'MPI_Comm comm', 'MPI_Comm *newcomm'],
  ['Comm_ishrink', 'MPI_Comm comm', 'MPI_Comm *newcomm', 'MPI_Request *request'],
  ['Comm_agree', 'MPI_Comm comm', 'int *flag'],
  ['Comm_iagree', 'MPI_Comm comm', 'int *flag', 'MPI_Request *request'],
  ['Comm_failure_ack', 'MPI_Comm comm'],
  ['Comm_failure_get_acked', 'MPI_Comm comm', 'MPI_Group *failedgrp'],
  ['Comm_get_failed', 'MPI_Comm comm', 'MPI_Group *failedgrp'],
  ['Comm_ack_failed', 'MPI_Comm comm', 'int num_to_ack', 'int *num_acked'],
  ['Comm_recover', 'MPI_Comm *newcomm'],
];

/** Error classes, with MPICH's values. */
export const EXTENSION_ERRORS: readonly (readonly [name: string, value: number])[] = [
  ['MPIX_ERR_PROC_FAILED', ERR.PROC_FAILED],
  ['MPIX_ERR_PROC_FAILED_PENDING', ERR.PROC_FAILED_PENDING],
  ['MPIX_ERR_REVOKED', ERR.REVOKED],
];

/** FT-MPI (docs/ft-mpi.md). The paper's text calls the first one …_PROCS, its code …_NODE. */
export const RESTARTED = 190;
export const NUM_FAILED_PROCS = 591;
export const ERROR_FAILURE = 592;
export const FT_MPI: readonly (readonly [name: string, value: number])[] = [
  ['MPI_INIT_RESTARTED_NODE', RESTARTED],
  ['MPI_INIT_RESTARTED_PROCS', RESTARTED],
  ['FTMPI_NUM_FAILED_PROCS', NUM_FAILED_PROCS],
  ['FTMPI_ERROR_FAILURE', ERROR_FAILURE],
];
/** In place of a communicator, where MPI_Comm_dup writes the new one: the call is the recovery. */
export const CHECK_RECOVER = 0x10f;

export const EXTENSIONS: readonly CFunction[] = PROTOTYPES.map(([name, ...parameters]) => ({
  name: `MPIX_${name}`,
  result: 'int',
  parameters,
  chapter: CHAPTER,
  largeOf: undefined,
}));
