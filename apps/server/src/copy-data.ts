/**
 * Copies what a server keeps from one storage into another one: from a data directory into a database, or back. All
 * jobs have ended: their messages and checkpoints are of no use any more, and stay behind.
 *
 *  K1  The source is only read.
 *  K2  The registry is copied last, in one commit: before that a server that starts on the target finds marks of jobs
 *      that were never accepted (job-marks.ts), and removes what is there.
 */
import { isOver, partsOf, type JobSpec } from '@mayfly/protocols';
import { openEmbeddedStorage } from '@mayfly/storage';
import type { ArchiveName, JobFileName, Storage } from '@mayfly/storage/ports';
import { MayflyError, WorldMode, type TaskId } from '@mayfly/wire';
import { programFile } from './jobs/job-store.ts';

type Entry = [key: string, value: unknown];

export const isDatabase = (place: string): boolean => /^postgres(?:ql)?:\/\//.test(place);

/** Opens a database, or a data directory. @param scratch folder for what a database needs of this machine */
export async function openPlace(place: string, scratch: string): Promise<Storage> {
  if (!isDatabase(place)) return openEmbeddedStorage({ dataDir: place });
  const { openPostgresStorage } = await import('@mayfly/storage/postgres');
  return openPostgresStorage({ url: place, dataDir: scratch });
}

export interface Copied {
  jobs: number;
  /** Of the registry: jobs, tokens, rooms, quotas, boards. */
  records: number;
}

/** Of running jobs, or of this storage alone. */
const STAYS = /^(?:lease|image|near|making)\//;
const ARCHIVED: readonly ArchiveName[] = ['history', 'run', 'final'];
/** A part of a file that is written at once. */
const PART_BYTES = 256 * 1024;

/**
 * @param progress called before each job
 * @throws MayflyError CONFLICT when a job has not ended, or the target is in use; NOT_FOUND when there is nothing;
 * DAMAGED_DATA, DISK_FULL, STORAGE_FAILED
 */
export async function copyData(
  from: Storage,
  to: Storage,
  progress: (job: string, n: number, of: number) => void = () => undefined,
): Promise<Copied> {
  const all = (await from.registry.entries('')).filter(([key]) => !STAYS.test(key));
  const jobs = all.flatMap(([key, value]) =>
    key.startsWith('job/') ? [value as { spec: JobSpec; state: string }] : [],
  );
  if (all.length === 0) throw new MayflyError('NOT_FOUND', 'There is nothing to copy: no server has used it.');
  const open = jobs.filter(({ state }) => !isOver(state)).map(({ spec }) => `${spec.id} (${spec.name})`);
  if (open.length > 0)
    throw new MayflyError(
      'CONFLICT',
      `Only jobs that have ended can be copied. Let these end, or cancel them: ${open.join(', ')}.`,
    );
  const there = (await to.registry.entries('')).filter(([key]) => !STAYS.test(key));
  if (there.length > 0)
    throw new MayflyError('CONFLICT', 'The target is in use: a server has kept data there. Copy into a new one.');
  const marks: Entry[] = jobs.map(({ spec }) => [`making/${spec.id}`, { at: Date.now() }]);
  await to.registry.commit(marks); // K2
  for (const [i, { spec }] of jobs.entries()) {
    progress(spec.id, i, jobs.length);
    await copyJob(from, to, spec, all);
  }
  await to.registry.commit([...all, ...marks.map(([key]): Entry => [key, undefined])]);
  return { jobs: jobs.length, records: all.length };
}

async function copyJob(from: Storage, to: Storage, spec: JobSpec, all: readonly Entry[]): Promise<void> {
  const { id } = spec;
  // What an earlier attempt left.
  await to.output.remove(id);
  await to.files.remove(id);
  const files = new Map<JobFileName, Uint8Array>();
  for (const name of await namesOf(from, spec)) {
    const bytes = await from.files.read(id, name);
    if (bytes) files.set(name, bytes);
  }
  await to.files.create(id, files);
  await copyStdin(from, to, id);
  await copyOutput(from, to, spec);
  for (const name of ARCHIVED) {
    const bytes = await from.archive.get(id, name);
    if (bytes) await to.archive.put(id, name, bytes);
  }
  const records = all.filter(([key]) => /^(?:job|task|fault)\//.test(key) && key.split('/')[1] === id);
  await to.files.seal(id, { job: spec, records }, 'all');
}

async function namesOf(from: Storage, spec: JobSpec): Promise<JobFileName[]> {
  const programs = partsOf(spec).map((_, part) => programFile(spec.program.language, part));
  const submission = await from.files.read(spec.id, 'submission.json');
  const { stdinHash } = (submission ? JSON.parse(Buffer.from(submission).toString('utf8')) : {}) as {
    stdinHash?: string;
  };
  return [
    'submission.json',
    ...programs.flatMap((name): JobFileName[] => [name, `${name}.map`]),
    ...spec.files.map(({ hash }): JobFileName => `in/${hash}`),
    ...(stdinHash === undefined ? [] : [`in/${stdinHash}` as const]),
  ];
}

async function copyStdin(from: Storage, to: Storage, job: string): Promise<void> {
  const source = await from.files.stdin(job);
  try {
    if (source.messages === 0) return;
    const target = await to.files.stdin(job);
    try {
      for (let n = 1; n <= source.messages; n++)
        await target.append(source.message(n), source.ended && n === source.messages);
    } finally {
      target.close();
    }
  } finally {
    source.close();
  }
}

async function copyOutput(from: Storage, to: Storage, { id, files }: JobSpec): Promise<void> {
  const inputs = new Map(files.map(({ path, hash }) => [path, hash]));
  const source = await from.output.open(id, inputs);
  try {
    const target = await to.output.open(id, inputs);
    try {
      for (const task of source.tasks()) {
        let n = 0;
        const written = target.task(task);
        for (const [stream, mode] of [['stdout', WorldMode.STDOUT] as const, ['stderr', WorldMode.STDERR] as const]) {
          // Of one that has nothing there may be no file.
          if ((await from.output.streamBytes(id, task, stream)) === 0) continue;
          for await (const part of from.output.stream(id, task, stream)(0, Infinity))
            written.write(stream, part, written.place(++n, mode, part)!.start);
        }
        await written.sync();
      }
      for (const [path, { task, size }] of await from.output.files(id))
        await copyFile(from.output.file(id, path)(0, Infinity), { path, task, size }, target.files);
      // Once: each sync writes the list of all files.
      await target.files.sync();
    } finally {
      target.close();
    }
  } finally {
    source.close();
  }
}

type Target = Pick<Awaited<ReturnType<Storage['output']['open']>>['files'], 'perform'>;

async function copyFile(
  parts: AsyncIterable<Uint8Array>,
  { path, task, size }: { path: string; task: TaskId; size: number },
  to: Target,
): Promise<void> {
  to.perform({ type: 'create', path, task, input: false });
  let at = 0;
  for await (const part of parts)
    for (let o = 0; o < part.length; o += PART_BYTES) {
      const data = part.subarray(o, o + PART_BYTES);
      to.perform({ type: 'write', path, segments: [at, data.length, 1, data.length], data });
      at += data.length;
    }
  to.perform({ type: 'resize', path, size });
}
