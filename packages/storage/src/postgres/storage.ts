/** All ports over one PostgreSQL database, for one server process. */
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import type { Storage, StorageUsage } from '../ports/index.ts';
import { PostgresArchive } from './archive.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { openPostgresImageStore } from './image-store.ts';
import { PostgresJobFiles } from './job-files.ts';
import { PostgresMessageLog } from './message-log.ts';
import { PostgresJobOutput } from './output/job-output.ts';
import { PostgresRegistry } from './registry.ts';

export interface PostgresStorageOptions extends DatabaseOptions {
  /** Of this machine, for what open jobs write before it is synced: its subfolder `output`, which is emptied. */
  dataDir: string;
}

/** Tables whose rows belong to a job and go with it. */
const OF_A_JOB = ['job_file_part', 'job_stdin', 'job_archive', 'job_output_part'];

/**
 * @throws MayflyError STORAGE_FAILED, CONFLICT when another process uses the database, VERSION_MISMATCH, BAD_REQUEST
 */
export async function openPostgresStorage({ dataDir, ...options }: PostgresStorageOptions): Promise<Storage> {
  const database = await Database.open(options);
  try {
    const { schema } = database;
    const registry = new PostgresRegistry(database);
    const log = new PostgresMessageLog(database);
    const images = await openPostgresImageStore(database);
    const files = new PostgresJobFiles(database);
    const output = await PostgresJobOutput.open(database, files, join(dataDir, 'output'));
    return {
      notices: images.notices,
      log,
      images,
      registry,
      files,
      output,
      archive: new PostgresArchive(database),
      async writable() {
        await database.write((query) => query('SELECT 1'));
      },
      async usage() {
        const { rows } = await database.query(
          `SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
           WHERE relnamespace = $1::regnamespace AND relkind = 'r'`,
          [schema],
        );
        const usage: StorageUsage = { log: 0, images: 0, jobs: 0, registry: 0, total: 0 };
        for (const { name, bytes } of rows) {
          const [part] = (name as string).split('_');
          usage.total += Number(bytes);
          if (part === 'job') usage.jobs += Number(bytes);
          else if (part === 'image') usage.images += Number(bytes);
          else if (part === 'log' || part === 'registry') usage[part] += Number(bytes);
        }
        return usage;
      },
      async usageOf(job) {
        const sums = OF_A_JOB.map(
          (table) => `(SELECT coalesce(sum(octet_length(bytes)), 0) FROM ${schema}.${table} WHERE job = $1)`,
        );
        const { rows } = await database.query(`SELECT ${sums.join(' + ')} AS bytes`, [job]);
        return Number(rows[0]!.bytes);
      },
      backup: () =>
        Promise.reject(
          new MayflyError(
            'CONFLICT',
            `The data of this server is in PostgreSQL: back up the schema ${schema} with pg_dump.`,
          ),
        ),
      async close() {
        await log.close();
        await images.close();
        await output.close();
        await registry.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
