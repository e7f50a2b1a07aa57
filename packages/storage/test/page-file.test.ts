/** A page survives damage in one place; what cannot be mended is missing; files of before there was parity are read. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { blake3 } from 'hash-wasm';
import { expect, it } from 'vitest';
import { parityOf, readPageFile } from '../src/embedded/page-file.ts';
import { openFileImageStore } from '../src/index.ts';
import { temporary } from './temporary.ts';

const pageOf = (length: number, seed: number): Uint8Array => {
  const page = new Uint8Array(length);
  for (let i = 0, x = seed | 1; i < length; i++) page[i] = (x = Math.imul(x, 1103515245) + 12345) >>> 16;
  return page;
};
const LENGTHS = [1, 10, 4095, 4096, 4097, 8191, 8192, 8193, 65535, 65536];

it('whatever bits change within one stripe, of the page or of its parity, the page comes back', () => {
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...LENGTHS), fc.integer({ min: 1, max: 65536 })), fc.integer(), fc.nat(), fc.array(fc.tuple(fc.nat(4095), fc.integer({ min: 1, max: 255 })), { maxLength: 5 }), (length, seed, where, flips) => {
      const page = pageOf(length, seed);
      const file = Buffer.concat([page, parityOf(page)]);
      const isPage = (b: Uint8Array): boolean => Buffer.compare(b, page) === 0;
      const stripes = Math.ceil(length / 4096);
      const stripe = where % (stripes + 1);
      const [from, end] = stripe === stripes ? [length, file.length] : [stripe * 4096, Math.min(length, (stripe + 1) * 4096)];
      for (const [at, bits] of flips) file[from + (at % (end - from))]! ^= bits;
      expect(isPage(readPageFile(file, isPage)!.page)).toBe(true);
      expect(readPageFile(page, isPage)?.mended).toBe(false);
    }),
    { numRuns: 100 },
  );
});

it('in the store: mended on the disk too, or missing so that it can be stored again', async () => {
  const dir = await temporary();
  await mkdir(join(dir.path, 'pages'), { recursive: true });
  const [old, page] = [pageOf(65536, 3), pageOf(65536, 4)];
  const [oldName, name] = [await blake3(old), await blake3(page)];
  await writeFile(join(dir.path, 'pages', oldName), old);
  const store = await openFileImageStore(dir.path);
  expect(Buffer.compare((await store.getPage(oldName))!, old)).toBe(0);
  await store.putPage(name, page);
  const path = join(dir.path, 'pages', name);
  const whole = await readFile(path);
  const flip = async (...at: number[]): Promise<void> => {
    const bytes = Buffer.from(whole);
    for (const i of at) bytes[i]! ^= 4;
    await writeFile(path, bytes);
  };
  for (const at of [0, 40_000, 65_535, 65_536, 69_631]) {
    await flip(at);
    expect(Buffer.compare((await store.getPage(name))!, page), String(at)).toBe(0);
    if (at < 65_536) expect(Buffer.compare(await readFile(path), whole)).toBe(0);
  }
  await flip(0, 40_000);
  expect(await store.getPage(name)).toBeUndefined();
  expect(await store.hasPages([name])).toEqual([false]);
  expect((await readdir(join(dir.path, 'pages'))).sort()).toEqual([oldName, `${name}.damaged`].sort());
  await store.putPage(name, page);
  expect(Buffer.compare((await store.getPage(name))!, page)).toBe(0);
  await store.close();
  await dir.dispose();
});
