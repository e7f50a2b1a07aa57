/** Exit codes of the command line, besides those of the jobs. `mayfly --help` and README.md list them. */
export const Exit = {
  OK: 0,
  /** The job failed without a code of its own (aborted, deadlock, a limit), or something unexpected happened. */
  FAILED: 1,
  /** Wrong usage, or a program that does not compile. */
  USAGE: 2,
  /** No server there, or it went away. */
  UNAVAILABLE: 69,
  /** Wrong or missing token. */
  NO_PERMISSION: 77,
  /** `mayfly wait --timeout`: the job has not ended by then. */
  TIMEOUT: 124,
  /** Ctrl-C: the job was cancelled. */
  INTERRUPTED: 130,
  /** SIGTERM: the job was cancelled. */
  TERMINATED: 143,
} as const;

export const EXIT_HELP = `
Exit codes:
  0        success
  n        exit code of the job (mpiexec, wait)
  1        the job failed without a code of its own
  2        wrong usage, or a program that does not compile
  69       the server cannot be reached
  77       wrong or missing token
  124      mayfly wait: the timeout is over, and the job goes on
  130, 143 cancelled by Ctrl-C or SIGTERM`;

/** Ends the command with a sentence for the terminal instead of a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}
