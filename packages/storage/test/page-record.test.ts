/** A page survives damage in one place. What is around it on the disk: page-packs.test.ts. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parityOf, readBody } from '../src/embedded/page-record.ts';
import { noiseOf as pageOf } from './victim-data.ts';

const LENGTHS = [1, 10, 4095, 4096, 4097, 8191, 8192, 8193, 65535, 65536];

it('whatever bits change within one stripe, of the page or of its parity, the page comes back', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.constantFrom(...LENGTHS), fc.integer({ min: 1, max: 65536 })),
      fc.integer(),
      fc.nat(),
      fc.array(fc.tuple(fc.nat(4095), fc.integer({ min: 1, max: 255 })), { maxLength: 5 }),
      (length, seed, where, flips) => {
        const page = pageOf(length, seed);
        const file = Buffer.concat([page, parityOf(page)]);
        const isPage = (b: Uint8Array): boolean => Buffer.compare(b, page) === 0;
        const stripes = Math.ceil(length / 4096);
        const stripe = where % (stripes + 1);
        const [from, end] =
          stripe === stripes ? [length, file.length] : [stripe * 4096, Math.min(length, (stripe + 1) * 4096)];
        for (const [at, bits] of flips) file[from + (at % (end - from))]! ^= bits;
        expect(isPage(readBody(file, isPage)!.page)).toBe(true);
      },
    ),
    { numRuns: 100 },
  );
});
