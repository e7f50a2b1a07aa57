/** Adapters over a PostgreSQL database, for one server process. No server uses them yet. */
export { PostgresArchive } from './archive.ts';
export { Database, type DatabaseOptions } from './database.ts';
export { openPostgresImageStore, type PostgresImageStore } from './image-store.ts';
export { PostgresJobFiles } from './job-files.ts';
export { PostgresJobOutput } from './output/job-output.ts';
export { PostgresMessageLog, type PostgresMessageLogOptions } from './message-log.ts';
export { PostgresRegistry } from './registry.ts';
