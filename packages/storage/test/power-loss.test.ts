/**
 * The power-loss model: of what was written since the last fdatasync the disk may keep any subset of pages, also later
 * ones without earlier ones, and any shorter length of the file. What was synced must be there afterwards, in order and
 * without a gap.
 */
import {
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageLogSuite } from '../src/acceptance/index.ts';
import { openFileMessageLog } from '../src/index.ts';
import type { LogStream, MessageLog } from '../src/ports/index.ts';
import { temporary } from './temporary.ts';

type Sizes = Map<string, number>;
const sizesOf = (directory: string): Sizes => {
  const out: Sizes = new Map();
  for (const stream of readdirSync(directory))
    for (const f of readdirSync(join(directory, stream)))
      out.set(join(stream, f), statSync(join(directory, stream, f)).size);
  return out;
};

/** Lets a copy of the directory lose, by `choose`, un-synced pages and lengths. */
function lose(directory: string, synced: Sizes, choose: (n: number) => number): void {
  for (const [file, size] of [...sizesOf(directory)].sort(([a], [b]) => (a < b ? 1 : -1))) {
    const path = join(directory, file);
    const safe = synced.get(file) ?? 0;
    if (safe >= size) continue;
    const what = choose(4);
    if (what === 0) {
      if (safe > 0) truncateSync(path, safe);
      else if (choose(2) === 0 || !existsSync(path)) truncateSync(path, 0);
      else unlinkIfNewest(directory, file);
      continue;
    }
    if (what === 1) truncateSync(path, safe + choose(size - safe + 1));
    if (what === 2) {
      const fd = openSync(path, 'r+');
      for (let page = Math.floor(safe / 512); page * 512 < size; page++) {
        const from = Math.max(safe, page * 512);
        if (choose(3) === 0) writeSync(fd, new Uint8Array(Math.min(size, page * 512 + 512) - from), 0, undefined, from);
      }
      closeSync(fd);
    }
  }
}
/** Directory entries reach the disk in order: only the newest files of a stream can be missing. */
function unlinkIfNewest(directory: string, file: string): void {
  const stream = file.slice(0, file.indexOf('/'));
  const newest = readdirSync(join(directory, stream)).sort().at(-1);
  if (newest && file.endsWith(newest)) unlinkSync(join(directory, file));
}

const record = (lsn: number, life: number): Uint8Array =>
  Uint8Array.from({ length: (lsn * 37) % 300 }, (_, i) => (lsn + life * 3 + i) & 255);

describe('power loss', () => {
  // The named seed loses the seal of a segment whose records were all synced.
  it.each([undefined, -51632339])('keeps all that was synced, and a prefix of the rest (seed %s)', async (seed) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('append', 'append', 'append', 'append', 'sync', 'trim'), {
          minLength: 5,
          maxLength: 60,
        }),
        fc.array(fc.nat(), { minLength: 200, maxLength: 200 }),
        async (steps, draws) => {
          const live = await temporary();
          const after = await temporary();
          try {
            const options = { segmentBytes: 2048, cacheBytes: 30_000 };
            const log = await openFileMessageLog(live.path, options);
            const s = await log.open('s');
            let syncedTo = 0;
            let synced: Sizes = new Map();
            let trimmed = 0;
            for (const step of steps) {
              if (step === 'append') for (let i = 0; i < 5; i++) s.append(record(s.next, 0));
              else if (step === 'sync') {
                synced = sizesOf(live.path);
                syncedTo = s.next;
                await s.sync();
              } else {
                trimmed = Math.floor(s.next / 2);
                s.trim(0, trimmed);
              }
            }
            cpSync(live.path, after.path, { recursive: true });
            const next = s.next;
            await log.close();
            let d = 0;
            lose(after.path, synced, (n) => draws[d++ % draws.length]! % n);
            const log2 = await openFileMessageLog(after.path, options);
            const r = await log2.open('s');
            expect(r.next).toBeGreaterThanOrEqual(syncedTo);
            expect(r.next).toBeLessThanOrEqual(next);
            const rest = [...r.scan()];
            for (const { lsn, bytes } of rest) expect(bytes).toEqual(record(lsn, 0));
            const have = new Set(rest.map((x) => x.lsn));
            for (let lsn = trimmed; lsn < r.next; lsn++) expect(have.has(lsn)).toBe(true);
            // It goes on, and survives a second loss of the same kind.
            const before = r.next;
            for (let i = 0; i < 20; i++) r.append(record(r.next, 1));
            await r.sync();
            await log2.close();
            const log3 = await openFileMessageLog(after.path, options);
            const q = await log3.open('s');
            expect(q.next).toBe(before + 20);
            for (let lsn = before; lsn < q.next; lsn++) expect(q.read(lsn)).toEqual(record(lsn, 1));
            await log3.close();
          } finally {
            await live.dispose();
            await after.dispose();
          }
        },
      ),
      { numRuns: 150, interruptAfterTimeLimit: 15_000, ...(seed === undefined ? {} : { seed }) },
    );
  });

  it('reports damage of synced records instead of cutting them away', async () => {
    const dir = await temporary();
    try {
      const log = await openFileMessageLog(dir.path, { segmentBytes: 4096 });
      const s = await log.open('s');
      for (let round = 0; round < 6; round++) {
        for (let i = 0; i < 10; i++) s.append(record(s.next, 0));
        await s.sync();
      }
      await log.close();
      const files = readdirSync(join(dir.path, 's')).sort();
      expect(files.length).toBeGreaterThan(1);
      for (const file of [files[0]!, files.at(-1)!]) {
        const copy = await temporary();
        cpSync(dir.path, copy.path, { recursive: true });
        const fd = openSync(join(copy.path, 's', file), 'r+');
        writeSync(fd, Uint8Array.of(0xff, 0xff, 0xff), 0, 3, 60);
        closeSync(fd);
        const again = await openFileMessageLog(copy.path);
        await expect(
          (async () => {
            const t = await again.open('s');
            return [...t.scan()];
          })(),
        ).rejects.toMatchObject({ code: 'DAMAGED_LOG', message: expect.stringContaining('damage') });
        await again.close();
        await copy.dispose();
      }
    } finally {
      await dir.dispose();
    }
  });

  it('is not fooled by a payload that looks like records', async () => {
    const dir = await temporary();
    try {
      const log = await openFileMessageLog(dir.path);
      const s = await log.open('s');
      for (let i = 0; i < 5; i++) s.append(record(i, 0));
      await s.sync();
      const name = readdirSync(join(dir.path, 's'))[0]!;
      // The stream's own bytes, sent back as a message: records with true checksums of an older place.
      s.append(readFileSync(join(dir.path, 's', name)));
      s.append(record(7, 0));
      await log.close();
      truncateSync(join(dir.path, 's', name), statSync(join(dir.path, 's', name)).size - 3);
      const again = await openFileMessageLog(dir.path);
      expect((await again.open('s')).next).toBe(6);
      await again.close();
    } finally {
      await dir.dispose();
    }
  });
});

/** The acceptance suite's own power loss: everything un-synced goes, and half a record with it. */
messageLogSuite(
  'files, with power losses',
  async () => {
    const dirs = [await temporary()];
    let synced: Sizes = new Map();
    /** Notes the sizes before every sync: what stood in the files then is durable once it resolves. */
    const watched = (log: MessageLog, directory: string): MessageLog => ({
      durability: log.durability,
      list: (p) => log.list(p),
      remove: (s) => log.remove(s),
      close: () => log.close(),
      async open(name) {
        const stream = await log.open(name);
        return new Proxy(stream, {
          get(target, key) {
            if (key === 'sync')
              return async () => {
                const sizes = sizesOf(directory);
                await target.sync();
                synced = sizes;
              };
            const value: unknown = Reflect.get(target, key, target);
            return typeof value === 'function' ? (value as (...a: unknown[]) => unknown).bind(target) : value;
          },
        }) as LogStream;
      },
    });
    return {
      open: async () => watched(await openFileMessageLog(dirs.at(-1)!.path, { segmentBytes: 4096 }), dirs.at(-1)!.path),
      async powerLoss(log) {
        const next = await temporary();
        cpSync(dirs.at(-1)!.path, next.path, { recursive: true });
        await log.close();
        dirs.push(next);
        for (const [file, size] of sizesOf(next.path)) {
          const safe = synced.get(file) ?? 0;
          if (size > safe) truncateSync(join(next.path, file), safe + Math.floor((size - safe) / 3));
        }
      },
      async crash(log) {
        const next = await temporary();
        cpSync(dirs.at(-1)!.path, next.path, { recursive: true });
        await log.close();
        dirs.push(next);
      },
      dispose: async () => {
        for (const d of dirs) await d.dispose();
      },
    };
  },
  { roomBytes: 100_000 },
);
