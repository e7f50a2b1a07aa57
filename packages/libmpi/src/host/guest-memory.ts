/**
 * What WASI's calls read and write of a program's memory: numbers, texts, vectors of bytes. An address outside is
 * EFAULT.
 */
import { E } from './errno.ts';
import { Errno } from './files.ts';

const text = new TextEncoder();
const utf8 = new TextDecoder();

export class GuestMemory {
  /** Memory may grow between any two calls: it is asked for in each. */
  constructor(private readonly memory: () => Uint8Array) {}

  bytes(at: number, length: number): Uint8Array {
    const m = this.memory();
    at >>>= 0;
    length >>>= 0;
    if (at + length > m.length) throw new Errno(E.FAULT);
    return m.subarray(at, at + length);
  }

  view(at: number, length: number): DataView {
    const b = this.bytes(at, length);
    return new DataView(b.buffer, b.byteOffset, b.byteLength);
  }

  string(at: number, length: number): string {
    return utf8.decode(this.bytes(at, length).slice());
  }

  put32(at: number, n: number): void {
    this.view(at, 4).setUint32(0, n, true);
  }

  put64(at: number, n: bigint): void {
    this.view(at, 8).setBigUint64(0, n, true);
  }

  /** The parts of an iovec array. */
  vectors(at: number, count: number): Uint8Array[] {
    const v = this.view(at, 8 * (count >>> 0));
    return Array.from({ length: count >>> 0 }, (_, i) =>
      this.bytes(v.getUint32(8 * i, true), v.getUint32(8 * i + 4, true)),
    );
  }

  /** The two calls with which a program asks for its arguments or its environment. */
  strings(list: readonly string[]): {
    sizes: (count: number, size: number) => number;
    get: (pointers: number, buffer: number) => number;
  } {
    const encoded = list.map((s) => text.encode(`${s}\0`));
    return {
      sizes: (count, size) => {
        this.put32(count, encoded.length);
        this.put32(
          size,
          encoded.reduce((n, s) => n + s.length, 0),
        );
        return E.SUCCESS;
      },
      get: (pointers, buffer) => {
        for (const [i, s] of encoded.entries()) {
          this.put32(pointers + 4 * i, buffer);
          this.bytes(buffer, s.length).set(s);
          buffer += s.length;
        }
        return E.SUCCESS;
      },
    };
  }
}
