/**
 * Takes over a registry that an earlier version kept with LMDB: reads `registry/data.mdb`, writes the new files, and
 * keeps the old folder as `registry.lmdb`.
 *
 *   registry/            the earlier version's folder, in the end the new one
 *   registry.new/        the new one while it is written; begun once more by the next start after a crash
 *   registry.lmdb/       the old one from then on; nothing reads it any more, and the operator may delete it
 *
 * In the new folder a file `data.mdb` with a sentence in it keeps that earlier version, should it be started here
 * again, from taking the folder for an empty one.
 */
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import { parseFileName } from '../registry-format.ts';
import { syncDirectory } from '../durable-file.ts';
import { storageError } from '../segment.ts';
import { DamagedLmdb, readLmdb } from './lmdb-file.ts';

const GUARD = 'This registry was moved to a newer format; it belongs to a newer version of Mayfly.\n';

const isThere = async (path: string): Promise<boolean> =>
  readdir(path).then(
    () => true,
    () => false,
  );

/**
 * Does nothing where there is nothing to take over.
 * @param write makes a registry of these entries in an empty folder, durably
 * @param orOlder of a damaged one takes the state before the last commit, if that can be read
 * @throws MayflyError DAMAGED_DATA, DISK_FULL
 */
export async function migrateLmdb(
  directory: string,
  write: (into: string, entries: [string, unknown][]) => Promise<void>,
  orOlder = false,
): Promise<void> {
  const [old, fresh] = [`${directory}.lmdb`, `${directory}.new`];
  // A crash between the two renames.
  const interrupted = !(await isThere(directory)) && (await isThere(old)) && (await isThere(fresh));
  const source = interrupted ? old : directory;
  const entries = await lmdbEntries(source, orOlder);
  if (!entries) return;
  try {
    await rm(fresh, { recursive: true, force: true });
    await write(fresh, entries);
    const guard = await open(join(fresh, 'data.mdb'), 'wx', 0o400);
    await guard.writeFile(GUARD);
    await guard.sync();
    await guard.close();
    await syncDirectory(fresh);
    if (!interrupted) {
      if (await isThere(old))
        throw new MayflyError(
          'CONFLICT',
          `${old} exists already: an earlier registry was taken over before. Move it away, then start again.`,
        );
      await rename(directory, old);
    }
    await rename(fresh, directory);
    await syncDirectory(dirname(directory));
  } catch (error) {
    throw storageError(error, `the registry of an earlier version in ${source} cannot be taken over`);
  }
}

/**
 * Undefined: there is none.
 * @param orOlder takes the state before the last commit where the newest one cannot be read
 * @throws MayflyError DAMAGED_DATA
 */
export async function lmdbEntries(directory: string, orOlder = false): Promise<[string, unknown][] | undefined> {
  const names = await readdir(directory).catch((): string[] => []);
  if (!names.includes('data.mdb') || names.some((n) => parseFileName(n))) return undefined;
  const path = join(directory, 'data.mdb');
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new MayflyError('DAMAGED_DATA', `${path} cannot be read: ${(error as Error).message}`);
  }
  // The new registry's own files are missing: the caller, which knows the rest of the data directory, decides what that
  // means.
  if (bytes.equals(Buffer.from(GUARD))) return undefined;
  try {
    const { entries, older } = readLmdb(bytes);
    if (older !== undefined && !orOlder)
      throw new DamagedLmdb(`its newest state cannot be read (${older}); the one before can`);
    return entries;
  } catch (error) {
    if (!(error instanceof DamagedLmdb)) throw error;
    throw new MayflyError(
      'DAMAGED_DATA',
      `${path} ${/^(?:is|has) /.test(error.message) ? error.message : `is damaged: ${error.message}`}`,
    );
  }
}
