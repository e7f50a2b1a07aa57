/** A schema of its own for each subject of a suite, on the one server of the test file. */
import { Database as Postgres } from '../../src/postgres/index.ts';
import type { DatabaseOptions, OwnedDatabase } from '../../src/postgres/index.ts';
import type { PostgresServer } from './server.ts';

let count = 0;

export interface OpenDatabase {
  /** Closes the database that is open, and opens it again. */
  open(more?: Partial<DatabaseOptions>): Promise<OwnedDatabase>;
  /** The process that has it open dies. */
  crash(): Promise<void>;
  dispose(): Promise<void>;
}

export function freshSchema(server: () => PostgresServer): OpenDatabase {
  const schema = `test ${++count}`;
  let database: OwnedDatabase | undefined;
  return {
    async open(more = {}) {
      await database?.close();
      return (database = await Postgres.open({ url: server().url(), schema, connections: 4, ...more }));
    },
    crash: () => server().breakConnections(),
    async dispose() {
      await database?.close();
    },
  };
}
