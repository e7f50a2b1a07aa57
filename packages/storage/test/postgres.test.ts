/** The adapters over a real PostgreSQL keep the contracts of their ports. */
import { afterAll, beforeAll, describe } from 'vitest';
import { messageLogSuite, registrySuite } from '../src/acceptance/index.ts';
import { PostgresMessageLog, PostgresRegistry } from '../src/postgres/index.ts';
import { ManualClock } from './manual-clock.ts';
import { databaseFailures } from './postgres/failures.ts';
import { logFailures } from './postgres/log-failures.ts';
import { needPrograms, PostgresServer } from './postgres/server.ts';
import { freshSchema } from './postgres/subject.ts';

const programs = needPrograms();
let server: PostgresServer;
beforeAll(async () => {
  if (programs !== undefined) server = await PostgresServer.start(programs);
});
afterAll(() => server?.dispose());

describe.skipIf(programs === undefined)('PostgreSQL', () => {
  registrySuite('PostgreSQL', async () => {
    const schema = freshSchema(() => server);
    const clock = new ManualClock();
    return {
      open: async () => new PostgresRegistry(await schema.open(), clock),
      pass: (ms) => clock.pass(ms),
      dispose: schema.dispose,
    };
  });
  // Hardly any memory: most records are read back from temporary files.
  messageLogSuite('PostgreSQL', async () => {
    const schema = freshSchema(() => server);
    return {
      open: async () => new PostgresMessageLog(await schema.open(), { cacheBytes: 50_000 }),
      crash: schema.crash,
      dispose: schema.dispose,
    };
  });

  databaseFailures(() => server);
  logFailures(() => server);
});
