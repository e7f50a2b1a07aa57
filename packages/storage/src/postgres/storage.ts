/** All ports over one PostgreSQL database, for one server process at a time (ownership.ts). */
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import type { Sharing, Storage } from '../ports/index.ts';
import { PostgresArchive } from './archive.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { openPostgresImageStore } from './image-store.ts';
import { PostgresJobFiles } from './job-files.ts';
import { PostgresMessageLog } from './message-log.ts';
import { PostgresJobOutput } from './output/job-output.ts';
import { PostgresRegistry } from './registry.ts';
import { WriteAheadFolders } from './write-ahead.ts';

export interface PostgresStorageOptions extends DatabaseOptions {
  /**
   * Of this machine: `output` for what open jobs write before it is synced, which is emptied; `ahead` for messages that
   * the database does not have yet (write-ahead.ts).
   */
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
export async function openPostgresStorage({
  dataDir,
  ...options
}: PostgresStorageOptions): Promise<Storage & { sharing: Sharing }> {
  const folders = new WriteAheadFolders(join(dataDir, 'ahead'));
  const database = await Database.open({ ...options, ahead: () => folders.held() }).catch(async (error: unknown) => {
    await folders.close();
    throw error;
  });
  try {
    const { schema } = database;
    const { ahead, discarded } = await folders.take(database.ownership.ahead);
    await ahead.sweep((text, values) => database.query(text, values), schema);
    const registry = new PostgresRegistry(database);
    const log = new PostgresMessageLog(database, { ahead });
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
      lost: database.ownership.lost,
      sharing: {
        discarded,
        secret: database.ownership.secret,
        joining: { application: database.ownership.application, epoch: database.ownership.epoch },
        peers: () => database.ownership.peers((text, values) => database.query(text, values)),
      },
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
        // Of tables that belong to another server now, nothing can be written any more.
        const closed = async (port: { close(): Promise<void> }): Promise<void> => {
          await port.close().catch((error: unknown) => {
            if (!database.ownership.lost.aborted) throw error;
          });
        };
        for (const port of [log, images, output, registry, database, folders]) await closed(port);
      },
    };
  } catch (error) {
    await database.close();
    await folders.close();
    throw error;
  }
}
