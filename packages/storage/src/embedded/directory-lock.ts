/**
 * Keeps a second server out of a data directory: a file that names the process, judged by whether that process still
 * lives. (Node has no flock. A pid alone is not enough: pids are used again after a reboot, and every container has its
 * own pid 1, so the file also has the start time of the process where the system reports it.)
 */
import { readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import { stopsStorage, storageError } from '../storage-error.ts';

interface Owner {
  pid: number;
  started: string;
}

/**
 * When process `pid` started, as Linux reports it (boot id and ticks); '' elsewhere; undefined when there is no such
 * process.
 */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    // The command name is in parentheses and may hold blanks; the state and field 22 are the 1st and 20th after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // It has ended, and its parent has not asked for its exit code yet.
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${boot.trim()}:${fields[19]}`;
  } catch {
    return '';
  }
}

/** @throws MayflyError CONFLICT, DISK_FULL, STORAGE_FAILED @returns how to give it free */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, 'lock');
  const me: Owner = { pid: process.pid, started: (await startOf(process.pid)) ?? '' };
  for (let attempt = 0; attempt < 8; attempt++) {
    try {
      await writeFile(path, JSON.stringify(me), { flag: 'wx' });
      return async () => {
        await unlink(path).catch(() => undefined);
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        // Made, perhaps, and not written.
        if (stopsStorage(storageError(error, ''))) await unlink(path).catch(() => undefined);
        throw storageError(error, `the data directory ${directory} cannot be locked for this server`);
      }
    }
    let owner: Owner | undefined;
    try {
      owner = JSON.parse(await readFile(path, 'utf8')) as Owner;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EISDIR')
        throw new MayflyError(
          'DAMAGED_DATA',
          `${path} is a folder where a file belongs; make sure that no server uses ${directory}, then remove it`,
        );
      if (code === 'EACCES' || code === 'EPERM')
        throw new MayflyError('DAMAGED_DATA', `${path} cannot be read: this user has no permission`);
      owner = undefined; // gone meanwhile, or a half-written file of a process that died
    }
    if (owner && Number.isInteger(owner.pid)) {
      const started = await startOf(owner.pid);
      if (started !== undefined && (started === owner.started || started === '' || owner.started === ''))
        throw new MayflyError(
          'CONFLICT',
          `the data directory ${directory} is in use by process ${owner.pid}; stop that server or choose ` +
            'another --data-dir',
        );
    }
    // Dead owner: move its file aside, and look whether it was that one (another starter may have replaced it
    // meanwhile).
    const stale = `${path}.stale-${process.pid}`;
    try {
      await rename(path, stale);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        throw storageError(error, `the data directory ${directory} cannot be locked for this server`);
      continue;
    }
    const moved = await readFile(stale, 'utf8').catch(() => '');
    if (moved !== '' && owner && moved !== JSON.stringify(owner)) await rename(stale, path);
    else await unlink(stale);
  }
  throw new MayflyError('CONFLICT', `cannot lock the data directory ${directory}`);
}
