/**
 * JobFiles in the data directory.
 *
 *   jobs/<job>/submission.json, program.…, in/<blake3>   the files, by their names
 *   jobs/<job>/stdin                                     standard input as messages (stdin-log.ts)
 *   jobs/<job>/record.json                               job-record.ts
 *   jobs/<job>.new/                                      the files of a job that is being created
 *
 * Other parts of a job's folder belong to others (index.ts).
 */
import { readFileSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import { needFileName, needJob } from '../job-names.ts';
import { storageError } from '../storage-error.ts';
import type { JobFileName, JobFiles, JobNote, SealedFiles, StdinLog } from '../ports/index.ts';
import { recorded, writeRecord } from './job-record.ts';
import { FileStdinLog } from './stdin-log.ts';

export class FolderJobFiles implements JobFiles {
  readonly #root: string;

  /** @param root folder of all jobs; made with the first */
  constructor(root: string) {
    this.#root = root;
  }

  async create(job: string, files: ReadonlyMap<JobFileName, string | Uint8Array>): Promise<void> {
    const folder = this.#folder(job);
    for (const name of files.keys()) needFileName(name);
    const fresh = `${folder}.new`;
    try {
      await rm(fresh, { recursive: true, force: true });
      await mkdir(join(fresh, 'in'), { recursive: true, mode: 0o700 });
      for (const [name, bytes] of files) await writeDurable(join(fresh, name), bytes);
      await syncFolder(join(fresh, 'in'));
      await syncFolder(fresh);
      await rename(fresh, folder);
      await syncFolder(this.#root);
    } catch (error) {
      await rm(fresh, { recursive: true, force: true }).catch(() => undefined);
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOTEMPTY' || code === 'EEXIST') throw new MayflyError('CONFLICT', `job ${job} has files already`);
      throw storageError(error, 'the files of the job');
    }
  }

  async read(job: string, name: JobFileName): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#path(job, name));
    } catch (error) {
      return missing(error, job, name);
    }
  }

  readNow(job: string, name: JobFileName): Uint8Array | undefined {
    try {
      return readFileSync(this.#path(job, name));
    } catch {
      return undefined;
    }
  }

  async stream(job: string, name: JobFileName): Promise<AsyncIterable<Uint8Array> | undefined> {
    try {
      const file = await open(this.#path(job, name), 'r');
      if ((await file.stat()).isFile()) return file.createReadStream();
      await file.close();
    } catch (error) {
      return missing(error, job, name);
    }
    return missing(Object.assign(new Error(), { code: 'EISDIR' }), job, name);
  }

  async stdin(job: string): Promise<StdinLog> {
    return new FileStdinLog(join(this.#folder(job), 'stdin'));
  }

  async seal(job: string, note: JobNote, of: SealedFiles): Promise<void> {
    await writeRecord(this.#folder(job), note, of);
  }

  sealed(job: string): Promise<SealedFiles | 'nothing' | 'damaged'> {
    return recorded(this.#folder(job));
  }

  async remove(job: string): Promise<void> {
    const folder = this.#folder(job);
    // A write that ends meanwhile may put a file into a folder that was just emptied (ENOTEMPTY).
    for (const path of [`${folder}.new`, folder]) await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }

  #folder(job: string): string {
    return jobFolder(this.#root, job);
  }

  #path(job: string, name: string): string {
    const folder = this.#folder(job);
    needFileName(name);
    return join(folder, name);
  }
}

/** @throws MayflyError BAD_REQUEST */
export function jobFolder(root: string, job: string): string {
  needJob(job);
  return join(root, job);
}

function missing(error: unknown, job: string, name: string): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return undefined;
  if (code === 'EISDIR') throw new MayflyError('DAMAGED_DATA', `jobs/${job}/${name} is a folder where a file belongs.`);
  throw error;
}

async function writeDurable(path: string, data: string | Uint8Array): Promise<void> {
  const f = await open(path, 'w', 0o600);
  try {
    await f.writeFile(data);
    await f.datasync();
  } finally {
    await f.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const f = await open(path, 'r').catch(() => undefined);
  if (!f) return;
  // Some file systems refuse to sync a directory; then a crash of the machine may lose the job, never half of it.
  await f.sync().catch(() => undefined);
  await f.close();
}
