/**
 * `<dataDir>/jobs/<job>/record.json`: what a job's folder says of itself. With it `mayfly check` tells whether the
 * folder is whole, and takes the job in again when the registry was lost.
 *
 *   {version, job, records?, sums}     sealed; `records`: all that the registry has of the job, once it has ended;
 *   `sums`: bytes and CRC-32 of each file
 *
 * Owns: these files. They decide nothing while the registry is there.
 *  V1  A record is written before the dispatcher hears of the job, with the files that never change (F2), and once more
 *      when the job has ended, with all files.
 *  V2  The history and the times of the ranks are written some seconds after the end: they get among the sums
 *      LAST_WORDS_MS later, or at the next start. They have checksums of their own as well.
 */
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { JobSpec } from '@mayfly/protocols';
import { seal, unseal } from '@mayfly/storage';
import type { Registry } from '@mayfly/storage/ports';
import { MayflyError, type JobId } from '@mayfly/wire';
import type { Logger } from '../logger.ts';

export interface JobFolderRecord {
  version: 1;
  job: JobSpec;
  records?: [string, unknown][];
  sums: Record<string, [bytes: number, crc: number]>;
}

export const RECORD = 'record.json';
const LATE = ['history.bin', 'run.json'];
/** They are written within 5 s of the end. */
const LAST_WORDS_MS = 10_000;
/** Itself, and what is being written. */
const UNSUMMED = /^(?:record\.json|[^/]*\.new|out\/journal\.new)$/;

export class JobRecords {
  readonly #root: string;
  readonly #registry: Registry;
  readonly #logger: Logger;
  readonly #writing = new Map<JobId, Promise<void>>();
  readonly #timers = new Map<JobId, NodeJS.Timeout>();
  #filling: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(root: string, registry: Registry, logger: Logger) {
    this.#root = root;
    this.#registry = registry;
    this.#logger = logger;
  }

  /** V1. @throws as the file system does */
  async submitted(job: JobSpec): Promise<void> {
    const sums = await sumsOf(join(this.#root, job.id), (path) => path !== 'stdin' && !path.startsWith('out/'));
    await this.#write(job.id, { version: 1, job, sums });
  }

  /** V1. Nothing of the job is written any more, and its end is durable in the registry. */
  ended(job: JobSpec): Promise<void> {
    const under = this.#writing.get(job.id);
    if (under) return under;
    clearTimeout(this.#timers.get(job.id));
    const work = this.#ended(job, false)
      .catch((error: unknown) =>
        this.#logger.warn(
          { err: error, job: job.id },
          'the record of an ended job could not be written; the next start tries again',
        ),
      )
      .finally(() => this.#writing.delete(job.id));
    this.#writing.set(job.id, work);
    // V2
    this.#timers.set(job.id, setTimeout(() => void this.#late(job), LAST_WORDS_MS).unref());
    return work;
  }

  async #late(job: JobSpec): Promise<void> {
    if (this.#closed) return;
    this.#timers.delete(job.id);
    const work = this.#ended(job, true)
      .catch(() => undefined)
      .finally(() => this.#writing.delete(job.id));
    this.#writing.set(job.id, work);
    await work;
  }

  async #ended(job: JobSpec, late: boolean): Promise<void> {
    const { id } = job;
    const state = await this.#registry.get(`job/${id}`);
    if (state === undefined) return;
    const records: [string, unknown][] = [
      [`job/${id}`, state],
      ...(await this.#registry.entries(`task/${id}/`)),
      ...(await this.#registry.entries(`fault/${id}/`)),
    ];
    await this.#write(id, {
      version: 1,
      job,
      records,
      sums: await sumsOf(join(this.#root, id), (path) => late || !LATE.includes(path)),
    });
  }

  /** At the start, one after the other: of those that ended under an earlier version, or just before a crash. */
  fill(jobs: readonly JobSpec[]): void {
    this.#filling = this.#filling.then(async () => {
      for (const job of jobs) {
        if (this.#closed) return;
        const known = await readRecord(join(this.#root, job.id)).catch(() => 'damaged' as const);
        // A damaged one is left for the operator to see.
        if (known === 'damaged') continue;
        const names = await readdir(join(this.#root, job.id)).catch((): string[] => []);
        if (!known?.records || LATE.some((file) => names.includes(file) && !known.sums[file])) await this.#late(job);
      }
    });
  }

  /** Resolves when nothing is written to the job's folder any more. */
  async settled(job: JobId): Promise<void> {
    clearTimeout(this.#timers.get(job));
    this.#timers.delete(job);
    await this.#writing.get(job);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const t of this.#timers.values()) clearTimeout(t);
    await this.#filling;
    await Promise.all(this.#writing.values());
  }

  async #write(job: JobId, record: JobFolderRecord): Promise<void> {
    const path = join(this.#root, job, RECORD);
    const handle = await open(`${path}.new`, 'w', 0o600);
    try {
      await handle.writeFile(seal(JSON.stringify(record)));
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(`${path}.new`, path);
  }
}

/** Undefined: there is none. @throws MayflyError DAMAGED_DATA, or as the file system does */
export async function readRecord(dir: string): Promise<JobFolderRecord | undefined> {
  let text: string;
  try {
    text = await readFile(join(dir, RECORD), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const record = JSON.parse(unseal(text, RECORD)) as JobFolderRecord;
    if (record.version === 1) return record;
  } catch {
    // Falls through.
  }
  throw new MayflyError('DAMAGED_DATA', `${RECORD} is damaged`);
}

/** Of all files below a folder, by their path in it. */
export async function sumsOf(dir: string, wanted: (path: string) => boolean): Promise<JobFolderRecord['sums']> {
  const out: JobFolderRecord['sums'] = {};
  for (const e of await readdir(dir, { withFileTypes: true, recursive: true })) {
    if (!e.isFile()) continue;
    const path = join(e.parentPath ?? e.path, e.name)
      .slice(dir.length + 1)
      .replaceAll('\\', '/');
    if (!UNSUMMED.test(path) && wanted(path)) out[path] = await sumOf(join(dir, path));
  }
  return out;
}

export async function sumOf(path: string): Promise<[bytes: number, crc: number]> {
  let [bytes, crc] = [0, 0];
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    crc = crc32(chunk, crc);
  }
  return [bytes, crc];
}
