/**
 * The recent end of every stream in memory. A record is laid into a block once, written to the file from there, and
 * read back from there: appending copies the payload a single time. A block mirrors a range of one segment file.
 *
 * Owns: the bytes of all blocks and their budget, which is shared by all streams.
 * I1  The sum of the capacities stays within the budget, but for the one block that was asked for last.
 * I2  Blocks go oldest first; a block that went is never used again. Its bytes may be: a large buffer costs the kernel
 *     fresh pages, and the collector work, each time it is made. What is read from a block is therefore always a copy.
 */
export interface Block {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Offset in the segment file of the first byte. */
  readonly start: number;
  /** Bytes laid in so far. */
  used: number;
  /** False once the cache let it go. */
  held: boolean;
}

const FIRST_BLOCK = 16 * 1024;
const LARGEST_BLOCK = 256 * 1024;
/** Buffers of the largest size that are kept for the next block, beyond the budget: 4 MiB. */
const MOST_SPARE = 16;

export class TailCache {
  readonly #blocks = new Set<Block>();
  readonly #spare: Uint8Array[] = [];
  #bytes = 0;
  readonly #budget: number;

  constructor(budget: number) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * A fresh block for the file range from `start` on, with room for `need` bytes. `previous` = size of the stream's
   * last block: streams that are busy get larger ones.
   */
  allocate(start: number, need: number, previous: number): Block {
    const size = Math.max(need, Math.min(LARGEST_BLOCK, Math.max(FIRST_BLOCK, previous * 2)));
    for (const block of this.#blocks) {
      if (this.#bytes + size <= this.#budget) break;
      this.release(block);
    }
    const bytes = (size === LARGEST_BLOCK ? this.#spare.pop() : undefined) ?? fresh(size);
    const block: Block = {
      bytes,
      view: new DataView(bytes.buffer, bytes.byteOffset, size),
      start,
      used: 0,
      held: true,
    };
    this.#blocks.add(block);
    this.#bytes += size;
    return block;
  }

  release(block: Block): void {
    if (!this.#blocks.delete(block)) return;
    block.held = false;
    this.#bytes -= block.bytes.length;
    if (block.bytes.length === LARGEST_BLOCK && this.#spare.length < MOST_SPARE) this.#spare.push(block.bytes);
  }
}

/** allocUnsafeSlow: no zeroing, and not a slice of Node's shared pool. */
function fresh(size: number): Uint8Array {
  const buffer = Buffer.allocUnsafeSlow(size);
  return new Uint8Array(buffer.buffer, buffer.byteOffset, size);
}
