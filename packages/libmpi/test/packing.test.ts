/**
 * Packing by the kernel (src/packing) against packing by JavaScript, which packages/mpi/test/layout.test.ts holds
 * against type maps.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLayer, pack, span, types, unpack, type Device, type Layout } from '@mayfly/mpi';
import { KernelPacker } from '../src/packing/packer.ts';
import { pieces, planOf } from '../src/packing/plan.ts';

const layer = createLayer({ task: 0, size: 1 } as unknown as Device);
const [CHAR, SHORT, INT, DOUBLE] = [0x243, 0x208, 0x209, 0x214];
const PAGE = 65536;

/** `times` of a datatype, unless that makes lists which say nothing more. */
const grown = (t: number, times: number, make: () => number): number =>
  types.typeOf(layer, t, 'test').layout.segments.length * times > 20_000 ? t : make();

/**
 * Datatypes of all shapes: holes, negative strides and bounds, places that overlap; short lists and such as do not fit
 * into a small room at once.
 */
const datatype = fc.letrec<{ type: number }>((tie) => {
  const of = tie('type');
  const offset = fc.integer({ min: -200, max: 900 });
  return {
    type: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom(CHAR, SHORT, INT, DOUBLE),
      fc.tuple(of, fc.nat(20)).map(([t, n]) => grown(t, n, () => types.contiguous(layer, n, t))),
      fc
        .tuple(of, fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 20 }), fc.integer({ min: -30, max: 30 }))
        .map(([t, n, length, stride]) => grown(t, n * length, () => types.vector(layer, n, length, stride, t, false))),
      fc
        .tuple(of, fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 3 }), fc.integer({ min: -77, max: 77 }))
        .map(([t, n, length, stride]) => grown(t, n * length, () => types.vector(layer, n, length, stride, t, true))),
      fc.tuple(of, fc.array(fc.tuple(fc.nat(9), offset), { minLength: 1, maxLength: 200 })).map(([t, b]) =>
        grown(t, 9 * b.length, () =>
          types.indexed(
            layer,
            b.map((x) => x[0]),
            b.map((x) => x[1]),
            t,
            true,
          ),
        ),
      ),
      fc.tuple(of, fc.nat(70), fc.array(offset, { minLength: 1, maxLength: 200 })).map(([t, n, at]) =>
        grown(t, n * at.length, () =>
          types.indexed(
            layer,
            at.map(() => n),
            at,
            t,
            true,
            true,
          ),
        ),
      ),
      fc
        .tuple(of, of, fc.integer({ min: 0, max: 90 }))
        .map(([x, y, at]) => grown(x, 1, () => types.struct(layer, [1, 2], [0, at], [x, y]))),
      fc
        .tuple(of, fc.integer({ min: -16, max: 16 }), fc.integer({ min: -64, max: 200 }))
        .map(([t, lb, extent]) => types.resized(layer, t, lb, extent)),
      fc
        .tuple(of, fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat(3)), { minLength: 1, maxLength: 3 }))
        .map(([t, d]) =>
          grown(t, 125, () =>
            types.subarray(
              layer,
              d.map(([n, more]) => n + more),
              d.map(([n]) => n),
              d.map(([, more]) => more >> 1),
              0,
              false,
              t,
            ),
          ),
        ),
    ),
  };
}).type;

const PAGES = 40;
const memory = new WebAssembly.Memory({ initial: PAGES });
const image = Uint8Array.from({ length: PAGES * PAGE }, (_, i) => (Math.imul(i, 2654435761) >>> 13) & 255);
const heap = (): Uint8Array => new Uint8Array(memory.buffer);
/** The room is at the beginning; a small one makes every list and every message come in parts. */
const packers = [4096, 2 * PAGE].map((end) => KernelPacker.make(() => memory, { start: 8, end })!);
const BASE = 20 * PAGE;
/** Of the datatype's places; behind them is what was packed. */
const PLACES = [2 * PAGE, 34 * PAGE] as const;
const MOST = 5 * PAGE;

/** How JavaScript does it, with the room left alone. */
function both(layout: Layout, count: number, address: number, packer: KernelPacker, direct: boolean): void {
  const bytes = layout.size * count;
  heap().set(image);
  packer.forget();
  const want = new Uint8Array(bytes);
  pack(layout, count, heap(), address, want);
  const into = direct ? heap().subarray(PLACES[1], PLACES[1] + bytes) : new Uint8Array(bytes);
  expect(packer.pack(layout, count, address, into)).toBe(true);
  expect(Buffer.compare(into, want)).toBe(0);
  expect(Buffer.compare(heap().subarray(PLACES[0], PLACES[1]), image.subarray(PLACES[0], PLACES[1]))).toBe(0);

  // What comes in goes to places that do not overlap: to others it may go in any order.
  if (overlaps(layout, count)) return;
  const other = image.slice();
  for (const b of [want, into]) for (let i = 0; i < b.length; i++) b[i] = (i * 7) & 255;
  unpack(layout, count, want, other, address);
  expect(packer.unpack(layout, count, into, address)).toBe(true);
  expect(Buffer.compare(heap().subarray(PLACES[0], PLACES[1]), other.subarray(PLACES[0], PLACES[1]))).toBe(0);
}

function overlaps(layout: Layout, count: number): boolean {
  const { from, to } = span(layout, count);
  const seen = new Uint8Array(to - from);
  for (let i = 0; i < count; i++)
    for (let k = 0; k < layout.segments.length; k += 4) {
      const [at, bytes, n, stride] = layout.segments.slice(k, k + 4) as [number, number, number, number];
      for (let b = 0; b < n; b++)
        for (let x = 0; x < bytes; x++) {
          const place = i * layout.extent + at + b * stride + x - from;
          if (seen[place]) return true;
          seen[place] = 1;
        }
    }
  return false;
}

test('the kernel moves what JavaScript moves, in parts and at once, inside of the memory and out of it', () => {
  fc.assert(
    fc.property(
      datatype,
      fc.integer({ min: 1, max: 40 }),
      fc.nat(1),
      fc.boolean(),
      fc.nat(15),
      (handle, count, which, direct, odd) => {
        const { layout } = types.typeOf(layer, handle, 'test');
        const { from, to } = span(layout, count);
        if (layout.size * count > MOST || BASE + odd + from < PLACES[0] || BASE + odd + to > PLACES[1]) return;
        both(layout, count, BASE + odd, packers[which]!, direct);
      },
    ),
    { numRuns: 80 },
  );
});

test('an array of structures is one short list, a block longer than the stage goes in pieces', () => {
  const one = types.struct(layer, [1, 1, 2], [0, 8, 20], [CHAR, DOUBLE, SHORT]);
  const many = types.typeOf(layer, types.contiguous(layer, 500, one), 'test').layout;
  // The shorts and the next structure's char touch.
  expect(planOf(many)).toMatchObject({
    blocks: 1001,
    of: { head: { size: 1 }, plan: { size: 13, blocks: 2 }, repeats: 499, step: 24, tail: { size: 12 } },
  });
  for (const packer of packers) for (const direct of [true, false]) both(many, 3, BASE, packer, direct);

  const long = types.typeOf(layer, types.indexed(layer, [5000, 3, 9000], [-20000, 7, 100], CHAR, true), 'test').layout;
  expect(pieces(planOf(long)!, 2048, 100).map((p) => p.size)).toEqual([
    2048, 2048, 904, 3, 2048, 2048, 2048, 2048, 808,
  ]);
  for (const direct of [true, false]) both(long, 2, BASE, packers[0]!, direct);
});

test('what the kernel cannot do is left to JavaScript', () => {
  const { layout } = types.typeOf(layer, types.vector(layer, 4, 1, 3, INT, false), 'test');
  const packer = packers[1]!;
  expect(packer.pack(layout, 1, PAGES * PAGE - 20, new Uint8Array(16))).toBe(false);
  expect(packer.pack(layout, 2, BASE, new Uint8Array(16))).toBe(false);
  const far = types.typeOf(layer, types.indexed(layer, [1, 1], [0, 2 ** 33], INT, true), 'test').layout;
  expect(packer.pack(far, 1, BASE, new Uint8Array(8))).toBe(false);
  expect(KernelPacker.make(() => memory, { start: 8, end: 100 })).toBeUndefined();
});
