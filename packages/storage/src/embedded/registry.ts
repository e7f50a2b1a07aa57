/**
 * Registry over logs and snapshots of its own (registry-files.ts), held in memory: a few hundred bytes a record, some
 * hundred thousand records at most (the tasks of the jobs that are kept).
 *
 * Durable: the files. Losable: the map in memory, which is what they say.
 *
 *  G1  A commit is one record with a checksum, in the log and in its twin, both synced before it resolves: whole or not
 *      there at all.
 *  G2  The map shows a commit only when it is durable. Commits take effect in the order of their calls; those that come
 *      during a sync share the next one.
 *  G3  A commit that cannot be written or synced is taken back from both files, and leaves the map as it was. The next
 *      one may succeed.
 *  G4  A generation begins with a new log, then a snapshot of the state before it. Older files go when GENERATIONS
 *      undamaged snapshots make them unnecessary: a damaged newest snapshot costs nothing.
 *  G5  Opening writes nothing but what mends a damaged log from its twin; a log is begun by the first commit.
 *  G6  A little space is set aside (`reserve`), so that a full disk still takes commits that delete.
 *  G7  The expectations of a commit are compared with what the commits before it leave: those of its batch, when they
 *      are written with it. The outcome is not reported before those are durable.
 */
import { closeSync, fdatasync, ftruncateSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { mkdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MayflyError } from '@mayfly/wire';
import type * as port from '../ports/index.ts';
import { Commits, judge, type Pending } from '../registry-commits.ts';
import { needKey } from '../registry-values.ts';
import { OrderedKeys } from './ordered-keys.ts';
import { readRegistryFiles, type RegistryFiles, type RegistryProblem } from './registry-files.ts';
import { encodeChanges, encodeRecords, encodeRegistryHead, fileName, type Change } from './registry-format.ts';
import { Leases, systemClock, type LeaseClock } from './registry-leases.ts';
import { mendRegistry } from './registry-mend.ts';
import { removeBefore, writeSnapshot } from './registry-snapshots.ts';
import { Watches } from './registry-watches.ts';
import { HEAD_BYTES } from './segment-format.ts';
import { syncDirectory } from './durable-file.ts';
import { drawSalt, storageError } from './segment.ts';

const GENERATIONS = 3;
const RESERVE = 'reserve';
const RESERVE_BYTES = 64 * 1024;

const sync = promisify(fdatasync);

export interface FileRegistryOptions {
  /** A log that is longer, and longer than the last snapshot, is followed by a new generation. Default 1 MiB. */
  logBytes?: number;
  /** Of leases. Default: the time of this process. */
  clock?: LeaseClock;
}

export interface FileRegistry extends port.Registry {
  /** Every record that is committed by now, within this step of the event loop (backup.ts). */
  entriesNow(): [string, unknown][];
  /** What was found damaged at the start and cost nothing. */
  readonly mended: readonly RegistryProblem[];
}

/**
 * Opens or creates.
 * @throws MayflyError DAMAGED_DATA when commits are lost, VERSION_MISMATCH
 */
export async function openFileRegistry(directory: string, options: FileRegistryOptions = {}): Promise<FileRegistry> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOTDIR')
      throw new MayflyError('DAMAGED_DATA', `${directory} is a file where a folder belongs`);
    throw storageError(error, `cannot make ${directory}`);
  }
  const files = await readRegistryFiles(directory);
  if (files.losses.length > 0) {
    const all = files.losses.map((l) => `registry/${l.file} ${l.what}`).join('; ');
    throw new MayflyError('DAMAGED_DATA', `The registry in ${directory} is damaged: ${all}.`);
  }
  await mendRegistry(directory, files);
  return new LogRegistry(directory, files, options);
}

interface Log {
  base: number;
  salt: number;
  fds: readonly [number, number];
  size: number;
  /** Bytes of a commit that failed may stand behind `size`. */
  dirty: boolean;
}

class LogRegistry implements FileRegistry {
  readonly mended: readonly RegistryProblem[];
  readonly #directory: string;
  readonly #logBytes: number;
  readonly #state: Map<string, string>;
  readonly #keys = new OrderedKeys();
  readonly #watches = new Watches();
  /** G2. */
  readonly #commits = new Commits({
    check: (key) => this.#check(key),
    take: (batch) => this.#take(batch),
    stops: () => false,
  });
  readonly #leases: Leases;
  /** Bases of the logs and of the undamaged snapshots that are there, in order. */
  #logs: number[];
  #snapshots: number[];
  #next: number;
  #log: Log | undefined;
  /** Bytes of commits since the last snapshot, and of that. */
  #since: number;
  #snapshotBytes: number;
  /** A snapshot is tried when the commits since the last one are longer. */
  #due: number;
  #snapshot: Promise<void> | undefined;
  #reserved = false;
  #closed = false;

  constructor(directory: string, files: RegistryFiles, { logBytes = 1 << 20, clock }: FileRegistryOptions) {
    this.#directory = directory;
    this.#logBytes = logBytes;
    this.#state = files.state;
    this.#keys.fill(files.state.keys());
    this.#logs = files.logs.map((l) => l.base);
    this.#snapshots = files.snapshots;
    this.#next = files.next;
    this.#since = files.logBytes;
    this.#snapshotBytes = files.snapshotBytes;
    this.mended = files.problems;
    this.#leases = new Leases(this, clock ?? systemClock);
    // A damaged snapshot is soon followed by a sound one.
    this.#due = files.problems.some((p) => p.file.endsWith('.snap')) ? -1 : Math.max(logBytes, files.snapshotBytes);
  }

  async get(key: string): Promise<unknown> {
    this.#check(key);
    const text = this.#state.get(key);
    return text === undefined ? undefined : JSON.parse(text);
  }

  async entries(prefix: string): Promise<[string, unknown][]> {
    this.#check(prefix);
    return [...this.#keys.withPrefix(prefix)].map((key) => [key, JSON.parse(this.#state.get(key)!)]);
  }

  entriesNow(): [string, unknown][] {
    this.#check('');
    return [...this.#keys.withPrefix('')].map((key) => [key, JSON.parse(this.#state.get(key)!)]);
  }

  commit(
    changes: readonly port.Change[],
    { expect = [] }: { expect?: readonly port.Expectation[] } = {},
  ): Promise<void> {
    return this.#commits.add(changes, expect);
  }

  lease(name: string, ttlMs: number): Promise<port.Lease> {
    return this.#leases.take(name, ttlMs);
  }

  watch(prefix: string): port.Watch {
    this.#check(prefix);
    return this.#watches.begin(prefix);
  }

  /** Makes them durable, shows them, resolves them; rejects those whose expectations do not hold. @returns why not */
  async #take(all: readonly Pending[]): Promise<MayflyError | undefined> {
    // G7.
    const { held, refused } = judge(all, (key) => this.#state.get(key));
    const written = held.filter((p) => p.changes.length > 0);
    const payloads = written.map((p) => encodeChanges(p.changes));
    for (let attempt = 0; written.length > 0; attempt++)
      try {
        await this.#write(payloads);
        break;
      } catch (e) {
        const error = storageError(e, 'the registry cannot be written');
        // G6.
        const frees = written.every(
          (p) => p.changes.filter(([, text]) => text === undefined).length * 2 >= p.changes.length,
        );
        if (error.code !== 'DISK_FULL' || attempt > 0 || !frees || !this.#giveReserve()) return error;
      }
    for (const [i, { changes }] of written.entries()) {
      this.#since += payloads[i]!.length;
      for (const change of changes) this.#show(change);
      this.#watches.committed();
    }
    this.#next += written.length;
    for (const p of all) {
      const error = refused.get(p);
      if (error) p.reject(error);
      else p.resolve();
    }
    return undefined;
  }

  #show(change: Change): void {
    const [key, text] = change;
    const known = this.#state.has(key);
    this.#watches.note(change, known);
    if (text === undefined) {
      if (this.#state.delete(key)) this.#keys.delete(key);
    } else {
      if (!known) this.#keys.add(key);
      this.#state.set(key, text);
    }
  }

  async #write(payloads: readonly Buffer[]): Promise<void> {
    const log = await this.#logToWrite();
    const bytes = encodeRecords(payloads, log.salt, this.#next, this.#next);
    try {
      if (log.dirty) takeBack(log);
      for (const fd of log.fds)
        for (let done = 0; done < bytes.length;)
          done += writeSync(fd, bytes, done, bytes.length - done, log.size + done);
      const results = await Promise.allSettled(log.fds.map((fd) => sync(fd)));
      for (const r of results) if (r.status === 'rejected') throw r.reason;
    } catch (error) {
      // G3.
      log.dirty = true;
      try {
        takeBack(log);
      } catch {
        // Before the next commit.
      }
      throw error;
    }
    log.size += bytes.length;
    if (!this.#reserved) await this.#makeReserve();
  }

  async #logToWrite(): Promise<Log> {
    if (this.#log && (this.#since <= this.#due || this.#snapshot)) return this.#log;
    const before = this.#log;
    try {
      this.#log = this.#begin();
      await syncDirectory(this.#directory);
    } catch (error) {
      if (!before) {
        if (this.#log) this.#discard(this.#log);
        this.#log = undefined;
        throw error;
      }
      // The old one does for a while.
      if (this.#log && this.#log !== before) this.#discard(this.#log);
      this.#due = this.#since + this.#logBytes;
      return (this.#log = before);
    }
    if (before) for (const fd of before.fds) closeSync(fd);
    this.#logs.push(this.#log.base);
    if (this.#since > this.#due) this.#beginSnapshot(this.#log.base);
    return this.#log;
  }

  /** A new pair of files. @throws as the file system does, and leaves none then */
  #begin(): Log {
    const [base, salt] = [this.#next, drawSalt()];
    const fds: number[] = [];
    const head = encodeRegistryHead(base, salt);
    try {
      for (const kind of ['log', 'twin'] as const) {
        const fd = openSync(join(this.#directory, fileName({ base, salt, kind })), 'wx', 0o600);
        fds.push(fd);
        for (let done = 0; done < head.length;) done += writeSync(fd, head, done, head.length - done, done);
      }
      return { base, salt, fds: [fds[0]!, fds[1]!], size: HEAD_BYTES, dirty: false };
    } catch (error) {
      this.#discard({ base, salt, fds });
      throw error;
    }
  }

  #discard({ base, salt, fds }: { base: number; salt: number; fds: readonly number[] }): void {
    for (const fd of fds) closeSync(fd);
    for (const kind of ['log', 'twin'] as const)
      try {
        unlinkSync(join(this.#directory, fileName({ base, salt, kind })));
      } catch {
        // It holds nothing.
      }
  }

  /** G4. The map holds exactly the commits before `base`. */
  #beginSnapshot(base: number): void {
    const entries = [...this.#state];
    this.#since = 0;
    this.#snapshot = writeSnapshot(this.#directory, base, entries)
      .then((bytes) => {
        this.#snapshotBytes = bytes;
        this.#due = Math.max(this.#logBytes, bytes);
        this.#snapshots.push(base);
        return this.#retire();
      })
      .catch(() => {
        // Without space, for one. The commits since the one before are all there: it is tried again after as many more.
        this.#due = Math.max(this.#logBytes, this.#snapshotBytes);
      })
      .finally(() => (this.#snapshot = undefined));
  }

  /** G4. */
  async #retire(): Promise<void> {
    if (this.#snapshots.length <= GENERATIONS) return;
    this.#snapshots = this.#snapshots.slice(-GENERATIONS);
    const oldest = this.#snapshots[0]!;
    // A log goes when the next one begins where the oldest snapshot stands, or before.
    const needed = this.#logs.findLast((base) => base <= oldest) ?? 0;
    this.#logs = this.#logs.filter((base) => base >= needed);
    await removeBefore(this.#directory, { snapshot: oldest, log: needed });
  }

  /** G6. */
  #giveReserve(): boolean {
    try {
      unlinkSync(join(this.#directory, RESERVE));
      this.#reserved = false;
      return true;
    } catch {
      return false;
    }
  }

  async #makeReserve(): Promise<void> {
    this.#reserved = true;
    const path = join(this.#directory, RESERVE);
    await writeFile(path, new Uint8Array(RESERVE_BYTES).fill(0x2e), { flag: 'wx', mode: 0o600 }).catch(
      async (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return;
        this.#reserved = false;
        await unlink(path).catch(() => undefined);
      },
    );
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#leases.close();
    await this.#commits.settled();
    this.#watches.close();
    await this.#snapshot;
    if (this.#log) for (const fd of this.#log.fds) closeSync(fd);
    this.#log = undefined;
  }

  #check(key: string): void {
    if (this.#closed) throw new MayflyError('CONFLICT', 'the registry is closed');
    needKey(key);
  }
}

function takeBack(log: Log): void {
  for (const fd of log.fds) ftruncateSync(fd, log.size);
  log.dirty = false;
}
