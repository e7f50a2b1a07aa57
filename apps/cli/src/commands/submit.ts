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
  /** A file; '-': all of this process's standard input; false: nothing. */
  stdin?: string | false;
  quiet?: boolean;
  /** Of mpiexec, for a job that it waits for. */
  label?: boolean;
  timestampOutput?: boolean;
  outputDir?: string;
  outfilePattern?: string;
  errfilePattern?: string;
  outputFilename?: string;
}

/** Options of mpiexec that are about output which it waits for. */
const WAITING = {
  label: '--label',
  timestampOutput: '--timestamp-output',
  outputDir: '--output-dir',
  outfilePattern: '--outfile-pattern',
  errfilePattern: '--errfile-pattern',
  outputFilename: '--output-filename',
} as const;

export async function submit(program: string, args: string[], options: SubmitOptions): Promise<number> {
  for (const key of Object.keys(WAITING) as (keyof typeof WAITING)[])
    if (options[key] !== undefined)
      throw new CommandError(
        `${WAITING[key]} is for a job that mpiexec waits for; after --detach use mayfly jobs output <id>`,
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
function readInput(from: string | false | undefined): Buffer {
  if (from === false) return Buffer.alloc(0);
  try {
    if (from !== undefined) return readFileSync(from === '-' ? 0 : from);
    return fstatSync(0).isFile() ? readFileSync(0) : Buffer.alloc(0);
  } catch (error) {
    if (from === undefined) return Buffer.alloc(0);
    throw new CommandError(`cannot read the standard input ${from}: ${(error as Error).message}`, Exit.USAGE);
  }
}
