/** The MessageLog of a database that another process of this storage has open, which knows of it (Sharing.joining). */
import type { MessageLog } from '../ports/index.ts';
import { Database, type ConnectionOptions } from './database.ts';
import { PostgresMessageLog } from './message-log.ts';

/**
 * Streams are to be used by one process at a time: one that opens a stream takes it from the other (M2 of
 * message-log.ts). @throws MayflyError BAD_REQUEST
 */
export function joinPostgresLog(
  options: ConnectionOptions,
  opening: { application: string; epoch: string },
): MessageLog {
  const database = Database.join(options, opening);
  const log = new PostgresMessageLog(database);
  return {
    durability: log.durability,
    open: (name) => log.open(name),
    list: (prefix) => log.list(prefix),
    remove: (name) => log.remove(name),
    async close() {
      await log.close().finally(() => database.close());
    },
  };
}
