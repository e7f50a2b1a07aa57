/**
 * Sums of multiples of byte strings over GF(2⁸): kernel.c where the engine has WebAssembly SIMD, else JavaScript, with
 * the same bytes.
 *
 * Owns: one instance of the WebAssembly kernel per thread with its memory (0.4 MB): 256 pairs of tables, one strip of
 * input, and {@link ROWS} strips of sums. Nothing stays in it between two calls.
 */
import { kernel as code } from '#codes-kernel';
import { multiply, type Matrix } from './field.ts';

export interface Kernel {
  readonly name: 'simd' | 'portable';
  /**
   * outputs[i] = Σ_j rows[i][j] · inputs[j]. An input that is shorter than an output counts as zero beyond its end;
   * what is longer is not read.
   * @throws RangeError if the matrix does not fit inputs and outputs, or an output overlaps an input
   */
  combine(rows: Matrix, inputs: readonly Uint8Array[], outputs: readonly Uint8Array[]): void;
}

interface Exports {
  multiply_add(to: number, from: number, n: number, table: number): void;
  add(to: number, from: number, n: number): void;
}

/** What is needed of the platform: projects that import this have types of a tab, of Node, or of neither. */
interface Platform {
  atob(text: string): string;
  readonly WebAssembly: {
    readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  };
}

/** Bytes of one input that are worked on at a time: they and the sums stay in the processor's cache. */
const STRIP = 16 * 1024;
/** Sums that are formed at a time. */
const ROWS = 16;
/** Of the two tables of a coefficient. */
const TABLE = 32;
const FROM = 256 * TABLE;
const SUMS = FROM + STRIP;

function check(rows: Matrix, inputs: readonly Uint8Array[], outputs: readonly Uint8Array[]): void {
  if (rows.length !== outputs.length || rows.some((row) => row.length !== inputs.length))
    throw new RangeError(`a matrix that does not fit ${inputs.length} inputs and ${outputs.length} outputs`);
  for (const out of outputs)
    for (const from of inputs)
      if (
        out.buffer === from.buffer &&
        out.byteOffset < from.byteOffset + from.length &&
        from.byteOffset < out.byteOffset + out.length
      )
        throw new RangeError('an output overlaps an input');
}

/** Undefined where the engine refuses to compile the kernel: it lacks SIMD, or a policy forbids WebAssembly. */
export function simdKernel(): Kernel | undefined {
  let instance: Exports;
  const { atob, WebAssembly } = globalThis as unknown as Platform;
  const memory = new WebAssembly.Memory({ initial: Math.ceil((SUMS + ROWS * STRIP) / 65_536) });
  try {
    const module = new WebAssembly.Module(Uint8Array.from(atob(code), (c) => c.charCodeAt(0)));
    instance = new WebAssembly.Instance(module, { env: { memory } }).exports as Exports;
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(memory.buffer);
  for (let c = 0; c < 256; c++)
    for (let nibble = 0; nibble < 16; nibble++) {
      bytes[c * TABLE + nibble] = multiply(c, nibble);
      bytes[c * TABLE + 16 + nibble] = multiply(c, nibble << 4);
    }

  const strip = (
    rows: Matrix,
    inputs: readonly Uint8Array[],
    outputs: readonly Uint8Array[],
    first: number,
    at: number,
  ): void => {
    const last = Math.min(first + ROWS, outputs.length);
    bytes.fill(0, SUMS, SUMS + (last - first) * STRIP);
    for (const [j, input] of inputs.entries()) {
      const n = Math.min(STRIP, input.length - at);
      if (n <= 0) continue;
      bytes.set(n === input.length ? input : input.subarray(at, at + n), FROM);
      // Whole steps of the kernel; what lies behind the input counts as zero.
      const steps = (n + 31) & ~31;
      bytes.fill(0, FROM + n, FROM + steps);
      for (let i = first; i < last; i++) {
        const c = rows[i]![j]!;
        const to = SUMS + (i - first) * STRIP;
        if (c === 1) instance.add(to, FROM, steps);
        else if (c !== 0) instance.multiply_add(to, FROM, steps, c * TABLE);
      }
    }
    for (let i = first; i < last; i++) {
      const out = outputs[i]!;
      const n = Math.min(STRIP, out.length - at);
      const from = SUMS + (i - first) * STRIP;
      if (n > 0) out.set(bytes.subarray(from, from + n), at);
    }
  };

  return {
    name: 'simd',
    combine(rows, inputs, outputs) {
      check(rows, inputs, outputs);
      const longest = Math.max(0, ...outputs.map((o) => o.length));
      for (let at = 0; at < longest; at += STRIP)
        for (let first = 0; first < outputs.length; first += ROWS) strip(rows, inputs, outputs, first, at);
    },
  };
}

/**
 * to[k] ^= c · from[k], four bytes in a word: a product is the sum of those of the byte's bits, and a bit in each of
 * four lanes times a byte carries nothing from lane to lane. So the order of bytes in a word does not matter.
 */
function multiplyAdd(to: Uint8Array, from: Uint8Array, c: number): void {
  const n = Math.min(to.length, from.length);
  let k = 0;
  if (((to.byteOffset | from.byteOffset) & 3) === 0) {
    const target = new Int32Array(to.buffer, to.byteOffset, n >> 2);
    const source = new Int32Array(from.buffer, from.byteOffset, n >> 2);
    k = source.length << 2;
    if (c === 1) for (let i = 0; i < source.length; i++) target[i] = target[i]! ^ source[i]!;
    else {
      const [c0, c1, c2, c3] = [c, multiply(c, 2), multiply(c, 4), multiply(c, 8)];
      const [c4, c5, c6, c7] = [multiply(c, 16), multiply(c, 32), multiply(c, 64), multiply(c, 128)];
      const lanes = 0x01010101;
      for (let i = 0; i < source.length; i++) {
        const x = source[i]!;
        target[i] =
          target[i]! ^
          Math.imul(x & lanes, c0) ^
          Math.imul((x >>> 1) & lanes, c1) ^
          Math.imul((x >>> 2) & lanes, c2) ^
          Math.imul((x >>> 3) & lanes, c3) ^
          Math.imul((x >>> 4) & lanes, c4) ^
          Math.imul((x >>> 5) & lanes, c5) ^
          Math.imul((x >>> 6) & lanes, c6) ^
          Math.imul((x >>> 7) & lanes, c7);
      }
    }
  }
  for (; k < n; k++) to[k] = to[k]! ^ multiply(c, from[k]!);
}

export const portableKernel: Kernel = {
  name: 'portable',
  combine(rows, inputs, outputs) {
    check(rows, inputs, outputs);
    for (const [i, out] of outputs.entries()) {
      out.fill(0);
      for (const [j, input] of inputs.entries()) if (rows[i]![j] !== 0) multiplyAdd(out, input, rows[i]![j]!);
    }
  },
};

let fastest: Kernel | undefined;

/** The fastest kernel of this engine; made once per thread. Compiles less than 1 KB, synchronously. */
export const kernel = (): Kernel => (fastest ??= simdKernel() ?? portableKernel);
