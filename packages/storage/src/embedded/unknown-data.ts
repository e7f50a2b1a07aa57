/**
 * What a data directory holds of jobs that its registry does not know: a sign that the registry was emptied, lost, or
 * replaced. Nothing of it is ever removed by the server, which does not start then.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import { storageError } from './segment.ts';

export interface UnknownData {
  /** Jobs with a folder. */
  jobs: string[];
  /** Jobs with message logs, by job. */
  logs: Map<string, string[]>;
  /** Jobs with checkpoint images, by job: names of the manifests. */
  images: Map<string, string[]>;
}

const JOB = /^[0-9a-z]{12}$/;
/** Registry keys that name a job: the job itself, one that is being made, and one that is being removed. */
const KEY = /^(?:job|making|removing)\/([0-9a-z]{12})$/;

export function jobsOf(keys: Iterable<string>): Set<string> {
  const out = new Set<string>();
  for (const key of keys) {
    const job = KEY.exec(key)?.[1];
    if (job !== undefined) out.add(job);
  }
  return out;
}

/** @throws MayflyError when a folder cannot be read */
export async function unknownData(dataDir: string, known: ReadonlySet<string>): Promise<UnknownData> {
  const out: UnknownData = { jobs: [], logs: new Map(), images: new Map() };
  for (const name of await names(join(dataDir, 'jobs'))) if (JOB.test(name) && !known.has(name)) out.jobs.push(name);
  for (const name of await names(join(dataDir, 'log')))
    add(out.logs, known, /^([0-9a-z]{12})%2F/.exec(name)?.[1], name);
  for (const name of await names(join(dataDir, 'images', 'manifests')))
    add(out.images, known, /^([0-9a-z]{12})-.*\.json$/.exec(name)?.[1], name);
  return out;
}

function add(to: Map<string, string[]>, known: ReadonlySet<string>, job: string | undefined, name: string): void {
  if (job === undefined || known.has(job)) return;
  const list = to.get(job);
  if (list) list.push(name);
  else to.set(job, [name]);
}

async function names(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (code === 'ENOTDIR') throw new MayflyError('DAMAGED_DATA', `${directory} is a file where a folder belongs`);
    throw storageError(error, `cannot read the folder ${directory}`);
  }
}

/**
 * Refuses a directory whose registry lacks jobs. Images alone do not count where it knows other jobs: a crash of an
 * earlier version may have left one.
 * @throws MayflyError DAMAGED_DATA
 */
export async function refuseUnknown(dataDir: string, known: ReadonlySet<string>): Promise<void> {
  const { jobs, logs, images } = await unknownData(dataDir, known);
  const lost = new Set([...jobs, ...logs.keys(), ...(known.size === 0 ? images.keys() : [])]);
  if (lost.size === 0) return;
  const list = [...lost].sort();
  const some = list.slice(0, 3).join(', ') + (list.length > 3 ? ` and ${list.length - 3} more` : '');
  throw new MayflyError(
    'DAMAGED_DATA',
    `The data directory ${dataDir} holds files of ` +
      `${list.length === 1 ? `a job that its registry does not know (${some})` : `${list.length} jobs that its registry does not know (${some})`}: ` +
      ('the registry was lost, emptied or replaced. Nothing was changed. Put back the folder registry/, ' +
        'restore a backup into a new folder (mayfly restore), ') +
      `or let “mayfly check ${dataDir} --repair” take the jobs in again from their folders.`,
  );
}
