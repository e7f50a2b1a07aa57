/** Datatypes against a dumb oracle: the type map written out byte by byte; long doubles against exact arithmetic. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLayer, elementType, pack, types, unpack, type Device } from '../src/index.ts';
import { addQuad, compareQuad, multiplyQuad, readQuad, writeQuad } from '../src/quad.ts';

const layer = createLayer({ task: 0, size: 1 } as unknown as Device);
const INT = 0x209;
const DOUBLE = 0x214;
const SHORT = 0x208;
const SHORT_INT = 0x22c;

/** A datatype as its type map: byte offsets in order, and its bounds. */
interface Dumb {
  handle: number;
  bytes: number[];
  lb: number;
  ub: number;
}
const at = (d: Dumb, offset: number): number[] => d.bytes.map((b) => b + offset);
const extent = (d: Dumb): number => d.ub - d.lb;

const named = (handle: number, bytes: number[], ub: number): Dumb => ({ handle, bytes, lb: 0, ub });
const run = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const NAMED = [
  named(INT, run(4), 4),
  named(DOUBLE, run(8), 8),
  named(SHORT, run(2), 2),
  named(SHORT_INT, [0, 1, 4, 5, 6, 7], 8),
];

/** Places of a type, each with its bounds. */
function join(handle: number, old: Dumb, offsets: number[]): Dumb {
  if (offsets.length === 0) return { handle, bytes: [], lb: 0, ub: 0 };
  return {
    handle,
    bytes: offsets.flatMap((o) => at(old, o)),
    lb: Math.min(...offsets) + old.lb,
    ub: Math.max(...offsets) + old.ub,
  };
}

const derived = fc.letrec<{ type: Dumb }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(...NAMED),
    fc.tuple(tie('type'), fc.nat(4)).map(([t, n]) =>
      join(
        types.contiguous(layer, n, t.handle),
        t,
        run(n).map((i) => i * extent(t)),
      ),
    ),
    fc.tuple(tie('type'), fc.nat(3), fc.nat(3), fc.integer({ min: -4, max: 5 })).map(([t, n, length, stride]) =>
      join(
        types.vector(layer, n, length, stride, t.handle, false),
        t,
        run(n).flatMap((i) => run(length).map((k) => (i * stride + k) * extent(t))),
      ),
    ),
    fc
      .tuple(tie('type'), fc.array(fc.tuple(fc.nat(3), fc.integer({ min: -20, max: 40 })), { maxLength: 4 }))
      .map(([t, blocks]) =>
        join(
          types.indexed(
            layer,
            blocks.map((b) => b[0]),
            blocks.map((b) => b[1]),
            t.handle,
            true,
          ),
          t,
          blocks.flatMap(([n, o]) => run(n).map((k) => o + k * extent(t))),
        ),
      ),
    fc.tuple(tie('type'), fc.integer({ min: -8, max: 8 }), fc.integer({ min: 0, max: 64 })).map(([t, lb, size]) => ({
      handle: types.resized(layer, t.handle, lb, size),
      bytes: t.bytes,
      lb,
      ub: lb + size,
    })),
  ),
})).type;

const MEMORY = Uint8Array.from({ length: 8192 + 64 }, (_, i) => (i * 31 + (i >> 8)) & 255);

test('packing and unpacking follow the type map, and extents its bounds', () => {
  fc.assert(
    fc.property(derived, fc.nat(3), fc.boolean(), (d, count, odd) => {
      const { layout } = types.typeOf(layer, d.handle, 'test');
      expect([layout.size, layout.lb, layout.extent]).toEqual([d.bytes.length, d.lb, extent(d)]);
      const offsets = run(count).flatMap((i) => d.bytes.map((b) => b + i * extent(d)));
      const base = 2048 + (odd ? 1 : 0);
      if (offsets.some((o) => o < -2000 || o > 6000)) return;
      const memory = MEMORY;
      const packed = new Uint8Array(offsets.length);
      pack(layout, count, memory, base, packed);
      expect(
        Buffer.compare(
          packed,
          Uint8Array.from(offsets, (o) => memory[base + o]!),
        ),
      ).toBe(0);
      const target = new Uint8Array(MEMORY.length).fill(1);
      const want = target.slice();
      const cut = packed.length - (packed.length >> 2);
      offsets.slice(0, cut).forEach((o, i) => (want[base + o] = packed[i]!));
      unpack(layout, count, packed.subarray(0, cut), target, base);
      expect(Buffer.compare(target, want)).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test('§5.1.11 basic elements of a partly filled message', () => {
  const t = types.typeOf(layer, types.struct(layer, [1, 2], [0, 8], [INT, DOUBLE]), 'test');
  expect([0, 3, 4, 11, 12, 20, 24, 39].map((n) => Number(types.elementsIn(t.signature, BigInt(n))))).toEqual([
    0, 0, 1, 1, 2, 3, 4, 5,
  ]);
  expect([0, 1, 2, 3, 4, 5].map((n) => Number(types.bytesOf(t.signature, BigInt(n))))).toEqual([0, 4, 12, 20, 24, 32]);
  expect(t.layout.extent).toBe(24);
  expect(elementType(16).bytes).toBe(8);
});

test('long doubles: doubles are exact, rounding is to the nearest even', () => {
  const v = new DataView(new ArrayBuffer(64));
  const quad = (x: number) => {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setFloat64(0, x);
    const raw = bits.getBigUint64(0);
    const e = Number((raw >> 52n) & 0x7ffn);
    const m = (raw & 0xf_ffff_ffff_ffffn) | (e === 0 ? 0n : 1n << 52n);
    return {
      kind: Number.isNaN(x) ? ('nan' as const) : Number.isFinite(x) ? ('number' as const) : ('infinite' as const),
      negative: raw >> 63n === 1n,
      mantissa: m,
      exponent: (e === 0 ? 1 : e) - 1075,
    };
  };
  const stored = (q: ReturnType<typeof quad>) => {
    writeQuad(v, 0, q);
    return readQuad(v, 0);
  };
  fc.assert(
    fc.property(fc.double(), fc.double(), (x, y) => {
      const [a, b] = [stored(quad(x)), stored(quad(y))];
      const order = compareQuad(a, b);
      expect(order).toEqual(Number.isNaN(x) || Number.isNaN(y) ? NaN : Number(x > y) - Number(x < y));
      // A product of doubles has 106 bits: exact in 113, so it divides back.
      if ([x, y].every((z) => Number.isFinite(z) && Math.abs(z) > 1e-100 && Math.abs(z) < 1e100)) {
        const p = stored(multiplyQuad(a, b));
        const exact = quad(x).mantissa * quad(y).mantissa;
        const shift = p.exponent - (quad(x).exponent + quad(y).exponent);
        expect(shift >= 0 ? p.mantissa << BigInt(shift) : p.mantissa >> BigInt(-shift)).toEqual(exact);
      }
    }),
    { numRuns: 200 },
  );
  // 1 + 2^-113 is half way to the next number: it stays 1; a little more does not.
  const one = quad(1);
  const half = { ...one, mantissa: 1n, exponent: -113 };
  expect(compareQuad(stored(addQuad(one, half)), one)).toBe(0);
  const more = { ...one, mantissa: 3n, exponent: -114 };
  expect(compareQuad(stored(addQuad(one, more)), one)).toBe(1);
  expect(stored(multiplyQuad(quad(Infinity), quad(0))).kind).toBe('nan');
});
