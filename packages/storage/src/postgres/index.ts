/**
 * Adapters over a PostgreSQL database, for one server process. No server uses them yet: JobOutput, ImageStore, JobFiles
 * and Archive have none.
 */
export { Database, type DatabaseOptions } from './database.ts';
export { PostgresMessageLog, type PostgresMessageLogOptions } from './message-log.ts';
export { PostgresRegistry } from './registry.ts';
