/**
 * The blocks of one stream in the tail cache: where the next record is laid, and which records can be read without the
 * disk.
 */
import { RECORD_HEAD_BYTES } from './segment-format.ts';
import type { Segment } from './segment.ts';
import type { Block, TailCache } from './tail-cache.ts';

export class StreamTail {
  readonly #cache: TailCache;
  /** Oldest first; may hold some that the cache let go. */
  #blocks: { segment: Segment; block: Block }[] = [];

  constructor(cache: TailCache) {
    this.#cache = cache;
  }

  /** A block whose free room begins exactly at the end of the segment, for `need` bytes. */
  room(segment: Segment, need: number): Block {
    const last = this.#blocks.at(-1);
    if (last && last.block.held && last.segment === segment) {
      const { block } = last;
      if (block.start + block.used === segment.size && block.used + need <= block.bytes.length) return block;
    }
    const block = this.#cache.allocate(segment.size, need, last?.block.bytes.length ?? 0);
    this.#blocks = this.#blocks.filter((b) => b.block.held);
    this.#blocks.push({ segment, block });
    return block;
  }

  /** A copy of the payload of the record at `offset` of the segment, if it is here. */
  read(segment: Segment, offset: number): Uint8Array | undefined {
    for (let i = this.#blocks.length - 1; i >= 0; i--) {
      const b = this.#blocks[i]!;
      const { block } = b;
      if (b.segment !== segment || !block.held || offset < block.start || offset >= block.start + block.used) continue;
      const at = offset - block.start;
      const length = block.view.getUint32(at, true);
      return block.bytes.slice(at + RECORD_HEAD_BYTES, at + RECORD_HEAD_BYTES + length);
    }
    return undefined;
  }

  /** The segment is going: its blocks are free. */
  drop(segment: Segment): void {
    for (const b of this.#blocks) if (b.segment === segment) this.#cache.release(b.block);
    this.#blocks = this.#blocks.filter((b) => b.block.held);
  }

  clear(): void {
    for (const b of this.#blocks) this.#cache.release(b.block);
    this.#blocks = [];
  }
}
