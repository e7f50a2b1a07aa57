/**
 * Where the bytes of a message lie, as plain data: a request names its buffers by space and offset, never by reference,
 * so that it can be stored in an image.
 *
 * Owns: the pinned spaces (not serialisable). Spaces:
 *   0        the program's linear memory (C and C++: an address is an offset). The view is fetched anew at every use,
 *            since memory may grow.
 *   > 0      an array of a TypeScript program, pinned while a request uses it
 *   < 0      a scratch buffer of a schedule, kept in the layer's state and thus in images
 */
import { pack, unpack } from './packing.ts';
import type { Layout } from './layout.ts';

export interface Buf {
  readonly space: number;
  readonly offset: number;
  readonly bytes: number;
}

export const LINEAR = 0;
export const NO_BYTES: Buf = { space: LINEAR, offset: 0, bytes: 0 };

export const part = (b: Buf, offset: number, bytes: number): Buf => ({
  space: b.space,
  offset: b.offset + offset,
  bytes,
});
export const linear = (address: number, bytes: number): Buf => ({ space: LINEAR, offset: address, bytes });

const EMPTY = new Uint8Array(0);

/**
 * A faster way of packing what lies in linear memory; false: it cannot, and has done nothing. `from` and `into` hold
 * whole elements.
 */
export interface Packer {
  pack(l: Layout, count: number, address: number, into: Uint8Array): boolean;
  unpack(l: Layout, count: number, from: Uint8Array, address: number): boolean;
  /**
   * A few elements packed in a place of the packer's own, for those who take them at once: it holds until the next
   * call. Undefined: they do not fit.
   */
  packed(l: Layout, count: number, address: number): Uint8Array | undefined;
}

export class Memory {
  private readonly pinned = new Map<number, Uint8Array>();
  private nextPin = 1;
  /** Lent by the host of a C program. */
  packer: Packer | undefined;

  /** @param linear the program's linear memory, whole; absent for TypeScript programs */
  constructor(
    private readonly linearMemory: (() => Uint8Array) | undefined,
    private readonly scratch: () => Map<number, Uint8Array>,
  ) {}

  pin(bytes: Uint8Array): Buf {
    const space = this.nextPin++;
    this.pinned.set(space, bytes);
    return { space, offset: 0, bytes: bytes.length };
  }

  unpin(space: number): void {
    this.pinned.delete(space);
  }

  /** The program's linear memory, whole. */
  linear(): Uint8Array {
    return this.linearMemory?.() ?? EMPTY;
  }

  /** A whole space. */
  space(n: number): Uint8Array {
    const whole = n > 0 ? this.pinned.get(n) : n < 0 ? this.scratch().get(n) : this.linearMemory?.();
    if (whole === undefined) throw new Error(`buffer space ${n} is gone`);
    return whole;
  }

  /** Packs `count` elements at an address of a space to the beginning of `into`. */
  pack(l: Layout, count: number, space: number, address: number, into: Uint8Array): void {
    if (space !== LINEAR || !this.packer?.pack(l, count, address, into))
      pack(l, count, this.space(space), address, into);
  }

  /** The reverse; `from` may be shorter than the elements need: the rest stays as it is. */
  unpack(l: Layout, count: number, from: Uint8Array, space: number, address: number): void {
    const whole = l.size === 0 ? 0 : Math.min(count, Math.floor(from.length / l.size));
    if (space !== LINEAR || whole === 0 || !this.packer?.unpack(l, whole, from, address))
      return unpack(l, count, from, this.space(space), address);
    if (whole < count) unpack(l, 1, from.subarray(whole * l.size), this.space(space), address + whole * l.extent);
  }

  view(b: Buf): Uint8Array {
    return b.bytes === 0 ? EMPTY : this.space(b.space).subarray(b.offset, b.offset + b.bytes);
  }
}
