/**
 * The write-ahead files of this machine: records that streams over PostgreSQL have appended and the database does not
 * have yet. They survive the death of this process, and are of use to the next one in the same data directory.
 *
 *   <folder>/<name>/lock/    the process that appends (../embedded/directory-lock.ts)
 *   <folder>/<name>/<id>     a stream of the embedded message log (its files are the write-ahead files); id: of its row
 *                            in `log_stream`. A record begins with its number there (u64)
 *
 * Owns: the locks of the folders that it keeps, the streams that are open.
 *
 *  W1  The database names the folder of the last owner (`owner.ahead`, in the transaction that takes the tables). A
 *      folder is read only while it is that one: nobody else has written since. After another owner it is discarded,
 *      whatever is in it.
 *  W2  A folder of a process that lives is left alone, and counts as out of reach.
 *  W3  What is read is what follows the database's own records without a gap, and is stored there before anything else
 *      happens to the stream. Then the files begin again.
 *  W4  Nothing is synced: a power cut may leave any part, which is what W3 makes of it.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import { LOCK_FOLDER, lockDirectory, type DirectoryLock } from '../embedded/directory-lock.ts';
import { openFileMessageLog } from '../embedded/message-log.ts';
import type { LogStream, Lsn, MessageLog } from '../ports/index.ts';
import { storageError } from '../storage-error.ts';
import type { Query } from './database.ts';

/** A segment that was trimmed goes when it is this long, or an eighth of it: many streams have one each. */
const SEGMENT_BYTES = 1024 * 1024;
/** Records are not read back from here while the process lives. */
const CACHE_BYTES = 1024 * 1024;
const NUMBER_BYTES = 8;

export class WriteAheadFolders {
  readonly #folder: string;
  readonly #locked = new Map<string, DirectoryLock>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Names of the folders that are of use to this process (W2), which keeps them from others. */
  async held(): Promise<string[]> {
    // At once: a lock of another machine, or of before a reboot, is watched for some seconds.
    await Promise.all(
      (await this.#names()).map(async (name) => {
        if (this.#locked.has(name)) return;
        try {
          this.#locked.set(name, await lockDirectory(join(this.#folder, name)));
        } catch (error) {
          if (!(error instanceof MayflyError) || error.code !== 'CONFLICT') throw error;
        }
      }),
    );
    return [...this.#locked.keys()];
  }

  async #names(): Promise<string[]> {
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      return await readdir(this.#folder);
    } catch (error) {
      throw storageError(error, `the folder ${this.#folder}`);
    }
  }

  /**
   * The folder that the database names, made when it is missing; the others are discarded (W1).
   * @returns with the paths of those that had something in them
   */
  async take(name: string): Promise<{ ahead: WriteAhead; discarded: string[] }> {
    const discarded: string[] = [];
    try {
      for (const [other, lock] of [...this.#locked]) {
        if (other === name) continue;
        const path = join(this.#folder, other);
        if ((await readdir(path)).some((n) => n !== LOCK_FOLDER)) discarded.push(path);
        await lock.release();
        await rm(path, { recursive: true, force: true });
        this.#locked.delete(other);
      }
      const path = join(this.#folder, name);
      await mkdir(path, { recursive: true, mode: 0o700 });
      if (!this.#locked.has(name)) this.#locked.set(name, await lockDirectory(path));
      const log = await openFileMessageLog(path, {
        segmentBytes: SEGMENT_BYTES,
        cacheBytes: CACHE_BYTES,
        trimsUnsynced: true,
      });
      return { ahead: new WriteAhead(log), discarded };
    } catch (error) {
      throw storageError(error, `the folder ${this.#folder}`);
    }
  }

  async close(): Promise<void> {
    for (const lock of this.#locked.values()) await lock.release();
    this.#locked.clear();
  }
}

export class WriteAhead {
  readonly #log: MessageLog;

  constructor(log: MessageLog) {
    this.#log = log;
  }

  /** Removes the files of streams that are not in the database any more. */
  async sweep(query: Query, schema: string): Promise<void> {
    const ids = (await this.#log.list('')).filter((name) => /^\d+$/.test(name));
    const { rows } = await query(`SELECT id::text FROM ${schema}.log_stream WHERE id = ANY($1::bigint[])`, [ids]);
    const there = new Set(rows.map((row) => row.id as string));
    for (const id of ids) if (!there.has(id)) await this.#log.remove(id);
  }

  /**
   * What the files have from record `next` on (W3). Files that are damaged have nothing: the machine lost its power.
   * @throws MayflyError
   */
  async left(id: string, next: Lsn): Promise<Uint8Array[]> {
    const out: Uint8Array[] = [];
    try {
      const stream = await this.#log.open(id);
      for (const { bytes } of stream.scan()) {
        const number = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
        if (number === BigInt(next + out.length)) out.push(bytes.slice(NUMBER_BYTES));
      }
    } catch (error) {
      if (!(error instanceof MayflyError) || error.code !== 'DAMAGED_LOG') throw error;
    }
    return out;
  }

  /** For the stream whose next record is `next`; begins empty. @throws MayflyError */
  async begin(id: string, next: Lsn): Promise<AheadOfStream> {
    await this.#log.remove(id);
    return new AheadOfStream(await this.#log.open(id), next, () => this.#log.remove(id));
  }

  /** @throws MayflyError */
  async remove(id: string): Promise<void> {
    await this.#log.remove(id);
  }

  async close(): Promise<void> {
    await this.#log.close();
  }
}

export class AheadOfStream {
  readonly #stream: LogStream;
  readonly #from: Lsn;
  readonly #number = new Uint8Array(NUMBER_BYTES);
  readonly #view = new DataView(this.#number.buffer);
  readonly #remove: () => Promise<void>;

  constructor(stream: LogStream, from: Lsn, remove: () => Promise<void>) {
    this.#stream = stream;
    this.#from = from;
    this.#remove = remove;
  }

  /** @throws MayflyError: nothing was appended, or the stream takes nothing more */
  append(lsn: Lsn, parts: readonly Uint8Array[]): void {
    this.#view.setBigUint64(0, BigInt(lsn), true);
    this.#stream.append(this.#number, ...parts);
  }

  /** The database has all records below. */
  stored(next: Lsn): void {
    this.#stream.trim(0, next - this.#from);
  }

  /** @param whole the database has all of them */
  async close(whole: boolean): Promise<void> {
    if (whole) await this.#remove();
    else await this.#stream.close();
  }
}
