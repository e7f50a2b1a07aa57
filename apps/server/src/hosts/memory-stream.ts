/**
 * A LogStream in memory, for jobs of protocol 'none': nothing is kept beyond the life of the server.
 *
 * Owns: records in blocks that are used again when all their records are trimmed. A buffer per record would outlive the
 * young generation (a record stays until its receiver has consumed it), and V8 counts buffers to the growth of its
 * heap: the server marked that whole again and again, and 'none' was slower than a log on the disk.
 *
 * Invariants
 *  M1 `#first` is the lowest number that may still be there; trimming costs what is trimmed, not what is kept.
 *  M2 A block is free when `live` falls to 0 and it is not the one that is being filled.
 */
import type { LogStream, Lsn } from '@mayfly/storage/ports';

/**
 * A stream's first block is small, since a job has three streams for each rank; each new one is twice as long, up to
 * BLOCK_BYTES.
 */
const FIRST_BYTES = 1 << 14;
const BLOCK_BYTES = 1 << 20;
/** Free blocks kept for the next records. */
const SPARE_BLOCKS = 16;

interface Block {
  readonly bytes: Uint8Array;
  used: number;
  /** Records in it that are not trimmed. */
  live: number;
}
interface Place {
  readonly block: Block;
  readonly at: number;
  readonly length: number;
}

export class MemoryStream implements LogStream {
  readonly name: string;
  readonly #records = new Map<Lsn, Place>();
  readonly #spare: Block[] = [];
  #block: Block | undefined;
  #first = 0;
  #next = 0;
  #bytes = 0;

  constructor(name: string) {
    this.name = name;
  }
  get next(): Lsn {
    return this.#next;
  }
  get bytes(): number {
    return this.#bytes;
  }
  append(...parts: Uint8Array[]): Lsn {
    const length = parts.reduce((n, p) => n + p.length, 0);
    const block = this.#room(length);
    const at = block.used;
    for (const p of parts) {
      block.bytes.set(p, block.used);
      block.used += p.length;
    }
    block.live++;
    this.#records.set(this.#next, { block, at, length });
    this.#bytes += length;
    return this.#next++;
  }
  #room(length: number): Block {
    const current = this.#block;
    if (current && current.used + length <= current.bytes.length) return current;
    if (current?.live === 0) this.#free(current);
    const usual = Math.min(BLOCK_BYTES, Math.max(FIRST_BYTES, 2 * (current?.bytes.length ?? 0)));
    const block = (length <= BLOCK_BYTES ? this.#spare.pop() : undefined) ?? {
      bytes: new Uint8Array(Math.max(length, usual)),
      used: 0,
      live: 0,
    };
    return (this.#block = block);
  }
  #free(block: Block): void {
    block.used = 0;
    if (block.bytes.length === BLOCK_BYTES && this.#spare.length < SPARE_BLOCKS) this.#spare.push(block);
  }
  read(lsn: Lsn): Uint8Array | undefined {
    const p = this.#records.get(lsn);
    return p && p.block.bytes.slice(p.at, p.at + p.length);
  }
  async sync(): Promise<void> {}
  trim(from: Lsn, to: Lsn, keep?: ReadonlySet<Lsn>): void {
    const end = Math.min(to, this.#next);
    let kept = from > this.#first;
    for (let lsn = Math.max(from, this.#first); lsn < end; lsn++) {
      if (keep?.has(lsn)) kept = true;
      else this.#drop(lsn);
      if (!kept) this.#first = lsn + 1;
    }
  }
  #drop(lsn: Lsn): void {
    const p = this.#records.get(lsn);
    if (!p) return;
    this.#records.delete(lsn);
    this.#bytes -= p.length;
    if (--p.block.live === 0 && p.block !== this.#block) this.#free(p.block);
  }
  *scan(): Iterable<{ lsn: Lsn; bytes: Uint8Array }> {
    for (const lsn of this.#records.keys()) yield { lsn, bytes: this.read(lsn)! };
  }
  async close(): Promise<void> {}
}
