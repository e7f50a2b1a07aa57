import { imageIdOf, IMAGE_FORMAT, incarnation, PAGE_BYTES, taskId, type Manifest } from '@mayfly/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assembleImage,
  cutImage,
  decodePage,
  encodePage,
  hashBytes,
  memoryImages,
  packPage,
  sampledEntropy,
  unpackPage,
  type CutImage,
} from '../src/index.ts';
import { EXPECTED, exercise, job, noise } from '../src/acceptance/local-images.ts';

const manifestOf = (cut: CutImage, task = 0, serial = 1, inc = 0): Manifest => ({
  format: IMAGE_FORMAT,
  image: imageIdOf(job, taskId(task), incarnation(inc), serial),
  job,
  task: taskId(task),
  incarnation: incarnation(inc),
  program: '0'.repeat(64),
  serial,
  position: { protocol: 'pessimistic', version: 1, at: null },
  sections: cut.sections,
  pages: cut.pages,
  bytes: cut.bytes,
});
describe('what is worth deflating', () => {
  const entropy = (b: Uint8Array): number => sampledEntropy(b);
  it('takes noise for noise, and nothing else', () => {
    expect(entropy(noise(PAGE_BYTES, 5))).toBeGreaterThan(7.8);
    expect(entropy(new Uint8Array(PAGE_BYTES).fill(7))).toBe(0);
    // Doubles of a smooth field: exponents and leading mantissa bytes repeat, so that trying pays.
    const field = new Float64Array(PAGE_BYTES / 8).map((_, i) => 20 + (i % 90) / 7);
    expect(entropy(new Uint8Array(field.buffer))).toBeLessThan(7.5);
  });
  it('is a number of bits between 0 and 8 for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 5000 }), (b) => {
        const h = entropy(b);
        expect(h).toBeGreaterThanOrEqual(0);
        expect(h).toBeLessThanOrEqual(8);
      }),
    );
  });
});

describe('images', () => {
  it('hashes with BLAKE3-256', async () => {
    // The empty input's hash, from the BLAKE3 specification's test vectors.
    expect(await hashBytes(new Uint8Array(0))).toBe('af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262');
  });

  it('cuts and assembles any sections', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ n: fc.integer({ min: 0, max: 3 * PAGE_BYTES }), seed: fc.integer(), zero: fc.boolean() }),
          { maxLength: 5 },
        ),
        async (specs) => {
          const sections = specs.map((s, i) => ({
            name: `s${i}`,
            bytes: s.zero ? new Uint8Array(s.n) : noise(s.n, s.seed),
          }));
          const cut = await cutImage(sections);
          const back = await assembleImage(manifestOf(cut), async (h) => cut.data.get(h));
          for (const s of sections) expect(Buffer.compare(back.get(s.name)!, s.bytes)).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('names equal pages once and zero pages not at all', async () => {
    const page = noise(PAGE_BYTES, 5);
    const cut = await cutImage([
      { name: 'a', bytes: page },
      { name: 'b', bytes: page },
      { name: 'c', bytes: new Uint8Array(PAGE_BYTES) },
    ]);
    expect(cut.pages[0]).toBe(cut.pages[1]);
    expect(cut.pages[2]).toBe('');
    expect(cut.data.size).toBe(1);
  });

  it('refuses a damaged and a missing page', async () => {
    const cut = await cutImage([{ name: 'a', bytes: noise(100_000, 9) }]);
    await expect(
      assembleImage(manifestOf(cut), async (h) => cut.data.get(h)!.map((b, i) => (i === 77 ? b ^ 1 : b))),
    ).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(assembleImage(manifestOf(cut), async () => undefined)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('deflates what shrinks and sends the rest as it is', async () => {
    const text = new TextEncoder().encode('the quick brown fox '.repeat(3000)).subarray(0, PAGE_BYTES);
    const packed = await encodePage(3, text);
    expect(packed.bytes.length).toBeLessThan(text.length / 10);
    const rough = await encodePage(
      4,
      noise(PAGE_BYTES, 1).map((b, i) => b ^ (i * 197)),
    );
    for (const p of [packed, rough]) {
      const u = unpackPage(packPage(p));
      expect(u.index).toBe(p.index);
      const raw = await decodePage(u.codec, u.rawLength, u.bytes);
      expect(raw.length).toBe(p.rawLength);
    }
    await expect(decodePage(1, 10, packed.bytes)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(decodePage(1, 100, new Uint8Array([1, 2, 3]))).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });
});

// The browser's store runs the same in Chromium: packages/node/test/browser.test.ts.
it('local images: the two newest of a task, and little more than their pages', async () => {
  const store = memoryImages();
  expect(await exercise(async () => store)).toEqual(EXPECTED);
});
