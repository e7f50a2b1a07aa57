/**
 * Adapters over a PostgreSQL database, for one server process. No server uses them yet: there is one for Registry only.
 */
export { Database, type DatabaseOptions } from './database.ts';
export { PostgresRegistry } from './registry.ts';
