/** How a file takes the place of another one so that a crash at any moment leaves one of the two, whole. */
import { open, rename, unlink, type FileHandle } from 'node:fs/promises';

/**
 * Writes `temporary`, syncs it and renames it to `path`, on the same file system. The new name survives a power loss
 * once {@link syncDirectory} has resolved for the directory. On an error it removes `temporary`.
 * @throws as `write` and the file system do
 */
export async function replaceFile(
  path: string,
  temporary: string,
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  try {
    const handle = await open(temporary, 'w', 0o600);
    try {
      await write(handle);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** Makes the entries of a directory (creations, renames, removals) durable. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return; // no such operation there; NTFS journals its directories
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
