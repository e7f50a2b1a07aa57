/**
 * The files that a tool of LLVM sees: a small file system by absolute POSIX paths, answered lazily, so that nothing is
 * read but what the tool asks for. Three kinds: in memory (a submission, the sysroot), the user's disk (the drivers of
 * the command line), and mounts which put one kind over another.
 *
 * Paths may hold `.` and `..`; they are resolved here, links of the disk by the system. Nothing here throws for a
 * missing file: it is undefined; what goes wrong for other reasons is a {@link FileError} with a WASI errno.
 */
import {
  chmodSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { posix } from 'node:path';

export interface FileStat {
  readonly kind: 'file' | 'directory';
  readonly size: number;
  /** The same file has the same id, by whatever path. */
  readonly id: bigint;
  readonly device: bigint;
  readonly mtimeNs: bigint;
}

export interface FileTree {
  stat(path: string): FileStat | undefined;
  read(path: string): Uint8Array | undefined;
  /** Names of a directory's entries; undefined when it is none. */
  list(path: string): string[] | undefined;
  /** Creates the file, or replaces it. */
  write(path: string, bytes: Uint8Array, executable?: boolean): void;
  makeDirectory(path: string): void;
  remove(path: string, kind: 'file' | 'directory'): void;
  rename(from: string, to: string): void;
}

export const ERRNO = {
  acces: 2,
  badf: 8,
  exist: 20,
  inval: 28,
  io: 29,
  isdir: 31,
  noent: 44,
  nospc: 51,
  nosys: 52,
  notdir: 54,
  notempty: 55,
  notsup: 58,
  rofs: 69,
  spipe: 70,
  xdev: 75,
} as const;
export type Errno = keyof typeof ERRNO;

/** As the C library words it. */
const REASONS: Readonly<Record<Errno, string>> = {
  acces: 'Permission denied',
  badf: 'Bad file descriptor',
  exist: 'File exists',
  inval: 'Invalid argument',
  io: 'Input/output error',
  isdir: 'Is a directory',
  noent: 'No such file or directory',
  nospc: 'No space left on device',
  nosys: 'Function not implemented',
  notdir: 'Not a directory',
  notempty: 'Directory not empty',
  notsup: 'Operation not supported',
  rofs: 'Read-only file system',
  spipe: 'Illegal seek',
  xdev: 'Invalid cross-device link',
};

export class FileError extends Error {
  readonly errno: Errno;
  constructor(errno: Errno, path: string) {
    super(`${path}: ${REASONS[errno]}`);
    this.errno = errno;
  }
}

export const absolute = (cwd: string, path: string): string => posix.resolve('/', cwd, path);

/** Files by path in memory. Directories are those that files lie in, and those that were made. */
export class MemoryFiles implements FileTree {
  readonly files = new Map<string, Uint8Array>();
  readonly #directories = new Map<string, Set<string>>([['/', new Set()]]);
  readonly #ids = new Map<string, bigint>();
  readonly #device: bigint;
  readonly #maxBytes: number;
  #bytes = 0;
  static #devices = 1n << 32n;

  /** @param maxBytes all files together; one more byte is "no space left" */
  constructor(files: Readonly<Record<string, Uint8Array | string>> = {}, maxBytes = Infinity) {
    this.#device = MemoryFiles.#devices++;
    this.#maxBytes = maxBytes;
    for (const [path, content] of Object.entries(files))
      this.write(path, typeof content === 'string' ? new TextEncoder().encode(content) : content);
  }

  stat(path: string): FileStat | undefined {
    const p = posix.normalize(path);
    const file = this.files.get(p);
    if (file === undefined && !this.#directories.has(p)) return undefined;
    let id = this.#ids.get(p);
    if (id === undefined) this.#ids.set(p, (id = BigInt(this.#ids.size + 1)));
    return {
      kind: file === undefined ? 'directory' : 'file',
      size: file?.length ?? 0,
      id,
      device: this.#device,
      mtimeNs: 0n,
    };
  }

  read(path: string): Uint8Array | undefined {
    return this.files.get(posix.normalize(path));
  }

  list(path: string): string[] | undefined {
    const names = this.#directories.get(posix.normalize(path));
    return names && [...names].sort();
  }

  write(path: string, bytes: Uint8Array): void {
    const p = absolute('/', path);
    if (this.#directories.has(p)) throw new FileError('isdir', p);
    const total = this.#bytes + bytes.length - (this.files.get(p)?.length ?? 0);
    if (total > this.#maxBytes) throw new FileError('nospc', p);
    this.makeDirectory(posix.dirname(p));
    this.files.set(p, bytes);
    this.#bytes = total;
    this.#directories.get(posix.dirname(p))!.add(posix.basename(p));
  }

  makeDirectory(path: string): void {
    const p = absolute('/', path);
    if (this.#directories.has(p)) return;
    if (this.files.has(p)) throw new FileError('notdir', p);
    const parent = posix.dirname(p);
    this.makeDirectory(parent);
    this.#directories.set(p, new Set());
    this.#directories.get(parent)!.add(posix.basename(p));
  }

  remove(path: string, kind: 'file' | 'directory'): void {
    const p = posix.normalize(path);
    if (kind === 'file') {
      const file = this.files.get(p);
      if (file === undefined) throw new FileError(this.#directories.has(p) ? 'isdir' : 'noent', p);
      this.#bytes -= file.length;
      this.files.delete(p);
    } else {
      const entries = this.#directories.get(p);
      if (entries === undefined) throw new FileError('noent', p);
      if (entries.size > 0 || p === '/') throw new FileError('notempty', p);
      this.#directories.delete(p);
    }
    this.#directories.get(posix.dirname(p))?.delete(posix.basename(p));
  }

  rename(from: string, to: string): void {
    const bytes = this.read(from);
    if (bytes === undefined) throw new FileError('noent', from);
    this.remove(from, 'file');
    this.write(to, bytes);
  }
}

const CODES: Readonly<Record<string, Errno>> = {
  ENOENT: 'noent',
  EACCES: 'acces',
  EPERM: 'acces',
  EEXIST: 'exist',
  EISDIR: 'isdir',
  ENOTDIR: 'notdir',
  ENOTEMPTY: 'notempty',
  ENOSPC: 'nospc',
  EROFS: 'rofs',
  EXDEV: 'xdev',
  EINVAL: 'inval',
};

function onDisk<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new FileError(CODES[(error as NodeJS.ErrnoException).code ?? ''] ?? 'io', path);
  }
}

function unlessMissing<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    const code = CODES[(error as NodeJS.ErrnoException).code ?? ''];
    if (code === 'noent' || code === 'notdir') return undefined;
    throw new FileError(code ?? 'io', String((error as NodeJS.ErrnoException).path));
  }
}

/** Device number of /dev/null on Linux. */
const NULL_DEVICE = 0x103;

/** /dev/null and the like, also behind a link. */
const isDevice = (path: string): boolean => {
  const s = statSync(path, { throwIfNoEntry: false });
  return s !== undefined && !s.isFile() && !s.isDirectory();
};

/**
 * The user's disk, with the user's rights. Only for the drivers on the user's own machine. A device as output gets the
 * bytes, and stays: a compiler that root calls with `-o /dev/null` must not put a file in its place.
 */
export class DiskFiles implements FileTree {
  stat(path: string): FileStat | undefined {
    const s = unlessMissing(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
    if (s === undefined || (!s.isFile() && !s.isDirectory() && !s.isCharacterDevice())) return undefined;
    return {
      kind: s.isDirectory() ? 'directory' : 'file',
      size: Number(s.size),
      id: s.ino,
      device: s.dev,
      mtimeNs: s.mtimeNs,
    };
  }

  read(path: string): Uint8Array | undefined {
    return unlessMissing(() => {
      const fd = openSync(path, 'r');
      try {
        const s = fstatSync(fd);
        if (s.isCharacterDevice() && s.rdev === NULL_DEVICE) return new Uint8Array(0);
        return s.isFile() ? readFileSync(fd) : undefined;
      } finally {
        closeSync(fd);
      }
    });
  }

  list(path: string): string[] | undefined {
    return unlessMissing(() => readdirSync(path).sort());
  }

  write(path: string, bytes: Uint8Array, executable = false): void {
    onDisk(path, () => {
      writeFileSync(path, bytes);
      if (executable && statSync(path).isFile()) chmodSync(path, 0o755);
    });
  }

  makeDirectory(path: string): void {
    onDisk(path, () => mkdirSync(path));
  }

  remove(path: string, kind: 'file' | 'directory'): void {
    onDisk(path, () => {
      if (kind === 'directory') rmdirSync(path);
      else if (!isDevice(path)) unlinkSync(path);
    });
  }

  rename(from: string, to: string): void {
    onDisk(from, () => {
      if (!isDevice(to)) return renameSync(from, to);
      writeFileSync(to, readFileSync(from));
      unlinkSync(from);
    });
  }
}

/** Trees over a base, by the folder under which they appear. A mount is read-only unless it says so. */
export class MountedFiles implements FileTree {
  readonly #base: FileTree;
  readonly #mounts: readonly { readonly at: string; readonly tree: FileTree; readonly writable: boolean }[];
  readonly #onRead: (path: string, bytes: Uint8Array) => void;

  /** @param onRead sees each file of the base that is read */
  constructor(
    base: FileTree,
    mounts: readonly { readonly at: string; readonly tree: FileTree; readonly writable?: boolean }[],
    onRead: (path: string, bytes: Uint8Array) => void = () => undefined,
  ) {
    this.#onRead = onRead;
    this.#base = base;
    this.#mounts = mounts.map((m) => ({ at: m.at, tree: m.tree, writable: m.writable ?? false }));
  }

  #find(path: string): { tree: FileTree; path: string; writable: boolean } {
    const p = posix.normalize(path);
    for (const m of this.#mounts)
      if (p === m.at || p.startsWith(`${m.at}/`))
        return { tree: m.tree, path: p.slice(m.at.length) || '/', writable: m.writable };
    // Not normalised: behind a link, `..` means what the system says.
    return { tree: this.#base, path, writable: true };
  }

  #writable(path: string): { tree: FileTree; path: string } {
    const found = this.#find(path);
    if (!found.writable) throw new FileError('rofs', path);
    return found;
  }

  stat(path: string): FileStat | undefined {
    const f = this.#find(path);
    return f.tree.stat(f.path);
  }

  read(path: string): Uint8Array | undefined {
    const f = this.#find(path);
    const bytes = f.tree.read(f.path);
    if (bytes !== undefined && f.tree === this.#base) this.#onRead(path, bytes);
    return bytes;
  }

  list(path: string): string[] | undefined {
    const f = this.#find(path);
    return f.tree.list(f.path);
  }

  write(path: string, bytes: Uint8Array, executable?: boolean): void {
    const f = this.#writable(path);
    f.tree.write(f.path, bytes, executable);
  }

  makeDirectory(path: string): void {
    const f = this.#writable(path);
    f.tree.makeDirectory(f.path);
  }

  remove(path: string, kind: 'file' | 'directory'): void {
    const f = this.#writable(path);
    f.tree.remove(f.path, kind);
  }

  rename(from: string, to: string): void {
    const [a, b] = [this.#writable(from), this.#writable(to)];
    if (a.tree === b.tree) return a.tree.rename(a.path, b.path);
    const bytes = a.tree.read(a.path);
    if (bytes === undefined) throw new FileError('noent', from);
    b.tree.write(b.path, bytes);
    a.tree.remove(a.path, 'file');
  }
}
