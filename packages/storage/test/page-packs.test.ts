/** Pages in packs: what damage, a power loss, a full disk and the removal of images leave of them. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { cp, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { blake3 } from 'hash-wasm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HEADER_BYTES, recordBytes } from '../src/embedded/page-record.ts';
import { openFileImageStore } from '../src/index.ts';
import type { ImageStore } from '../src/ports/index.ts';
import { temporary } from './temporary.ts';
import { noiseOf } from './victim-data.ts';

const disk = vi.hoisted(() => ({ full: false, syncs: 0, unsound: false }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return {
    ...fs,
    writevSync: (fd: number, parts: Uint8Array[], at: number): number => {
      if (!disk.full) return fs.writevSync(fd, parts, at);
      fs.writevSync(fd, parts.slice(0, 1), at);
      throw Object.assign(new Error('ENOSPC: no space left on device, writev'), { code: 'ENOSPC' });
    },
    fdatasync: (fd: number, done: (error: Error | null) => void): void => {
      disk.syncs++;
      if (disk.unsound)
        setImmediate(() => done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })));
      else fs.fdatasync(fd, done);
    },
  };
});

const RECORD = recordBytes(65536);
let dir: Awaited<ReturnType<typeof temporary>>;
let store: ImageStore;
beforeEach(async () => {
  Object.assign(disk, { full: false, unsound: false, syncs: 0 });
  dir = await temporary();
  store = await openFileImageStore(dir.path, { packBytes: 3 * RECORD });
});
afterEach(async () => {
  disk.full = disk.unsound = false;
  await store.close();
  await dir.dispose();
});

interface Page {
  name: string;
  raw: Uint8Array;
}
const pageOf = async (seed: number, length = 65536): Promise<Page> => {
  const raw = noiseOf(length, seed);
  return { name: await blake3(raw), raw };
};
const put = (...pages: Page[]): Promise<unknown> => Promise.all(pages.map((p) => store.putPage(p.name, p.raw)));
/** So many at a time that each pack is full, and synced when the next but one begins. */
const putInRounds = async (pages: Page[]): Promise<void> => {
  for (let i = 0; i < pages.length; i += 3) await put(...pages.slice(i, i + 3));
};
const reopen = async (at = dir.path): Promise<void> => {
  await store.close();
  store = await openFileImageStore(at, { packBytes: 3 * RECORD });
};
const isThere = async (p: Page): Promise<boolean> => {
  const page = await store.getPage(p.name);
  if (page) expect(Buffer.compare(page, p.raw)).toBe(0);
  return page !== undefined;
};
const packs = async (): Promise<string[]> =>
  (await readdir(join(dir.path, 'packs'))).sort().map((n) => join(dir.path, 'packs', n));
const flip = (path: string, ...at: number[]): void => {
  const fd = openSync(path, 'r+');
  for (const i of at) writeSync(fd, Uint8Array.of(0x5a), 0, 1, i);
  closeSync(fd);
};
const manifest = (...pages: Page[]): string => JSON.stringify({ pages: pages.map((p) => p.name) });

it('hundreds of pages cost a few syncs', async () => {
  await reopen();
  disk.syncs = 0;
  await put(...(await Promise.all(Array.from({ length: 300 }, (_, i) => pageOf(i, 100)))));
  expect(disk.syncs).toBeLessThanOrEqual(2);
});

describe('damage', () => {
  it('is mended on the disk too, or the page is missing so that it can be stored again, also after a restart', async () => {
    const page = await pageOf(4);
    await put(page);
    const path = (await packs())[0]!;
    const whole = await readFile(path);
    for (const at of [0, 40_000, 65_535, 65_536, 69_631]) {
      flip(path, HEADER_BYTES + at);
      expect(await isThere(page), String(at)).toBe(true);
      // The parity is written anew with the next page that is mended.
      if (at < 65_536) expect(Buffer.compare(await readFile(path), whole)).toBe(0);
      else await writeFile(path, whole);
    }
    flip(path, HEADER_BYTES, HEADER_BYTES + 40_000);
    expect(await Promise.all([isThere(page), isThere(page)])).toEqual([false, false]);
    expect(await store.hasPages([page.name])).toEqual([false]);
    await reopen();
    expect(await store.hasPages([page.name])).toEqual([false]);
    await put(page);
    await reopen();
    expect(await isThere(page)).toBe(true);
  });

  it('of a header costs no page, neither its own nor those behind it', async () => {
    const pages = await Promise.all([pageOf(1), pageOf(2, 5000), pageOf(3, 77), pageOf(4)]);
    await put(...pages);
    const path = (await packs())[0]!;
    let at = 0;
    for (const p of pages) {
      for (const byte of [0, 7, 9, 13, 20, 47]) flip(path, at + byte);
      await reopen();
      for (const q of pages) expect(await isThere(q)).toBe(true);
      at += recordBytes(p.raw.length);
    }
  });

  it('of many pages is told when they are read, and hurts no other', async () => {
    const pages = await Promise.all(Array.from({ length: 20 }, (_, i) => pageOf(i)));
    await putInRounds(pages);
    const all = await packs();
    expect(all.length).toBeGreaterThan(5);
    flip(all[1]!, HEADER_BYTES + 5, HEADER_BYTES + 50_005);
    await reopen();
    const there = await Promise.all(pages.map(isThere));
    expect(there.filter((t) => !t)).toHaveLength(1);
    await put(...pages);
    expect((await Promise.all(pages.map(isThere))).every(Boolean)).toBe(true);
  });
});

it('a pack of a later version is refused, and left as it is', async () => {
  await put(await pageOf(1));
  const path = (await packs())[0]!;
  await store.close();
  const bytes = await readFile(path);
  bytes[6] = 2;
  await writeFile(path, bytes.subarray(0, 60_000));
  await expect(openFileImageStore(dir.path)).rejects.toMatchObject({ code: 'VERSION_MISMATCH' });
  expect(Buffer.compare(await readFile(path), bytes.subarray(0, 60_000))).toBe(0);
  await writeFile(path, '');
  store = await openFileImageStore(dir.path);
});

describe('removed images', () => {
  it('give their space back; what is left of a pack is copied before it goes', async () => {
    const pages = await Promise.all(Array.from({ length: 18 }, (_, i) => pageOf(i)));
    await putInRounds(pages);
    // One page of each pack is needed, at another place of each.
    const needed = pages.filter((_, i) => i % 3 === Math.floor(i / 3) % 3);
    await store.putManifest('keeps', manifest(...needed));
    await store.putManifest('goes', manifest(...pages));
    expect(await store.collect(new Set())).toEqual({ pages: 0, bytes: 0 });
    await store.removeManifest('goes');
    expect(await store.collect(new Set())).toEqual({ pages: 12, bytes: 12 * 65536 });
    const bytes = (await Promise.all((await packs()).map((p) => stat(p)))).reduce((n, s) => n + s.size, 0);
    expect(bytes).toBeLessThan(12 * RECORD);
    for (let life = 0; life < 2; life++) {
      for (const p of pages) expect(await isThere(p)).toBe(needed.includes(p) || (life > 0 && (await isThere(p))));
      await reopen();
    }
    await store.removeManifest('keeps');
    await store.collect(new Set());
    expect(await store.hasPages(needed.map((p) => p.name))).toEqual(needed.map(() => false));
  });

  it('named again while it is written, a page stays', async () => {
    const page = await pageOf(1);
    await put(page);
    await store.putManifest('a', manifest(page));
    const again = store.putManifest('b', manifest(page));
    await store.removeManifest('a');
    await store.collect(new Set());
    await again;
    expect(await isThere(page)).toBe(true);
  });

  it('a manifest that cannot be read keeps everything', async () => {
    const page = await pageOf(1);
    await put(page);
    await store.putManifest('a', manifest(page));
    await writeFile(join(dir.path, 'manifests', 'a.json'), '{"pages":[');
    await reopen();
    expect(await store.collect(new Set())).toEqual({ pages: 0, bytes: 0 });
    expect(await isThere(page)).toBe(true);
  });
});

describe('a manifest that is missing', () => {
  it('keeps every page that lay there at the start, and names the file; what comes later is collected', async () => {
    const [kept, later] = [await pageOf(1), await pageOf(2)];
    await put(kept);
    await store.close();
    const damaged = await openFileImageStore(dir.path, { expected: ['j-0-0-1'] });
    store = damaged;
    expect(damaged.notices).toEqual([expect.stringMatching(/manifests\/j-0-0-1\.json is missing/)]);
    await put(later);
    expect((await store.collect(new Set())).pages).toBe(1);
    expect([await isThere(kept), await isThere(later)]).toEqual([true, false]);
  });
});

it('a page that somebody else has put is written and synced like any other, and its space comes back', async () => {
  const bytes = async (): Promise<number> => {
    const packs = join(dir.path, 'packs');
    const sizes = (await readdir(packs)).map(async (f) => (await stat(join(packs, f))).size);
    return (await Promise.all(sizes)).reduce((n, size) => n + size, 0);
  };
  const cost = async (p: Page): Promise<{ bytes: number; syncs: number }> => {
    const [before, syncs] = [await bytes(), disk.syncs];
    await put(p);
    return { bytes: (await bytes()) - before, syncs: disk.syncs - syncs };
  };
  const [known, fresh] = [await pageOf(1), await pageOf(2)];
  const first = await cost(known);
  expect(first).toEqual({ bytes: RECORD, syncs: 1 });
  expect(await cost(known)).toEqual(first);
  expect(await cost(fresh)).toEqual(first);
  await store.putManifest('i', JSON.stringify({ pages: [known.name, fresh.name] }));
  for (let i = 0; i < 20; i++) await put(known);
  expect(await bytes()).toBeGreaterThan(20 * RECORD);
  await store.collect(new Set());
  // The two newest packs stay as they are.
  expect(await bytes()).toBeLessThanOrEqual(9 * RECORD);
  await reopen();
  expect([await isThere(known), await isThere(fresh)]).toEqual([true, true]);
});

describe('a disk', () => {
  it('that is full refuses pages, keeps what it has, and takes more when it has room', async () => {
    const [a, b] = [await pageOf(1), await pageOf(2)];
    await put(a);
    disk.full = true;
    await expect(put(b)).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(await store.hasPages([a.name, b.name])).toEqual([true, false]);
    disk.full = false;
    await put(b);
    await reopen();
    expect([await isThere(a), await isThere(b)]).toEqual([true, true]);
  });

  it('that fails to sync is not believed: the pages are not there, and can be stored again', async () => {
    // All of it in one pack.
    await store.close();
    store = await openFileImageStore(dir.path, { packBytes: 9 * RECORD });
    const [a, b, c] = [await pageOf(1), await pageOf(2), await pageOf(3)];
    await put(a);
    disk.unsound = true;
    const puts = [store.putPage(b.name, b.raw)];
    await Promise.resolve();
    // While the sync is under way that fails: they hope for the next one.
    puts.push(store.putPage(b.name, b.raw), store.putPage(c.name, c.raw));
    disk.unsound = false;
    for (const p of await Promise.allSettled(puts))
      expect(p).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_FAILED' } });
    expect(await store.hasPages([a.name, b.name, c.name])).toEqual([true, false, false]);
    await reopen();
    expect(await store.hasPages([a.name, b.name])).toEqual([true, false]);
    await put(b);
    expect([await isThere(a), await isThere(b)]).toEqual([true, true]);
  });

  /**
   * As for the logs (power-loss.test.ts): of what was not synced the disk keeps any subset, and any shorter length of
   * the file.
   */
  it('that loses power keeps every page whose put had resolved, and lists no other that is not whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(), { minLength: 50, maxLength: 50 }),
        async (rounds, draws) => {
          const [live, after] = [await temporary(), await temporary()];
          let d = 0;
          const draw = (n: number): number => draws[d++ % draws.length]! % n;
          const mine = await openFileImageStore(live.path, { packBytes: 3 * 5000 });
          let seed = 0;
          const safe = new Map<string, number>();
          const acknowledged: Page[] = [];
          const all: Page[] = [];
          const sizes = async (): Promise<Map<string, number>> =>
            new Map(
              await Promise.all(
                (await readdir(join(live.path, 'packs'))).map(
                  async (n) => [n, (await stat(join(live.path, 'packs', n))).size] as const,
                ),
              ),
            );
          for (const count of rounds) {
            const pages = await Promise.all(Array.from({ length: count }, () => pageOf(++seed, 1 + draw(9000))));
            await Promise.all(pages.map((p) => mine.putPage(p.name, p.raw)));
            acknowledged.push(...pages);
            for (const [n, size] of await sizes()) safe.set(n, size);
          }
          const last = await Promise.all(Array.from({ length: 3 }, () => pageOf(++seed, 1 + draw(9000))));
          const puts = last.map((p) => mine.putPage(p.name, p.raw));
          all.push(...acknowledged, ...last);
          await cp(live.path, after.path, { recursive: true });
          await Promise.all(puts);
          await mine.close();
          for (const name of await readdir(join(after.path, 'packs'))) {
            const path = join(after.path, 'packs', name);
            const { size } = await stat(path);
            const from = safe.get(name) ?? 0;
            if (draw(3) === 0) await truncate(path, from + draw(size - from + 1));
            else for (let at = from; at < size; at += 512) if (draw(3) === 0) flip(path, at);
          }
          const mended = await openFileImageStore(after.path);
          const listed = await mended.hasPages(all.map((p) => p.name));
          for (const [i, p] of all.entries()) {
            const page = await mended.getPage(p.name);
            expect(page !== undefined).toBe(listed[i]);
            if (page) expect(Buffer.compare(page, p.raw)).toBe(0);
            if (acknowledged.includes(p)) expect(listed[i]).toBe(true);
          }
          await mended.close();
          await live.dispose();
          await after.dispose();
        },
      ),
      { numRuns: 15 },
    );
  });
});
