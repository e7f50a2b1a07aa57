/**
 * Which errors of the file system mean that nothing can be stored for now, as against a defect of ours: they pass when
 * a person frees space, mounts the file system for writing again, or closes files. Code that meets one stops writing
 * and tries again later; nothing that was to be stored counts as stored.
 */
import { MayflyError, type ErrorCode } from '@mayfly/wire';

const FULL = new Set(['ENOSPC', 'EDQUOT']);
/** What helps a process that has too many files open. */
export const MORE_FILES =
  'start it with a higher limit (“ulimit -n 65536” in its shell, LimitNOFILE=65536 in its systemd unit)';
/**
 * What went wrong, for people. A missing folder or missing rights count too: the data directory was changed under a
 * running server.
 */
const UNWRITABLE: Readonly<Record<string, string>> = {
  EROFS: 'the file system is mounted read-only',
  EIO: 'the disk reports an input/output error',
  EMFILE: `this process has as many files open as it may; ${MORE_FILES}`,
  ENFILE: 'this machine has as many files open as it may',
  ENOENT: 'a file or folder of the data directory is missing',
  ENOTDIR: 'a folder of the data directory was replaced by a file',
  EACCES: 'access to a file of the data directory is denied',
  EPERM: 'access to a file of the data directory is denied',
  EFBIG: 'a file is longer than this file system or its limits allow',
  ENODEV: 'the device of the data directory is gone',
  ENXIO: 'the device of the data directory is gone',
  ESTALE: 'the network file system of the data directory is gone',
  ETIMEDOUT: 'the network file system of the data directory does not answer',
};

const STOPS: readonly ErrorCode[] = ['DISK_FULL', 'STORAGE_FAILED'];

/** Nothing can be stored for now: the same write may succeed later. */
export const stopsStorage = (error: unknown): error is MayflyError =>
  error instanceof MayflyError && STOPS.includes(error.code);

/** For messages that need not name the file: 'the file system is mounted read-only (EROFS)'. */
export const whyStopped = (error: MayflyError): string =>
  (error.detail as { why?: string } | undefined)?.why ?? 'its storage does not work';

/** What an error of the file system means for the storage; undefined: it does not concern the storage. */
export function storageStop(error: unknown, what: string): MayflyError | undefined {
  if (error instanceof MayflyError) return stopsStorage(error) ? error : undefined;
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === undefined) return undefined;
  if (FULL.has(code))
    return new MayflyError('DISK_FULL', `${what}: no space is left on the disk of the data directory`);
  const why = Object.hasOwn(UNWRITABLE, code) ? UNWRITABLE[code] : undefined;
  return why === undefined
    ? undefined
    : new MayflyError('STORAGE_FAILED', `${what}: ${why} (${code})`, { why: `${why} (${code})` });
}

/** An error of the file system in the words of the registry of errors. */
export function storageError(error: unknown, what: string): MayflyError {
  if (error instanceof MayflyError) return error;
  if ((error as NodeJS.ErrnoException).code === 'EISDIR')
    return new MayflyError('DAMAGED_DATA', `${what}: a folder lies where a file belongs`);
  return storageStop(error, what) ?? new MayflyError('INTERNAL', `${what}: ${(error as Error).message}`);
}
