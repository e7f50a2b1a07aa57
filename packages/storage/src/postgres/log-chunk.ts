/**
 * A chunk: consecutive records of a stream, as they stand in a row of `log_batch`. Pure.
 *
 *   record   u32 length | u32 CRC-32 of its number (u64) and its payload | payload
 */
import { crc32 } from 'node:zlib';
import type { Lsn } from '../ports/index.ts';

export const RECORD_HEAD = 8;
/** A chunk that is longer is followed by the next; a longer record has one of its own. */
export const CHUNK_BYTES = 256 * 1024;
/** Longest payload of a record, as in the embedded log. */
export const MAX_RECORD_BYTES = 0x0fff_ffff;

const number = Buffer.alloc(8);

function sumOf(lsn: Lsn, payload: Uint8Array): number {
  number.writeUInt32LE(lsn >>> 0, 0);
  number.writeUInt32LE(Math.floor(lsn / 2 ** 32), 4);
  const sum = crc32(number);
  // With an empty array, Node's crc32 may start again from zero.
  return payload.length === 0 ? sum : crc32(payload, sum);
}

/** What is being appended to. */
export class ChunkBuilder {
  readonly first: Lsn;
  readonly offsets: number[] = [];
  #bytes = Buffer.allocUnsafeSlow(1024);
  #used = 0;

  constructor(first: Lsn) {
    this.first = first;
  }

  get used(): number {
    return this.#used;
  }

  add(parts: readonly Uint8Array[], length: number): void {
    const need = this.#used + RECORD_HEAD + length;
    if (need > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(need, Math.min(this.#bytes.length * 2, CHUNK_BYTES)));
      this.#bytes.copy(grown, 0, 0, this.#used);
      this.#bytes = grown;
    }
    let at = this.#used + RECORD_HEAD;
    for (const part of parts) {
      this.#bytes.set(part, at);
      at += part.length;
    }
    const sum = sumOf(this.first + this.offsets.length, this.#bytes.subarray(this.#used + RECORD_HEAD, at));
    this.#bytes.writeUInt32LE(length, this.#used);
    this.#bytes.writeUInt32LE(sum, this.#used + 4);
    this.offsets.push(this.#used);
    this.#used = at;
  }

  /** All so far; they stay as they are. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#used);
  }
}

/** A copy of the payload of the record that begins at `offset`. Undefined: it is damaged. */
export function recordAt(chunk: Buffer, offset: number, lsn: Lsn): Uint8Array | undefined {
  const end = offset + RECORD_HEAD <= chunk.length ? offset + RECORD_HEAD + chunk.readUInt32LE(offset) : Infinity;
  if (end > chunk.length) return undefined;
  const payload = new Uint8Array(chunk.subarray(offset + RECORD_HEAD, end));
  return sumOf(lsn, payload) === chunk.readUInt32LE(offset + 4) ? payload : undefined;
}

/** The offsets of `count` records that fill the chunk. A number: this record is damaged. */
export function offsetsOf(chunk: Buffer, first: Lsn, count: number): Uint32Array | Lsn {
  const offsets = new Uint32Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const record = recordAt(chunk, at, first + i);
    if (!record) return first + i;
    offsets[i] = at;
    at += RECORD_HEAD + record.length;
  }
  return at === chunk.length ? offsets : first + count;
}
