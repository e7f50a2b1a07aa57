/**
 * MessageLog over a directory: each stream is a directory of segment files, named by the stream (percent-encoded).
 *
 * Owns: the open streams, the pool of file descriptors and the tail cache that they share; how far each stream that was
 * closed meanwhile had been synced, so that files which vanish under a running server are noticed.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MayflyError } from '@mayfly/wire';
import type { LogStream, Lsn, MessageLog } from '../ports/index.ts';
import { FilePool } from './file-pool.ts';
import { syncDirectory } from './durable-file.ts';
import { damaged, storageError } from './segment.ts';
import { recoverStream } from './stream-recovery.ts';
import { FileStream, type StreamHost } from './stream.ts';
import { TailCache } from './tail-cache.ts';

export interface FileMessageLogOptions {
  /** Size at which a segment is closed and the next begun, bytes. Default 8 MiB. */
  segmentBytes?: number;
  /** Memory for recent records of all streams together, bytes. Default 64 MiB. */
  cacheBytes?: number;
  /** Open files of all streams together. Default 256. */
  maxFiles?: number;
  /** A trimmed segment goes although what was appended before the trim is not synced: others have what counts. */
  trimsUnsynced?: boolean;
}

/**
 * @throws MayflyError (from `open`) DAMAGED_LOG when synced bytes are damaged, VERSION_MISMATCH when another version
 * wrote them.
 */
export async function openFileMessageLog(directory: string, options: FileMessageLogOptions = {}): Promise<MessageLog> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return new FileMessageLog(directory, options);
}

class FileMessageLog implements MessageLog {
  readonly durability = 'kernel';
  readonly #directory: string;
  readonly #host: StreamHost;
  readonly #streams = new Map<string, Promise<FileStream>>();
  readonly #synced = new Map<string, Lsn>();
  #rootSync: Promise<void> | undefined;
  #closed = false;

  constructor(directory: string, options: FileMessageLogOptions) {
    this.#directory = directory;
    this.#host = {
      pool: new FilePool(options.maxFiles ?? 256),
      cache: new TailCache(options.cacheBytes ?? 64 * 1024 * 1024),
      segmentBytes: options.segmentBytes ?? 8 * 1024 * 1024,
      trimsUnsynced: options.trimsUnsynced ?? false,
      syncRoot: () => this.#syncRoot(),
      closed: (stream) => {
        this.#streams.delete(stream.name);
        this.#synced.set(stream.name, stream.synced);
      },
    };
  }

  open(name: string): Promise<LogStream> {
    if (this.#closed) return Promise.reject(new MayflyError('CONFLICT', 'the message log is closed'));
    let stream = this.#streams.get(name);
    if (!stream) {
      stream = this.#openNow(name);
      this.#streams.set(name, stream);
      stream.catch(() => this.#streams.delete(name));
    }
    return stream;
  }

  async #openNow(name: string): Promise<FileStream> {
    const directory = this.#path(name);
    await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
      throw storageError(error, `stream ${name}: cannot make its folder`);
    });
    const late: { stream?: FileStream } = {};
    const recovered = await recoverStream(directory, name, this.#host.pool, (error) =>
      late.stream?.fileFailed(error),
    ).catch((error: unknown) => {
      throw storageError(error, `stream ${name}: cannot be opened`);
    });
    const before = this.#synced.get(name) ?? 0;
    if (recovered.next < before)
      throw damaged(name, `its ${directory} ends at record ${recovered.next} and had been written up to ${before}`);
    return (late.stream = new FileStream(name, directory, this.#host, recovered));
  }

  /** @throws MayflyError BAD_REQUEST: a name is at most 200 characters after encoding. */
  #path(name: string): string {
    const encoded = encodeURIComponent(name).replaceAll('.', '%2E').replaceAll('*', '%2A');
    if (encoded.length === 0 || encoded.length > 200)
      throw new MayflyError('BAD_REQUEST', `"${name}" cannot name a stream`);
    return join(this.#directory, encoded);
  }

  async list(prefix: string): Promise<string[]> {
    const names = [];
    for (const entry of await readdir(this.#directory)) {
      let name: string;
      try {
        name = decodeURIComponent(entry);
      } catch {
        continue;
      }
      if (name.startsWith(prefix)) names.push(name);
    }
    return names.sort();
  }

  async remove(name: string): Promise<void> {
    const directory = this.#path(name);
    const open = await this.#streams.get(name);
    await open?.discard();
    await rm(directory, { recursive: true, force: true });
    this.#synced.delete(name);
  }

  /** Several streams that were created together share one sync of the root. */
  async #syncRoot(): Promise<void> {
    // A sync that is under way may have begun before the caller's directory was made.
    await this.#rootSync;
    this.#rootSync ??= syncDirectory(this.#directory).finally(() => (this.#rootSync = undefined));
    await this.#rootSync;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const results = await Promise.allSettled([...this.#streams.values()].map(async (s) => (await s).close()));
    const failed = results.find((r) => r.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
