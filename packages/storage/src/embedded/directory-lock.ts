/**
 * Keeps a second process out of a data directory. It believes no pid, no host name and no wall clock: containers have a
 * pid 1 each, and machines that share a file system agree on neither. (Node has no flock.)
 *
 *   <directory>/lock/<name>          a claim: one of a process that has the directory, or wants it. Its owner rewrites
 *                                    it every BEAT_MS (`beat`)
 *   <directory>/lock/<name>.socket   its owner listens here for as long as it lives, also while it is stopped or busy
 *
 * Owns: the claim of this process, its socket, the timer of its beats.
 *
 *  X1  A claim has a random name that never comes twice, and exists while it counts. Whoever removes a dead claim can
 *      therefore not hit a living one, and an owner whose claim is gone knows that it has lost the directory.
 *  X2  A process claims first and looks for other claims afterwards, so of two that claim at once one sees the other.
 *      It owns the directory when every other claim that it saw is dead and removed. Of two that both only want it, the
 *      one whose name is greater withdraws.
 *  X3  A claim lives when its socket answers, or when its text changes. It is dead when its text has not changed for
 *      WATCH_MS, or at once when the kernel says so: its socket is there and refuses, and boot id and device show that
 *      a process of this kernel made it on this mounted file system (also that of a copy, at which nobody listens). On
 *      a file system that two machines share, or that has no sockets, only the beats count.
 *  X4  An owner that has lost the directory writes nothing more (fence.ts). It looks with every beat, before the first
 *      write after a time without beats (it was stopped, or busy), and before it reports anything as stored.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, rmdir, type FileHandle } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MayflyError } from '@mayfly/wire';
import { storageError } from '../storage-error.ts';

const BEAT_MS = 1000;
/** Several beats: one may be late because the machine is busy. */
const WATCH_MS = 5000;
/** Between two looks at a claim, or at others that want the directory too. */
const LOOK_MS = 50;
/** Others that want it come to an end within this time: they watch a dead claim no longer than WATCH_MS. */
const TURNS_MS = 4 * WATCH_MS;
/** Bytes of the path of a socket that every system takes. */
const SOCKET_PATH = 100;
/** Within the directory. */
export const LOCK_FOLDER = 'lock';
const NAME = /^[0-9a-f]{16}$/;

export interface DirectoryLock {
  /** Aborts when another process has the directory, for good. Its reason is a MayflyError CONFLICT. */
  readonly lost: AbortSignal;
  /** X4, before a write. Cheap. @throws MayflyError CONFLICT when it is lost */
  check(): void;
  /** X4, before something counts as stored: looks at the claim now. @throws MayflyError CONFLICT when it is lost */
  confirm(): void;
  /** Gives the directory free. Never throws. */
  release(): Promise<void>;
}

/** Of tests: shorter times. */
export interface LockTimes {
  beatMs?: number;
  watchMs?: number;
}

/** The text of a claim, as JSON. */
interface Record {
  /** For people. */
  who: string;
  /** It has the directory; otherwise it wants it. */
  owns: boolean;
  /** Boot id of the kernel, where it is known, and the device of the file. */
  boot: string;
  dev: string;
  beat: number;
}

/** @throws MayflyError CONFLICT, DISK_FULL, STORAGE_FAILED, DAMAGED_DATA */
export async function lockDirectory(directory: string, times: LockTimes = {}): Promise<DirectoryLock> {
  const folder = join(directory, LOCK_FOLDER);
  const { beatMs = BEAT_MS, watchMs = WATCH_MS } = times;
  try {
    for (const end = performance.now() + TURNS_MS; ;) {
      const claim = await Claim.make(directory, folder, { beatMs, watchMs });
      // One that gave the directory free took the folder away.
      if (!claim) continue;
      try {
        const rival = await claim.prevail(watchMs, end);
        if (rival === undefined) return claim;
        if (performance.now() >= end) throw inUse(directory, rival);
      } catch (error) {
        await claim.release();
        throw error;
      }
      await claim.release();
      await sleep(LOOK_MS);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR')
      throw new MayflyError(
        'DAMAGED_DATA',
        `${folder} is a file where a folder belongs; make sure that no server uses ${directory}, then remove it`,
      );
    if (code === 'EACCES' || code === 'EPERM')
      throw new MayflyError('DAMAGED_DATA', `${folder} cannot be used: this user has no permission`);
    throw storageError(error, `the data directory ${directory} cannot be locked for this process`);
  }
}

const inUse = (directory: string, { who }: Pick<Record, 'who'>): MayflyError =>
  new MayflyError(
    'CONFLICT',
    `the data directory ${directory} is in use by ${who}; stop that process or choose another --data-dir`,
  );

class Claim implements DirectoryLock {
  readonly #directory: string;
  readonly #folder: string;
  readonly #name = randomBytes(8).toString('hex');
  readonly #path: string;
  readonly #beatMs: number;
  readonly #lost = new AbortController();
  readonly #record: Record = {
    who: `process ${process.pid} on ${hostname()}`,
    owns: false,
    boot: '',
    dev: '',
    beat: 0,
  };
  #socket: Server | undefined;
  /** For paths of sockets that are too long (`reach`). */
  #handle: FileHandle | undefined;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #looked = 0;
  #released = false;

  private constructor(directory: string, folder: string, beatMs: number) {
    this.#directory = directory;
    this.#folder = folder;
    this.#path = join(folder, this.#name);
    this.#beatMs = beatMs;
  }

  /**
   * The socket comes first: a claim without one seems to be of another machine.
   * @returns undefined: the folder went meanwhile
   * @throws as the file system does
   */
  static async make(
    directory: string,
    folder: string,
    { beatMs, watchMs }: Required<LockTimes>,
  ): Promise<Claim | undefined> {
    const claim = new Claim(directory, folder, beatMs);
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    try {
      claim.#record.boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
        (id) => id.trim(),
        () => '',
      );
      if (Buffer.byteLength(claim.#socketOf(claim.#name)) > SOCKET_PATH && process.platform === 'linux')
        claim.#handle = await open(folder, 'r');
      await claim.#listen();
      await claim.#write('wx').catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') throw error;
        // A server that was killed starts again on the full disk: its claim takes the space.
        await rm(claim.#path, { force: true });
        for (const name of await claim.#others()) await claim.#judge(name, watchMs);
        await claim.#write('wx');
      });
    } catch (error) {
      await claim.release();
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    claim.#looked = performance.now();
    claim.#beatSoon();
    return claim;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  // Claiming

  /** Where the socket of a claim is reached, whatever the length of the directory's path. */
  #reach(name: string): string {
    return this.#handle ? `/proc/self/fd/${this.#handle.fd}/${name}.socket` : this.#socketOf(name);
  }

  #socketOf(name: string): string {
    return join(this.#folder, `${name}.socket`);
  }

  /** Without a socket, where there are none, the beats have to do. */
  async #listen(): Promise<void> {
    const server = createServer((peer) => peer.destroy()).unref();
    await new Promise<void>((go) => {
      server.once('error', () => go());
      server.listen(this.#reach(this.#name), () => {
        this.#socket = server;
        go();
      });
    });
    // A connection that could not be accepted was an answer all the same.
    server.on('error', () => undefined);
  }

  async #write(flag: 'wx' | 'r+'): Promise<void> {
    const handle = await open(this.#path, flag, 0o600);
    try {
      this.#record.dev = String((await handle.stat({ bigint: true })).dev);
      this.#record.beat++;
      // Of one length, as a write does not shorten the file.
      await handle.writeFile(JSON.stringify(this.#record).padEnd(1000));
    } finally {
      await handle.close();
    }
  }

  /**
   * X2. @returns undefined: the directory is this one's; otherwise another that wants it, and for which this one
   * withdraws
   * @throws MayflyError CONFLICT when it is in use, DAMAGED_DATA
   */
  async prevail(watchMs: number, end: number): Promise<Record | undefined> {
    for (;;) {
      let waiting: Record | undefined;
      for (const name of await this.#others()) {
        const alive = await this.#judge(name, watchMs);
        if (alive?.owns) throw inUse(this.#directory, alive);
        if (alive && name < this.#name) return alive;
        waiting ??= alive;
      }
      if (!waiting) break;
      if (performance.now() >= end) return waiting;
      await sleep(LOOK_MS);
    }
    // One that was stopped meanwhile may have been found dead.
    this.confirm();
    this.#record.owns = true;
    await this.#write('r+');
    return undefined;
  }

  async #others(): Promise<string[]> {
    return (await readdir(this.#folder)).filter((name) => NAME.test(name) && name !== this.#name).sort();
  }

  /** X3. @returns what a living claim says; undefined: it is dead, and is removed now, or is gone */
  async #judge(name: string, watchMs: number): Promise<Record | undefined> {
    const first = await this.#read(name);
    if (!first) return undefined;
    const answer = await knock(this.#reach(name));
    if (answer === 'answers') return first.record;
    const { boot, dev } = first.record;
    if (answer === 'unknown' || boot === '' || boot !== this.#record.boot || dev !== first.dev) {
      const end = performance.now() + watchMs;
      for (let over = false; !over; await sleep(over ? 0 : LOOK_MS)) {
        // The last look comes after the whole time.
        over = performance.now() >= end;
        const now = await this.#read(name);
        if (!now) return undefined;
        if (now.text !== first.text) return now.record;
      }
    }
    await rm(join(this.#folder, name), { force: true });
    await rm(this.#socketOf(name), { force: true });
    return undefined;
  }

  async #read(name: string): Promise<{ text: string; record: Record; dev: string } | undefined> {
    try {
      // Opened anew for each look: that is when a network file system asks its server.
      const handle = await open(join(this.#folder, name), 'r');
      try {
        const { dev } = await handle.stat({ bigint: true });
        const text = await handle.readFile('utf8');
        return { text, record: parse(text), dev: String(dev) };
      } finally {
        await handle.close();
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      if (code === 'EISDIR')
        throw new MayflyError(
          'DAMAGED_DATA',
          `${join(this.#folder, name)} is a folder where a file belongs; make sure that no server uses ` +
            `${this.#directory}, then remove it`,
        );
      throw error;
    }
  }

  // Holding

  #beatSoon(): void {
    if (this.#released || this.#lost.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#beating = this.#beat().finally(() => this.#beatSoon());
    }, this.#beatMs).unref();
  }

  /** Never throws: a disk that takes nothing for a while costs beats, which matters only while somebody watches. */
  async #beat(): Promise<void> {
    try {
      await this.#write('r+');
      this.#looked = performance.now();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || this.#look()) return;
      // A hand removed it, and nobody else is there.
      await mkdir(this.#folder, { mode: 0o700 }).catch(() => undefined);
      await this.#write('wx').catch(() => undefined);
      // X2
      this.#look();
    }
  }

  check(): void {
    if (!this.#lost.signal.aborted && performance.now() - this.#looked > 2 * this.#beatMs) this.#look();
    if (this.#lost.signal.aborted) throw this.#lost.signal.reason;
  }

  confirm(): void {
    this.#look();
    if (this.#lost.signal.aborted) throw this.#lost.signal.reason;
  }

  /**
   * X1. A claim that is gone without another one in its place is no loss: the whole directory may be out of reach.
   * @returns whether it is lost
   */
  #look(): boolean {
    if (this.#lost.signal.aborted || this.#released) return this.#lost.signal.aborted;
    let others: string[] = [];
    try {
      if (statSync(this.#path, { throwIfNoEntry: false }) === undefined)
        others = readdirSync(this.#folder).filter((name) => NAME.test(name) && name !== this.#name);
      this.#looked = performance.now();
    } catch {
      // It says nothing for now.
    }
    if (others.length === 0) return false;
    clearTimeout(this.#timer);
    this.#lost.abort(
      new MayflyError(
        'CONFLICT',
        `Another process has taken the data directory ${this.#directory}: this one stops, and stores nothing more.`,
      ),
    );
    return true;
  }

  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    clearTimeout(this.#timer);
    await this.#beating;
    await rm(this.#path, { force: true }).catch(() => undefined);
    // Closing removes its path.
    const socket = this.#socket;
    if (socket) await new Promise<void>((go) => socket.close(() => go()));
    await this.#handle?.close().catch(() => undefined);
    // Others may be in it.
    await rmdir(this.#folder).catch(() => undefined);
  }
}

/** A claim that cannot be read (its process died while it wrote it) is watched as any other. */
function parse(text: string): Record {
  const unknown: Record = { who: 'another process', owns: false, boot: '', dev: '', beat: 0 };
  try {
    const r = JSON.parse(text) as Partial<Record>;
    const who = typeof r.who === 'string' ? r.who.replace(/[^\x20-\x7e]/g, '?').slice(0, 120) : unknown.who;
    return { ...unknown, ...r, who, owns: r.owns === true };
  } catch {
    return unknown;
  }
}

/** `refuses`: the socket is there, and nobody listens. `unknown`: there is no socket, or it cannot be asked. */
function knock(path: string): Promise<'answers' | 'refuses' | 'unknown'> {
  return new Promise((answer) => {
    const connection = createConnection(path);
    connection.once('connect', () => {
      connection.destroy();
      answer('answers');
    });
    connection.once('error', ({ code }: NodeJS.ErrnoException) =>
      // EAGAIN: more callers than it has accepted.
      answer(code === 'EAGAIN' ? 'answers' : code === 'ECONNREFUSED' ? 'refuses' : 'unknown'),
    );
  });
}
