/** Blocks of a vector collective, in bytes. */
import { part, type Buf } from '../buffers.ts';

export interface Blocks {
  buf: Buf;
  offsets: readonly number[];
  lengths: readonly number[];
}
export const equalBlocks = (buf: Buf, n: number, bytes: number): Blocks => ({
  buf,
  offsets: Array.from({ length: n }, (_, i) => i * bytes),
  lengths: new Array<number>(n).fill(bytes),
});
export const blockOf = (b: Blocks, i: number): Buf => part(b.buf, b.offsets[i]!, b.lengths[i]!);
