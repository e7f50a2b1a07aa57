/**
 * One run of a WASI command (clang, wasm-ld, ar … in wasm) over a {@link FileTree}: its arguments, its standard
 * streams, its files. Synchronous. Own because the host that comes with the package copies the whole output file at
 * each 4 KB written (a program with 45 MB of static arrays never ended), knows no `..`, and wants every file
 * beforehand.
 *
 * The tool's libc has one root and no working directory: `a.c` and `/a.c` arrive alike.
 * {@link WasiOptions.absolutePrefixes} and what exists decide: a path below a prefix is absolute; else the file below
 * the working directory if there is one; else the absolute one.
 *
 * Invariants: W1 a written file reaches the tree when it is closed or the run ends, whole; W2 nothing but the tree is
 * read or written;
 * W3 the clock stands still and the random numbers are fixed, so that the same input gives the same output.
 */
import { posix } from 'node:path';
import { engine, type WasmMemory, type WasmModule } from './engine.ts';
import { ERRNO, FileError, type FileTree } from './files.ts';

export interface WasiOptions {
  readonly args: readonly string[];
  readonly files: FileTree;
  readonly cwd: string;
  readonly absolutePrefixes: readonly string[];
  readonly stdin?: Uint8Array;
}

export interface WasiResult {
  readonly exit: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

class Exit {
  readonly code: number;
  constructor(code: number) {
    this.code = code;
  }
}

/** Bytes that grow by doubling. */
class Growing {
  bytes: Uint8Array;
  length: number;
  constructor(initial: Uint8Array = new Uint8Array(0)) {
    this.bytes = initial;
    this.length = initial.length;
  }

  resize(length: number): void {
    if (length > this.bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.bytes.length * 2, 4096));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    } else if (length < this.length) this.bytes.fill(0, length, this.length);
    this.length = length;
  }

  put(at: number, chunk: Uint8Array): void {
    if (at + chunk.length > this.length) this.resize(at + chunk.length);
    this.bytes.set(chunk, at);
  }

  whole(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }
}

interface Open {
  /** Undefined: removed while open. */
  path: string | undefined;
  readonly kind: 'file' | 'directory' | 'stream';
  data: Uint8Array | Growing;
  position: number;
  readonly append: boolean;
  dirty: boolean;
}

const O_CREAT = 1;
const O_DIRECTORY = 2;
const O_EXCL = 4;
const O_TRUNC = 8;
const RIGHT_WRITE = 64n;

export function runWasi(module: WasmModule, options: WasiOptions): WasiResult {
  const { files, cwd } = options;
  const text = new TextEncoder();
  const decoder = new TextDecoder();
  let memory = undefined as unknown as WasmMemory;
  const view = (): DataView => new DataView(memory.buffer);
  const bytes = (at: number, length: number): Uint8Array => new Uint8Array(memory.buffer, at, length);

  const stdout = new Growing();
  const stderr = new Growing();
  const stream = (data: Uint8Array | Growing): Open => ({
    path: '',
    kind: 'stream',
    data,
    position: 0,
    append: true,
    dirty: false,
  });
  const open = new Map<number, Open>([
    [0, stream(options.stdin ?? new Uint8Array(0))],
    [1, stream(stdout)],
    [2, stream(stderr)],
    [3, { path: '/', kind: 'directory', data: new Uint8Array(0), position: 0, append: false, dirty: false }],
  ]);

  const fileOf = (fd: number): Open => {
    const f = open.get(fd);
    if (f === undefined) throw new FileError('badf', String(fd));
    return f;
  };

  const resolve = (fd: number, at: number, length: number): string => {
    const path = decoder.decode(bytes(at, length));
    const directory = fileOf(fd);
    if (fd !== 3) return `${directory.path ?? ''}/${path}`;
    const asAbsolute = `/${path}`;
    if (
      cwd === '/' ||
      options.absolutePrefixes.some((p) => asAbsolute === p || asAbsolute.startsWith(p.endsWith('/') ? p : `${p}/`))
    )
      return asAbsolute;
    const asRelative = `${cwd}/${path}`;
    if (files.stat(asRelative) !== undefined || files.stat(asAbsolute) !== undefined)
      return files.stat(asRelative) !== undefined ? asRelative : asAbsolute;
    return files.stat(posix.dirname(asRelative)) !== undefined || files.stat(posix.dirname(asAbsolute)) === undefined
      ? asRelative
      : asAbsolute;
  };

  const flush = (f: Open): void => {
    if (!f.dirty || f.path === undefined) return;
    f.dirty = false;
    files.write(f.path, (f.data as Growing).whole().slice());
  };

  const contents = (f: Open): Uint8Array => (f.data instanceof Growing ? f.data.whole() : f.data);

  const putStat = (
    at: number,
    f: { kind: Open['kind']; size: number; id: bigint; device: bigint; mtimeNs: bigint },
  ): void => {
    const v = view();
    v.setBigUint64(at, f.device, true);
    v.setBigUint64(at + 8, f.id, true);
    v.setBigUint64(at + 16, BigInt(TYPES[f.kind]), true);
    v.setBigUint64(at + 24, 1n, true);
    v.setBigUint64(at + 32, BigInt(f.size), true);
    for (const o of [40, 48, 56]) v.setBigUint64(at + o, f.mtimeNs, true);
  };

  const strings = (list: readonly string[], pointers: number, at: number): number => {
    for (const s of list) {
      view().setUint32(pointers, at, true);
      pointers += 4;
      const encoded = text.encode(`${s}\0`);
      bytes(at, encoded.length).set(encoded);
      at += encoded.length;
    }
    return 0;
  };
  const sizes = (list: readonly string[], count: number, size: number): number => {
    view().setUint32(count, list.length, true);
    view().setUint32(
      size,
      list.reduce((sum, s) => sum + text.encode(s).length + 1, 0),
      true,
    );
    return 0;
  };

  const read = (f: Open, iovs: number, count: number, from: number): number => {
    let total = 0;
    for (let i = 0; i < count; i++) {
      const at = view().getUint32(iovs + i * 8, true);
      const length = view().getUint32(iovs + i * 8 + 4, true);
      const part = contents(f).subarray(from + total, from + total + length);
      bytes(at, part.length).set(part);
      total += part.length;
      if (part.length < length) break;
    }
    return total;
  };

  const environment: string[] = ['HOME=/', 'PATH=/'];
  let random = 0x9e3779b9;

  const calls: Record<string, (...a: never[]) => number> = {
    args_get: (pointers: number, at: number) => strings(options.args, pointers, at),
    args_sizes_get: (count: number, size: number) => sizes(options.args, count, size),
    environ_get: (pointers: number, at: number) => strings(environment, pointers, at),
    environ_sizes_get: (count: number, size: number) => sizes(environment, count, size),
    clock_time_get(_id: number, _precision: bigint, at: number) {
      view().setBigUint64(at, 1_000_000_000_000_000_000n, true);
      return 0;
    },
    random_get(at: number, length: number) {
      const out = bytes(at, length);
      for (let i = 0; i < length; i++) {
        random ^= random << 13;
        random ^= random >>> 17;
        random ^= random << 5;
        out[i] = random;
      }
      return 0;
    },
    poll_oneoff: () => ERRNO.nosys,
    proc_exit(code: number) {
      throw new Exit(code);
    },
    fd_close(fd: number) {
      flush(fileOf(fd));
      open.delete(fd);
      return 0;
    },
    fd_fdstat_get(fd: number, at: number) {
      const f = fileOf(fd);
      const v = view();
      v.setUint32(at, TYPES[f.kind] | (f.append ? 1 << 16 : 0), true);
      v.setUint32(at + 4, 0, true);
      v.setBigUint64(at + 8, 0x1fffffffn, true);
      v.setBigUint64(at + 16, 0x1fffffffn, true);
      return 0;
    },
    fd_filestat_get(fd: number, at: number) {
      const f = fileOf(fd);
      const known = f.kind === 'stream' || f.path === undefined ? undefined : files.stat(f.path);
      putStat(at, {
        kind: f.kind,
        size: f.kind === 'file' ? contents(f).length : 0,
        id: known?.id ?? BigInt(fd),
        device: known?.device ?? 0n,
        mtimeNs: known?.mtimeNs ?? 0n,
      });
      return 0;
    },
    fd_filestat_set_size(fd: number, size: bigint) {
      const f = fileOf(fd);
      if (!(f.data instanceof Growing)) return ERRNO.inval;
      if (size > MAX_FILE) return ERRNO.nospc;
      f.data.resize(Number(size));
      f.dirty = true;
      return 0;
    },
    fd_filestat_set_times: () => 0,
    fd_prestat_get(fd: number, at: number) {
      if (fd !== 3) return ERRNO.badf;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return 0;
    },
    fd_prestat_dir_name(fd: number, at: number) {
      if (fd !== 3) return ERRNO.badf;
      bytes(at, 1)[0] = 0x2f;
      return 0;
    },
    fd_read(fd: number, iovs: number, count: number, result: number) {
      const f = fileOf(fd);
      if (f.kind === 'directory') return ERRNO.isdir;
      const n = read(f, iovs, count, f.position);
      f.position += n;
      view().setUint32(result, n, true);
      return 0;
    },
    fd_pread(fd: number, iovs: number, count: number, offset: bigint, result: number) {
      const f = fileOf(fd);
      if (f.kind !== 'file') return ERRNO.spipe;
      view().setUint32(result, read(f, iovs, count, Number(offset)), true);
      return 0;
    },
    fd_write(fd: number, iovs: number, count: number, result: number) {
      const f = fileOf(fd);
      if (!(f.data instanceof Growing)) return ERRNO.badf;
      let total = 0;
      for (let i = 0; i < count; i++) {
        const part = bytes(view().getUint32(iovs + i * 8, true), view().getUint32(iovs + i * 8 + 4, true));
        if (f.append) f.position = f.data.length;
        if (f.position + part.length > MAX_FILE) return ERRNO.nospc;
        f.data.put(f.position, part);
        f.position += part.length;
        total += part.length;
      }
      f.dirty = f.kind === 'file';
      view().setUint32(result, total, true);
      return 0;
    },
    fd_seek(fd: number, offset: bigint, whence: number, result: number) {
      const f = fileOf(fd);
      if (f.kind !== 'file') return ERRNO.spipe;
      const target = Number(offset) + (whence === 0 ? 0 : whence === 1 ? f.position : contents(f).length);
      if (target < 0) return ERRNO.inval;
      f.position = target;
      view().setBigUint64(result, BigInt(target), true);
      return 0;
    },
    fd_readdir(fd: number, at: number, length: number, cookie: bigint, result: number) {
      const f = fileOf(fd);
      const directory = f.path ?? '';
      const names = files.list(directory);
      if (names === undefined) return ERRNO.notdir;
      const out = new Growing();
      for (let i = Number(cookie); i < names.length && out.length < length; i++) {
        const name = text.encode(names[i]);
        const entry = new Uint8Array(24 + name.length);
        const v = new DataView(entry.buffer);
        const s = files.stat(`${directory}/${names[i]!}`);
        v.setBigUint64(0, BigInt(i + 1), true);
        v.setBigUint64(8, s?.id ?? 0n, true);
        v.setUint32(16, name.length, true);
        v.setUint8(20, s === undefined ? 0 : TYPES[s.kind]);
        entry.set(name, 24);
        out.put(out.length, entry);
      }
      const part = out.whole().subarray(0, length);
      bytes(at, part.length).set(part);
      view().setUint32(result, part.length, true);
      return 0;
    },
    path_create_directory(fd: number, at: number, length: number) {
      files.makeDirectory(resolve(fd, at, length));
      return 0;
    },
    path_filestat_get(fd: number, _flags: number, at: number, length: number, result: number) {
      const s = files.stat(resolve(fd, at, length));
      if (s === undefined) return ERRNO.noent;
      putStat(result, s);
      return 0;
    },
    path_open(
      fd: number,
      _dirflags: number,
      at: number,
      length: number,
      oflags: number,
      rights: bigint,
      _inheriting: bigint,
      fdflags: number,
      result: number,
    ) {
      const path = resolve(fd, at, length);
      const s = files.stat(path);
      if (s !== undefined && (oflags & O_CREAT) !== 0 && (oflags & O_EXCL) !== 0) return ERRNO.exist;
      if (s === undefined && (oflags & O_CREAT) === 0) return ERRNO.noent;
      const directory = s?.kind === 'directory';
      if (!directory && (oflags & O_DIRECTORY) !== 0) return ERRNO.notdir;
      if (directory && (oflags & (O_CREAT | O_TRUNC)) !== 0) return ERRNO.isdir;
      const writes = !directory && ((rights & RIGHT_WRITE) !== 0n || (oflags & (O_CREAT | O_TRUNC)) !== 0);
      const fresh = s === undefined || (oflags & O_TRUNC) !== 0;
      let data: Uint8Array | Growing = new Uint8Array(0);
      if (!directory) {
        const old = fresh ? new Uint8Array(0) : files.read(path);
        if (old === undefined) return ERRNO.acces;
        data = writes ? new Growing(old.slice()) : old;
      }
      if (writes && fresh) files.write(path, new Uint8Array(0));
      let next = 4;
      while (open.has(next)) next++;
      open.set(next, {
        path,
        kind: directory ? 'directory' : 'file',
        data,
        position: 0,
        append: (fdflags & 1) !== 0,
        dirty: false,
      });
      view().setUint32(result, next, true);
      return 0;
    },
    path_link: () => ERRNO.notsup,
    path_symlink: () => ERRNO.notsup,
    // No links to be seen: a path that exists is none.
    path_readlink(fd: number, at: number, length: number) {
      return files.stat(resolve(fd, at, length)) === undefined ? ERRNO.noent : ERRNO.inval;
    },
    path_remove_directory(fd: number, at: number, length: number) {
      files.remove(resolve(fd, at, length), 'directory');
      return 0;
    },
    path_rename(fd: number, at: number, length: number, toFd: number, to: number, toLength: number) {
      const [from, target] = [resolve(fd, at, length), resolve(toFd, to, toLength)];
      const moved = [...open.values()].filter((f) => f.path === from);
      for (const f of moved) flush(f);
      files.rename(from, target);
      for (const f of moved) f.path = target;
      return 0;
    },
    path_unlink_file(fd: number, at: number, length: number) {
      const path = resolve(fd, at, length);
      files.remove(path, 'file');
      for (const f of open.values()) if (f.path === path) f.path = undefined;
      return 0;
    },
  };

  const guarded = Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      (...a: never[]): number => {
        try {
          return call(...a);
        } catch (error) {
          if (error instanceof FileError) return ERRNO[error.errno];
          throw error;
        }
      },
    ]),
  );
  const instance = new engine.Instance(module, { wasi_snapshot_preview1: guarded });
  memory = instance.exports['memory'] as WasmMemory;
  let exit = 0;
  try {
    (instance.exports['_start'] as () => void)();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    exit = error.code;
  }
  for (const f of open.values()) flush(f);
  return { exit, stdout: stdout.whole(), stderr: stderr.whole() };
}

const TYPES = { stream: 0, directory: 3, file: 4 } as const;
const MAX_FILE = 1 << 30;
