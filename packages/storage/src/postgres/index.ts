/**
 * Adapters over a PostgreSQL database, for one server process. No server uses them yet: JobOutput has none, because its
 * writes are synchronous and survive the process before they are synced (ports/job-output.ts).
 */
export { PostgresArchive } from './archive.ts';
export { Database, type DatabaseOptions } from './database.ts';
export { openPostgresImageStore, type PostgresImageStore } from './image-store.ts';
export { PostgresJobFiles } from './job-files.ts';
export { PostgresMessageLog, type PostgresMessageLogOptions } from './message-log.ts';
export { PostgresRegistry } from './registry.ts';
