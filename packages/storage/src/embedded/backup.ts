/**
 * Backup and restore of a data directory, also while a server uses it.
 *
 *   <target>/backup.json     format, version of the server, moment, number of files and bytes
 *   <target>/registry.json   every record of the registry
 *   <target>/log, images, jobs   as in the data directory
 *
 * A backup is what `kill -9` at that moment would have left, so that restoring is the recovery that every start does
 * anyway.
 *
 * Invariants
 *  K1 Everything is taken within one step of the event loop, in which no core, host or log acts: files, and the records
 *  that were committed by then.
 *  K2 What never changes (manifests, inputs, programs, sealed segments, packs of pages but the newest) is linked, not
 *     copied, where the file system can; the rest is copied. A pack that is mended later is mended in the backup too.
 *     A later removal in the data directory takes nothing away from the backup.
 *  K3 `backup.json` is written last and durably: a target without it is not a backup.
 *  K4 The server's own key is not restored. Capabilities and node secrets of the time after the backup are then
 *     refused, so that a node of that time cannot act beside the incarnations of the restored one.
 */
import { constants, copyFileSync, linkSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { cp, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import type { BackupInfo } from '../ports/index.ts';
import { LOCK_FOLDER, lockDirectory } from './directory-lock.ts';
import { openFileRegistry, type FileRegistry } from './registry.ts';
import { syncDirectory } from './durable-file.ts';
import { storageError } from './segment.ts';

/** 4: that of Mayfly 0.2.0, the first that later versions read. */
const FORMAT = 4;
const PARTS = ['log', 'images', 'jobs'] as const;
const SERVER_KEY = 'secret/server';

/**
 * Of a stream's segments and of the packs all but the newest are sealed; manifests come into being by a rename; inputs
 * and programs are written once (F2).
 */
function neverChanges(parts: readonly string[], newestOfItsDirectory: boolean): boolean {
  const [part, second, third] = parts;
  if (part === 'log') return !newestOfItsDirectory;
  if (part === 'images') return second !== 'packs' || !newestOfItsDirectory;
  return third === 'in' || (parts.length === 3 && /^(?:program[.-]|submission\.json$)/.test(third ?? ''));
}

/**
 * Takes a backup into `target`, which must not exist.
 * @param about.at ms since the epoch
 * @returns also for how long everything else stood still
 * @throws MayflyError CONFLICT when `target` exists, DISK_FULL
 */
export async function backupDirectory(
  dataDir: string,
  registry: FileRegistry,
  target: string,
  about: { version: string; at: number },
): Promise<BackupInfo & { pauseMs: number }> {
  const info: BackupInfo = { format: FORMAT, ...about, files: 0, bytes: 0 };
  const directories: string[] = [target];
  const copied: string[] = [];

  const take = (path: string[]): void => {
    const from = join(dataDir, ...path);
    const to = join(target, ...path);
    mkdirSync(to, { mode: 0o700 });
    directories.push(to);
    const entries = readdirSync(from, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    const newest = entries.findLast((e) => e.isFile());
    for (const e of entries) {
      if (e.isDirectory()) {
        if (path[0] !== 'images' || e.name !== 'temporary') take([...path, e.name]);
        continue;
      }
      if (!e.isFile()) continue;
      const [source, place] = [join(from, e.name), join(to, e.name)];
      if (!neverChanges([...path, e.name], e === newest) || !linked(source, place)) {
        copyFileSync(source, place, constants.COPYFILE_FICLONE);
        copied.push(place);
      }
      info.files++;
      info.bytes += statSync(place).size;
    }
  };

  try {
    mkdirSync(target, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new MayflyError('CONFLICT', `${target} already exists; choose a new folder for the backup`);
    throw storageError(error, `cannot make ${target}`);
  }
  try {
    // K1: no await from here …
    const began = performance.now();
    const records = registry.entriesNow();
    for (const part of PARTS) if (statSync(join(dataDir, part), { throwIfNoEntry: false })) take([part]);
    const pauseMs = performance.now() - began;
    // … to here.
    await writeDurably(join(target, 'registry.json'), JSON.stringify(records));
    for (const path of copied) await syncFile(path);
    for (const d of directories) await syncDirectory(d);
    await writeDurably(join(target, 'backup.json'), JSON.stringify(info));
    await syncDirectory(target);
    return { ...info, pauseMs };
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    throw storageError(error, `cannot write the backup ${target}`);
  }
}

/** @returns false where the file system cannot (another device, no links): then it has to be copied. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes a data directory out of a backup, which stays as it is. Jobs go on when a server starts there: from the
 * backup's logs and images, on new incarnations.
 * @throws MayflyError NOT_FOUND when `backup` is none, VERSION_MISMATCH, CONFLICT when `dataDir` holds something
 * already, DISK_FULL
 */
export async function restoreDirectory(backup: string, dataDir: string): Promise<BackupInfo> {
  let info: BackupInfo;
  try {
    info = JSON.parse(await readFile(join(backup, 'backup.json'), 'utf8')) as BackupInfo;
  } catch {
    throw new MayflyError('NOT_FOUND', `${backup} is not a backup: it has no readable backup.json`);
  }
  if (info.format !== FORMAT)
    throw new MayflyError(
      'VERSION_MISMATCH',
      `${backup} is a backup of format ${info.format}; this version reads format ${FORMAT}`,
    );
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const isEmpty = async (): Promise<boolean> => (await readdir(dataDir)).every((name) => name === LOCK_FOLDER);
  const notEmpty = new MayflyError('CONFLICT', `${dataDir} is not empty; restore into a new folder`);
  // Before a lock is left in a folder of somebody's.
  if (!(await isEmpty())) throw notEmpty;
  // No server starts on a part of it, and no second restore mixes with it.
  const lock = await lockDirectory(dataDir);
  if (!(await isEmpty())) {
    await lock.release();
    throw notEmpty;
  }
  try {
    const records = JSON.parse(await readFile(join(backup, 'registry.json'), 'utf8')) as [string, unknown][];
    // Copies, no links: a restored log is appended to.
    for (const part of PARTS)
      await cp(join(backup, part), join(dataDir, part), {
        recursive: true,
        mode: constants.COPYFILE_FICLONE,
        filter: (path) => !path.split(sep).includes('temporary'),
      }).catch(unlessMissing);
    const registry = await openFileRegistry(join(dataDir, 'registry'));
    await registry.commit(records.filter(([key]) => key !== SERVER_KEY));
    await registry.close();
    lock.confirm();
  } catch (error) {
    // What is there may be another process's.
    if (!lock.lost.aborted) await rm(dataDir, { recursive: true, force: true });
    throw storageError(error, `cannot restore into ${dataDir}`);
  } finally {
    await lock.release();
  }
  return info;
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
