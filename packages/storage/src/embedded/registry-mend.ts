/** Mends damaged files of the registry from their twins before anything is built on them (G5 of registry.ts). */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeLog, type RegistryFiles } from './registry-files.ts';
import { fileName } from './registry-format.ts';
import { replaceFile, syncDirectory } from './durable-file.ts';
import { storageError } from './segment.ts';

/** What the newest log holds may stand in the kernel's cache only: it is synced before anything is built on it. */
export async function mendRegistry(directory: string, files: RegistryFiles): Promise<void> {
  for (const l of files.logs)
    for (const kind of l.beyond.size > 0 ? [] : l.lacking) {
      const name = fileName({ ...l, kind });
      try {
        const path = join(directory, name);
        await replaceFile(path, `${path}.new`, (handle) => handle.writeFile(encodeLog(l)));
        await syncDirectory(directory);
      } catch (error) {
        // Without space, or read-only: its twin has all, and the next start tries again.
        files.problems.push({ file: name, what: `could not be mended: ${(error as Error).message}` });
      }
    }
  const newest = files.logs.at(-1);
  if (!newest) return;
  for (const kind of ['log', 'twin'] as const) {
    const handle = await open(join(directory, fileName({ ...newest, kind })), 'r').catch(() => undefined);
    if (!handle) continue;
    try {
      await handle.datasync();
    } catch (error) {
      throw storageError(error, `cannot sync ${join(directory, fileName({ ...newest, kind }))}`);
    } finally {
      await handle.close();
    }
  }
  await syncDirectory(directory);
}
