/** Adapters over a PostgreSQL database, for one server process at a time. */
export { PostgresArchive } from './archive.ts';
export { Database, type DatabaseOptions, type OwnedDatabase } from './database.ts';
export { openPostgresImageStore, type PostgresImageStore } from './image-store.ts';
export { PostgresJobFiles } from './job-files.ts';
export { PostgresJobOutput } from './output/job-output.ts';
export { PostgresMessageLog, type PostgresMessageLogOptions } from './message-log.ts';
export type { Owner } from './ownership.ts';
export { PostgresRegistry } from './registry.ts';
export { joinPostgresLog } from './joined-log.ts';
export { WriteAheadFolders } from './write-ahead.ts';
export { openPostgresStorage, type PostgresStorageOptions } from './storage.ts';
