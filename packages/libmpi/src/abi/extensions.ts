/**
 * Functions and constants that the standard does not have, for programs that lose processes: user-level failure
 * mitigation (ULFM), with MPICH's and Open MPI's names, FT-MPI's, and operation-level checkpoints (Tang, Fagg,
 * Dongarra). The header declares them behind those of the standard.
 */
import { ERR, ckpt } from '@mayfly/mpi';
import type { CFunction } from './functions.ts';

/** FT-MPI (docs/ft-mpi.md). The paper's text calls the first one …_PROCS, its code …_NODE. */
export const RESTARTED = 190;
export const NUM_FAILED_PROCS = 591;
export const ERROR_FAILURE = 592;
/** In place of a communicator, where MPI_Comm_dup writes the new one: the call is the recovery. */
export const CHECK_RECOVER = 0x10f;

interface Extension {
  readonly chapter: string;
  readonly prefix: 'MPI_' | 'MPIX_';
  /** Error classes and other numbers. */
  readonly values: readonly (readonly [name: string, value: number])[];
  /** Communicators. */
  readonly comms?: readonly (readonly [name: string, value: number])[];
  /** Types that the functions need. */
  readonly types?: string;
  readonly prototypes: readonly (readonly [name: string, ...parameters: string[]])[];
}

const DATA = ['long length', 'MPI_Datatype datatype', 'int tag'] as const;

const LIST: readonly Extension[] = [
  {
    chapter: 'Failures of processes (ULFM, FT-MPI): docs/ulfm.md, docs/ft-mpi.md',
    prefix: 'MPIX_',
    values: [
      // With MPICH's values.
      ['MPIX_ERR_PROC_FAILED', ERR.PROC_FAILED],
      ['MPIX_ERR_PROC_FAILED_PENDING', ERR.PROC_FAILED_PENDING],
      ['MPIX_ERR_REVOKED', ERR.REVOKED],
      ['MPI_INIT_RESTARTED_NODE', RESTARTED],
      ['MPI_INIT_RESTARTED_PROCS', RESTARTED],
      ['FTMPI_NUM_FAILED_PROCS', NUM_FAILED_PROCS],
      ['FTMPI_ERROR_FAILURE', ERROR_FAILURE],
    ],
    comms: [['FT_MPI_CHECK_RECOVER', CHECK_RECOVER]],
    prototypes: [
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
    ],
  },
  {
    chapter: 'Operation-level checkpoints: docs/mpi-ckpt.md',
    prefix: 'MPI_',
    values: [
      ['MPI_ERR_CHECKPOINT', ERR.CHECKPOINT],
      ['MPIX_ERR_CKPT_CROSSING', ERR.CKPT_CROSSING],
      ['MPI_CKPT_IMEM_M_REP', ckpt.Algorithm.IMEM_M_REP],
      ['MPI_CKPT_STABLE_DISK', ckpt.Algorithm.STABLE_DISK],
      ['MPI_CKPT_PAIR', ckpt.Algorithm.PAIR],
      ['MPI_CKPT_CHECKSUM', ckpt.Algorithm.CHECKSUM],
      ['MPI_CKPT_WEIGHTED', ckpt.Algorithm.WEIGHTED],
      ['MPI_CKPT_WEIGHTED_REAL', ckpt.Algorithm.WEIGHTED_REAL],
      ['MPI_CKPT_NO_CHECK', ckpt.NO_CHECK],
    ],
    types: `/* Of the flags: so many processes share checksums. */
#define MPI_CKPT_GROUP(members) ((members) << ${ckpt.GROUP_SHIFT})
/* All zero: the defaults. */
typedef struct {
  int algorithm; /* MPI_CKPT_IMEM_M_REP, _STABLE_DISK, _PAIR, _CHECKSUM, _WEIGHTED or _WEIGHTED_REAL */
  int nof;       /* nodes that may be lost at once */
  int ratio;     /* every so many-th checkpoint goes to stable disk */
  int memory;    /* MB that a process may spend on copies */
  int flags;     /* MPI_CKPT_NO_CHECK, MPI_CKPT_GROUP(members) */
  MPI_Comm comm; /* MPI_COMM_WORLD */
} MPI_Ckpt_options;
`,
    prototypes: [
      ['Ckpt_open', 'MPI_Ckpt_options *options'],
      ['Ckpt_close'],
      ['Ckpt', 'void *data_needs_ckpt', ...DATA],
      ['Ckpt_here'],
      ['Rollback', 'void *data_rollback', ...DATA],
      ['Remove_ckpt', 'int tag'],
      ['Ckpt_ctrl', 'MPI_Ckpt_options *options'],
    ],
  },
];

export interface ExtensionPart {
  readonly chapter: string;
  readonly values: readonly (readonly [name: string, value: number])[];
  readonly comms: readonly (readonly [name: string, value: number])[];
  readonly types: string;
  readonly functions: readonly CFunction[];
}

/** In the order of the header. */
export const EXTENSION_PARTS: readonly ExtensionPart[] = LIST.map(
  ({ chapter, prefix, values, comms = [], types = '', prototypes }) => ({
    chapter,
    values,
    comms,
    types,
    functions: prototypes.map(([name, ...parameters]) => ({
      name: `${prefix}${name}`,
      result: 'int',
      parameters,
      chapter,
      largeOf: undefined,
    })),
  }),
);

export const EXTENSIONS: readonly CFunction[] = EXTENSION_PARTS.flatMap((p) => p.functions);
