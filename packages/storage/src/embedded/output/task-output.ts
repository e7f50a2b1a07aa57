/**
 * Output of one task: `<task>.stdout` and `<task>.stderr`, bytes by offset, and `<task>.index`, where each message of
 * the task to the world lies in them: 16 bytes per message number, written before the bytes themselves.
 *
 *   record n−1: u48 start | u8 mode | u8 1 | u32 length | u32 CRC-32 of that, and of the bytes where the message is one
 *   of a stream
 *
 *  W1  Records are dense from message 1; a torn or damaged tail is cut at open.
 *  W2  A record is written before the bytes that it places.
 *  W4  A record that cannot be written, or whose bytes cannot be, is taken back: the message comes again, as one that
 *      never came.
 *  W3  Offsets of a stream are the sums of the lengths of its messages: they do not depend on when or how often a
 *      message came.
 */
import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  ftruncateSync,
  fstatSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { WorldMode } from '@mayfly/wire';
import type { Place, StreamName, TaskOutput } from '../../ports/index.ts';

export const RECORD = 16;
const MODES: ReadonlySet<number> = new Set(Object.values(WorldMode));
const NOTHING = new Uint8Array(0);
const fdatasyncAsync = promisify(fdatasync);

const MODE_OF = { stdout: WorldMode.STDOUT, stderr: WorldMode.STDERR } as const;

export class FileTaskOutput implements TaskOutput {
  readonly #fd: number;
  readonly #path: string;
  readonly #streams = new Map<StreamName, number>();
  #next = 1;
  #ends = { [WorldMode.STDOUT]: 0, [WorldMode.STDERR]: 0 } as Record<number, number>;
  readonly #buffer = Buffer.alloc(RECORD);

  /** @param path its files, without their endings */
  constructor(path: string) {
    this.#path = path;
    // Not 'a+', which ignores positions: a half-written record is overwritten.
    this.#fd = openSync(`${path}.index`, constants.O_RDWR | constants.O_CREAT, 0o600);
    const size = fstatSync(this.#fd).size;
    const chunk = Buffer.alloc(64 * 1024);
    let at = 0;
    scan: while (at + RECORD <= size) {
      const n = readSync(this.#fd, chunk, 0, Math.min(chunk.length, size - at), at);
      if (n < RECORD) break;
      for (let o = 0; o + RECORD <= n; o += RECORD) {
        const p = decode(chunk, o);
        if (!p) break scan;
        const end = this.#ends[p.mode];
        if (end !== undefined) {
          if (p.start !== end) break scan;
          this.#ends[p.mode] = end + p.length;
        }
        this.#next++;
        at += RECORD;
      }
    }
    if (at !== size) ftruncateSync(this.#fd, at);
  }

  get next(): number {
    return this.#next;
  }
  end(stream: StreamName): number {
    return this.#ends[MODE_OF[stream]] ?? 0;
  }

  place(n: number, mode: number, body: Uint8Array): Place | undefined {
    const { length } = body;
    if (n < this.#next) {
      readSync(this.#fd, this.#buffer, 0, RECORD, (n - 1) * RECORD);
      // Once more: after a failed sync, the kernel writes only bytes that are written again.
      writeSync(this.#fd, this.#buffer, 0, RECORD, (n - 1) * RECORD);
      return decode(this.#buffer, 0);
    }
    if (n > this.#next) return undefined;
    const start = this.#ends[mode] ?? 0;
    const b = this.#buffer;
    b.writeUIntLE(start, 0, 6);
    b.writeUInt8(mode, 6);
    b.writeUInt8(1, 7);
    b.writeUInt32LE(length, 8);
    b.writeUInt32LE(sumOf(b, 0, this.#ends[mode] === undefined ? NOTHING : body), 12);
    const at = (n - 1) * RECORD;
    try {
      for (let done = 0; done < RECORD;) done += writeSync(this.#fd, b, done, RECORD - done, at + done);
    } catch (error) {
      cut(this.#fd, at);
      throw error;
    }
    this.#next++;
    if (this.#ends[mode] !== undefined) this.#ends[mode] = start + length;
    return { start, length, mode };
  }

  /** W4. */
  takeBack(mode: number, place: Place): void {
    this.#next--;
    if (this.#ends[mode] !== undefined) this.#ends[mode] = place.start;
    cut(this.#fd, (this.#next - 1) * RECORD);
  }

  write(stream: StreamName, bytes: Uint8Array, at: number): void {
    const fd = this.#stream(stream);
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done, at + done);
  }

  #stream(stream: StreamName): number {
    let fd = this.#streams.get(stream);
    if (fd !== undefined) return fd;
    const path = `${this.#path}.${stream}`;
    // 'r+' does not truncate and honours positions; 'a' would ignore them.
    fd = openSync(path, existsSync(path) ? 'r+' : 'w+', 0o600);
    this.#streams.set(stream, fd);
    return fd;
  }

  async sync(): Promise<void> {
    await Promise.all([...this.#streams.values()].map((fd) => fdatasyncAsync(fd)));
    await fdatasyncAsync(this.#fd);
  }

  close(): void {
    for (const fd of this.#streams.values()) closeSync(fd);
    closeSync(this.#fd);
  }
}

function cut(fd: number, at: number): void {
  try {
    ftruncateSync(fd, at);
  } catch {
    // What stands there is overwritten, or placed again by the message.
  }
}

/** Of the record at `o`. With an empty array, Node's crc32 may start again from zero. */
export const sumOf = (b: Buffer, o: number, bytes: Uint8Array): number => {
  const head = crc32(b.subarray(o, o + 12));
  return bytes.length === 0 ? head : crc32(bytes, head);
};

/**
 * Only `mayfly check` verifies that the bytes of a stream are those that were placed: a start would have to read all
 * output.
 */
export function decode(b: Buffer, o: number): Place | undefined {
  const length = b.readUInt32LE(o + 8);
  const mode = b.readUInt8(o + 6);
  const start = b.readUIntLE(o, 6);
  if (b[o + 7] !== 1 || !MODES.has(mode)) return undefined;
  const stream = mode === WorldMode.STDOUT || mode === WorldMode.STDERR;
  if (!stream && (start !== 0 || b.readUInt32LE(o + 12) !== sumOf(b, o, NOTHING))) return undefined;
  return { start, length, mode };
}
