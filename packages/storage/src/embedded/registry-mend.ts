/** Mends damaged files of the registry from their twins before anything is built on them (G5 of registry.ts). */
import { open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeLog, type RegistryFiles } from './registry-files.ts';
import { fileName } from './registry-format.ts';
import { storageError, syncDirectory } from './segment.ts';

/** What the newest log holds may stand in the kernel's cache only: it is synced before anything is built on it. */
export async function mendRegistry(directory: string, files: RegistryFiles): Promise<void> {
  for (const l of files.logs)
    for (const kind of l.beyond.size > 0 ? [] : l.lacking) {
      const name = fileName({ ...l, kind });
      try {
        await replace(directory, name, encodeLog(l));
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

async function replace(directory: string, name: string, bytes: Uint8Array): Promise<void> {
  const temporary = join(directory, `${name}.new`);
  try {
    const handle = await open(temporary, 'w', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(temporary, join(directory, name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(directory);
}
