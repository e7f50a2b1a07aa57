/**
 * Adapters over a PostgreSQL database, for one server process. No server uses them yet: JobOutput and ImageStore have
 * none.
 */
export { PostgresArchive } from './archive.ts';
export { Database, type DatabaseOptions } from './database.ts';
export { PostgresJobFiles } from './job-files.ts';
export { PostgresMessageLog, type PostgresMessageLogOptions } from './message-log.ts';
export { PostgresRegistry } from './registry.ts';
