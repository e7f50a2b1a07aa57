/**
 * The journal of a job's files: what was decided about every message that touches them, with its body, in the order in
 * which it took effect. With it a server that was killed, or lost what the disk had not written yet, brings the files
 * to the very state that its answers tell of.
 *
 *   record: u32 length | u32 CRC-32 of the payload | payload
 *   payload: u8 type | u8 mode | u16 error | u32 task | u64 n | f64 value | body        type 1: a snapshot (JSON), the
 *   first record; 2: a message
 *
 *  J1  A record is written before its effects, and durable before its answer goes out.
 *  J2  The snapshot stands for everything before it: those effects are durable in the files themselves.
 *  J3  A torn tail is cut at open: its effects were never visible.
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import type { FileSnapshot, Outcome } from '@mayfly/protocols';
import { taskId } from '@mayfly/wire';
import type { OutputJournal } from '../../ports/index.ts';

const fdatasyncAsync = promisify(fdatasync);
const HEAD = 8;
const FIELDS = 24;
const SNAPSHOT = 1;
const MESSAGE = 2;
const COPY = 1 << 20;
const NOBODY: Outcome = { task: taskId(0), n: 0, mode: 0, error: 0, value: 0 };

export class FileJournal implements OutputJournal {
  #fd: number;
  #size = 0;
  readonly #path: string;
  /** Syncs under way; descriptors that are closed when there is none. */
  #syncs = 0;
  #old: number[] = [];

  constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, 'a+', 0o600);
  }

  get bytes(): number {
    return this.#size;
  }

  replay(on: { snapshot(s: FileSnapshot): void; message(outcome: Outcome, body: Uint8Array): void }): void {
    const size = fstatSync(this.#fd).size;
    const head = Buffer.alloc(HEAD);
    while (this.#size + HEAD <= size) {
      readSync(this.#fd, head, 0, HEAD, this.#size);
      const length = head.readUInt32LE(0);
      if (length < FIELDS || this.#size + HEAD + length > size) break;
      const p = Buffer.allocUnsafe(length);
      for (let done = 0; done < length;) done += readSync(this.#fd, p, done, length - done, this.#size + HEAD + done);
      if (crc32(p) !== head.readUInt32LE(4)) break;
      const body = p.subarray(FIELDS);
      if (p[0] === SNAPSHOT) on.snapshot(JSON.parse(body.toString('utf8')) as FileSnapshot);
      else
        on.message(
          {
            task: taskId(p.readUInt32LE(4)),
            n: Number(p.readBigUInt64LE(8)),
            mode: p[1]!,
            error: p.readUInt16LE(2),
            value: p.readDoubleLE(16),
          },
          body,
        );
      this.#size += HEAD + length;
    }
    if (this.#size !== size) ftruncateSync(this.#fd, this.#size);
  }

  begin(snapshot: FileSnapshot): void {
    const body = Buffer.from(JSON.stringify(snapshot));
    this.#size += write(this.#fd, record(SNAPSHOT, NOBODY, body), body);
  }

  append(o: Outcome, body: Uint8Array): void {
    try {
      this.#size += write(this.#fd, record(MESSAGE, o, body), body);
    } catch (error) {
      // If that fails too, the torn tail is cut at the next open (J3).
      try {
        ftruncateSync(this.#fd, this.#size);
      } catch {
        throw error;
      }
      throw error;
    }
  }

  async sync(): Promise<void> {
    this.#syncs++;
    try {
      await fdatasyncAsync(this.#fd);
    } finally {
      this.#syncs--;
      this.#closeOld();
    }
  }

  /** J2. */
  async rewrite(snapshot: FileSnapshot, at: number): Promise<void> {
    const body = Buffer.from(JSON.stringify(snapshot));
    const next = `${this.#path}.new`;
    const fd = openSync(next, 'w+', 0o600);
    let size = 0;
    try {
      size = write(fd, record(SNAPSHOT, NOBODY, body), body);
      const chunk = Buffer.allocUnsafe(COPY);
      for (let from = at; from < this.#size;) {
        const n = readSync(this.#fd, chunk, 0, Math.min(COPY, this.#size - from), from);
        size += write(fd, chunk.subarray(0, n));
        from += n;
      }
      fdatasyncSync(fd);
    } catch (error) {
      rmSync(next, { force: true });
      throw error;
    } finally {
      closeSync(fd);
    }
    renameSync(next, this.#path);
    // The name too: what is appended from now on must not be lost behind the old file.
    const dir = openSync(dirname(this.#path), 'r');
    fsyncSync(dir);
    closeSync(dir);
    this.close();
    this.#fd = openSync(this.#path, 'a+', 0o600);
    this.#size = size;
  }

  close(): void {
    this.#old.push(this.#fd);
    this.#closeOld();
  }
  #closeOld(): void {
    if (this.#syncs === 0) for (const fd of this.#old.splice(0)) closeSync(fd);
  }
}

function record(type: number, o: Outcome, body: Uint8Array): Buffer {
  const b = Buffer.alloc(HEAD + FIELDS);
  b.writeUInt32LE(FIELDS + body.length, 0);
  b.writeUInt8(type, 8);
  b.writeUInt8(o.mode, 9);
  b.writeUInt16LE(o.error, 10);
  b.writeUInt32LE(o.task, 12);
  b.writeBigUInt64LE(BigInt(o.n), 16);
  b.writeDoubleLE(o.value, 24);
  const fields = crc32(b.subarray(HEAD));
  // With an empty array, Node's crc32 may start again from zero.
  b.writeUInt32LE(body.length === 0 ? fields : crc32(body, fields), 4);
  return b;
}

function write(fd: number, ...parts: Uint8Array[]): number {
  const all = parts.reduce((n, p) => n + p.length, 0);
  let done = writevSync(fd, parts);
  // What one call did not take.
  for (
    let rest = done < all ? Buffer.concat(parts).subarray(done) : undefined;
    rest !== undefined && rest.length > 0;
  ) {
    const n = writeSync(fd, rest);
    rest = rest.subarray(n);
    done += n;
  }
  return all;
}
