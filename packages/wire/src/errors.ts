/**
 * The one registry of errors that cross a border: stable code, final or worth another try, what to do.
 * A test holds this table, docs/errors.md and the code together.
 */
export const ERRORS = {
  // border
  BAD_REQUEST: { retry: false, status: 400, advice: 'Correct the named field and send it again.' },
  BAD_FRAME: { retry: false, status: 400, advice: 'The connection is closed; both sides must run the same version.' },
  VERSION_MISMATCH: { retry: false, status: 409, advice: 'Reload the page, or update the volunteer to the version of the server.' },
  UNAUTHORIZED: { retry: false, status: 401, advice: 'Send a token of this server: the one that it printed at its first start, or one that its owner made.' },
  FORBIDDEN: { retry: false, status: 403, advice: 'The token or capability does not reach so far; ask the owner of the server for another one.' },
  NOT_FOUND: { retry: false, status: 404, advice: 'Look the id up again; what is past its retention is gone.' },
  TOO_LARGE: { retry: false, status: 413, advice: 'Send less, or raise the limit on the server.' },
  TOO_MANY: { retry: true, status: 429, advice: 'Wait, then try again.' },
  CONFLICT: { retry: false, status: 409, advice: 'The state has moved on; read it again.' },
  INTERNAL: { retry: true, status: 500, advice: 'A defect of the server; its log has the details.' },
  DISK_FULL: { retry: true, status: 507, advice: 'Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space.' },
  STORAGE_FAILED: { retry: true, status: 507, advice: 'The server cannot write its data directory (read-only, too many open files, a missing folder, a failing disk); its log says what. Running jobs pause until it can.' },
  DAMAGED_DATA: { retry: false, status: 500, advice: 'A file of the data directory is damaged or missing. `mayfly check` says which, `mayfly check --repair` restores what can be restored.' },
  // data plane
  FENCED: { retry: false, status: 409, advice: 'A newer incarnation acts; drop the job and ask for new work.' },
  CLONE: { retry: false, status: 409, advice: 'Another node runs the same incarnation; drop the job and ask for new work.' },
  UNKNOWN_JOB: { retry: false, status: 404, advice: 'The job has ended; drop it.' },
  OUT_OF_SEQUENCE: { retry: false, status: 400, advice: 'A message number was skipped; the incarnation is ended.' },
  PROGRAM_REFUSED: { retry: false, status: 0, advice: 'The volunteer runs no programs of this kind: a headless one takes TypeScript only with --allow-typescript. The rank is placed elsewhere.' },
  // programs
  COMPILE_FAILED: { retry: false, status: 422, advice: 'See the diagnostics; nothing was run.' },
  COMPILE_LIMIT: { retry: false, status: 422, advice: 'Compiling it takes more time, processor time or memory than this server gives to one program. Make it smaller, or build a module with mayfly mpicc and submit that.' },
  FORBIDDEN_IMPORT: { retry: false, status: 422, advice: 'A program may import its own files and "mayfly" only.' },
  FORBIDDEN_FLAG: { retry: false, status: 422, advice: 'Leave the option out; docs/programs.md lists those that a submission may have.' },
  BAD_MODULE: { retry: false, status: 422, advice: 'Build the module with mayfly mpicc; the message says what no rank can run.' },
  BAD_ARCHIVE: { retry: false, status: 422, advice: 'Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md.' },
  PROGRAM_ERROR: { retry: false, status: 0, advice: 'An error ended the program: an exception that nobody caught, or what the message says. The stack, where there is one, says where.' },
  PROGRAM_TRAP: { retry: false, status: 0, advice: 'A C or C++ program did what its machine refuses. The message says what, and what usually causes it; the stack says where, by lines if it was built with -g.' },
  MPI_ERROR: { retry: false, status: 0, advice: 'An MPI call failed under MPI_ERRORS_ARE_FATAL.' },
  ABORTED: { retry: false, status: 0, advice: 'The program called MPI_Abort.' },
  DEADLOCK: { retry: false, status: 0, advice: 'Every rank waits and nothing is in flight; see who waits for whom.' },
  TIME_LIMIT: { retry: false, status: 0, advice: 'The job ran longer than its limit; raise it, or look for an endless loop.' },
  OUTPUT_LIMIT: { retry: false, status: 0, advice: 'The job wrote more than its limit allows.' },
  LOG_LIMIT: { retry: false, status: 0, advice: 'What the job sent and read and has not used up outgrew the limit of its logs; take checkpoints, and receive what is sent.' },
  KEEPS_CRASHING: { retry: false, status: 0, advice: 'One rank failed in the same place wherever it was tried (out of memory?); the message names the nodes.' },
  CANCELLED: { retry: false, status: 0, advice: 'Somebody cancelled the job.' },
  LOST_LOG: { retry: false, status: 0, advice: 'The server lost un-synced writes together with a rank; run with durability "strict" to survive that.' },
  LOST_NODES: { retry: true, status: 0, advice: 'No node is left; open the page in a browser.' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** An error with a code of the registry. */
export class MayflyError extends Error {
  override readonly name = 'MayflyError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly detail?: unknown,
  ) {
    super(message);
  }
}
