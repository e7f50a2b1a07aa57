/**
 * Whether the data directory can be written, and what everybody does when it cannot.
 *
 * Owns: the verdict (`ok`, `low`, `stopped`) and its words. Does not own: what stops and continues (its listeners).
 *
 *   ok       everything is taken.
 *   low      less than the reserve is free: new jobs and uploads are refused (507), so that jobs which run can still be
 *   stored. stopped  less than a quarter of the reserve is free, or a write has failed: jobs stand still until it can
 *   be written again.
 *
 * Two signs stop it: `statfs`, asked every WATCH_MS, which stops jobs before a write fails; and writes that fail
 * ({@link Disk.failed}), which also show quotas, of a file system that became read-only, and of a process with too many
 * open files. While it is stopped a probe is written, synced and removed, less and less often, and when that works (and
 * half of the reserve is free) all work continues.
 *
 *  U1 Listeners hear of `stopped` before anything else may be tried, and again when its reason changes. When it is
 *     over, the repairs run first ({@link Disk.before}). If nothing failed again, the listeners are called; only then
 *     does `writable` resolve.
 *  U2 Errors that do not concern the storage change nothing here: they are defects, and their caller handles them.
 */
import { statfsSync, type StatsFs } from 'node:fs';
import { mkdir, open, stat, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { storageStop, whyStopped } from '@mayfly/storage';
import { MayflyError, type ErrorBody, type ErrorCode, type ServerView } from '@mayfly/wire';
import type { Logger } from './logger.ts';

const WATCH_MS = 1000;
const FIRST_PROBE_MS = 250;
const LAST_PROBE_MS = 5000;
/** Long enough to need blocks of its own, also where small files lie in their directory entry. */
const PROBE_BYTES = 64 * 1024;
/** Files that may still be made, if the file system reports it. */
const FEWEST_FILES = 32;
const MOST_RESERVE = 256 << 20;
const SHARE = 0.05;
/** Folders whose absence is noticed, once they have been there, although open files in them can still be written. */
const FOLDERS = ['', 'jobs', 'log', 'images', 'registry'];

export type DiskState = ServerView['disk'];

interface Space {
  free: number;
  total: number;
  /** Files that may still be made; undefined: not reported. */
  files: number | undefined;
}

export class Disk {
  readonly #dir: string;
  readonly #wish: number | undefined;
  readonly #logger: Logger;
  readonly #listeners: ((error: ErrorBody | undefined) => void)[] = [];
  readonly #known = new Set<string>();
  readonly #mends: (() => Promise<void>)[] = [];
  #space: Space | undefined;
  #stopped:
    | {
        error: ErrorBody;
        since: number;
        /** A write has failed: only a write that succeeds ends it. */ failed: MayflyError | undefined;
      }
    | undefined;
  #waiting: (() => void)[] = [];
  readonly #watching = new Set<() => void>();
  #probeMs = FIRST_PROBE_MS;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param reserveBytes absent: 5 % of the disk, at most 256 MB */
  constructor(dataDir: string, reserveBytes: number | undefined, logger: Logger) {
    this.#dir = dataDir;
    this.#wish = reserveBytes;
    this.#logger = logger;
  }

  /** Looks for the first time, and from now on regularly. */
  async open(): Promise<void> {
    // Of a storage that lies elsewhere (ServerOptions.storage).
    await mkdir(this.#dir, { recursive: true, mode: 0o700 }).catch(() => undefined);
    await this.#look();
    this.#next();
  }

  /** Why nothing can be stored now; undefined: it can. */
  get stopped(): ErrorBody | undefined {
    return this.#stopped?.error;
  }

  /** Called when it stops, again when the reason changes, and with undefined when it is over. */
  onChange(listener: (error: ErrorBody | undefined) => void): void {
    this.#listeners.push(listener);
  }

  /** Runs before work continues (U1). It may report that a write has failed again. */
  before(mend: () => Promise<void>): void {
    this.#mends.push(mend);
  }

  /** Resolves when it can be written, or the server stops: then the caller checks whether it should still continue. */
  async writable(): Promise<void> {
    while (this.#stopped && !this.#closed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** As {@link writable}, but at most so long: a record may fit where a job does not. */
  async writableWithin(ms: number): Promise<void> {
    if (!this.#stopped || this.#closed) return;
    let go: () => void = () => undefined;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      go = () => (clearTimeout(timer), resolve());
      this.#waiting.push(go);
    });
    this.#waiting = this.#waiting.filter((w) => w !== go);
  }

  /**
   * Waits for work, but while it is stopped no longer than `graceMs`. @returns whether the work is done. @throws what
   * the work throws
   */
  async orStopped(work: Promise<unknown>, graceMs = 0): Promise<boolean> {
    let stop: () => void = () => undefined;
    let timer: NodeJS.Timeout | undefined;
    const stopped = new Promise<false>((resolve) => {
      stop = () => (timer ??= setTimeout(() => resolve(false), this.#closed ? 0 : graceMs));
    });
    this.#watching.add(stop);
    if (this.#stopped || this.#closed) stop();
    try {
      return await Promise.race([work.then(() => true), stopped]);
    } finally {
      clearTimeout(timer);
      this.#watching.delete(stop);
    }
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** A write has failed. @returns why the storage is stopped from now on; undefined: it is not (U2) */
  failed(error: unknown, what: string): MayflyError | undefined {
    const stop = storageStop(error, what);
    if (stop) this.#stop(stop);
    return stop;
  }

  /** New work is refused while there is little space. @throws MayflyError DISK_FULL, STORAGE_FAILED */
  admit(): void {
    if (this.#stopped) throw new MayflyError(this.#stopped.error.code as ErrorCode, this.#stopped.error.message);
    const space = this.#space;
    if (space && this.#isLow(space, 1))
      throw new MayflyError(
        'DISK_FULL',
        `The disk of the server is nearly full (${amount(space)}); it accepts new jobs and uploads again ` +
          `when ${bytes(this.#reserve(space))} are free. Free space, or delete old jobs.`,
      );
  }

  view(): DiskState {
    const space = this.#space;
    const s = this.#stopped;
    return {
      state: s ? 'stopped' : space && this.#isLow(space, 1) ? 'low' : 'ok',
      directory: this.#dir,
      ...(space === undefined
        ? {}
        : { freeBytes: space.free, totalBytes: space.total, reserveBytes: this.#reserve(space) }),
      ...(s === undefined
        ? {}
        : {
            code: s.error.code,
            message: s.failed === undefined ? s.error.message : `${s.error.message} (${s.failed.message})`,
            since: s.since,
          }),
    };
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const go of [...this.#waiting.splice(0), ...this.#watching]) go();
  }

  // The verdict

  #reserve({ total }: Space): number {
    return this.#wish ?? Math.min(MOST_RESERVE, Math.floor(total * SHARE));
  }

  #isLow(space: Space, share: number): boolean {
    return (
      space.free < this.#reserve(space) * share || (space.files !== undefined && space.files < FEWEST_FILES * share)
    );
  }

  #stop(failed: MayflyError | undefined): void {
    const before = this.#stopped;
    if (before && failed) before.failed = failed;
    if (before || this.#closed) return this.#say();
    // As it is now, not as it was a second ago.
    if (failed) this.#measure();
    const error = this.#words(failed);
    this.#stopped = { error, since: Date.now(), failed };
    const space = this.#space;
    this.#logger.error(
      {
        err: failed,
        dataDir: this.#dir,
        ...(space === undefined ? {} : { freeBytes: space.free, totalBytes: space.total }),
      },
      `cannot store anything: ${error.message} Jobs pause; new ones are rejected.`,
    );
    this.#tell(error);
    for (const stopped of this.#watching) stopped();
    this.#next();
  }

  /** The same stop, in other words perhaps. */
  #say(): void {
    const s = this.#stopped;
    if (!s || this.#closed) return;
    const error = this.#words(s.failed);
    if (error.message === s.error.message) return;
    s.error = error;
    this.#tell(error);
  }

  #words(failed: MayflyError | undefined): ErrorBody {
    const space = this.#space;
    if (failed?.code === 'STORAGE_FAILED') {
      // Without the paths of the server, which are in its log and on its page.
      return {
        code: 'STORAGE_FAILED',
        message:
          `The server cannot store anything: ${whyStopped(failed)}. Jobs resume automatically once it can. The ` +
          'page and the log of the server have the details.',
      };
    }
    // A quota leaves space that is not ours.
    const quota = space !== undefined && !this.#isLow(space, 0.5) && failed !== undefined;
    const left = space === undefined ? '' : quota ? ` or a quota is used up (${amount(space)})` : `: ${amount(space)}`;
    return {
      code: 'DISK_FULL',
      message:
        `The disk of the server is full${left}. Free space there, or delete old jobs; jobs resume ` +
        `automatically${space === undefined || quota ? '' : ` when ${bytes(this.#reserve(space) / 2)} are free`}.`,
    };
  }

  async #goOn(): Promise<void> {
    const s = this.#stopped;
    if (!s) return;
    s.failed = undefined;
    for (const mend of this.#mends) await mend();
    if (this.#closed || (s.failed as MayflyError | undefined) !== undefined) return;
    this.#stopped = undefined;
    this.#logger.info(
      { dataDir: this.#dir, stoppedMs: Date.now() - s.since, freeBytes: this.#space?.free },
      'the data directory is writable again: jobs resume',
    );
    this.#tell(undefined);
    for (const go of this.#waiting.splice(0)) go();
  }

  #tell(error: ErrorBody | undefined): void {
    for (const listener of this.#listeners) listener(error);
  }

  // Looking

  #next(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    const ms = this.#stopped ? this.#probeMs : WATCH_MS;
    this.#timer = setTimeout(() => {
      void this.#round().finally(() => this.#next());
    }, ms).unref();
  }

  async #round(): Promise<void> {
    await this.#look();
    const s = this.#stopped;
    if (!s || this.#closed) {
      this.#probeMs = FIRST_PROBE_MS;
      return;
    }
    this.#probeMs = Math.min(LAST_PROBE_MS, this.#probeMs * 2);
    const space = this.#space;
    // Of a quota statfs knows nothing: then the probe decides. Space that is low without a failed write is waited for.
    if (space && this.#isLow(space, 0.5)) return this.#say();
    const error = await this.#probe();
    if (this.#closed || this.#stopped !== s) return;
    if (error === undefined) await this.#goOn();
    else {
      s.failed = storageStop(error, 'a probe of the data directory') ?? s.failed;
      this.#say();
    }
  }

  /** Never throws. */
  async #look(): Promise<void> {
    try {
      this.#take(await statfs(this.#dir));
      if (!this.#stopped) await this.#folders();
    } catch (error) {
      this.failed(error, `the data directory ${this.#dir}`);
      return;
    }
    const space = this.#space;
    if (!space) return;
    if (this.#isLow(space, 0.25)) this.#stop(undefined);
  }

  #measure(): void {
    try {
      this.#take(statfsSync(this.#dir));
    } catch {
      // The next look decides.
    }
  }

  #take(f: StatsFs): void {
    // Some virtual file systems tell of no blocks or files at all.
    this.#space =
      f.blocks === 0
        ? undefined
        : { free: f.bavail * f.bsize, total: f.blocks * f.bsize, files: f.files === 0 ? undefined : f.ffree };
  }

  /** @throws the error of the file system if one is missing */
  async #folders(): Promise<void> {
    for (const folder of FOLDERS)
      try {
        await stat(join(this.#dir, folder));
        this.#known.add(folder);
      } catch (error) {
        if (this.#known.has(folder) || folder === '') throw error;
      }
  }

  async #probe(): Promise<unknown> {
    const path = join(this.#dir, 'probe');
    try {
      await this.#folders();
      const f = await open(path, 'w', 0o600);
      try {
        await f.write(new Uint8Array(PROBE_BYTES).fill(1));
        await f.datasync();
      } finally {
        await f.close();
      }
      return undefined;
    } catch (error) {
      return error;
    } finally {
      await unlink(path).catch(() => undefined);
    }
  }
}

const bytes = (n: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let u = 0;
  while (n >= 999.5 && u < units.length - 1) {
    n /= 1000;
    u++;
  }
  return `${n >= 99.5 || u === 0 ? Math.round(n) : n.toPrecision(2).replace(/\.0$/, '')} ${units[u]!}`;
};

const amount = ({ free, total }: Space): string => `${bytes(free)} of ${bytes(total)} free`;
