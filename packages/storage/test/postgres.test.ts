/** The adapters over a real PostgreSQL keep the contracts of their ports. */
import { afterAll, beforeAll, describe } from 'vitest';
import { registrySuite } from '../src/acceptance/index.ts';
import { PostgresRegistry } from '../src/postgres/index.ts';
import { ManualClock } from './manual-clock.ts';
import { databaseFailures } from './postgres/failures.ts';
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
  databaseFailures(() => server);
});
