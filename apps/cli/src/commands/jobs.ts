/** `mayfly jobs list | show | cancel | output | rm`. */
import { accepts } from '@mayfly/protocols/manifests';
import { progressText, runTime, spacingText, teamChangeText, type JobState, type JobView } from '@mayfly/wire';
import { ApiFailure, Client, passes } from '../client.ts';
import { needConnection, type ConnectionOptions } from '../connection.ts';
import { endOf } from '../ending.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { OutputMerger } from '../output-merger.ts';
import { programLine } from '../mpmd.ts';
import { saveResultFiles } from '../result-files.ts';
import { table } from '../table.ts';
import { clearScreen, indented, json, pass, say, sayLine, warn } from '../terminal.ts';

const client = async (options: ConnectionOptions): Promise<Client> => new Client(await needConnection(options));

const when = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
const lasted = (v: JobView): string =>
  v.startedAt === undefined ? '' : `${(runTime(v, Date.now()) / 1000).toFixed(1)} s`;

export interface ListOptions extends ConnectionOptions {
  json?: boolean;
  state?: JobState[];
  limit?: number;
  watch?: boolean;
}

const LOOK_MS = 2000;

/** With `watch` it shows the list again whenever it changes, until a signal ends it; a server may be away meanwhile. */
export async function list(options: ListOptions): Promise<number> {
  const c = await client(options);
  let shown: string | undefined;
  const show = (text: string): void => {
    if (text === shown) return;
    if (options.watch && clearScreen()) shown = undefined;
    if (shown !== undefined) say('');
    say((shown = text));
  };
  show(await listing(c, options));
  while (options.watch) {
    await new Promise((go) => setTimeout(go, LOOK_MS));
    try {
      show(await listing(c, options));
    } catch (error) {
      if (!passes(error)) throw error;
      show(`${(error as Error).message}; trying again`);
    }
  }
  await c.close();
  return Exit.OK;
}

async function listing(c: Client, { state, limit, json: asJson }: ListOptions): Promise<string> {
  const jobs = (await c.jobs())
    .filter((j) => state === undefined || state.includes(j.state))
    .sort((a, b) => b.submittedAt - a.submittedAt)
    .slice(0, limit);
  if (asJson) return json(jobs);
  if (jobs.length === 0) return 'no jobs';
  return table([
    ['ID', 'NAME', 'STATE', 'RANKS', 'SUBMITTED (UTC)', 'TIME', ''],
    ...jobs.map((j) => [
      j.id,
      j.name,
      j.state,
      String(j.size),
      when(j.submittedAt),
      lasted(j),
      j.error?.code ?? j.reason ?? (j.progress ? progressText(j.progress) : ''),
    ]),
  ]);
}

export async function show(id: string, options: ConnectionOptions & { json?: boolean }): Promise<number> {
  const c = await client(options);
  const j = await c.job(id);
  await c.close();
  if (options.json) {
    say(json(j));
    return Exit.OK;
  }
  sayLine(
    `${j.name} (${j.id}): ` +
      `${j.state}${j.reason ? `, ${j.reason}` : ''}${j.exitCode === undefined ? '' : `, exit code ${j.exitCode}`}`,
  );
  if (j.progress) sayLine(`progress: ${progressText(j.progress)}`);
  if (j.error) say(indented(`error: ${j.error.message} (${j.error.code})`));
  sayLine(programLine(j));
  sayLine(
    `${j.size} rank${j.size === 1 ? '' : 's'}, ${j.protocol}${accepts(j.protocol, 'strict') ? `, ${j.durability}` : ''}; submitted ` +
      `${when(j.submittedAt)} UTC, ran ${lasted(j) || 'not yet'}`,
  );
  const spacing = spacingText(j);
  if (spacing !== undefined) sayLine(spacing);
  say('');
  say(
    table([
      ['RANK', 'STATE', 'INCARNATION', 'NODE', 'IN', 'OUT', 'IMAGES', 'DOES'],
      ...j.tasks.map((t) => [
        String(t.task),
        t.state,
        String(t.incarnation),
        t.nodeName ?? '',
        String(t.messagesIn),
        String(t.messagesOut),
        String(t.images),
        [t.activity?.state, t.activity?.call].filter(Boolean).join(' '),
      ]),
    ]),
  );
  if (j.faults.length > 0) {
    const faults = j.faults.map((f) => [
      when(f.at),
      String(f.task),
      String(f.incarnation),
      f.cause,
      f.recoveredAfterMs === undefined ? '' : `${f.recoveredAfterMs} ms`,
      f.error ?? '',
    ]);
    say(`\n${table([['FAULT (UTC)', 'RANK', 'INCARNATION', 'CAUSE', 'RECOVERED AFTER', 'REASON'], ...faults])}`);
  }
  if (j.teamChanges)
    say(`\n${table([['TEAMS (UTC)', ''], ...j.teamChanges.map((c) => [when(c.at), teamChangeText(c)])])}`);
  if (j.outputs.length > 0)
    say(`\n${table([['RESULT FILE', 'BYTES'], ...j.outputs.map((o) => [o.path, String(o.bytes)])])}`);
  return Exit.OK;
}

export async function cancel(ids: string[], options: ConnectionOptions): Promise<number> {
  const c = await client(options);
  let code: number = Exit.OK;
  for (const id of ids) {
    let before = false;
    try {
      await c.cancel(id);
    } catch (error) {
      if (!(error instanceof ApiFailure && error.code === 'CONFLICT')) throw error;
      before = true;
    }
    const job = await c.job(id);
    if (job.state === 'cancelled') say(`job ${id} ${before ? 'had already been' : 'was'} cancelled`);
    else {
      warn(`job ${id} was not cancelled: it had already ended (${endOf(job)})`);
      code = Exit.FAILED;
    }
  }
  await c.close();
  return code;
}

export async function remove(ids: string[], options: ConnectionOptions): Promise<number> {
  const c = await client(options);
  for (const id of ids) await c.remove(id);
  await c.close();
  return Exit.OK;
}

export interface OutputOptions extends ConnectionOptions {
  task?: number;
  stderr?: boolean;
  follow?: boolean;
  label?: boolean;
  files?: string;
}

export async function output(id: string, options: OutputOptions): Promise<number> {
  const c = await client(options);
  const job = await c.job(id);
  if (options.task !== undefined && options.task >= job.size)
    throw new CommandError(`job ${id} has ranks 0 to ${job.size - 1}`, Exit.USAGE);
  if (options.files !== undefined) {
    const { saved, refused } = await saveResultFiles(c, job, options.files);
    for (const path of saved) sayLine(path);
    for (const { path, why } of refused) warn(`${path} was not written: ${why}`);
    await c.close();
    return refused.length > 0 ? Exit.FAILED : Exit.OK;
  }
  const wanted = options.stderr ? 'stderr' : 'stdout';
  const merger = new OutputMerger(options.label ? (task) => `[${task}] ` : undefined, process.stdout.isTTY);
  const take = (task: number, bytes: Uint8Array): void => {
    if (options.task === undefined || task === options.task) pass(merger.take(task, bytes));
  };
  if (options.follow)
    await (
      await import('../follow.ts')
    ).follow(c, id, { job: () => undefined, output: (task, stream, bytes) => stream === wanted && take(task, bytes) });
  else
    for (let task = 0; task < job.size; task++) {
      if (options.task !== undefined && task !== options.task) continue;
      for (let from = 0; ;) {
        const bytes = await c.output(id, task, wanted, from);
        if (bytes.length === 0) break;
        from += bytes.length;
        take(task, bytes);
      }
    }
  pass(merger.flush());
  await c.close();
  return Exit.OK;
}
