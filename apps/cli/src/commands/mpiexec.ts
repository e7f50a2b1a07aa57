/**
 * `mayfly mpiexec -n 4 ./a.out args < input`, as MPI's own mpiexec behaves: standard input goes to rank 0, the ranks'
 * output comes as it is written, the exit code is the job's, Ctrl-C cancels (a second one ends this process at once).
 */
import { readFile, stat } from 'node:fs/promises';
import { basename, relative, resolve, sep } from 'node:path';
import { type JobOptions, type JobSubmission, type JobView } from '@mayfly/wire';
import { ApiFailure, Client } from '../client.ts';
import { findConnection, type ConnectionOptions } from '../connection.ts';
import type { Embedded } from '../embedded.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { follow } from '../follow.ts';
import { OutputMerger } from '../output-merger.ts';
import { describeJob, ProgressLine } from '../progress-line.ts';
import { readAnyProgram } from '../read-program.ts';
import { saveResultFiles } from '../result-files.ts';
import { onInterrupt } from '../signals.ts';

export interface MpiexecOptions extends ConnectionOptions {
  n: number;
  name?: string;
  about?: string;
  file?: string[];
  label?: boolean;
  outputDir?: string;
  quiet?: boolean;
  protocol?: 'pessimistic' | 'none';
  durability?: 'behind' | 'strict';
  checkpoint?: number;
  grace?: number;
  stuckAfter?: number;
  stuckFactor?: number;
  timeLimit?: number;
  /** NAME=VALUE */
  env?: string[];
  room?: string;
  /** Bytes. */
  memory?: number;
  seed?: number;
  keep?: boolean;
  /** Compiler options, as one line. */
  ccFlags?: string;
}

/** As base64 a longer file is no string of JavaScript any more; servers take less by default (limits.inputBytes). */
const MAX_INPUT_BYTES = 256 << 20;

export async function mpiexec(program: string, args: string[], options: MpiexecOptions): Promise<number> {
  const connection = await findConnection(options);
  if (options.room !== undefined && !connection)
    throw new CommandError('--room needs a server: add --server, or set MAYFLY_SERVER', Exit.USAGE);
  const { submission, ownFiles } = await prepare(program, args, options);
  const progress = new ProgressLine(process.stderr.isTTY && !options.quiet ? process.stderr : undefined);
  let embedded: Embedded | undefined;
  const interrupt = new Interrupt();
  try {
    if (!connection) {
      progress.set('starting a server and nodes on this machine');
      // Only here: the whole server is behind it.
      embedded = await (await import('../embedded.ts')).startEmbedded();
      await embedded.addSlots(options.n);
    }
    const client = new Client(
      connection ?? { server: embedded!.server.localUrl, token: embedded!.token, insecure: false },
    );
    if (interrupt.code !== undefined) return interrupt.code;
    const job = await client.job((await client.submit(submission)).id);
    interrupt.onFirst = () => {
      progress.write(process.stderr, 'mayfly: cancelling the job (press Ctrl-C again to exit at once)\n');
      client.cancel(job.id).catch(() => undefined);
    };
    if (interrupt.code !== undefined) interrupt.onFirst();
    const input = feedStdin(client, job.id);
    const view = await showUntilEnd(client, job, progress, options);
    input.stop();
    const directory = options.outputDir ?? (embedded ? '.' : undefined);
    if (directory !== undefined && view.outputs.length > 0) {
      const { refused } = await saveResultFiles(client, view, directory, ownFiles);
      for (const { path, why } of refused)
        process.stderr.write(`mayfly: result file ${path} was not written: ${why}\n`);
    } else if (view.outputs.length > 0 && !options.quiet) {
      process.stderr.write(
        `mayfly: ${view.outputs.length} result file(s) are on the server: mayfly jobs output ${job.id} ` +
          `--files DIRECTORY\n`,
      );
    }
    await client.close();
    return interrupt.code ?? tell(view);
  } finally {
    progress.end();
    interrupt.done();
    await embedded?.close();
  }
}

/** Reads the program with what belongs to it, and the input files. @throws CommandError */
async function prepare(
  given: string,
  words: string[],
  o: MpiexecOptions,
): Promise<{ submission: JobSubmission; ownFiles: Set<string> }> {
  const { program, args, ownFiles } = await readAnyProgram(given, words, o.ccFlags);
  const files: Record<string, string> = {};
  let inputBytes = 0;
  for (const given of o.file ?? []) {
    const { path, from, size } = await inputFile(given);
    inputBytes += size;
    if (inputBytes > MAX_INPUT_BYTES)
      throw new CommandError(
        `${from}: the input files have ${Math.ceil(inputBytes / 2 ** 20)} MB, more than the limit of a ` +
          `submission (${MAX_INPUT_BYTES >> 20} MB)`,
        Exit.USAGE,
      );
    files[path] = (await readFile(from)).toString('base64');
    ownFiles.add(resolve(from));
  }
  const options: JobOptions = {
    interactive: true,
    ...(o.protocol ? { protocol: o.protocol } : {}),
    ...(o.durability ? { durability: o.durability } : {}),
    ...(o.checkpoint !== undefined ? { checkpointMs: Math.round(o.checkpoint * 1000) } : {}),
    ...(o.grace !== undefined ? { graceMs: Math.round(o.grace * 1000) } : {}),
    ...(o.stuckAfter !== undefined ? { stuckAfterMs: Math.round(o.stuckAfter * 1000) } : {}),
    ...(o.stuckFactor !== undefined ? { stuckFactor: o.stuckFactor } : {}),
    ...(o.timeLimit !== undefined ? { timeLimitMs: Math.round(o.timeLimit * 1000) } : {}),
    ...(o.env ? { env: variables(o.env) } : {}),
    ...(o.memory !== undefined ? { memoryBytes: o.memory } : {}),
    ...(o.seed !== undefined ? { seed: o.seed } : {}),
  };
  const submission: JobSubmission = {
    name: (o.name ?? basename(resolve(given))).slice(0, 80),
    ...(o.about ? { about: o.about } : {}),
    ...(o.room ? { room: o.room } : {}),
    program,
    size: o.n,
    args,
    options,
    ...(Object.keys(files).length > 0 ? { files } : {}),
  };
  return { submission, ownFiles };
}

function variables(all: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    all.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new CommandError(`--env ${text}: expected NAME=VALUE`, Exit.USAGE);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

/**
 * 'data/a.mtx' is given to the program under that name (or its last part, when it lies elsewhere), 'a.mtx=/data/b.mtx'
 * under the name before the '='.
 */
async function inputFile(given: string): Promise<{ path: string; from: string; size: number }> {
  const at = given.indexOf('=');
  const from = at > 0 ? given.slice(at + 1) : given;
  const near = relative('.', from).split(sep).join('/');
  const path = at > 0 ? given.slice(0, at) : near.startsWith('..') || resolve(from) === from ? basename(from) : near;
  const info = await stat(from).catch(() => undefined);
  if (!info?.isFile()) throw new CommandError(`no such input file: ${from}`, Exit.USAGE);
  return { path, from, size: info.size };
}

async function showUntilEnd(
  client: Client,
  job: JobView,
  progress: ProgressLine,
  options: MpiexecOptions,
): Promise<JobView> {
  const digits = String(job.size - 1).length;
  const label = options.label ? (task: number): string => `[${String(task).padStart(digits)}] ` : undefined;
  const mergers = { stdout: new OutputMerger(label), stderr: new OutputMerger(label) };
  const began = Date.now();
  let latest = job;
  const flush = (): void => {
    for (const stream of ['stdout', 'stderr'] as const) progress.write(process[stream], mergers[stream].flush());
  };
  let quiet = 0;
  const ticker = setInterval(() => {
    progress.set(describeJob(latest, (Date.now() - began) / 1000));
    // Nothing came for a while: a line that is still open is a prompt.
    if (++quiet >= 2) flush();
  }, 250);
  let hint: NodeJS.Timeout | undefined;
  if (!options.quiet)
    hint = setTimeout(() => {
      // What to do stands at the end of the reason: the one line of a terminal may have no room for it.
      if (latest.state === 'waiting' && progress.cut)
        progress.write(process.stderr, `mayfly: job ${job.id} waits: ${latest.reason ?? 'for nodes'}\n`);
    }, 5000);
  try {
    const view = await follow(client, job.id, {
      job: (v) => {
        // Without a progress line there is nothing that says so.
        if (!options.quiet && !process.stderr.isTTY && (v.stopped === undefined) !== (latest.stopped === undefined))
          process.stderr.write(
            v.stopped ? `mayfly: job ${job.id} is paused: ${v.stopped.message}\n` : `mayfly: job ${job.id} resumed\n`,
          );
        latest = v;
      },
      output: (task, stream, bytes) => {
        quiet = 0;
        progress.write(process[stream], mergers[stream].take(task, bytes));
      },
    });
    flush();
    return view;
  } finally {
    clearInterval(ticker);
    clearTimeout(hint);
    progress.end();
  }
}

/** Says on standard error why a job did not end well. @returns the exit code */
function tell(view: JobView): number {
  if (view.state === 'done') return view.exitCode ?? 0;
  const reason = view.error ? `${view.error.message} (${view.error.code})` : (view.reason ?? view.state);
  process.stderr.write(`mayfly: job ${view.id} ${view.state}: ${reason}\n`);
  return view.exitCode !== undefined && view.exitCode > 0 ? view.exitCode : Exit.FAILED;
}

/**
 * Passes this process's standard input on, piece by piece, in order, each once (also when the server is restarted
 * meanwhile).
 */
function feedStdin(client: Client, id: string): { stop(): void } {
  const input = process.stdin;
  let stopped = false;
  let offset = 0;
  const pass = async (bytes: Uint8Array, end: boolean): Promise<void> => {
    while (!stopped)
      try {
        await client.stdin(id, bytes, offset, end);
        offset += bytes.length;
        return;
      } catch (error) {
        // The job has ended and wants no more.
        if (error instanceof ApiFailure && error.status < 500 && error.status !== 429) stopped = true;
        else await new Promise((go) => setTimeout(go, 300));
      }
  };
  const send = async (): Promise<void> => {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      for (let o = 0; o < chunk.length; o += PIECE) await pass(chunk.subarray(o, o + PIECE), false);
      if (stopped) return;
    }
    await pass(new Uint8Array(0), true);
  };
  send().catch(() => undefined);
  return {
    stop() {
      stopped = true;
      input.pause();
      input.unref?.();
      input.destroy();
    },
  };
}
const PIECE = 256 * 1024;

/** A signal before there is a job is kept until there is one. */
class Interrupt {
  /** Exit code once a signal came. */
  code: number | undefined;
  onFirst: (() => void) | undefined;
  readonly done = onInterrupt((_signal, code) => {
    this.code = code;
    this.onFirst?.();
  });
}
