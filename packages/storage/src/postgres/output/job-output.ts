/**
 * JobOutput in tables (rows.ts). What an open job writes goes to local files first, and from them to the database with
 * the sync of its part: writes do not wait, and those that were not synced may be lost with the process.
 *
 * Owns: the folder of the local files, which nobody else uses. It is emptied at the start: the database has it all.
 *
 *  O1  A job is open from the rows of the database, or, in a process that has written more than these, from its local
 *      files as they are.
 *  O2  Local files go when the job is closed and the database has all of them.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { JobFile } from '@mayfly/protocols';
import { MayflyError, ResultPath, taskId, type TaskId } from '@mayfly/wire';
import { FolderJobOutput } from '../../embedded/output/job-output.ts';
import { needJob } from '../../job-names.ts';
import type { JobFiles, JobOutput, OpenOutput, Range, StreamName } from '../../ports/index.ts';
import { storageError } from '../../storage-error.ts';
import type { Database } from '../database.ts';
import { Rows } from './rows.ts';
import { Spool, SpooledOutput } from './spool.ts';

const FILES = 'files/';
const OWN = /^(?:journal|\d{1,6}\.(?:index|stdout|stderr))$/;
/** The schema as the JSON that it is. */
const PATH = new RegExp((ResultPath as unknown as { pattern: string }).pattern);

const streamName = (task: TaskId, stream: StreamName): string => `${task}.${stream}`;

export class PostgresJobOutput implements JobOutput {
  readonly #rows: Rows;
  readonly #files: Pick<JobFiles, 'stream'>;
  readonly #folder: string;
  readonly #local: FolderJobOutput;
  /** Jobs with local files. */
  readonly #spools = new Map<string, Spool>();
  /** Local files that are being removed. */
  readonly #leaving = new Map<string, Promise<void>>();

  /** @param folder for local files; all in it is removed. @throws MayflyError when it cannot be made */
  static async open(database: Database, files: Pick<JobFiles, 'stream'>, folder: string): Promise<PostgresJobOutput> {
    try {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw storageError(error, `the folder ${folder} for output that is being written`);
    }
    return new PostgresJobOutput(database, files, folder);
  }

  private constructor(database: Database, files: Pick<JobFiles, 'stream'>, folder: string) {
    this.#rows = new Rows(database);
    this.#files = files;
    this.#folder = folder;
    this.#local = new FolderJobOutput(folder);
  }

  async open(job: string, inputs: ReadonlyMap<string, string>): Promise<OpenOutput> {
    needJob(job);
    await this.#leaving.get(job);
    let spool = this.#spools.get(job);
    await spool?.settled();
    if (!spool || spool.marks.empty) {
      // Nobody but this call removes the local files from now on.
      this.#spools.delete(job);
      await this.#leaving.get(job);
      spool = new Spool(job, join(this.#folder, job), this.#rows);
      await this.#fetch(job, spool, inputs);
      this.#spools.set(job, spool);
    }
    const known = spool;
    const base = await this.#local.open(job, inputs);
    known.open = true;
    return new SpooledOutput(base, known, () => void this.#closed(known));
  }

  /** O1. */
  async #fetch(job: string, spool: Spool, inputs: ReadonlyMap<string, string>): Promise<void> {
    const folder = join(this.#folder, job);
    await rm(folder, { recursive: true, force: true });
    await mkdir(join(spool.out, 'files'), { recursive: true, mode: 0o700 });
    const index: string[] = [];
    for (const { name, task } of await this.#rows.list(job)) {
      if (!OWN.test(name) && !isResult(name))
        throw new MayflyError('DAMAGED_DATA', `The output of job ${job} has a file of an unknown name: ${name}`);
      await this.#copy(this.#rows.read(job, name, 0, Infinity), join(spool.out, name));
      if (!isResult(name)) continue;
      spool.tasks.set(name, task ?? 0);
      index.push(`${JSON.stringify({ path: name.slice(FILES.length), task: task ?? 0 })}\n`);
    }
    await writeFile(join(spool.out, 'files.index'), index.join(''), { mode: 0o600 });
    for (const hash of new Set(inputs.values())) {
      const input = await this.#files.stream(job, `in/${hash}`);
      if (input) await this.#copy(input, join(folder, 'in', hash));
    }
  }

  async #copy(from: AsyncIterable<Uint8Array>, path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await pipeline(from, createWriteStream(path, { mode: 0o600 }));
  }

  /** O2. */
  async #closed(spool: Spool): Promise<void> {
    spool.open = false;
    await spool.settled();
    if (spool.marks.empty && !spool.open && this.#spools.get(spool.job) === spool) await this.#forget(spool.job);
  }

  #forget(job: string): Promise<void> {
    this.#spools.delete(job);
    const gone = rm(join(this.#folder, job), { recursive: true, force: true })
      .catch(() => undefined)
      .finally(() => this.#leaving.delete(job));
    this.#leaving.set(job, gone);
    return gone;
  }

  /** The job's local files are what it has written. Those of a closed job go with the job. */
  async #isLocal(job: string): Promise<boolean> {
    const spool = this.#spools.get(job);
    if (!spool || spool.open || (await this.#rows.hasJob(job).catch(() => true))) return spool !== undefined;
    await this.#forget(job);
    return false;
  }

  async streamBytes(job: string, task: TaskId, stream: StreamName): Promise<number> {
    if (await this.#isLocal(job)) return this.#local.streamBytes(job, task, stream);
    return (await this.#rows.length(job, streamName(task, stream)).catch(() => undefined)) ?? 0;
  }

  async readStream(job: string, task: TaskId, stream: StreamName, from: number, max: number): Promise<Uint8Array> {
    if (await this.#isLocal(job)) return this.#local.readStream(job, task, stream, from, max);
    const parts: Uint8Array[] = [];
    for await (const part of this.#rows.read(job, streamName(task, stream), from, from + max)) parts.push(part);
    return Buffer.concat(parts);
  }

  stream(job: string, task: TaskId, stream: StreamName): Range {
    return this.#range(job, this.#local.stream(job, task, stream), streamName(task, stream));
  }

  async files(job: string): Promise<Map<string, JobFile>> {
    if (await this.#isLocal(job)) return this.#local.files(job);
    const rows = await this.#rows.list(job);
    return new Map(
      rows
        .filter((r) => isResult(r.name))
        .map((r) => [r.name.slice(FILES.length), { task: taskId(r.task ?? 0), size: r.length }]),
    );
  }

  file(job: string, path: string): Range {
    return this.#range(job, this.#local.file(job, path), FILES + path);
  }

  #range(job: string, local: Range, name: string): Range {
    const rows = this.#rows;
    const isLocal = (): Promise<boolean> => this.#isLocal(job);
    return async function* (from, to) {
      if (to > from) yield* (await isLocal()) ? local(from, to) : rows.read(job, name, from, to);
    };
  }

  async fileBytes(job: string, path: string): Promise<number | undefined> {
    if (await this.#isLocal(job)) return this.#local.fileBytes(job, path);
    return this.#rows.length(job, FILES + path).catch(() => undefined);
  }

  async remove(job: string): Promise<void> {
    await this.#spools.get(job)?.settled();
    await this.#rows.remove(job);
    await this.#forget(job);
  }

  /** Local files are gone; no job is open. */
  async close(): Promise<void> {
    for (const spool of this.#spools.values()) await spool.settled();
    this.#spools.clear();
    await Promise.all(this.#leaving.values());
    await rm(this.#folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

const isResult = (name: string): boolean => name.startsWith(FILES) && PATH.test(name.slice(FILES.length));
