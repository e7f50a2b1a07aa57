/**
 * A bounded number of open segment files, opened when needed and closed least recently used first.
 *
 * Owns: file descriptors.
 * I1  At most `limit` files are open, unless more than that are pinned at once.
 * I2  A pinned file (an asynchronous fdatasync is under way) is not closed.
 * I3  A file with un-synced bytes is synced before it is closed: an error of writing it back belongs to the writer.
 */
import { closeSync, fdatasyncSync, openSync } from 'node:fs';

export interface PooledFile {
  readonly path: string;
  fd: number;
  pins: number;
  /** Bytes were written since the last fdatasync began. */
  dirty: boolean;
  /** Called when a sync before closing failed (I3). */
  readonly failed: (error: Error) => void;
}

export class FilePool {
  readonly #open = new Set<PooledFile>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#open.size;
  }

  file(path: string, failed: (error: Error) => void): PooledFile {
    return { path, fd: -1, pins: 0, dirty: false, failed };
  }

  /** The descriptor, opening the file if it is not open. `flags` matter only then. @throws as openSync */
  use(file: PooledFile, flags: 'r+' | 'wx+' = 'r+'): number {
    if (file.fd >= 0) {
      if (this.#open.size >= this.#limit) {
        this.#open.delete(file);
        this.#open.add(file);
      }
      return file.fd;
    }
    if (this.#open.size >= this.#limit) this.#makeRoom();
    file.fd = openSync(file.path, flags, 0o600);
    this.#open.add(file);
    return file.fd;
  }

  #makeRoom(): void {
    let victim: PooledFile | undefined;
    for (const f of this.#open) {
      if (f.pins > 0) continue;
      if (!f.dirty) {
        victim = f;
        break;
      }
      victim ??= f;
    }
    if (victim) this.close(victim);
  }

  /** Closes; syncs first when there are un-synced bytes. */
  close(file: PooledFile): void {
    if (file.fd < 0) return;
    if (file.dirty)
      try {
        fdatasyncSync(file.fd);
        file.dirty = false;
      } catch (error) {
        file.failed(error as Error);
      }
    this.forget(file);
  }

  /** Closes without a sync: the file is about to be deleted, or is known to be lost. */
  forget(file: PooledFile): void {
    if (file.fd < 0) return;
    const fd = file.fd;
    file.fd = -1;
    file.dirty = false;
    this.#open.delete(file);
    closeSync(fd);
  }
}
