/** Archive in a table: a row for each name of a job, with a checksum. They go with the files of the job. */
import { crc32 } from 'node:zlib';
import { needJob } from '../job-names.ts';
import type { Archive, ArchiveName } from '../ports/index.ts';
import type { Database } from './database.ts';
import { noFiles } from './job-files.ts';

export class PostgresArchive implements Archive {
  readonly #database: Database;

  constructor(database: Database) {
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
  }

  async get(job: string, name: ArchiveName): Promise<Uint8Array | undefined> {
    needJob(job);
    const answer = await this.#database
      .query(`SELECT bytes, sum FROM ${this.#database.schema}.job_archive WHERE job = $1 AND name = $2`, [job, name])
      .catch(() => undefined);
    const row = answer?.rows[0] as { bytes: Buffer; sum: string } | undefined;
    return row && crc32(row.bytes) === Number(row.sum) ? row.bytes : undefined;
  }

  /** Nothing is at hand. */
  getNow(): undefined {
    return undefined;
  }
}
