/**
 * The bytes of chunks at hand, since records are read without waiting: the newest in memory, the others in files of
 * this machine. The files have no name and no value: they vanish with the process, and the database has it all.
 *
 *  S1  At most `budget` bytes are in memory, but for those held last.
 *  S2  A file is closed, and its space free, when nothing in it is held any more.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storageError } from '../storage-error.ts';

const FILE_BYTES = 16 * 1024 * 1024;

interface SpillFile {
  fd: number;
  used: number;
  held: number;
}

export class Held {
  /** Undefined: they are in `file`. */
  bytes: Buffer | undefined;
  readonly length: number;
  file: SpillFile | undefined;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.length = bytes.length;
  }
}

export class Scratch {
  readonly #budget: number;
  readonly #inMemory = new Set<Held>();
  #bytes = 0;
  #file: SpillFile | undefined;

  constructor(budget: number) {
    this.#budget = budget;
  }

  /** @throws MayflyError when a temporary file cannot be written */
  hold(bytes: Buffer): Held {
    try {
      while (this.#inMemory.size > 0 && this.#bytes + bytes.length > this.#budget) this.#spill();
    } catch (error) {
      throw storageError(error, 'a temporary file of the message log');
    }
    const held = new Held(bytes);
    this.#inMemory.add(held);
    this.#bytes += held.length;
    return held;
  }

  /** What was held. A part that cannot be read comes as zeros: checksums of records tell. */
  read(held: Held): Buffer {
    if (held.bytes) return held.bytes;
    const bytes = Buffer.alloc(held.length);
    for (let done = 0; done < bytes.length;) {
      const n = readSync(held.file!.fd, bytes, done, bytes.length - done, held.at + done);
      if (n === 0) break;
      done += n;
    }
    return bytes;
  }

  release(held: Held): void {
    if (this.#inMemory.delete(held)) this.#bytes -= held.length;
    held.bytes = undefined;
    const { file } = held;
    held.file = undefined;
    if (file && --file.held === 0 && file !== this.#file) closeSync(file.fd);
  }

  #spill(): void {
    const [oldest] = this.#inMemory;
    const bytes = oldest!.bytes!;
    const file = this.#fileFor();
    for (let done = 0; done < bytes.length;)
      done += writeSync(file.fd, bytes, done, bytes.length - done, file.used + done);
    oldest!.at = file.used;
    oldest!.file = file;
    file.used += bytes.length;
    file.held++;
    this.#inMemory.delete(oldest!);
    this.#bytes -= bytes.length;
    oldest!.bytes = undefined;
  }

  #fileFor(): SpillFile {
    const before = this.#file;
    if (before && before.used < FILE_BYTES) return before;
    const folder = mkdtempSync(join(tmpdir(), 'mayfly-log-'));
    try {
      this.#file = { fd: openSync(join(folder, 'records'), 'wx+', 0o600), used: 0, held: 0 };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    if (before?.held === 0) closeSync(before.fd);
    return this.#file;
  }

  close(): void {
    if (this.#file?.held === 0) closeSync(this.#file.fd);
    this.#file = undefined;
  }
}
