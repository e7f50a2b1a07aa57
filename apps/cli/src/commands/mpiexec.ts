/**
 * `mayfly mpiexec -n 4 ./a.out args < input`, as MPI's own mpiexec behaves: standard input goes to rank 0, the ranks'
 * output comes as it is written, the exit code is the job's, Ctrl-C cancels (a second one ends this process at once).
 */
import { spacingText, type JobView, type ProvisionalOutput } from '@mayfly/wire';
import { ApiFailure, Client } from '../client.ts';
import { findConnection, type ConnectionOptions } from '../connection.ts';
import type { Embedded } from '../local-cluster.ts';
import { endOf, tell } from '../ending.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { follow } from '../follow.ts';
import { OutputFiles } from '../output-files.ts';
import { OutputMerger } from '../output-merger.ts';
import { describeJob, ProgressLine } from '../progress-line.ts';
import { saveResultFiles } from '../result-files.ts';
import { onInterrupt } from '../signals.ts';
import { prepareSubmission, type SubmissionOptions } from '../submission.ts';
import { warn, warning } from '../terminal.ts';

export interface MpiexecOptions extends ConnectionOptions, SubmissionOptions {
  label?: boolean;
  outputDir?: string;
  quiet?: boolean;
  outfilePattern?: string;
  errfilePattern?: string;
  /** A folder; with ':nocopy' behind it the output goes only there. */
  outputFilename?: string;
  timestampOutput?: boolean;
  /** False: rank 0 has no standard input. */
  stdin: boolean;
}

/** Where the output goes besides this process's own. */
interface Files extends Partial<Record<'stdout' | 'stderr', OutputFiles>> {
  /** It comes here as well. */
  copy: boolean;
}

export async function mpiexec(program: string, args: string[], options: MpiexecOptions): Promise<number> {
  const connection = await findConnection(options);
  for (const option of ['room', 'notify'] as const)
    if (options[option] !== undefined && !connection)
      throw new CommandError(`--${option} needs a server: add --server, or set MAYFLY_SERVER`, Exit.USAGE);
  const { submission, ranks, ownFiles } = await prepareSubmission(program, args, options);
  const files = outputFiles(options, ranks);
  submission.options = { ...submission.options, interactive: options.stdin };
  const progress = new ProgressLine(process.stderr.isTTY && !options.quiet ? process.stderr : undefined);
  let embedded: Embedded | undefined;
  const interrupt = new Interrupt();
  try {
    if (!connection) {
      progress.set('starting a server and nodes on this machine');
      // Only here: the whole server is behind it.
      embedded = await (await import('../local-cluster.ts')).startEmbedded();
      await embedded.addSlots(ranks);
    }
    const client = new Client(
      connection ?? { server: embedded!.server.localUrl, token: embedded!.token, insecure: false },
    );
    if (interrupt.code !== undefined) return interrupt.code;
    const job = await client.job((await client.submit(submission)).id);
    interrupt.onFirst = () => {
      progress.write(process.stderr, warning('cancelling the job (press Ctrl-C again to exit at once)'));
      client.cancel(job.id).catch(() => undefined);
    };
    if (interrupt.code !== undefined) interrupt.onFirst();
    const input = options.stdin ? feedStdin(client, job.id) : undefined;
    const view = await showUntilEnd(client, job, progress, options, files);
    input?.stop();
    const directory = options.outputDir ?? (embedded ? '.' : undefined);
    if (directory !== undefined && view.outputs.length > 0) {
      const { refused } = await saveResultFiles(client, view, directory, ownFiles);
      for (const { path, why } of refused) warn(`result file ${path} was not written: ${why}`);
    } else if (view.outputs.length > 0 && !options.quiet) {
      warn(
        `${view.outputs.length} result file(s) are on the server: mayfly jobs output ${job.id} ` + `--files DIRECTORY`,
      );
    }
    await client.close();
    if (interrupt.code === undefined || view.state !== 'cancelled') {
      if (interrupt.code !== undefined) warn(`job ${job.id} was not cancelled: it had already ended (${endOf(view)})`);
      return tell(view);
    }
    return interrupt.code;
  } finally {
    progress.end();
    interrupt.done();
    await embedded?.close();
  }
}

function outputFiles(options: MpiexecOptions, ranks: number): Files {
  const { outfilePattern: out, errfilePattern: err, outputFilename: below } = options;
  if (below === undefined)
    return {
      ...(out === undefined ? {} : { stdout: new OutputFiles(out, '--outfile-pattern') }),
      ...(err === undefined ? {} : { stderr: new OutputFiles(err, '--errfile-pattern') }),
      copy: false,
    };
  if (out !== undefined || err !== undefined)
    throw new CommandError('--output-filename and a pattern for files cannot both be given', Exit.USAGE);
  const folder = below.replace(/:nocopy$/, '');
  return {
    stdout: OutputFiles.below(folder, 'stdout', ranks),
    stderr: OutputFiles.below(folder, 'stderr', ranks),
    copy: folder === below,
  };
}

async function showUntilEnd(
  client: Client,
  job: JobView,
  progress: ProgressLine,
  options: MpiexecOptions,
  files: Files,
): Promise<JobView> {
  const digits = String(job.size - 1).length;
  const label = options.label ? (task: number): string => `[${String(task).padStart(digits)}] ` : undefined;
  const timed = (task: number): string => `${new Date().toISOString()} ${label?.(task) ?? ''}`;
  const before = options.timestampOutput ? timed : label;
  const mergers = {
    stdout: new OutputMerger(before, process.stdout.isTTY),
    stderr: new OutputMerger(before, process.stderr.isTTY),
  };
  const began = Date.now();
  let latest = job;
  const flush = (): void => {
    for (const stream of ['stdout', 'stderr'] as const) progress.write(process[stream], mergers[stream].flush());
  };
  let quiet = 0;
  let spaced = false;
  const ticker = setInterval(() => {
    progress.set(describeJob(latest, (Date.now() - began) / 1000));
    // Nothing came for a while: a line that is still open is a prompt.
    if (++quiet >= 2) flush();
  }, 250);
  const written = (task: number, stream: 'stdout' | 'stderr', bytes: Uint8Array): boolean => {
    try {
      files[stream]?.write(task, bytes);
      return files[stream] !== undefined && !files.copy;
    } catch (error) {
      // Rather here than lost.
      delete files[stream];
      warn(`${(error as Error).message}. The output comes here from now on`);
      return false;
    }
  };
  let hint: NodeJS.Timeout | undefined;
  if (!options.quiet)
    hint = setTimeout(() => {
      // What to do stands at the end of the reason: the one line of a terminal may have no room for it.
      if (latest.state === 'waiting' && progress.cut)
        progress.write(process.stderr, warning(`job ${job.id} waits: ${latest.reason ?? 'for nodes'}`));
    }, 5000);
  try {
    const view = await follow(client, job.id, {
      job: (v) => {
        // Without a progress line there is nothing that says so.
        if (!options.quiet && !process.stderr.isTTY && (v.stopped === undefined) !== (latest.stopped === undefined))
          warn(v.stopped ? `job ${job.id} is paused: ${v.stopped.message}` : `job ${job.id} resumed`);
        const spacing = options.quiet || spaced ? undefined : spacingText(v);
        if (spacing !== undefined) {
          spaced = true;
          progress.write(process.stderr, warning(`job ${job.id}: ${spacing}`));
        }
        latest = v;
      },
      provisional: (streams) =>
        progress.setProvisional(
          streams.filter((s) => files.copy || !files[s.stream]).flatMap((s) => linesOf(s, label)),
        ),
      output: (task, stream, bytes) => {
        quiet = 0;
        if (written(task, stream, bytes)) return;
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

/** Its last lines; an unfinished one counts. */
function linesOf({ task, bytes }: ProvisionalOutput, label: ((task: number) => string) | undefined): string[] {
  const lines = new TextDecoder().decode(bytes).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return label ? lines.map((line) => label(task) + line) : lines;
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
