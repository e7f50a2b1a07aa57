/** The adapters over a real PostgreSQL keep the contracts of their ports. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import {
  archiveSuite,
  imageStoreSuite,
  jobFilesSuite,
  jobOutputSuite,
  messageLogSuite,
  registrySuite,
} from '../src/acceptance/index.ts';
import {
  openPostgresImageStore,
  PostgresArchive,
  PostgresJobFiles,
  PostgresJobOutput,
  PostgresMessageLog,
  PostgresRegistry,
  WriteAheadFolders,
} from '../src/postgres/index.ts';
import { ManualClock } from './manual-clock.ts';
import { databaseFailures } from './postgres/failures.ts';
import { fileFailures } from './postgres/file-failures.ts';
import { imageFailures } from './postgres/image-failures.ts';
import { kills } from './postgres/kills.ts';
import { logFailures } from './postgres/log-failures.ts';
import { needPrograms, PostgresServer } from './postgres/server.ts';
import { outputFailures } from './postgres/output-failures.ts';
import { freshSchema } from './postgres/subject.ts';
import { writeAhead } from './postgres/write-ahead.ts';
import { temporary } from './temporary.ts';

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
    const folder = await temporary();
    let folders: WriteAheadFolders | undefined;
    return {
      open: async () => {
        await folders?.close();
        folders = new WriteAheadFolders(folder.path);
        const database = await schema.open({ ahead: () => folders!.held() });
        const { ahead } = await folders.take(database.ownership.ahead);
        return new PostgresMessageLog(database, { cacheBytes: 50_000, ahead });
      },
      crash: schema.crash,
      dispose: async () => {
        await schema.dispose();
        await folder.dispose();
      },
    };
  });

  jobFilesSuite('PostgreSQL', async () => {
    const schema = freshSchema(() => server);
    return { open: async () => new PostgresJobFiles(await schema.open()), dispose: schema.dispose };
  });

  archiveSuite('PostgreSQL', async () => {
    const schema = freshSchema(() => server);
    return {
      open: async () => {
        const database = await schema.open();
        return { archive: await PostgresArchive.open(database), files: new PostgresJobFiles(database) };
      },
      dispose: schema.dispose,
    };
  });

  jobOutputSuite('PostgreSQL', async () => {
    const schema = freshSchema(() => server);
    const folder = await temporary();
    let opened = 0;
    return {
      open: async () => {
        const database = await schema.open();
        const files = new PostgresJobFiles(database);
        return { output: await PostgresJobOutput.open(database, files, join(folder.path, String(++opened))), files };
      },
      dispose: async () => {
        await schema.dispose();
        await folder.dispose();
      },
    };
  });

  imageStoreSuite('PostgreSQL', async () => {
    const schema = freshSchema(() => server);
    return { open: async () => openPostgresImageStore(await schema.open()), dispose: schema.dispose };
  });

  kills(() => server);
  databaseFailures(() => server);
  logFailures(() => server);
  fileFailures(() => server);
  outputFailures(() => server);
  imageFailures(() => server);
  writeAhead(() => server);
});
