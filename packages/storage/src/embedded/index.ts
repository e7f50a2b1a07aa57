/**
 * The embedded storage: one data directory for one server process.
 *
 *   <dir>/lock/      claims of the processes that use the directory: of one at a time (directory-lock.ts)
 *   <dir>/log/       message streams, one directory each (message-log.ts)
 *   <dir>/images/    checkpoint pages and manifests (image-store.ts)
 *   <dir>/registry/  logs and snapshots of small records (registry.ts)
 *   <dir>/jobs/      a folder per job: its files (job-files.ts), output (output/), statistics (archive.ts)
 */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Storage } from '../ports/index.ts';
import { FolderArchive } from './archive.ts';
import { backupDirectory } from './backup.ts';
import { lockDirectory, type DirectoryLock } from './directory-lock.ts';
import { fence } from './fence.ts';
import { openFileImageStore } from './image-store.ts';
import { FolderJobFiles } from './job-files.ts';
import { openFileMessageLog, type FileMessageLogOptions } from './message-log.ts';
import { FolderJobOutput } from './output/job-output.ts';
import { jobsOf, refuseUnknown } from './unknown-data.ts';
import { directoryBytes, usageOf } from './usage.ts';
import { openFileRegistry, type FileRegistryOptions } from './registry.ts';

export interface EmbeddedStorageOptions {
  /** Created when missing. */
  dataDir: string;
  log?: FileMessageLogOptions;
  registry?: FileRegistryOptions;
  /** The caller's, who gives it free. */
  lock?: DirectoryLock;
}

/**
 * @throws MayflyError CONFLICT when another live process uses the directory; DAMAGED_DATA when its registry is damaged,
 * or lacks jobs whose files are there.
 */
export async function openEmbeddedStorage(options: EmbeddedStorageOptions): Promise<Storage> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const lock = options.lock ?? (await lockDirectory(options.dataDir));
  const unlock = (): Promise<void> => (options.lock ? Promise.resolve() : lock.release());
  try {
    const registry = await openFileRegistry(join(options.dataDir, 'registry'), options.registry);
    const entries = registry.entriesNow();
    await refuseUnknown(options.dataDir, jobsOf(entries.map(([key]) => key)));
    const log = await openFileMessageLog(join(options.dataDir, 'log'), options.log);
    const images = await openFileImageStore(join(options.dataDir, 'images'), {
      expected: entries.flatMap(([key, value]) =>
        key.startsWith('image/') ? [(value as { image: string }).image] : [],
      ),
    });
    const jobs = join(options.dataDir, 'jobs');
    const files = new FolderJobFiles(jobs);
    const output = new FolderJobOutput(jobs);
    const archive = new FolderArchive(jobs);
    fence({ log, images, registry, files, output, archive }, lock);
    return {
      notices: [...registry.mended.map((p) => `registry/${p.file} ${p.what}`), ...images.notices],
      log,
      images,
      registry,
      files,
      output,
      archive,
      lost: lock.lost,
      // The server itself writes a probe into the directory.
      writable: () => Promise.resolve(),
      usage: () => usageOf(options.dataDir),
      usageOf: (job) => directoryBytes(join(jobs, job)),
      async backup(target, about) {
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        return backupDirectory(options.dataDir, registry, target, about);
      },
      async close() {
        await log.close();
        await images.close();
        await registry.close();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

export { restoreDirectory } from './backup.ts';
