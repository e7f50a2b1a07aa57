/**
 * Standard input of one job, durable and as messages: record k of the file is message k of the channel WORLD → task 0. What the
 * Channel Memory does not have yet after a restart is fed from here, at the same boundaries.
 *
 *   record: u32 length | bytes; a record of length 0 is the end of input, and the last.
 *
 *  N1  A record is synced before the POST that brought it is answered.
 *  N3  What cannot be written or synced is taken back whole: the POST that brought it is refused, and may be repeated.
 *  N2  Bytes are counted from the start of the stream, so a POST that names its offset may be repeated.
 */
import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { storageError } from '@mayfly/storage';
import { CHUNK_BYTES, MayflyError } from '@mayfly/wire';

const fdatasyncAsync = promisify(fdatasync);

export class StdinLog {
  readonly #fd: number;
  #size = 0;
  /** Position of each record in the file. */
  readonly #records: { at: number; length: number }[] = [];
  #bytes = 0;
  #ended = false;
  /** One POST after the other: what is taken back (N3) is the last. */
  #appending: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#fd = openSync(path, 'a+', 0o600);
    const size = fstatSync(this.#fd).size;
    const head = Buffer.alloc(4);
    while (this.#size + 4 <= size && !this.#ended) {
      readSync(this.#fd, head, 0, 4, this.#size);
      const length = head.readUInt32LE(0);
      if (length > CHUNK_BYTES || this.#size + 4 + length > size) break;
      this.#enter(length);
    }
    if (this.#size !== size) ftruncateSync(this.#fd, this.#size);
  }

  get messages(): number {
    return this.#records.length;
  }
  get bytes(): number {
    return this.#bytes;
  }
  get ended(): boolean {
    return this.#ended;
  }

  /** Body of message `n`, from 1. */
  message(n: number): Uint8Array {
    const r = this.#records[n - 1]!;
    const out = new Uint8Array(r.length);
    readSync(this.#fd, out, 0, r.length, r.at + 4);
    return out;
  }

  /**
   * Adds bytes that begin at `offset` of the stream (absent: at its end), and its end when `end`.
   * @throws MayflyError CONFLICT behind the end of input, or when bytes in between are missing; DISK_FULL, STORAGE_FAILED
   */
  append(bytes: Uint8Array, end: boolean, offset?: number): Promise<void> {
    const work = this.#appending.then(() => this.#append(bytes, end, offset));
    this.#appending = work.catch(() => undefined);
    return work;
  }

  async #append(bytes: Uint8Array, end: boolean, offset = this.#bytes): Promise<void> {
    if (offset > this.#bytes) throw new MayflyError('CONFLICT', `Standard input holds ${this.#bytes} bytes; these begin at ${offset}.`);
    const fresh = bytes.subarray(Math.min(bytes.length, this.#bytes - offset));
    if (this.#ended) {
      if (fresh.length > 0) throw new MayflyError('CONFLICT', 'Standard input of this job has ended.');
      return;
    }
    // Nobody reads it before it is durable: it is entered then.
    const wrote: number[] = [];
    const write = (part: Uint8Array): void => {
      this.#write(part);
      wrote.push(part.length);
    };
    try {
      for (let o = 0; o < fresh.length; o += CHUNK_BYTES) write(fresh.subarray(o, o + CHUNK_BYTES));
      if (end) write(fresh.subarray(0, 0));
      await fdatasyncAsync(this.#fd);
    } catch (error) {
      ftruncateSync(this.#fd, this.#size);
      throw storageError(error, 'standard input of the job');
    }
    for (const length of wrote) this.#enter(length);
  }

  #write(bytes: Uint8Array): void {
    const record = Buffer.alloc(4 + bytes.length);
    record.writeUInt32LE(bytes.length, 0);
    record.set(bytes, 4);
    for (let done = 0; done < record.length; ) done += writeSync(this.#fd, record, done);
  }
  #enter(length: number): void {
    this.#records.push({ at: this.#size, length });
    this.#size += 4 + length;
    this.#bytes += length;
    if (length === 0) this.#ended = true;
  }
  close(): void {
    closeSync(this.#fd);
  }
}
