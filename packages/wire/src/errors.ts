/**
 * The one registry of errors that cross a border: stable code, final or worth another try, what to do.
 * A test holds this table, docs/errors.md and the code together.
 */
export const ERRORS = {
  // border
  BAD_REQUEST: { retry: false, status: 400, advice: 'Correct the named field and send it again.' },
  BAD_FRAME: { retry: false, status: 400, advice: 'The connection is closed; both sides must run the same version.' },
  VERSION_MISMATCH: {
    retry: false,
    status: 409,
    advice: 'Reload the page, or update the volunteer to the version of the server.',
  },
  UNAUTHORIZED: {
    retry: false,
    status: 401,
    advice: 'Send a token of this server: the one that it printed at its first start, or one that its owner created.',
  },
  FORBIDDEN: {
    retry: false,
    status: 403,
    advice: 'The token or capability does not grant access to this; ask the owner of the server for another one.',
  },
  NOT_FOUND: { retry: false, status: 404, advice: 'Check the id. Jobs and nodes past their retention are deleted.' },
  TOO_LARGE: { retry: false, status: 413, advice: 'Send less, or raise the limit on the server.' },
  TOO_MANY: { retry: true, status: 429, advice: 'Wait, then try again.' },
  QUOTA_EXCEEDED: {
    retry: true,
    status: 409,
    advice: 'Wait until your jobs have ended, delete old ones, or ask the owner of the server for a larger quota.',
  },
  KEY_REUSED: {
    retry: false,
    status: 422,
    advice: 'Use a new Idempotency-Key for each submission, and the old one only to send the same body again.',
  },
  CONFLICT: { retry: false, status: 409, advice: 'The state has changed; read it again.' },
  INTERNAL: { retry: true, status: 500, advice: 'Internal server error; see the server log for details.' },
  DISK_FULL: {
    retry: true,
    status: 507,
    advice: 'Free space on the disk of the server, or delete old jobs. Running jobs pause until there is space.',
  },
  STORAGE_FAILED: {
    retry: true,
    status: 507,
    advice:
      'The server cannot write its data directory (read-only, too many open files, a missing folder, a ' +
      'failing disk); see its log. Running jobs pause until it can.',
  },
  DAMAGED_DATA: {
    retry: false,
    status: 500,
    advice:
      'A file of the data directory is damaged or missing. `mayfly check` lists them; `mayfly check ' +
      '--repair` restores what it can.',
  },
  // data plane
  FENCED: {
    retry: false,
    status: 409,
    advice: 'A newer incarnation of the rank is running; drop the job and ask for new work.',
  },
  CLONE: {
    retry: false,
    status: 409,
    advice: 'Another node runs the same incarnation; drop the job and ask for new work.',
  },
  SUPERSEDED: { retry: true, status: 409, advice: 'Two connections of a node crossed; the node connects again.' },
  UNKNOWN_JOB: { retry: false, status: 404, advice: 'The job has ended; drop it.' },
  OUT_OF_SEQUENCE: {
    retry: false,
    status: 400,
    advice: 'A message number is missing; the server ends the incarnation.',
  },
  PROGRAM_REFUSED: {
    retry: false,
    status: 0,
    advice:
      'This volunteer does not run this kind of program: a headless one runs TypeScript only with ' +
      '--allow-typescript. The server assigns the rank to another node.',
  },
  // programs
  COMPILE_FAILED: { retry: false, status: 422, advice: 'See the diagnostics; the program did not run.' },
  COMPILE_LIMIT: {
    retry: false,
    status: 422,
    advice:
      'Compiling takes more time, processor time or memory than this server allows for one program. Make the ' +
      'program smaller, or build a module with mayfly mpicc and submit that.',
  },
  FORBIDDEN_IMPORT: { retry: false, status: 422, advice: 'A program may import its own files and "mayfly" only.' },
  FORBIDDEN_FLAG: { retry: false, status: 422, advice: 'Remove the option; docs/programs.md lists the allowed ones.' },
  BAD_MODULE: {
    retry: false,
    status: 422,
    advice: 'Build the module with mayfly mpicc; the message names what a rank cannot run.',
  },
  BAD_ARCHIVE: {
    retry: false,
    status: 422,
    advice: 'Send a zip, tar or tar.gz file with a valid mayfly.json; see docs/programs.md.',
  },
  PROGRAM_ERROR: {
    retry: false,
    status: 0,
    advice:
      'An error ended the program: an uncaught exception, or the cause in the message. The stack, if there ' +
      'is one, shows where.',
  },
  PROGRAM_TRAP: {
    retry: false,
    status: 0,
    advice:
      'A C or C++ program hit a WebAssembly trap. The message names the trap and its usual cause; the stack ' +
      'shows where, with lines if the program was built with -g.',
  },
  MPI_ERROR: { retry: false, status: 0, advice: 'An MPI call failed under MPI_ERRORS_ARE_FATAL.' },
  ABORTED: { retry: false, status: 0, advice: 'The program called MPI_Abort.' },
  DEADLOCK: {
    retry: false,
    status: 0,
    advice: 'Every unfinished rank is waiting and no message is in flight; the message lists who waits for whom.',
  },
  TIME_LIMIT: {
    retry: false,
    status: 0,
    advice: 'The job ran longer than its limit; raise it, or look for an endless loop.',
  },
  OUTPUT_LIMIT: { retry: false, status: 0, advice: 'The job wrote more than its limit allows.' },
  LOG_LIMIT: {
    retry: false,
    status: 0,
    advice:
      'The unconsumed messages and file reads of the job exceed the log limit; take checkpoints, and receive ' +
      'every message that is sent.',
  },
  KEEPS_CRASHING: {
    retry: false,
    status: 0,
    advice: 'A rank failed at the same place on every node that ran it (out of memory?); the message names the nodes.',
  },
  CANCELLED: { retry: false, status: 0, advice: 'Somebody cancelled the job.' },
  LOST_LOG: {
    retry: false,
    status: 0,
    advice: 'The server lost unsynced writes together with a rank; run with durability "strict" to survive that.',
  },
  LOST_CHECKPOINTS: {
    retry: false,
    status: 0,
    advice:
      'Every checkpoint that the job could go back to is damaged. Look at the disk of the server with mayfly check, ' +
      'and run the job again.',
  },
  DAMAGED_LOG: {
    retry: false,
    status: 0,
    advice:
      'Bytes of the log of the job that were on the disk already are damaged or gone. Look at the disk of the server ' +
      'with mayfly check, and run the job again.',
  },
  SERVER_RESTARTED: {
    retry: true,
    status: 0,
    advice:
      'The protocol of the job keeps messages in the memory of the server. Run the job again; under a protocol that ' +
      'restarts ranks it outlives the server.',
  },
  LOST_NODES: {
    retry: true,
    status: 0,
    advice:
      'Connect nodes: open the volunteer page in a browser. With the protocol "pessimistic", "vcl", "pcl" or "hc3i" ' +
      'a job survives lost ranks.',
  },
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
