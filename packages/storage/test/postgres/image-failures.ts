/** What the image store does when the database has damaged something; how it gives room back. */
import { blake3 } from 'hash-wasm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database, openPostgresImageStore, type PostgresImageStore } from '../../src/postgres/index.ts';
import type { PostgresServer } from './server.ts';

let count = 0;
const page = async (seed: number, length = 65_536): Promise<{ hash: string; raw: Uint8Array }> => {
  const raw = Uint8Array.from({ length }, (_, i) => (seed * 131 + i * 17) & 255);
  return { hash: await blake3(raw), raw };
};

export function imageFailures(server: () => PostgresServer): void {
  describe('images', () => {
    let schema: string;
    let database: Database | undefined;
    let store: PostgresImageStore;
    const reopen = async (): Promise<void> => {
      await database?.close();
      database = await Database.open({ url: server().url(), schema });
      store = await openPostgresImageStore(database);
    };
    beforeEach(async () => {
      schema = `image failures ${++count}`;
      await reopen();
    });
    afterEach(() => database?.close());
    const sql = (text: string): Promise<Record<string, unknown>[]> =>
      server().asAdmin(text.replaceAll('$', `"${schema}".`));

    it('are packed: pages that come together share rows', async () => {
      const pages = await Promise.all(Array.from({ length: 40 }, (_, i) => page(i)));
      await Promise.all(pages.map((p) => store.putPage(p.hash, p.raw)));
      expect((await sql('SELECT * FROM $image_pack')).length).toBeLessThanOrEqual(4);
      await reopen();
      for (const p of pages) expect(Buffer.compare((await store.getPage(p.hash))!, p.raw)).toBe(0);
    });

    it('give room back: a pack of which little is used is replaced', async () => {
      const pages = await Promise.all(Array.from({ length: 48 }, (_, i) => page(i)));
      await Promise.all(pages.map((p) => store.putPage(p.hash, p.raw)));
      const kept = pages.filter((_, i) => i % 8 === 0);
      await store.putManifest('a', JSON.stringify({ pages: kept.map((p) => p.hash) }));
      expect(await store.collect(new Set())).toEqual({ pages: 42, bytes: 42 * 65_536 });
      const [row] = await sql('SELECT sum(size)::integer AS bytes FROM $image_pack');
      expect(row!.bytes).toBe(6 * 65_536);
      await reopen();
      for (const p of kept) expect(Buffer.compare((await store.getPage(p.hash))!, p.raw)).toBe(0);
      await store.removeManifest('a');
      await store.collect(new Set());
      expect(await sql('SELECT * FROM $image_pack')).toEqual([]);
      expect(await sql('SELECT * FROM $image_page')).toEqual([]);
    });

    it('count a damaged page as missing, so that it can be stored again', async () => {
      const [a, b] = await Promise.all([page(1, 1000), page(2, 1000)]);
      await Promise.all([store.putPage(a.hash, a.raw), store.putPage(b.hash, b.raw)]);
      await sql('UPDATE $image_pack SET bytes = set_byte(bytes, 5, get_byte(bytes, 5) # 1)');
      await reopen();
      const read = [await store.getPage(a.hash), await store.getPage(b.hash)];
      expect(read.filter((p) => p === undefined)).toHaveLength(1);
      const lost = read[0] ? b : a;
      expect(await store.hasPages([lost.hash])).toEqual([false]);
      await store.putPage(lost.hash, lost.raw);
      await reopen();
      expect(await store.getPage(lost.hash)).toEqual(lost.raw);
    });

    it('keep all pages while a manifest is damaged', async () => {
      const [a, b] = await Promise.all([page(1, 1000), page(2, 1000)]);
      await Promise.all([store.putPage(a.hash, a.raw), store.putPage(b.hash, b.raw)]);
      await store.putManifest('i', JSON.stringify({ pages: [a.hash] }));
      await sql(`UPDATE $image_manifest SET json = '{"pages":[]}'`);
      await reopen();
      expect(store.notices).toEqual([expect.stringContaining('the manifest of image i is damaged')]);
      await expect(store.getManifest('i')).rejects.toMatchObject({ code: 'DAMAGED_DATA' });
      expect(await store.collect(new Set())).toEqual({ pages: 0, bytes: 0 });
      expect(await store.hasPages([a.hash, b.hash])).toEqual([true, true]);
    });

    it('promise nothing that was not stored: a put that fails can be repeated', async () => {
      const a = await page(1, 1000);
      await server().end();
      try {
        await expect(store.putPage(a.hash, a.raw)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
        expect(await store.hasPages([a.hash])).toEqual([false]);
        expect(await store.getPage(a.hash)).toBeUndefined();
      } finally {
        await server().begin();
      }
      await store.putPage(a.hash, a.raw);
      expect(await store.getPage(a.hash)).toEqual(a.raw);
      // One that is there is written again: its sender cannot tell from the time that somebody else had it.
      await server().end();
      try {
        await expect(store.putPage(a.hash, a.raw)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
      } finally {
        await server().begin();
      }
      expect(await store.getPage(a.hash)).toEqual(a.raw);
    });
  });
}
