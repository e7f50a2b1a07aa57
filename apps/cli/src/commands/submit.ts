/**
 * `mayfly submit -n 4 ./a.out args` (and `mpiexec --detach`): the job is the server's from then on. Its id alone goes
 * to standard output, so that a script can take it.
 */
import { fstatSync, readFileSync } from 'node:fs';
import { Client } from '../client.ts';
import { needConnection, type ConnectionOptions } from '../connection.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { prepareSubmission, type SubmissionOptions } from '../submission.ts';
import { sayLine, warn } from '../terminal.ts';

export interface SubmitOptions extends ConnectionOptions, SubmissionOptions {
  /** A file; '-': all of this process's standard input. */
  stdin?: string;
  quiet?: boolean;
  /** Of mpiexec, for a job that it waits for. */
  label?: boolean;
  outputDir?: string;
  outfilePattern?: string;
  errfilePattern?: string;
}

/** An option about output that comes while mpiexec waits. */
function ofWaiting(options: SubmitOptions): string | undefined {
  if (options.label) return '--label';
  if (options.outputDir !== undefined) return '--output-dir';
  if (options.outfilePattern !== undefined) return '--outfile-pattern';
  return options.errfilePattern === undefined ? undefined : '--errfile-pattern';
}

export async function submit(program: string, args: string[], options: SubmitOptions): Promise<number> {
  const waiting = ofWaiting(options);
  if (waiting !== undefined)
    throw new CommandError(
      `${waiting} is for a job that mpiexec waits for; after --detach use mayfly jobs output <id>`,
      Exit.USAGE,
    );
  const connection = await needConnection(options);
  const { submission } = await prepareSubmission(program, args, options);
  const input = readInput(options.stdin);
  if (input.length > 0) submission.stdin = input.toString('base64');
  const client = new Client(connection);
  try {
    const { id } = await client.submit(submission);
    sayLine(id);
    if (!options.quiet && process.stderr.isTTY) warn(`job ${id} submitted; wait for it: mayfly wait ${id}`);
    return Exit.OK;
  } finally {
    await client.close();
  }
}

/** Without a name: a file that standard input was redirected from. A terminal or a pipe might never end. */
function readInput(from: string | undefined): Buffer {
  try {
    if (from !== undefined) return readFileSync(from === '-' ? 0 : from);
    return fstatSync(0).isFile() ? readFileSync(0) : Buffer.alloc(0);
  } catch (error) {
    if (from === undefined) return Buffer.alloc(0);
    throw new CommandError(`cannot read the standard input ${from}: ${(error as Error).message}`, Exit.USAGE);
  }
}
