/**
 * The recent end of every stream in memory. A record is laid into a block once, written to the file from there, and read back
 * from there: appending copies the payload a single time. A block mirrors a range of one segment file.
 *
 * Owns: the bytes of all blocks and their budget, which is shared by all streams.
 * I1  The sum of the capacities stays within the budget, but for the one block that was asked for last.
 * I2  Blocks go oldest first; a block that went is only forgotten, never used again.
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

export class TailCache {
  readonly #blocks = new Set<Block>();
  #bytes = 0;
  readonly #budget: number;

  constructor(budget: number) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A fresh block for the file range from `start` on, with room for `need` bytes. `previous` = size of the stream's last block: streams that are busy get larger ones. */
  allocate(start: number, need: number, previous: number): Block {
    const size = Math.max(need, Math.min(LARGEST_BLOCK, Math.max(FIRST_BLOCK, previous * 2)));
    for (const block of this.#blocks) {
      if (this.#bytes + size <= this.#budget) break;
      this.release(block);
    }
    // allocUnsafeSlow: no zeroing, and not a slice of Node's shared pool.
    const buffer = Buffer.allocUnsafeSlow(size);
    const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, size);
    const block: Block = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, size), start, used: 0, held: true };
    this.#blocks.add(block);
    this.#bytes += size;
    return block;
  }

  release(block: Block): void {
    if (!this.#blocks.delete(block)) return;
    block.held = false;
    this.#bytes -= block.bytes.length;
  }
}
