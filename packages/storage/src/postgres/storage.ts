/** All ports over one PostgreSQL database, for one server process. */
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import type { Storage } from '../ports/index.ts';
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

/**
 * What is kept: tables and the columns that count. Not their files, which stay large until PostgreSQL uses the space of
 * deleted rows again: retention would remove more and more jobs.
 */
const OF_A_PART = {
  log: ['log_batch.bytes'],
  images: ['image_pack.bytes', 'image_manifest.json'],
  jobs: ['job_file_part.bytes', 'job_stdin.bytes', 'job_archive.bytes', 'job_output_part.bytes'],
  registry: ['registry.value'],
} as const;

const total = (schema: string, what: string, where = ''): string => {
  const [table, column] = what.split('.') as [string, string];
  return `(SELECT coalesce(sum(octet_length(${column})), 0) FROM ${schema}.${table} ${where})`;
};

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
      archive: await PostgresArchive.open(database),
      async writable() {
        await database.write((query) => query('SELECT 1'));
      },
      async usage() {
        const { rows } = await database.query(
          `SELECT ${Object.entries(OF_A_PART)
            .map(([part, what]) => `(${what.map((w) => total(schema, w)).join(' + ')}) AS ${part}`)
            .join(', ')}`,
        );
        const [log, images, jobs, registry] = ['log', 'images', 'jobs', 'registry'].map((part) =>
          Number(rows[0]![part]),
        ) as [number, number, number, number];
        return { log, images, jobs, registry, total: log + images + jobs + registry };
      },
      async usageOf(job) {
        const sums = OF_A_PART.jobs.map((what) => total(schema, what, 'WHERE job = $1'));
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
