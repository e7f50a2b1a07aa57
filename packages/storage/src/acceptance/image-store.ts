/** The contract of ImageStore (ports/). */
import { blake3 } from 'hash-wasm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ImageStore } from '../ports/index.ts';
import type { Subject } from './subject.ts';

const page = async (seed: number, length = 65536): Promise<{ hash: string; raw: Uint8Array }> => {
  const raw = Uint8Array.from({ length }, (_, i) => (seed * 131 + i * 17) & 255);
  return { hash: await blake3(raw), raw };
};

export function imageStoreSuite(name: string, make: () => Promise<Subject<ImageStore>>): void {
  describe(`ImageStore: ${name}`, () => {
    let subject: Subject<ImageStore>;
    let store: ImageStore;
    beforeEach(async () => {
      subject = await make();
      store = await subject.open();
    });
    afterEach(async () => {
      await store.close();
      await subject.dispose();
    });

    it('gives back the page that was put', async () => {
      const a = await page(1);
      const b = await page(2, 10);
      expect(await store.getPage(a.hash)).toBeUndefined();
      await Promise.all([store.putPage(a.hash, a.raw), store.putPage(b.hash, b.raw), store.putPage(a.hash, a.raw)]);
      expect(Buffer.compare((await store.getPage(a.hash))!, a.raw)).toBe(0);
      expect(await store.getPage(b.hash)).toEqual(b.raw);
      expect(await store.hasPages([a.hash, 'f'.repeat(64), b.hash])).toEqual([true, false, true]);
      await store.putPage(a.hash, a.raw);
    });

    it('tells of its own pages only what the named manifests list and is there', async () => {
      const [a, b, c] = [await page(1), await page(2), await page(3)];
      await Promise.all([a, b].map((p) => store.putPage(p.hash, p.raw)));
      await store.putManifest('mine/0', JSON.stringify({ pages: [a.hash, '', c.hash] }));
      await store.putManifest('theirs', JSON.stringify({ pages: [b.hash] }));
      const all = [a.hash, b.hash, c.hash];
      expect(await store.ownPages(all, ['mine/0', 'never-there'])).toEqual(new Set([a.hash]));
      expect(await store.ownPages(all, ['mine/0', 'theirs'])).toEqual(new Set([a.hash, b.hash]));
      expect(await store.ownPages([b.hash], ['mine/0'])).toEqual(new Set());
      expect(await store.ownPages(all, [])).toEqual(new Set());
      await store.close();
      store = await subject.open();
      expect(await store.ownPages(all, ['mine/0'])).toEqual(new Set([a.hash]));
      await store.removeManifest('mine/0');
      expect(await store.ownPages(all, ['mine/0'])).toEqual(new Set());
    });

    it('refuses a page whose bytes do not hash to its name', async () => {
      const a = await page(1);
      const b = await page(2);
      await expect(store.putPage(a.hash, b.raw)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      expect(await store.hasPages([a.hash])).toEqual([false]);
    });

    it('refuses names that are no hashes', async () => {
      await expect(store.putPage('../../etc/passwd', new Uint8Array(1))).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      expect(await store.getPage('../../etc/passwd')).toBeUndefined();
      expect(await store.hasPages(['..', ''])).toEqual([false, false]);
    });

    it('keeps manifests by name, the last put wins', async () => {
      expect(await store.getManifest('job-0-1')).toBeUndefined();
      await store.putManifest('job-0-1', '{"pages":[],"a":1}');
      await store.putManifest('job-0-1', '{"pages":[],"a":"ä"}');
      await store.putManifest('job/0/../2', '{"pages":[]}');
      expect(await store.getManifest('job-0-1')).toBe('{"pages":[],"a":"ä"}');
      expect(await store.getManifest('job/0/../2')).toBe('{"pages":[]}');
      await store.removeManifest('job-0-1');
      await store.removeManifest('never-there');
      expect(await store.getManifest('job-0-1')).toBeUndefined();
    });

    it('collects pages that no manifest names and nobody pins', async () => {
      const pages = await Promise.all([1, 2, 3, 4].map((s) => page(s, 1000)));
      const [a, b, c, d] = pages as [(typeof pages)[0], (typeof pages)[0], (typeof pages)[0], (typeof pages)[0]];
      await Promise.all(pages.map((p) => store.putPage(p.hash, p.raw)));
      await store.putManifest('i1', JSON.stringify({ pages: [a.hash, '', b.hash] }));
      await store.putManifest('i2', JSON.stringify({ pages: [b.hash] }));
      expect(await store.collect(new Set([c.hash]))).toEqual({ pages: 1, bytes: 1000 });
      expect(await store.hasPages(pages.map((p) => p.hash))).toEqual([true, true, true, false]);
      await store.removeManifest('i1');
      expect(await store.collect(new Set())).toEqual({ pages: 2, bytes: 2000 });
      expect(await store.hasPages(pages.map((p) => p.hash))).toEqual([false, true, false, false]);
      await store.putPage(d.hash, d.raw);
      expect(await store.hasPages([d.hash])).toEqual([true]);
    });

    it('never collects a page that is put, or found present, meanwhile', async () => {
      const old = await Promise.all(Array.from({ length: 30 }, (_, i) => page(i, 500)));
      await Promise.all(old.map((p) => store.putPage(p.hash, p.raw)));
      const collecting = store.collect(new Set());
      const answers = await store.hasPages(old.map((p) => p.hash));
      const fresh = await page(99, 500);
      await store.putPage(fresh.hash, fresh.raw);
      await collecting;
      expect(await store.hasPages([fresh.hash])).toEqual([true]);
      const after = await store.hasPages(old.map((p) => p.hash));
      answers.forEach((there, i) => {
        if (there) expect(after[i]).toBe(true);
      });
    });

    it('has everything back after close and open', async () => {
      const a = await page(1);
      await store.putPage(a.hash, a.raw);
      await store.putManifest('i', JSON.stringify({ pages: [a.hash] }));
      await store.close();
      store = await subject.open();
      expect(Buffer.compare((await store.getPage(a.hash))!, a.raw)).toBe(0);
      expect(await store.getManifest('i')).toBe(JSON.stringify({ pages: [a.hash] }));
    });
  });
}
