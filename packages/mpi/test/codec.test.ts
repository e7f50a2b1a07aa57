/** Structured values: what goes in comes out, in the same bytes every time; what cannot is named; noise never harms. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeValue, encodeValue, MalformedValue, Unencodable } from '../src/codec.ts';

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.double(),
      fc.integer(),
      fc.bigInt(),
      fc.boolean(),
      fc.constantFrom(null, undefined),
      fc.float64Array(),
      fc.uint8Array(),
      fc.int32Array(),
    ),
    fc.array(tie('value')),
    fc.dictionary(fc.string(), tie('value')),
    fc.array(tie('value')).map((a) => new Set(a)),
    fc.array(fc.tuple(fc.string(), tie('value'))).map((a) => new Map(a)),
  ),
})).value;

test('values come back as they were', () => {
  fc.assert(
    fc.property(value, (v) => {
      const bytes = encodeValue(v);
      const back = decodeValue(bytes);
      expect(back).toEqual(v);
      expect(encodeValue(back)).toEqual(bytes);
    }),
    { numRuns: 60 },
  );
});

test('holes, -0, NaN and views of a larger buffer', () => {
  const v = [1, , -0, NaN, new Float64Array([1, 2, 3]).subarray(1), new ArrayBuffer(3)];
  const back = decodeValue(encodeValue(v)) as unknown[];
  expect(1 in back).toBe(false);
  expect(back).toEqual(v);
  expect((back[4] as Float64Array).buffer.byteLength).toBe(16);
});

test('what cannot be encoded is named', () => {
  const loop: { a: { b?: unknown } } = { a: {} };
  loop.a.b = loop;
  class Point {
    x = 1;
  }
  expect(() => encodeValue({ a: [() => 1] })).toThrow('value.a[0] is a function');
  expect(() => encodeValue({ p: new Point() })).toThrow('value.p is a Point: only plain objects can be encoded');
  expect(() => encodeValue(loop)).toThrow(Unencodable);
  expect(() => encodeValue(Symbol('x'))).toThrow('value is a symbol');
});

test('noise is refused, or is a value', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        decodeValue(bytes);
      } catch (e) {
        if (!(e instanceof MalformedValue)) throw e;
      }
    }),
    { numRuns: 1000 },
  );
  for (const v of [{ a: [1, 'two'] }, new Map([[1, 2n]])]) {
    const bytes = encodeValue(v);
    for (let n = 0; n < bytes.length; n++) expect(() => decodeValue(bytes.slice(0, n))).toThrow();
  }
});
