/**
 * Standard input of one job, durable and as messages: record k of the file is message k of the channel WORLD → task 0.
 * What the Channel Memory does not have yet after a restart is fed from here, at the same boundaries.
 *
 *   record: u32 length | u32 CRC-32 of that and of the bytes | bytes; a record of length 0 is the end of input, and
 *   the last
 *
 *  N1  A record is synced before the POST that brought it is answered.
 *  N3  What cannot be written or synced is taken back whole: the POST that brought it is refused, and may be repeated.
 *  N2  Bytes are counted from the start of the stream, so a POST that names its offset may be repeated.
 */
import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { sep } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { CHUNK_BYTES, MayflyError } from '@mayfly/wire';
import type { StdinLog } from '../ports/index.ts';
import { storageError } from '../storage-error.ts';
import { newPart } from '../stdin-part.ts';

const fdatasyncAsync = promisify(fdatasync);
const HEAD = 8;

/** With an empty array, Node's crc32 may start again from zero. */
const sumOf = (word: Uint8Array, bytes: Uint8Array): number =>
  bytes.length === 0 ? crc32(word) : crc32(bytes, crc32(word));

/** The record at this place; undefined: none that is whole. */
export function readStdinRecord(file: Buffer, at: number): { bytes: Uint8Array; end: number } | undefined {
  if (at + HEAD > file.length) return undefined;
  const length = file.readUInt32LE(at);
  const from = at + HEAD;
  if (length > CHUNK_BYTES || from + length > file.length) return undefined;
  const bytes = file.subarray(from, from + length);
  if (sumOf(file.subarray(at, at + 4), bytes) !== file.readUInt32LE(at + 4)) return undefined;
  return { bytes, end: from + length };
}

/** @throws MayflyError DAMAGED_DATA; the error of the file system, when it may pass */
function openFile(path: string): number {
  try {
    return openSync(path, 'a+', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EISDIR') throw error;
    const [job, file] = path.split(sep).slice(-2);
    throw new MayflyError('DAMAGED_DATA', `jobs/${job}/${file} is a folder where a file belongs.`);
  }
}

export class FileStdinLog implements StdinLog {
  readonly #fd: number;
  #size = 0;
  /** Where the bytes of each record stand. */
  readonly #records: { at: number; length: number }[] = [];
  #bytes = 0;
  #ended = false;
  /** One POST after the other: what is taken back (N3) is the last. */
  #appending: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#fd = openFile(path);
    const size = fstatSync(this.#fd).size;
    const chunk = Buffer.alloc(HEAD + CHUNK_BYTES);
    while (!this.#ended) {
      const r = readStdinRecord(chunk.subarray(0, readSync(this.#fd, chunk, 0, chunk.length, this.#size)), 0);
      if (!r) break;
      this.#enter(r.bytes.length, r.end);
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

  message(n: number): Uint8Array {
    const r = this.#records[n - 1]!;
    const out = new Uint8Array(r.length);
    readSync(this.#fd, out, 0, r.length, r.at);
    return out;
  }

  append(bytes: Uint8Array, end: boolean, offset?: number): Promise<void> {
    const work = this.#appending.then(() => this.#append(bytes, end, offset));
    this.#appending = work.catch(() => undefined);
    return work;
  }

  async #append(bytes: Uint8Array, end: boolean, offset = this.#bytes): Promise<void> {
    const fresh = newPart(bytes, offset, this.#bytes, this.#ended);
    if (this.#ended) return;
    // It is entered when it is durable, so it is not read before.
    const wrote: [length: number, size: number][] = [];
    const write = (part: Uint8Array): void => {
      wrote.push([part.length, this.#write(part)]);
    };
    try {
      for (let o = 0; o < fresh.length; o += CHUNK_BYTES) write(fresh.subarray(o, o + CHUNK_BYTES));
      if (end) write(fresh.subarray(0, 0));
      await fdatasyncAsync(this.#fd);
    } catch (error) {
      ftruncateSync(this.#fd, this.#size);
      throw storageError(error, 'standard input of the job');
    }
    for (const [length, size] of wrote) this.#enter(length, size);
  }

  #write(bytes: Uint8Array): number {
    const record = Buffer.alloc(HEAD + bytes.length);
    record.writeUInt32LE(bytes.length, 0);
    record.set(bytes, HEAD);
    record.writeUInt32LE(sumOf(record.subarray(0, 4), bytes), 4);
    for (let done = 0; done < record.length;) done += writeSync(this.#fd, record, done);
    return record.length;
  }
  /** `size`: of the whole record. */
  #enter(length: number, size: number): void {
    this.#size += size;
    this.#records.push({ at: this.#size - length, length });
    this.#bytes += length;
    if (length === 0) this.#ended = true;
  }
  close(): void {
    closeSync(this.#fd);
  }
}
