/**
 * WASI preview 1 for a rank: arguments, environment, clock, chance, standard streams and the files of files.ts. What a
 * single rank cannot have (sockets, links, signals) answers ENOSYS or ENOTSUP, and says so once on the rank's standard
 * error.
 *
 * Owns: {@link WasiState}, plain data, part of the image. Everything non-deterministic comes through {@link WasiHost},
 * which logs it.
 *
 * Invariants
 *  W1  A call that waits (standard input, sleeping) changes nothing that the program could see before it has its
 *      answer; when it is interrupted for an image it is entered again with the same arguments, and reads no clock a
 *      second time.
 *  W2  Environment, inode numbers, file times and orders of directories are the same in every incarnation and on every
 *      machine.
 */
import { world } from '@mayfly/mpi';
import { deviceOf, directedBy, type Device } from './devices.ts';
import { ALL_RIGHTS, Clock, E, FileType, Right } from './errno.ts';
import type { AskedState, Asking } from './asking.ts';
import { Errno, ROOT_FD, type Files, type FilesState, type Inode, type OpenFile } from './files.ts';
import { GuestMemory } from './guest-memory.ts';
import { SharedNames } from './shared-names.ts';
import { ASKING_WASI } from '../binding/suspending-calls.ts';
import type { Stream } from './output.ts';

export interface WasiHost {
  args: readonly string[];
  /** Given to the job; a name that stands in {@link ENVIRONMENT} too replaces it. */
  env?: Readonly<Record<string, string>> | undefined;
  files: Files;
  asking: Asking;
  memory(): Uint8Array;
  /** What the program writes to a standard stream. */
  out(stream: Stream, bytes: Uint8Array): void;
  /** A line of the host's own, on standard error. */
  complain(line: Uint8Array): void;
  /** The program calls something else than a write to a standard stream (T2 of output.ts). */
  settle(): void;
  /** At least one byte of standard input, empty at its end. Blocks. @throws Interrupted */
  read(most: number): Uint8Array;
  /** The job's clock, ms. */
  clock(): number;
  random(into: Uint8Array): void;
  /** Sleeps; ms that are left when an image is due, else 0. */
  sleep(ms: number): number;
  /** Unwinds to the host: the image is due. */
  interrupt(): never;
  exit(code: number): never;
}

export interface WasiState {
  files: FilesState;
  /** First reading of the processor clock. */
  cpuOrigin: number | undefined;
  /** An interrupted sleep has this long to go, ms. */
  sleepLeft: number | undefined;
  complained: string[];
  /** Of an interrupted call. */
  asked?: AskedState | undefined;
}

/** What every rank has. */
const ENVIRONMENT = {
  HOME: '/',
  LANG: 'C.UTF-8',
  OMP_NUM_THREADS: '1',
  PATH: '/',
  PWD: '/',
  TMPDIR: '/tmp',
  USER: 'mayfly',
};
const text = new TextEncoder();
const MS = 1_000_000n;

export type WasiFunction = (...args: never[]) => number;

export function createWasi(host: WasiHost): {
  functions: Record<string, WasiFunction>;
  state: WasiState;
  snapshot(): WasiState;
  restore(s: WasiState): void;
  complain(what: string): void;
} {
  const { files, asking } = host;
  let state: WasiState = { files: files.state, cpuOrigin: undefined, sleepLeft: undefined, complained: [] };

  const complain = (what: string): void => {
    if (state.complained.includes(what)) return;
    state.complained.push(what);
    host.complain(text.encode(`mayfly: ${what}\n`));
  };

  const names = new SharedNames(files, asking, complain);
  const guest = new GuestMemory(() => host.memory());
  const args = guest.strings(host.args);
  const environment = guest.strings(
    Object.entries({ ...ENVIRONMENT, ...host.env }).map(([name, value]) => `${name}=${value}`),
  );

  const isStream = (fd: number): boolean => fd >= 0 && fd <= 2 && !files.state.open.has(fd);
  const file = (fd: number): OpenFile => files.fd(fd);

  const clock = (id: number): bigint => {
    if (id === Clock.REALTIME || id === Clock.MONOTONIC) return BigInt(Math.round(host.clock() * 1e6));
    if (id !== Clock.PROCESS_CPUTIME && id !== Clock.THREAD_CPUTIME) throw new Errno(E.INVAL);
    const now = host.clock();
    state.cpuOrigin ??= now;
    return BigInt(Math.round((now - state.cpuOrigin) * 1e6));
  };

  function writeFilestat(at: number, type: number, inode: number, size: number): number {
    const v = guest.view(at, 64);
    for (let i = 0; i < 64; i += 8) v.setBigUint64(i, 0n, true);
    v.setBigUint64(8, BigInt(inode), true);
    v.setUint8(16, type);
    v.setBigUint64(24, 1n, true);
    v.setBigUint64(32, BigInt(size), true);
    return E.SUCCESS;
  }
  const typeOf = (kind: Inode['kind']): number =>
    kind === 'file' ? FileType.REGULAR_FILE : kind === 'directory' ? FileType.DIRECTORY : FileType.CHARACTER_DEVICE;

  /** The standard stream that a descriptor leads to: itself, or through a device like /dev/stdout. */
  function streamOf(fd: number): number {
    if (isStream(fd)) return fd;
    return files.state.open.has(fd) ? directedBy(file(fd).inode) : -1;
  }

  /** The program's numbers are drawn from the job's seed, as those of getrandom() are. */
  function readDevice(device: Device, parts: Uint8Array[]): number {
    if (device === 'null') return 0;
    for (const p of parts)
      if (device === 'zero' || device === 'full') p.fill(0);
      else host.random(p);
    return parts.reduce((n, p) => n + p.length, 0);
  }

  function write(fd: number, parts: Uint8Array[], at?: number): number {
    const stream = streamOf(fd);
    if (stream >= 0) {
      if (stream === 0) throw new Errno(E.BADF);
      const all = world.concat(parts);
      host.out(stream === 1 ? 'stdout' : 'stderr', all);
      return all.length;
    }
    host.settle();
    const f = file(fd);
    const all = world.concat(parts);
    const device = deviceOf(f.inode);
    if (device === 'full') throw new Errno(E.NOSPC);
    if (device !== undefined) return all.length;
    const node = files.node(f);
    if (at === undefined && names.appends(f)) {
      files.append(f, all);
      f.offset = node.size;
      return all.length;
    }
    if (node.ends) files.flushOne(f.path, f.inode);
    const offset = at ?? files.writeOffset(f);
    files.write(node, offset, all);
    if (at === undefined) f.offset = offset + all.length;
    return all.length;
  }

  function read(fd: number, parts: Uint8Array[], at?: number): number {
    const stream = streamOf(fd);
    if (stream >= 0) {
      if (stream !== 0) throw new Errno(E.BADF);
      const most = parts.reduce((n, p) => n + p.length, 0);
      if (most === 0) return 0;
      const got = host.read(most);
      let from = 0;
      for (const p of parts) {
        const k = Math.min(p.length, got.length - from);
        p.set(got.subarray(from, from + k));
        from += k;
      }
      return got.length;
    }
    const f = file(fd);
    const device = deviceOf(f.inode);
    if (device !== undefined) return readDevice(device, parts);
    let offset = at ?? f.offset;
    let n = 0;
    for (const p of parts) {
      const k = files.read(files.node(f), offset, p);
      n += k;
      offset += k;
      if (k < p.length) break;
    }
    if (at === undefined) f.offset = offset;
    return n;
  }

  /**
   * Sleeps until the earliest clock of the subscriptions; descriptors are always ready. The time that passes is real
   * while the rank is live and none in a replay; an image may be taken meanwhile (W1).
   */
  function poll(at: number, events: number, count: number, stored: number): number {
    if (count <= 0) throw new Errno(E.INVAL);
    const v = guest.view(at, 48 * count);
    const ready: { user: bigint; type: number }[] = [];
    let soonest = Infinity;
    let timer: { user: bigint; type: number } | undefined;
    for (let i = 0; i < count; i++) {
      const o = 48 * i;
      const user = v.getBigUint64(o, true);
      const type = v.getUint8(o + 8);
      if (type !== 0) {
        ready.push({ user, type });
        continue;
      }
      let ms = Number(v.getBigUint64(o + 24, true)) / 1e6;
      if (state.sleepLeft === undefined && v.getUint16(o + 40, true) & 1)
        ms -= Number(clock(v.getUint32(o + 16, true))) / 1e6;
      if (ms < soonest) {
        soonest = Math.max(0, ms);
        timer = { user, type };
      }
    }
    if (ready.length === 0 && timer) {
      const left = host.sleep(state.sleepLeft ?? soonest);
      state.sleepLeft = left > 0 ? left : undefined;
      if (left > 0) host.interrupt();
      ready.push(timer);
    }
    const out = guest.view(events, 32 * ready.length);
    ready.forEach((e, i) => {
      for (let k = 0; k < 32; k += 8) out.setBigUint64(32 * i + k, 0n, true);
      out.setBigUint64(32 * i, e.user, true);
      out.setUint8(32 * i + 10, e.type);
      if (e.type !== 0) out.setBigUint64(32 * i + 16, 1n, true);
    });
    guest.put32(stored, ready.length);
    return E.SUCCESS;
  }

  const bodies = {
    args_sizes_get: args.sizes,
    args_get: args.get,
    environ_sizes_get: environment.sizes,
    environ_get: environment.get,
    proc_exit: (code: number): number => host.exit(code >>> 0),
    sched_yield: () => E.SUCCESS,
    clock_res_get(id: number, at: number) {
      if (id < 0 || id > 3) throw new Errno(E.INVAL);
      guest.put64(at, MS);
      return E.SUCCESS;
    },
    clock_time_get(id: number, _precision: bigint, at: number) {
      guest.put64(at, clock(id));
      return E.SUCCESS;
    },
    random_get(at: number, length: number) {
      host.random(guest.bytes(at, length));
      return E.SUCCESS;
    },
    poll_oneoff: poll,

    fd_write(fd: number, iovs: number, count: number, written: number) {
      guest.put32(written, write(fd, guest.vectors(iovs, count)));
      return E.SUCCESS;
    },
    fd_pwrite(fd: number, iovs: number, count: number, offset: bigint, written: number) {
      guest.put32(written, write(fd, guest.vectors(iovs, count), Number(offset)));
      return E.SUCCESS;
    },
    fd_read(fd: number, iovs: number, count: number, got: number) {
      guest.put32(got, read(fd, guest.vectors(iovs, count)));
      return E.SUCCESS;
    },
    fd_pread(fd: number, iovs: number, count: number, offset: bigint, got: number) {
      guest.put32(got, read(fd, guest.vectors(iovs, count), Number(offset)));
      return E.SUCCESS;
    },
    fd_seek(fd: number, offset: bigint, whence: number, at: number) {
      if (streamOf(fd) >= 0) throw new Errno(E.SPIPE);
      guest.put64(at, BigInt(files.seek(file(fd), Number(offset), whence)));
      return E.SUCCESS;
    },
    fd_tell(fd: number, at: number) {
      if (isStream(fd)) throw new Errno(E.SPIPE);
      guest.put64(at, BigInt(file(fd).offset));
      return E.SUCCESS;
    },
    fd_close(fd: number) {
      if (isStream(fd)) return E.SUCCESS;
      files.close(fd);
      return E.SUCCESS;
    },
    fd_sync(fd: number) {
      if (!isStream(fd)) names.sync(file(fd));
      return E.SUCCESS;
    },
    fd_datasync: (fd: number): number => bodies.fd_sync(fd),
    fd_advise: () => E.SUCCESS,
    fd_allocate(fd: number, offset: bigint, length: bigint) {
      const f = file(fd);
      const end = Number(offset + length);
      if (end > files.node(f).size) files.resize(files.node(f), f.path, end);
      return E.SUCCESS;
    },
    fd_renumber(from: number, to: number) {
      files.renumber(from, to);
      return E.SUCCESS;
    },
    fd_fdstat_get(fd: number, at: number) {
      const stream = streamOf(fd);
      const f = stream >= 0 ? undefined : file(fd);
      const v = guest.view(at, 24);
      v.setBigUint64(0, 0n, true);
      // A stream that cannot seek is a terminal to C: lines come out as they are printed.
      v.setUint8(0, f ? typeOf(files.node(f).kind) : FileType.CHARACTER_DEVICE);
      v.setUint16(2, f?.flags ?? 0, true);
      v.setBigUint64(8, f ? ALL_RIGHTS : stream === 0 ? Right.FD_READ : Right.FD_WRITE, true);
      v.setBigUint64(16, f ? ALL_RIGHTS : 0n, true);
      return E.SUCCESS;
    },
    fd_fdstat_set_flags(fd: number, flags: number) {
      if (!isStream(fd)) file(fd).flags = flags;
      return E.SUCCESS;
    },
    fd_filestat_get(fd: number, at: number) {
      if (isStream(fd)) return writeFilestat(at, FileType.CHARACTER_DEVICE, 0, 0);
      const f = file(fd);
      const node = files.node(f);
      return writeFilestat(at, typeOf(node.kind), Math.max(0, f.inode), node.size);
    },
    fd_filestat_set_size(fd: number, size: bigint) {
      const f = file(fd);
      files.resize(files.node(f), f.path, Number(size));
      return E.SUCCESS;
    },
    fd_filestat_set_times: () => E.SUCCESS,
    fd_prestat_get(fd: number, at: number) {
      if (fd !== ROOT_FD) throw new Errno(E.BADF);
      guest.put32(at, 0);
      guest.put32(at + 4, 1);
      return E.SUCCESS;
    },
    fd_prestat_dir_name(fd: number, at: number, length: number) {
      if (fd !== ROOT_FD) throw new Errno(E.BADF);
      if (length < 1) throw new Errno(E.INVAL);
      guest.bytes(at, 1)[0] = 0x2f;
      return E.SUCCESS;
    },
    fd_readdir(fd: number, at: number, length: number, cookie: bigint, used: number) {
      const f = file(fd);
      if (files.node(f).kind !== 'directory') throw new Errno(E.NOTDIR);
      const entries = [
        { name: '.', inode: f.inode, kind: 'directory' as const },
        { name: '..', inode: files.inodeNumber(''), kind: 'directory' as const },
        ...files.list(f.path),
      ];
      const into = guest.bytes(at, length);
      let n = 0;
      for (let i = Number(cookie); i < entries.length && n < into.length; i++) {
        const e = entries[i]!;
        const name = text.encode(e.name);
        const record = new Uint8Array(24 + name.length);
        const v = new DataView(record.buffer);
        v.setBigUint64(0, BigInt(i + 1), true);
        v.setBigUint64(8, BigInt(e.inode), true);
        v.setUint32(16, name.length, true);
        v.setUint8(20, typeOf(e.kind));
        record.set(name, 24);
        const k = Math.min(record.length, into.length - n);
        into.set(record.subarray(0, k), n);
        n += k;
      }
      guest.put32(used, n);
      return E.SUCCESS;
    },

    path_open(
      dir: number,
      _lookup: number,
      path: number,
      length: number,
      oflags: number,
      rights: bigint,
      _inheriting: bigint,
      flags: number,
      at: number,
    ) {
      const name = files.resolve(dir, guest.string(path, length));
      guest.put32(at, names.open(name, oflags, flags, (rights & Right.FD_READ) !== 0n));
      return E.SUCCESS;
    },
    path_filestat_get(dir: number, _lookup: number, path: number, length: number, at: number) {
      const name = files.resolve(dir, guest.string(path, length));
      const node = names.find(name);
      return writeFilestat(at, typeOf(node.kind), files.inodeNumber(name), node.size);
    },
    path_filestat_set_times: () => E.SUCCESS,
    path_create_directory(dir: number, path: number, length: number) {
      names.mkdir(files.resolve(dir, guest.string(path, length)));
      return E.SUCCESS;
    },
    path_remove_directory(dir: number, path: number, length: number) {
      names.rmdir(files.resolve(dir, guest.string(path, length)));
      return E.SUCCESS;
    },
    path_unlink_file(dir: number, path: number, length: number) {
      names.unlink(files.resolve(dir, guest.string(path, length)));
      return E.SUCCESS;
    },
    path_rename(from: number, path: number, length: number, to: number, newPath: number, newLength: number) {
      names.rename(
        files.resolve(from, guest.string(path, length)),
        files.resolve(to, guest.string(newPath, newLength)),
      );
      return E.SUCCESS;
    },
    /** There are no links: no path is one. */
    path_readlink(dir: number, _path: number): number {
      file(dir);
      throw new Errno(E.INVAL);
    },
  } satisfies Record<string, WasiFunction>;

  const functions: Record<string, WasiFunction> = {};
  for (const [name, body] of Object.entries(bodies)) {
    const call = (...a: never[]): number => {
      if (name !== 'fd_write') host.settle();
      try {
        return (body as (...a: never[]) => number)(...a);
      } catch (e) {
        if (e instanceof Errno) return e.errno;
        throw e;
      }
    };
    functions[name] = ASKING_WASI.includes(name) ? (...a) => asking.during(() => call(...a), complain) : call;
  }
  return {
    functions,
    get state() {
      return state;
    },
    snapshot: () => ({ ...state, files: files.plain(), asked: asking.state }),
    restore(s) {
      files.state = s.files;
      asking.state = s.asked;
      state = s;
    },
    complain,
  };
}
