/** The embedded adapters keep the contracts of their ports. */
import { join } from 'node:path';
import {
  archiveSuite,
  imageStoreSuite,
  jobFilesSuite,
  jobOutputSuite,
  messageLogSuite,
  registrySuite,
} from '../src/acceptance/index.ts';
import {
  FolderArchive,
  FolderJobFiles,
  FolderJobOutput,
  openFileImageStore,
  openFileMessageLog,
  openFileRegistry,
} from '../src/index.ts';
import { ManualClock } from './manual-clock.ts';
import { temporary } from './temporary.ts';

messageLogSuite(
  'files',
  async () => {
    const dir = await temporary();
    return { open: () => openFileMessageLog(dir.path), dispose: dir.dispose };
  },
  { roomBytes: 8 * 1024 * 1024 },
);

// Everything at its narrowest: many segments, hardly any cache, files opened and closed all the time.
messageLogSuite(
  'files, small segments, little memory, few descriptors',
  async () => {
    const dir = await temporary();
    return {
      open: () => openFileMessageLog(dir.path, { segmentBytes: 4096, cacheBytes: 20_000, maxFiles: 2 }),
      dispose: dir.dispose,
    };
  },
  { roomBytes: 100_000 },
);

imageStoreSuite('files', async () => {
  const dir = await temporary();
  return { open: () => openFileImageStore(dir.path), dispose: dir.dispose };
});

jobFilesSuite('folders', async () => {
  const dir = await temporary();
  return { open: async () => new FolderJobFiles(join(dir.path, 'jobs')), dispose: dir.dispose };
});

archiveSuite('folders', async () => {
  const dir = await temporary();
  return {
    open: async () => ({ archive: new FolderArchive(dir.path), files: new FolderJobFiles(dir.path) }),
    dispose: dir.dispose,
  };
});

jobOutputSuite('folders', async () => {
  const dir = await temporary();
  return {
    open: async () => ({ output: new FolderJobOutput(dir.path), files: new FolderJobFiles(dir.path) }),
    dispose: dir.dispose,
  };
});

registrySuite('logs and snapshots', async () => {
  const dir = await temporary();
  const clock = new ManualClock();
  return {
    open: () => openFileRegistry(dir.path, { clock }),
    pass: (ms) => clock.pass(ms),
    dispose: dir.dispose,
  };
});
