/**
 * The files of a C program: in memory, filled with the job's input files (fetched when first touched), its own writes
 * collected as the job's result files.
 *
 * Owns: {@link FilesState}, which is plain data and part of the image. Does not own: descriptors of standard streams
 * and the layout of WASI structures (wasi.ts), the sending of what was written (the host).
 *
 * Invariants
 *  F1 What the world gets of a file is a function of the program's calls: what was written is handed out at close, at
 *     fsync, at the next MPI call that may wait ({@link Files.show}) and at the end, never at a moment that depends on
 *     time or on an image.
 *  F2 A cut or removal of what the world has already been told is told too, in the order of the calls.
 *  F3 Bytes of an input file that was not written to are not in the state: they are fetched again after a restore.
 *  F4 All files together hold at most `limit` bytes; what would pass it fails with NOSPC, in every incarnation alike.
 *  F5 What is appended goes to the end of the result file, behind what other ranks have appended. Of what is written at
 *     a place and what is appended, one at most waits to be handed out: the world gets both in their order.
 */
import { ResultPath } from '@mayfly/wire';
import { deviceAt, directedBy } from './devices.ts';
import { E, FdFlag, OFlag, Whence } from './errno.ts';

export interface Inode {
  kind: 'file' | 'directory' | 'device';
  /** Content, may be longer than `size`; empty for an input file that nobody has read; absent for a directory. */
  data: Uint8Array | undefined;
  size: number;
  /** Path of the input file whose bytes these are, as long as nothing was written. */
  input: string | undefined;
  /** Written and not yet handed to the world, ascending, disjoint: [from, to). */
  dirty: [number, number][];
  /** Length of the result file as the world knows it; −1: it knows none. */
  told: number;
  /** Appended and not yet handed to the world, which puts it where the file ends there: [from, to). */
  ends?: [number, number] | undefined;
  /** This rank has appended to it (F5). */
  appended?: true;
}

export interface OpenFile {
  inode: number;
  /** Absolute path at which it was opened, for directories and for the name of the result. */
  path: string;
  offset: number;
  flags: number;
}

export interface FilesState {
  inodes: Map<number, Inode>;
  /** Absolute path without a slash at its end ('' is the root) → inode. */
  names: Map<string, number>;
  open: Map<number, OpenFile>;
  nextInode: number;
  /** Sum of the sizes of files that are not untouched input files. */
  bytes: number;
}

/** What the world is told. */
export interface FileSink {
  write(path: string, offset: number, bytes: Uint8Array): void;
  /** To the end of the result file, wherever that is by then. */
  append(path: string, bytes: Uint8Array): void;
  /** The result file has this length from now on; Infinity: it is gone. */
  cut(path: string, length: number): void;
  /**
   * A file that the program opened through MPI-IO, and which lies at the server, is to go. False: it knows none of that
   * name.
   */
  removeShared?(path: string): boolean;
}

export interface InputFile {
  path: string;
  bytes: number;
}

/** The only directory whose files are nobody's result. */
export const TEMPORARY = '/tmp';
export const FIRST_FD = 4;
export const ROOT_FD = 3;
const PIECE = 1024 * 1024;
const EMPTY = new Uint8Array(0);
const allowed = new RegExp((ResultPath as unknown as { pattern: string }).pattern);
const hasName = (name: string): boolean => name.length <= 200 && allowed.test(name);
/** What lies at this path is a result of the job, or may hold one: its name means the same for all ranks. */
export const isResult = (path: string): boolean =>
  path !== TEMPORARY && !path.startsWith(`${TEMPORARY}/`) && hasName(path.slice(1));

/** The inode of every device (devices.ts). Nothing may change it. */
const DEVICE: Inode = { kind: 'device', data: undefined, size: 0, input: undefined, dirty: [], told: -1 };

/** An errno of a call; not an error of the host. */
export class Errno extends Error {
  constructor(readonly errno: number) {
    super(`errno ${errno}`);
  }
}
const fail = (errno: number): never => {
  throw new Errno(errno);
};

export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

export class Files {
  state: FilesState;

  constructor(
    inputs: readonly InputFile[],
    private readonly fetch: (path: string) => Uint8Array,
    private readonly sink: FileSink,
    private readonly limit: number,
  ) {
    this.state = { inodes: new Map(), names: new Map(), open: new Map(), nextInode: 1, bytes: 0 };
    this.make('', 'directory');
    this.make(TEMPORARY, 'directory');
    for (const f of inputs) {
      const path = `/${f.path}`;
      this.addDirectory(parentOf(path));
      const node = this.make(path, 'file');
      node.input = f.path;
      node.size = f.bytes;
    }
    this.state.open.set(ROOT_FD, { inode: this.state.names.get('')!, path: '', offset: 0, flags: 0 });
  }

  private make(path: string, kind: Inode['kind']): Inode {
    const node: Inode = {
      kind,
      data: kind === 'file' ? EMPTY : undefined,
      size: 0,
      input: undefined,
      dirty: [],
      told: -1,
    };
    const id = this.state.nextInode++;
    this.state.inodes.set(id, node);
    this.state.names.set(path, id);
    return node;
  }

  // ── names ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Absolute path of `path` as seen from an open directory. @throws Errno */
  resolve(dir: number, path: string): string {
    const from = this.fd(dir);
    if (this.node(from).kind !== 'directory') fail(E.NOTDIR);
    const out = path.startsWith('/') ? [] : from.path.split('/').filter((s) => s !== '');
    for (const part of path.split('/')) {
      if (part === '' || part === '.') continue;
      if (part === '..') out.pop();
      else out.push(part);
    }
    return out.length === 0 ? '' : `/${out.join('/')}`;
  }

  fd(n: number): OpenFile {
    return this.state.open.get(n) ?? fail(E.BADF);
  }
  node(f: OpenFile): Inode {
    return f.inode < 0 ? DEVICE : this.state.inodes.get(f.inode)!;
  }
  lookup(path: string): Inode | undefined {
    const id = this.idOf(path);
    if (id === undefined) return undefined;
    return id < 0 ? DEVICE : this.state.inodes.get(id);
  }
  inodeNumber(path: string): number {
    return Math.max(0, this.idOf(path) ?? 0);
  }
  /** An input file or a result of a device's name goes before the device. */
  private idOf(path: string): number | undefined {
    return this.state.names.get(path) ?? deviceAt(path);
  }

  private directoryOf(path: string): void {
    const parent = this.lookup(parentOf(path));
    if (!parent) fail(E.NOENT);
    if (parent!.kind !== 'directory') fail(E.NOTDIR);
  }

  /** Names in a directory, sorted: the same order everywhere. */
  list(path: string): { name: string; inode: number; kind: Inode['kind'] }[] {
    const out = [];
    for (const [p, inode] of this.state.names)
      if (p !== '' && parentOf(p) === path)
        out.push({ name: p.slice(path.length + 1), inode, kind: this.state.inodes.get(inode)!.kind });
    return out.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  open(path: string, oflags: number, flags: number): number {
    let node = this.lookup(path);
    if (node) {
      if (oflags & OFlag.CREAT && oflags & OFlag.EXCL) fail(E.EXIST);
      if (oflags & OFlag.DIRECTORY && node.kind !== 'directory') fail(E.NOTDIR);
      if (node.kind === 'file' && oflags & OFlag.TRUNC) this.resize(node, path, 0);
    } else {
      if (!(oflags & OFlag.CREAT)) fail(E.NOENT);
      if (oflags & OFlag.DIRECTORY) fail(E.INVAL);
      this.directoryOf(path);
      node = this.make(path, 'file');
      // An empty file is a result as well.
      node.dirty.push([0, 0]);
    }
    const inode = this.idOf(path)!;
    // A standard stream that the program directed elsewhere is what it names from then on.
    const directed = inode < 0 ? this.state.open.get(directedBy(inode)) : undefined;
    let n = FIRST_FD;
    while (this.state.open.has(n)) n++;
    this.state.open.set(n, { inode: directed?.inode ?? inode, path: directed?.path ?? path, offset: 0, flags });
    return n;
  }

  close(n: number): void {
    const f = this.fd(n);
    if (n === ROOT_FD) fail(E.NOTSUP);
    this.flushOne(f.path, f.inode);
    this.state.open.delete(n);
    this.collect(f.inode);
  }

  /** dup2: `from` goes on as `to`. */
  renumber(from: number, to: number): void {
    const f = this.fd(from);
    if (from === to) return;
    if (this.state.open.has(to)) this.close(to);
    this.state.open.delete(from);
    this.state.open.set(to, f);
  }

  /** An inode without a name that nobody has open is gone. */
  private collect(id: number): void {
    if (id < 0) return;
    for (const n of this.state.names.values()) if (n === id) return;
    for (const f of this.state.open.values()) if (f.inode === id) return;
    const node = this.state.inodes.get(id);
    if (node && node.input === undefined) this.state.bytes -= node.size;
    this.state.inodes.delete(id);
  }

  mkdir(path: string): void {
    if (this.lookup(path)) fail(E.EXIST);
    this.directoryOf(path);
    this.make(path, 'directory');
  }

  /** With those above it. */
  addDirectory(path: string): void {
    for (let i = path.indexOf('/', 1); i > 0; i = path.indexOf('/', i + 1))
      if (!this.state.names.has(path.slice(0, i))) this.make(path.slice(0, i), 'directory');
    if (!this.state.names.has(path)) this.make(path, 'directory');
  }

  /** Paths behind that of the directory, each behind the one that it lies in. */
  directoriesBelow(path: string): string[] {
    return [...this.state.names]
      .filter(([p, id]) => p.startsWith(`${path}/`) && this.state.inodes.get(id)!.kind === 'directory')
      .map(([p]) => p.slice(path.length))
      .sort();
  }

  remove(path: string, kind: 'file' | 'directory'): void {
    const shared = kind === 'file' && (this.sink.removeShared?.(path.slice(1)) ?? false);
    const node = this.lookup(path);
    if (!node && shared) return;
    if (!node) return fail(E.NOENT);
    if (path === '' || path === TEMPORARY || node.kind === 'device') fail(E.PERM);
    if (node.kind !== kind) fail(kind === 'file' ? E.ISDIR : E.NOTDIR);
    if (kind === 'directory' && this.list(path).length > 0) fail(E.NOTEMPTY);
    const id = this.state.names.get(path)!;
    this.unname(path, node);
    this.collect(id);
  }

  private unname(path: string, node: Inode): void {
    this.state.names.delete(path);
    if (node.told >= 0) this.sink.cut(path.slice(1), Infinity);
    node.told = -1;
  }

  rename(from: string, to: string): void {
    const node = this.lookup(from) ?? fail(E.NOENT);
    if (from === to) return;
    if (node.kind === 'device') fail(E.PERM);
    if (from === '' || from === TEMPORARY || to.startsWith(`${from}/`)) fail(E.INVAL);
    const there = this.lookup(to);
    if (there) this.remove(to, node.kind === 'directory' ? 'directory' : 'file');
    else this.directoryOf(to);
    if (node.kind === 'directory') {
      const names = [...this.state.names].filter(([p]) => p.startsWith(`${from}/`));
      this.state.names.set(to, this.state.names.get(from)!);
      this.state.names.delete(from);
      for (const [p, id] of names) this.move(p, `${to}${p.slice(from.length)}`, id);
    } else this.move(from, to, this.state.names.get(from)!);
  }

  private move(from: string, to: string, id: number): void {
    const node = this.state.inodes.get(id)!;
    const was = node.told >= 0 || isPending(node);
    node.ends = undefined;
    this.unname(from, node);
    this.state.names.set(to, id);
    for (const f of this.state.open.values()) if (f.inode === id) f.path = to;
    // Under its new name the world knows nothing of it.
    if (was && node.kind === 'file') node.dirty = [[0, node.size]];
    if (!this.isOpen(id)) this.flushOne(to, id);
  }

  private isOpen(id: number): boolean {
    for (const f of this.state.open.values()) if (f.inode === id) return true;
    return false;
  }

  // ── content ────────────────────────────────────────────────────────────────────────────────────────────────────────

  private content(node: Inode): Uint8Array {
    if (node.input !== undefined && node.data!.length === 0 && node.size > 0) node.data = this.fetch(node.input);
    return node.data!;
  }

  /** At most `into.length` bytes from an offset. */
  read(node: Inode, offset: number, into: Uint8Array): number {
    if (node.kind !== 'file') fail(E.ISDIR);
    if (offset >= node.size) return 0;
    const bytes = this.content(node).subarray(offset, Math.min(node.size, offset + into.length));
    into.set(bytes);
    return bytes.length;
  }

  write(node: Inode, offset: number, bytes: Uint8Array): void {
    if (node.kind !== 'file') fail(E.ISDIR);
    if (bytes.length === 0) return;
    this.own(node);
    this.grow(node, offset + bytes.length);
    node.data!.set(bytes, offset);
    this.soil(node, offset, offset + bytes.length);
  }

  /** O_APPEND. @throws Errno */
  append(f: OpenFile, bytes: Uint8Array): void {
    const node = this.node(f);
    if (bytes.length === 0) return;
    if (node.input !== undefined) {
      this.own(node);
      // The world has these bytes, and goes on behind them.
      node.dirty = [];
      node.told = node.size;
    } else if (node.dirty.length > 0) this.flushOne(f.path, f.inode);
    const at = node.size;
    this.grow(node, at + bytes.length);
    node.data!.set(bytes, at);
    node.appended = true;
    node.ends = [node.ends?.[0] ?? at, node.size];
  }

  private soil(node: Inode, from: number, to: number): void {
    const last = node.dirty.at(-1);
    if (last && from <= last[1] && to >= last[0]) {
      last[0] = Math.min(last[0], from);
      last[1] = Math.max(last[1], to);
    } else node.dirty.push([from, to]);
    if (node.dirty.length > 64) node.dirty = merged(node.dirty);
  }

  /** An input file that is written to becomes the program's own, whole. */
  private own(node: Inode): void {
    if (node.input === undefined) return;
    if (this.state.bytes + node.size > this.limit) fail(E.NOSPC);
    node.data = this.content(node).slice();
    node.input = undefined;
    node.dirty = [[0, node.size]];
    this.state.bytes += node.size;
  }

  /** Makes the file at least this long; what is new is zero. */
  private grow(node: Inode, size: number): void {
    if (size <= node.size) return;
    if (!Number.isSafeInteger(size) || this.state.bytes - node.size + size > this.limit) fail(E.NOSPC);
    if (size > node.data!.length) {
      const room = new Uint8Array(Math.max(size, node.data!.length * 2, 256));
      room.set(node.data!.subarray(0, node.size));
      node.data = room;
    }
    this.state.bytes += size - node.size;
    node.size = size;
  }

  resize(node: Inode, path: string, size: number): void {
    if (node.kind !== 'file') fail(E.INVAL);
    if (node.ends && this.lookup(path) === node) this.flushOne(path, this.state.names.get(path)!);
    this.own(node);
    if (size > node.size) {
      // The world learns the new length by the zeros.
      this.soil(node, node.size, size);
      this.grow(node, size);
    } else {
      node.data!.fill(0, size, node.size);
      node.dirty = node.dirty.filter(([from]) => from <= size).map(([from, to]) => [from, Math.min(to, size)]);
      if (node.told > size) {
        this.sink.cut(path.slice(1), size);
        node.told = size;
      }
      if (size === 0) node.dirty = [[0, 0]];
      this.state.bytes += size - node.size;
      node.size = size;
    }
  }

  seek(f: OpenFile, offset: number, whence: number): number {
    const base =
      whence === Whence.SET
        ? 0
        : whence === Whence.CUR
          ? f.offset
          : whence === Whence.END
            ? this.node(f).size
            : fail(E.INVAL);
    const to = base + offset;
    if (!Number.isSafeInteger(to) || to < 0) fail(E.INVAL);
    f.offset = to;
    return to;
  }

  /** Where a write without an offset goes. */
  writeOffset(f: OpenFile): number {
    return f.flags & FdFlag.APPEND ? this.node(f).size : f.offset;
  }

  // ── results ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Files whose names a result may not have; nobody gets them. */
  readonly refused = new Set<string>();

  flushOne(path: string, id: number): void {
    const node = this.state.inodes.get(id);
    if (!node || node.kind !== 'file' || !isPending(node)) return;
    if (this.state.names.get(path) !== id || path.startsWith(`${TEMPORARY}/`)) return;
    const name = path.slice(1);
    if (!hasName(name)) return void this.refused.add(path);
    if (node.ends) {
      const [from, to] = node.ends;
      node.ends = undefined;
      for (let at = from; at < to; at += PIECE)
        this.sink.append(name, node.data!.subarray(at, Math.min(to, at + PIECE)));
      node.told = Math.max(node.told, to);
    }
    const ranges = merged(node.dirty);
    node.dirty = [];
    for (const [from, to] of ranges) {
      let at = from;
      do {
        const end = Math.min(to, at + PIECE);
        this.sink.write(name, at, node.data!.subarray(at, end));
        at = end;
      } while (at < to);
      node.told = Math.max(node.told, to);
    }
  }

  /** What was written to files that are open: a closed one has nothing left. */
  show(): void {
    for (const f of this.state.open.values()) if (isPending(this.node(f))) this.flushOne(f.path, f.inode);
  }

  /** Everything, in the order of the names. */
  flush(): void {
    for (const [path, id] of [...this.state.names].sort((a, b) => (a[0] < b[0] ? -1 : 1))) this.flushOne(path, id);
  }

  // ── images ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The state without what can be fetched again (F3), and without spare room. */
  plain(): FilesState {
    const inodes = new Map<number, Inode>();
    for (const [id, n] of this.state.inodes)
      inodes.set(id, {
        ...n,
        data: n.kind === 'directory' ? undefined : n.input === undefined ? n.data!.subarray(0, n.size) : EMPTY,
      });
    return { ...this.state, inodes };
  }
}

/** Something of it has not been handed to the world. */
const isPending = (node: Inode): boolean => node.dirty.length > 0 || node.ends !== undefined;

/** Ranges that touch are one. */
function merged(ranges: readonly [number, number][]): [number, number][] {
  const out: [number, number][] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return out;
}
