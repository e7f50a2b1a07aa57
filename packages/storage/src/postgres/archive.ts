/**
 * Archive in a table: a row for each name of a job, with a checksum. They go with the files of the job.
 *
 * Owns: copies of the names `final`, which lists and views of ended jobs read without waiting.
 */
import { crc32 } from 'node:zlib';
import { needJob } from '../job-names.ts';
import type { Archive, ArchiveName } from '../ports/index.ts';
import type { Database } from './database.ts';
import { noFiles } from './job-files.ts';

/** Of those, the ones that are kept at hand: more than jobs are kept by default. */
const MOST_AT_HAND = 10_000;

export class PostgresArchive implements Archive {
  readonly #database: Database;
  readonly #atHand = new Map<string, Uint8Array>();

  /** @throws MayflyError */
  static async open(database: Database): Promise<PostgresArchive> {
    const archive = new PostgresArchive(database);
    const { rows } = await database.query(
      `SELECT job, bytes, sum FROM ${database.schema}.job_archive WHERE name = 'final' LIMIT $1`,
      [MOST_AT_HAND],
    );
    for (const row of rows as { job: string; bytes: Buffer; sum: string }[])
      if (crc32(row.bytes) === Number(row.sum)) archive.#atHand.set(row.job, row.bytes);
    return archive;
  }

  private constructor(database: Database) {
    this.#database = database;
  }

  async put(job: string, name: ArchiveName, bytes: Uint8Array): Promise<void> {
    needJob(job);
    const { schema } = this.#database;
    const { count } = await this.#database.write((query) =>
      query(
        `INSERT INTO ${schema}.job_archive (job, name, bytes, sum)
         SELECT id, $2, $3::bytea, $4::bigint FROM ${schema}.job WHERE id = $1
         ON CONFLICT (job, name) DO UPDATE SET bytes = EXCLUDED.bytes, sum = EXCLUDED.sum`,
        [job, name, Buffer.from(bytes), crc32(bytes)],
      ),
    );
    if (count === 0) throw noFiles(job);
    if (name === 'final') this.#keep(job, Uint8Array.from(bytes));
  }

  async get(job: string, name: ArchiveName): Promise<Uint8Array | undefined> {
    needJob(job);
    const answer = await this.#database
      .query(`SELECT bytes, sum FROM ${this.#database.schema}.job_archive WHERE job = $1 AND name = $2`, [job, name])
      .catch(() => undefined);
    const row = answer?.rows[0] as { bytes: Buffer; sum: string } | undefined;
    return row && crc32(row.bytes) === Number(row.sum) ? row.bytes : undefined;
  }

  /** At hand are the counters of ended jobs. */
  getNow(job: string, name: ArchiveName): Uint8Array | undefined {
    return name === 'final' ? this.#atHand.get(job) : undefined;
  }

  #keep(job: string, bytes: Uint8Array): void {
    this.#atHand.delete(job);
    if (this.#atHand.size >= MOST_AT_HAND) this.#atHand.delete(this.#atHand.keys().next().value!);
    this.#atHand.set(job, bytes);
  }
}
